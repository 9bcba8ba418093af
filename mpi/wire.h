/* Byte strings of any length between ranks, and what happens when MPI fails: one line on standard
 * error, and the end of all ranks with IOT_EXIT_USAGE. So nothing here returns an error. */
#ifndef IOT_MPI_WIRE_H
#define IOT_MPI_WIRE_H

#include <stdint.h>

/* Has to come before anything that may contain mpi.h's C++ part. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

/* Ends all ranks, for what this one cannot go on without. */
void iot_mpi_die(const char *what) __attribute__((noreturn));
/* From now on errors of MPI end that way. */
void iot_mpi_handle_errors(void);

int iot_mpi_rank(MPI_Comm comm);
int iot_mpi_size(MPI_Comm comm);

/* Of one rank to another, in pieces: `size` may be more than an int holds. */
void iot_mpi_send(const void *bytes, uint64_t size, int to);
/* What was sent to this one, from malloc, with a NUL behind it. */
char *iot_mpi_receive(uint64_t *size, int from);

#endif
