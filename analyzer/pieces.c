/* T is the upper envelope of the lines of all paths, and can have as many pieces as the run has
 * nodes. What makes that many is that a path is a chain of choices, each with few outcomes. So
 * the graph is taken apart at an interval of lambda:
 *
 *  - An edge that is nowhere in the interval on a longest path to its node is dropped, and what
 *    then leads to the last node no more.
 *  - Where all paths left go through one node, the graph falls into two parts, one after the
 *    other. A part of a single edge is on the longest path all over the interval.
 *  - In any other part the longest paths at the two ends are two tangents of its own T. If they
 *    are one line, or meet on the curve, they are all of it. Otherwise the part is longer where
 *    they cross, and is taken apart again to the left and to the right of that.
 */
#include "analyzer/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct iot_subgraph {
    struct iot_subgraph *next;
    struct iot_dag dag;
    uint32_t *slot_of; /* by slot: which one of the whole graph it is */
    struct iot_lambda left, right;
};

static int64_t fixed(struct iot_lambda lambda)
{
    return (int64_t)(((__int128)lambda.num * IOT_SHARE_ONE + lambda.den / 2) / lambda.den);
}

/* Where two tangents cross. Each is above at its own end of an interval of 0 .. 1, so it is in
 * there and the fraction's parts are differences of times. */
static struct iot_lambda crossing(struct iot_line left, struct iot_line right)
{
    return (struct iot_lambda){left.base_ns - right.base_ns, right.io_ns - left.io_ns};
}

/* a - b at lambda, in ns, for an a that is not below b: as good as a double is, and 0 only if
 * it is. By halves, since compilers convert 128 bits slowly. */
static double gap(struct iot_line a, struct iot_line b, struct iot_lambda lambda)
{
    unsigned __int128 d = (unsigned __int128)iot_line_difference(a, b, lambda);
    return ((double)(uint64_t)(d >> 64) * 0x1p64 + (double)(uint64_t)d) / (double)lambda.den;
}

/* Is the slot shorter than the longest path to its node all over the inside of the interval?
 *
 * The longest path to the node, V, is at least its tangents at the ends, L and R. The slot's
 * own length is convex, so at most its chord. With u = V - R at the left end, w = V - L at the
 * right end, L and R cross at u / (u + w) of the way, u w / (u + w) below the chord of V; the
 * slot's chord is there (w left + u right) / (u + w) below that of V, if `left` and `right` is
 * what it lacks at the ends. Tangents less chord is convex with its one corner there. Every
 * figure here is >= 0 and as good as a double, so the margin covers the rounding. */
static bool never_longest(double u, double w, double left, double right)
{
    if (u == 0 || w == 0) /* V is a line */
        return left + right > 0;
    return w * left + u * right > u * w * (1 + 1e-12);
}

/* Notes node p and those of its slots that are kept. Returns how many nodes are newly needed. */
static size_t keep(struct iot_pieces *f, const struct iot_dag *dag, const struct iot_interval *v,
                   uint32_t p)
{
    const struct iot_line *l = v->at_left.at, *r = v->at_right.at;
    uint32_t first = dag->in_first[p], end = dag->in_first[p + 1];
    bool choice = end - first > 1;
    double u = choice ? gap(l[p], r[p], v->left) : 0, w = choice ? gap(r[p], l[p], v->right) : 0;
    size_t more = 0;

    for (uint32_t k = first; k < end; k++) {
        if (choice && never_longest(u, w, gap(l[p], iot_dag_extend(dag, k, l), v->left),
                                    gap(r[p], iot_dag_extend(dag, k, r), v->right)))
            continue;
        f->kept[f->n_kept++] = k;
        more += !f->needed[dag->src[k]];
        f->needed[dag->src[k]] = 1;
    }
    f->nodes[f->n_nodes] = p;
    f->kept_to[f->n_nodes++] = (uint32_t)f->n_kept;
    return more;
}

static void free_part(struct iot_subgraph *part)
{
    free(part->dag.in_first);
    free(part->dag.src);
    free(part->dag.base_ns);
    free(part->dag.io_ns);
    free(part->slot_of);
    free(part);
}

static struct iot_subgraph *new_part(size_t n_nodes, size_t n_slots)
{
    struct iot_subgraph *part = calloc(1, sizeof(*part));
    if (!part)
        return NULL;
    part->dag = (struct iot_dag){
        .n_nodes = n_nodes,
        .in_first = malloc((n_nodes + 1) * sizeof(*part->dag.in_first)),
        .src = malloc(n_slots * sizeof(*part->dag.src)),
        .base_ns = malloc(n_slots * sizeof(*part->dag.base_ns)),
        .io_ns = malloc(n_slots * sizeof(*part->dag.io_ns)),
    };
    part->slot_of = malloc(n_slots * sizeof(*part->slot_of));
    if (part->dag.in_first && part->dag.src && part->dag.base_ns && part->dag.io_ns &&
        part->slot_of)
        return part;
    free_part(part);
    return NULL;
}

/* Puts what was found, which begins at node `first`, on the list. slot_of NULL: the dag is the
 * whole. */
static int add_part(struct iot_pieces *f, const struct iot_dag *dag, const uint32_t *slot_of,
                    const struct iot_interval *v, uint32_t first)
{
    struct iot_subgraph *part = new_part(f->n_nodes + 1, f->n_kept);
    uint32_t slot = 0, node = 0;

    if (!part)
        return -ENOMEM;
    f->local[first] = node;
    part->dag.in_first[node++] = 0;
    part->dag.in_first[node] = 0;
    for (size_t i = f->n_nodes; i-- > 0; node++) {
        for (uint32_t k = i ? f->kept_to[i - 1] : 0; k < f->kept_to[i]; k++, slot++) {
            part->dag.src[slot] = f->local[dag->src[f->kept[k]]];
            part->dag.base_ns[slot] = dag->base_ns[f->kept[k]];
            part->dag.io_ns[slot] = dag->io_ns[f->kept[k]];
            part->slot_of[slot] = slot_of ? slot_of[f->kept[k]] : f->kept[k];
        }
        f->local[f->nodes[i]] = node;
        part->dag.in_first[node + 1] = slot;
    }
    part->left = v->left;
    part->right = v->right;
    part->next = f->todo;
    f->todo = part;
    return 0;
}

/* Goes from the last node down, and ends a part wherever no edge kept passes by. */
static int take_apart(struct iot_pieces *f, const struct iot_dag *dag, const uint32_t *slot_of,
                      const struct iot_interval *v)
{
    int64_t width = fixed(v->right) - fixed(v->left);
    size_t pending = 1; /* nodes needed that are still to come */

    f->n_kept = f->n_nodes = 0;
    memset(f->needed, 0, dag->n_nodes);
    f->needed[dag->n_nodes - 1] = 1;
    for (uint32_t p = (uint32_t)dag->n_nodes; p-- > 0;) {
        if (!f->needed[p])
            continue;
        pending--;
        if (pending == 0) {
            if (f->n_kept == 1)
                f->share[slot_of ? slot_of[f->kept[0]] : f->kept[0]] += width;
            else if (f->n_kept && add_part(f, dag, slot_of, v, p))
                return -ENOMEM;
            f->n_kept = f->n_nodes = 0;
        }
        pending += keep(f, dag, v, p);
    }
    return 0;
}

static void add_path(struct iot_pieces *pieces, const struct iot_subgraph *part,
                     const uint32_t *slot_in, int64_t width)
{
    if (width == 0)
        return;
    for (uint32_t p = (uint32_t)part->dag.n_nodes - 1; p != 0; p = part->dag.src[slot_in[p]])
        pieces->share[part->slot_of[slot_in[p]]] += width;
}

/* Gives the part to its two tangents, from where they cross. Also right for what is not known: as
 * both are on the curve at their ends, the I/O given is the difference of T. */
static void give(struct iot_pieces *pieces, const struct iot_subgraph *part,
                 const struct iot_interval *v)
{
    size_t last = part->dag.n_nodes - 1;
    struct iot_line l = v->at_left.at[last], r = v->at_right.at[last];
    int64_t begin = fixed(part->left), end = fixed(part->right);
    int64_t cross = r.io_ns == l.io_ns ? begin : fixed(crossing(l, r));

    add_path(pieces, part, v->at_left.slot, cross - begin);
    add_path(pieces, part, v->at_right.slot, end - cross);
}

/* Is T a line in between? If one tangent touches the curve where the other does, it lies on the
 * curve all the way, as that is convex. */
static bool straight(const struct iot_subgraph *part, struct iot_line l, struct iot_line r)
{
    return iot_line_difference(l, r, part->left) == 0 ||
           iot_line_difference(l, r, part->right) == 0;
}

static int solve(struct iot_pieces *pieces, const struct iot_subgraph *part,
                 const struct iot_longest *room)
{
    size_t last = part->dag.n_nodes - 1;
    struct iot_interval v = {part->left, part->right, room[0], room[1]};

    iot_dag_run(&part->dag, part->left, &room[0]);
    iot_dag_run(&part->dag, part->right, &room[1]);
    struct iot_line l = room[0].at[last], r = room[1].at[last];
    if (straight(part, l, r)) {
        give(pieces, part, &v);
        return 0;
    }
    if (pieces->budget <= 0) {
        give(pieces, part, &v);
        pieces->error_ns += iot_line_ns(r, part->right) + 1 - iot_line_ns(l, part->left);
        return 0;
    }
    pieces->budget -= 4 * (int64_t)part->dag.in_first[part->dag.n_nodes];

    struct iot_lambda cross = crossing(l, r);
    iot_dag_run(&part->dag, cross, &room[2]);
    if (iot_line_difference(room[2].at[last], l, cross) == 0) {
        give(pieces, part, &v);
        return 0;
    }
    struct iot_interval left = {part->left, cross, room[0], room[2]};
    struct iot_interval right = {cross, part->right, room[2], room[1]};
    int err = take_apart(pieces, &part->dag, part->slot_of, &left);
    return err ? err : take_apart(pieces, &part->dag, part->slot_of, &right);
}

static int solve_with_room(struct iot_pieces *pieces, const struct iot_subgraph *part)
{
    size_t n = part->dag.n_nodes;
    struct iot_line *at = malloc(2 * n * sizeof(*at));
    uint32_t *slot = malloc(2 * n * sizeof(*slot));
    int err = -ENOMEM;

    if (at && slot)
        err = solve(pieces, part,
                    (struct iot_longest[]){pieces->spare, {at, slot}, {at + n, slot + n}});
    free(at);
    free(slot);
    return err;
}

int iot_pieces_init(struct iot_pieces *pieces, const struct iot_dag *dag, int64_t *share,
                    int64_t budget)
{
    size_t n = dag->n_nodes, n_slots = dag->in_first[n];

    *pieces = (struct iot_pieces){
        .share = share,
        .budget = budget,
        .needed = malloc(n * sizeof(*pieces->needed)),
        .local = malloc(n * sizeof(*pieces->local)),
        .nodes = malloc(n * sizeof(*pieces->nodes)),
        .kept_to = malloc(n * sizeof(*pieces->kept_to)),
        .kept = malloc((n_slots + 1) * sizeof(*pieces->kept)),
    };
    bool complete =
        pieces->needed && pieces->local && pieces->nodes && pieces->kept_to && pieces->kept;
    return complete ? 0 : -ENOMEM;
}

int iot_pieces_add(struct iot_pieces *pieces, const struct iot_dag *dag,
                   const struct iot_interval *interval)
{
    int err = take_apart(pieces, dag, NULL, interval);

    pieces->spare = interval->at_left; /* as large as the whole, and so as any part of it */
    while (pieces->todo && !err) {
        struct iot_subgraph *part = pieces->todo;
        pieces->todo = part->next;
        err = solve_with_room(pieces, part);
        free_part(part);
    }
    return err;
}

void iot_pieces_free(struct iot_pieces *pieces)
{
    while (pieces->todo) {
        struct iot_subgraph *part = pieces->todo;
        pieces->todo = part->next;
        free_part(part);
    }
    free(pieces->needed);
    free(pieces->local);
    free(pieces->nodes);
    free(pieces->kept_to);
    free(pieces->kept);
    *pieces = (struct iot_pieces){0};
}
