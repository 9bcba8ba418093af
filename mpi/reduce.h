/* Partial results of all ranks into one, by a tree of merges: in step k each rank whose number has
 * bit k set hands on what it has to the one without that bit, so that after log2 of the ranks,
 * rounded up, rank 0 has all of it. No rank holds more than the sum of what it stands for and one
 * message.
 *
 * A reduction by MPI_Reduce has parts of one fixed size; these differ and grow. */
#ifndef IOT_MPI_REDUCE_H
#define IOT_MPI_REDUCE_H

#include "analyzer/partial.h"

/* All ranks call it. `error`: "" or, in a line, why this rank has nothing; then afterwards rank 0
 * has the line of one rank that failed, which stands before all results. */
void iot_mpi_reduce(struct iot_partial *partial, char error[512]);

#endif
