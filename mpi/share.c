#include "mpi/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/job_inputs.h"
#include "analyzer/memory.h"
#include "analyzer/room.h"
#include "analyzer/workers.h"
#include "mpi/divide.h"
#include "mpi/wire.h"

static const char no_memory[] = "out of memory for the list of what is to be read";

/* Something that a node sees, as it is sent, with its path and a NUL behind it. */
struct head {
    uint64_t identity, bytes;
    uint32_t operand, path_bytes;
};

static void *need(void *memory)
{
    if (!memory)
        iot_mpi_die(no_memory);
    return memory;
}

/* The first rank of this one's node. As many ranks as there are on a node divide it among them. */
static int find_node(void)
{
    MPI_Comm node;
    int first = iot_mpi_rank(MPI_COMM_WORLD);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, first, MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    iot_memory_share((unsigned)iot_mpi_size(node));
    iot_workers_share((unsigned)iot_mpi_size(node));
    MPI_Comm_free(&node);
    return first;
}

/* --- the list of a node --- */

static void put_list(FILE *out, char *const *paths, int n)
{
    struct iot_job_items items;
    if (iot_job_list(&items, paths, n))
        iot_mpi_die(no_memory);
    for (size_t k = 0; k < items.n; k++) {
        const struct iot_job_item *item = &items.items[k];
        struct head head = {.operand = item->operand,
                            .path_bytes = (uint32_t)strlen(item->path) + 1};
        head.identity = iot_job_item_identity(item->path, &head.bytes);
        fwrite(&head, sizeof head, 1, out);
        fwrite(item->path, head.path_bytes, 1, out);
    }
    iot_job_items_free(&items);
}

static char *make_list(size_t *size, char *const *paths, int n)
{
    char *text = NULL;
    FILE *out = need(open_memstream(&text, size));
    put_list(out, paths, n);
    if (fclose(out))
        iot_mpi_die(no_memory);
    return text;
}

/* --- rank 0 --- */

struct lists {
    struct iot_mpi_seen *seen;
    size_t n, room;
};

static void add_list(struct lists *lists, const char *text, uint64_t size, int node,
                     char *const *paths)
{
    for (uint64_t at = 0; at < size;) {
        struct head head;
        memcpy(&head, text + at, sizeof head);
        if (IOT_ROOM(lists->seen, lists->n + 1, lists->room))
            iot_mpi_die(no_memory);
        const char *path = text + at + sizeof head;
        lists->seen[lists->n++] = (struct iot_mpi_seen){
            head.identity, head.bytes, head.operand, !strcmp(path, paths[head.operand]),
            node,          path};
        at += sizeof head + head.path_bytes;
    }
}

/* The paths of one rank. */
static char *paths_of(const struct lists *lists, const int *reader, int rank, size_t *size)
{
    char *text = NULL;
    FILE *out = need(open_memstream(&text, size));
    for (size_t k = 0; k < lists->n; k++)
        if (reader[k] == rank)
            fwrite(lists->seen[k].path, strlen(lists->seen[k].path) + 1, 1, out);
    fputc('\0', out);
    if (fclose(out))
        iot_mpi_die(no_memory);
    return text;
}

/* Returns rank 0's own. */
static char *send_paths(const struct lists *lists, const int *reader, int ranks)
{
    char *own = NULL;
    for (int r = 0; r < ranks; r++) {
        size_t size;
        char *text = paths_of(lists, reader, r, &size);
        if (r) {
            iot_mpi_send(text, size, r);
            free(text);
        } else {
            own = text;
        }
    }
    return own;
}

static char *divide(char *list, size_t size, const int *nodes, int ranks, char *const *paths)
{
    struct lists lists = {0};
    char **texts = need(calloc((size_t)ranks, sizeof *texts));
    for (int r = 0; r < ranks; r++) {
        uint64_t n = size;
        if (nodes[r] != r)
            continue;
        texts[r] = r ? iot_mpi_receive(&n, r) : list;
        add_list(&lists, texts[r], n, r, paths);
    }
    int *reader = need(malloc((lists.n + 1) * sizeof *reader));
    if (iot_mpi_divide(lists.seen, lists.n, nodes, ranks, reader))
        iot_mpi_die(no_memory);
    char *own = send_paths(&lists, reader, ranks);
    for (int r = 0; r < ranks; r++)
        free(texts[r]);
    free(texts);
    free(lists.seen);
    free(reader);
    return own;
}

char *iot_mpi_share(char *const *paths, int n)
{
    int rank = iot_mpi_rank(MPI_COMM_WORLD), ranks = iot_mpi_size(MPI_COMM_WORLD);
    int node = find_node(), *nodes = need(malloc((size_t)ranks * sizeof *nodes));
    size_t size = 0;
    char *list = node == rank ? make_list(&size, paths, n) : NULL, *own;
    MPI_Gather(&node, 1, MPI_INT, nodes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!rank) {
        own = divide(list, size, nodes, ranks, paths);
    } else {
        uint64_t received;
        if (list)
            iot_mpi_send(list, size, 0);
        free(list);
        own = iot_mpi_receive(&received, 0);
    }
    free(nodes);
    return own;
}
