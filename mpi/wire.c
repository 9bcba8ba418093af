#include "mpi/wire.h"

#include <stdlib.h>

#include "analyzer/cmd.h"

enum { TAG_SIZE = 1, TAG_BYTES = 2, PIECE_BYTES = 64 << 20 };

void iot_mpi_die(const char *what)
{
    iot_error("%s", what);
    MPI_Abort(MPI_COMM_WORLD, IOT_EXIT_USAGE);
    _Exit(IOT_EXIT_USAGE);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "", line[MPI_MAX_ERROR_STRING + 80];
    int n;
    (void)comm;
    MPI_Error_string(*code, text, &n);
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    snprintf(line, sizeof line, "MPI failed: %s; all ranks end, and no report is written", text);
    iot_mpi_die(line);
}

void iot_mpi_handle_errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}

int iot_mpi_rank(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int iot_mpi_size(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

/* How much of what is left goes into one message. */
static int piece(uint64_t left)
{
    return left < PIECE_BYTES ? (int)left : PIECE_BYTES;
}

void iot_mpi_send(const void *bytes, uint64_t size, int to)
{
    const char *at = bytes;
    MPI_Send(&size, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
    for (uint64_t left = size; left; left -= (uint64_t)piece(left))
        MPI_Send(at + (size - left), piece(left), MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD);
}

char *iot_mpi_receive(uint64_t *size, int from)
{
    MPI_Recv(size, 1, MPI_UINT64_T, from, TAG_SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *bytes = malloc(*size + 1);
    if (!bytes)
        iot_mpi_die("out of memory for what another rank sends");
    for (uint64_t left = *size; left; left -= (uint64_t)piece(left))
        MPI_Recv(bytes + (*size - left), piece(left), MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    bytes[*size] = '\0';
    return bytes;
}
