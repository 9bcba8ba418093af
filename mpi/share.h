/* Which rank reads what. The first rank of each node lists what lies there, as the paths say; rank
 * 0 gives each thing to one rank of a node that sees it. What several nodes see under one path is
 * one thing if it holds the same (iot_job_item_identity), as a shared folder does, and several if
 * not, as local folders of one name. */
#ifndef IOT_MPI_SHARE_H
#define IOT_MPI_SHARE_H

/* All ranks call it. Returns what this one is to read: paths, each ended by NUL, and an empty one
 * behind the last. Free it. */
char *iot_mpi_share(char *const *paths, int n);

#endif
