/* Who reads what: the part without MPI. */
#ifndef IOT_MPI_DIVIDE_H
#define IOT_MPI_DIVIDE_H

#include <stddef.h>
#include <stdint.h>

/* Something that a node sees. */
struct iot_mpi_seen {
    uint64_t identity; /* of what it holds; 0: it cannot be read there */
    uint64_t bytes;    /* about as much is to be read */
    uint32_t operand;  /* of the command line: it is that, or lies in it */
    uint32_t is_operand;
    int node;
    const char *path;
};

/* Puts `seen` into an order that does not depend on the one it had, and sets for each the rank that
 * reads it, -1: none. Of one thing that several nodes see (the same path, and the same in it) one
 * rank of one of these nodes reads it. What cannot be read goes to a rank, which says so, unless
 * another node can read it or sees something in it. The largest first, to whoever has least so far.
 * `nodes`: of each rank. Returns 0, -1 without memory. */
int iot_mpi_divide(struct iot_mpi_seen *seen, size_t n, const int *nodes, int ranks, int *reader);

#endif
