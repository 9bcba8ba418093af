#include "tests/unit/brute.h"

#include <stdlib.h>

int iot_test_compare(struct iot_line a, struct iot_line b, struct iot_lambda lambda)
{
    __int128 d = (__int128)a.base_ns * lambda.den + (__int128)a.io_ns * lambda.num -
                 (__int128)b.base_ns * lambda.den - (__int128)b.io_ns * lambda.num;
    return d < 0 ? -1 : d > 0;
}

static void extend(struct iot_test_paths *all, const struct iot_graph *g, uint32_t node,
                   struct iot_test_path path)
{
    if (node == g->end) {
        if (all->n == all->cap) {
            all->cap = all->cap * 2 + 64;
            all->paths = realloc(all->paths, all->cap * sizeof(*all->paths));
        }
        all->paths[all->n++] = path; /* no path goes on from the end and returns to it */
        return;
    }
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct iot_edge *e = &g->edges[i];
        struct iot_test_path longer = path;
        if (e->cut || e->src != node)
            continue;
        longer.line.base_ns += e->base_ns;
        longer.line.io_ns += e->io_ns;
        longer.edges |= (uint64_t)1 << i;
        extend(all, g, e->dst, longer);
    }
}

static int by_line(const void *a, const void *b)
{
    const struct iot_line *l = &((const struct iot_test_path *)a)->line,
                          *r = &((const struct iot_test_path *)b)->line;
    if (l->io_ns != r->io_ns)
        return l->io_ns < r->io_ns ? -1 : 1;
    return l->base_ns < r->base_ns ? -1 : l->base_ns > r->base_ns;
}

void iot_test_all_paths(struct iot_test_paths *all, const struct iot_graph *g)
{
    *all = (struct iot_test_paths){0};
    extend(all, g, g->start, (struct iot_test_path){0});
    qsort(all->paths, all->n, sizeof(*all->paths), by_line);
}

struct iot_line iot_test_longest(const struct iot_test_paths *all, struct iot_lambda lambda)
{
    struct iot_line best = all->paths[0].line;
    for (size_t i = 1; i < all->n; i++)
        if (iot_test_compare(all->paths[i].line, best, lambda) > 0)
            best = all->paths[i].line;
    return best;
}

int64_t iot_test_t1_with(const struct iot_test_paths *all, const struct iot_graph *g,
                         const int64_t *io_ns)
{
    int64_t longest = 0;
    for (size_t i = 0; i < all->n; i++) {
        int64_t length = all->paths[i].line.base_ns;
        for (size_t e = 0; e < g->n_edges; e++)
            if (all->paths[i].edges >> e & 1)
                length += io_ns[e];
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Adds the piece on which `line` is the longest. */
static void add_piece(const struct iot_test_paths *all, struct iot_line line, double width,
                      size_t n_edges, double *least, double *most)
{
    uint64_t every = UINT64_MAX, any = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->paths[i].line.base_ns == line.base_ns && all->paths[i].line.io_ns == line.io_ns) {
            every &= all->paths[i].edges;
            any |= all->paths[i].edges;
        }
    for (size_t e = 0; e < n_edges; e++) {
        least[e] += every >> e & 1 ? width : 0;
        most[e] += any >> e & 1 ? width : 0;
    }
}

void iot_test_shares(const struct iot_test_paths *all, size_t n_edges, double *least, double *most)
{
    struct iot_lambda from = {0, 1};
    struct iot_line line = all->paths[0].line;

    /* Of the longest at 0 the steepest: paths are sorted by io. */
    for (size_t i = 1; i < all->n; i++)
        if (iot_test_compare(all->paths[i].line, line, from) >= 0)
            line = all->paths[i].line;
    for (size_t e = 0; e < n_edges; e++)
        least[e] = most[e] = 0;
    while (from.num < from.den) {
        struct iot_lambda to = {1, 1};
        struct iot_line next = line;
        for (size_t i = 0; i < all->n; i++) {
            struct iot_line other = all->paths[i].line;
            struct iot_lambda cross = {line.base_ns - other.base_ns, other.io_ns - line.io_ns};
            if (cross.den <= 0)
                continue;
            /* The first to come; of several the steepest, which is the last here. */
            __int128 d = (__int128)cross.num * to.den - (__int128)to.num * cross.den;
            if (d <= 0) {
                to = cross;
                next = other;
            }
        }
        add_piece(all, line, (double)to.num / (double)to.den - (double)from.num / (double)from.den,
                  n_edges, least, most);
        line = next;
        from = to;
    }
}
