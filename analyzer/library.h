/* Where the preload library is. */
#ifndef IOT_ANALYZER_LIBRARY_H
#define IOT_ANALYZER_LIBRARY_H

/* Where libiotrace.so is: as $LIBIOTRACE says, else beside this command, in the build tree or
 * as installed. Returns 0, or -1 with one line in `error`. */
int iot_library_find(char path[4096], char error[512]);

#endif
