/* A variable that only this library has. Said where it is declared: a compiler that does not know
 * looks its address up in a table, an instruction more on every traced call. */
#ifndef IOT_PRELOAD_OURS_H
#define IOT_PRELOAD_OURS_H

#define IOT_OURS __attribute__((visibility("hidden")))

#endif
