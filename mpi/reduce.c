#include "mpi/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/wire.h"

/* The first byte of a message: what follows. */
enum { RESULT = 'r', FAILURE = 'f' };

static const char no_memory[] = "out of memory for what this rank hands on";

static void hand_on(struct iot_partial *partial, const char *error, int to)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        iot_mpi_die(no_memory);
    fputc(*error ? FAILURE : RESULT, out);
    if (*error)
        fputs(error, out);
    else if (iot_partial_order(partial) || iot_partial_write(partial, out))
        iot_mpi_die(no_memory);
    if (fclose(out))
        iot_mpi_die(no_memory);
    iot_mpi_send(text, n, to);
    free(text);
}

static void take_in(struct iot_partial *partial, char error[512], int from)
{
    char name[40];
    uint64_t n;
    char *text = iot_mpi_receive(&n, from);
    snprintf(name, sizeof name, "from rank %d of MPI", from);
    if (*text == FAILURE && !*error)
        snprintf(error, 512, "%s", text + 1);
    else if (*text == RESULT && !*error)
        if (iot_partial_add_memory(partial, name, text + 1, n - 1, error) == IOT_ADDED)
            *error = '\0';
    free(text);
}

void iot_mpi_reduce(struct iot_partial *partial, char error[512])
{
    int rank = iot_mpi_rank(MPI_COMM_WORLD), ranks = iot_mpi_size(MPI_COMM_WORLD);
    for (int bit = 1; bit < ranks && bit > 0; bit *= 2) {
        if (rank & bit) {
            hand_on(partial, error, rank - bit);
            return;
        }
        if (rank + bit < ranks)
            take_in(partial, error, rank + bit);
    }
}
