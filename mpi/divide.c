#include "mpi/divide.h"

#include <stdlib.h>
#include <string.h>

struct thing {
    uint64_t bytes;
    size_t first, n; /* the nodes that see it, in `seen` */
};

static int is_same_path(const struct iot_mpi_seen *x, const struct iot_mpi_seen *y)
{
    return x->operand == y->operand && !strcmp(x->path, y->path);
}

/* The same thing side by side; of one path what can be read first. */
static int by_thing(const void *a, const void *b)
{
    const struct iot_mpi_seen *x = a, *y = b;
    int paths;
    if (x->operand != y->operand)
        return x->operand < y->operand ? -1 : 1;
    if (x->is_operand != y->is_operand)
        return x->is_operand ? 1 : -1;
    if ((paths = strcmp(x->path, y->path)) != 0)
        return paths;
    if (x->identity != y->identity)
        return x->identity > y->identity ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The largest first; of those, what fewer nodes see. */
static int by_size(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Whether what is in order before it makes it superfluous: it cannot be read here, but elsewhere.
 */
static int is_covered(const struct iot_mpi_seen *seen, size_t k)
{
    return !seen[k].identity && k &&
           (seen[k].is_operand ? seen[k - 1].operand == seen[k].operand
                               : is_same_path(&seen[k - 1], &seen[k]));
}

static size_t find_things(struct thing *things, const struct iot_mpi_seen *seen, size_t n)
{
    size_t found = 0;
    for (size_t k = 0, to; k < n; k = to) {
        for (to = k + 1;
             to < n && is_same_path(&seen[k], &seen[to]) && seen[k].identity == seen[to].identity;)
            to++;
        if (!is_covered(seen, k))
            things[found++] = (struct thing){seen[k].bytes, k, to - k};
    }
    return found;
}

/* Which of the nodes that see it this is, in `seen`. SIZE_MAX: none. Nodes are in order. */
static size_t find_node(const struct iot_mpi_seen *seen, const struct thing *thing, int node)
{
    size_t low = thing->first, end = thing->first + thing->n, high = end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (seen[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && seen[low].node == node ? low : SIZE_MAX;
}

static void give(const struct iot_mpi_seen *seen, const struct thing *thing, const int *nodes,
                 int ranks, uint64_t *load, int *reader)
{
    size_t at = SIZE_MAX;
    int least = -1;
    for (int r = 0; r < ranks; r++) {
        size_t found =
            least < 0 || load[r] < load[least] ? find_node(seen, thing, nodes[r]) : SIZE_MAX;
        if (found == SIZE_MAX)
            continue;
        least = r;
        at = found;
    }
    if (least < 0)
        return;
    reader[at] = least;
    load[least] += thing->bytes + 1;
}

int iot_mpi_divide(struct iot_mpi_seen *seen, size_t n, const int *nodes, int ranks, int *reader)
{
    struct thing *things = malloc((n + 1) * sizeof *things);
    uint64_t *load = calloc((size_t)ranks, sizeof *load);
    int failed = !things || !load;
    if (!failed && n) {
        qsort(seen, n, sizeof *seen, by_thing);
        size_t n_things = find_things(things, seen, n);
        qsort(things, n_things, sizeof *things, by_size);
        for (size_t k = 0; k < n; k++)
            reader[k] = -1;
        for (size_t k = 0; k < n_things; k++)
            give(seen, &things[k], nodes, ranks, load, reader);
    }
    free(things);
    free(load);
    return failed ? -1 : 0;
}
