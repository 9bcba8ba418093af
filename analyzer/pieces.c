/* T is the upper envelope of the lines of all paths, and can have as many pieces as the run has
 * nodes. What makes that many is that a path is a chain of choices, each with few outcomes. So
 * the graph is taken apart at an interval of lambda:
 *
 *  - An edge that is nowhere in the interval on a longest path to its node is dropped, and what
 *    then leads to the last node no more. Tangents at the ends say of which edges that is so
 *    where the interval or the graph is small, and sag.c of the others.
 *  - Where all paths left go through one node, the graph falls into two parts, one after the
 *    other. A part of a single edge is on the longest path all over the interval.
 *  - In any other part, a node that one edge is left to is left out, as there is nothing to choose:
 *    what goes on from it is one slot, from where that edge comes. So a part is as large as what is
 *    open in it, not as the run is long.
 *  - The longest paths at the two ends are two tangents of the part's own T. If they
 *    are one line, or meet on the curve, they are all of it. Otherwise the part is longer where
 *    they cross, and is taken apart again to the left and to the right of that.
 *
 * A part gives what its slots are worth to the slots of the graph that it was taken out of, once
 * all is known of it.
 */
#include "analyzer/pieces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* If one node of so many at most is left with a choice, a pass to rule out more takes longer than
 * what it saves. */
#define ENOUGH 64

struct iot_subgraph {
    struct iot_subgraph *next;
    struct iot_subgraph *up; /* what it was taken out of; NULL: the whole */
    size_t n_open;           /* parts taken out of it that are not done, and itself if it is not */
    struct iot_dag dag;      /* empty once it is taken apart */
    struct iot_lambda left, right;
    size_t n_slots, n_kept;
    int64_t *share;    /* by slot */
    uint32_t *last;    /* by slot: the last of what it is made of, in: */
    uint32_t *slot_up; /* slots of `up`, from the last down; */
    uint32_t *before;  /* and by such: the one before it, of the same slot; NONE: it is the first */
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

/* --- a part, and what it gives back --- */

static void free_dag(struct iot_dag *dag)
{
    free(dag->in_first);
    free(dag->src);
    free(dag->base_ns);
    free(dag->io_ns);
    *dag = (struct iot_dag){0};
}

static void free_part(struct iot_subgraph *part)
{
    free_dag(&part->dag);
    free(part->share);
    free(part->last);
    free(part->slot_up);
    free(part->before);
    free(part);
}

static struct iot_subgraph *new_part(size_t n_nodes, size_t n_slots, size_t n_kept)
{
    struct iot_subgraph *part = calloc(1, sizeof(*part));
    if (!part)
        return NULL;
    *part = (struct iot_subgraph){
        .n_open = 1,
        .dag = {.n_nodes = n_nodes,
                .in_first = malloc((n_nodes + 1) * sizeof(*part->dag.in_first)),
                .src = malloc(n_slots * sizeof(*part->dag.src)),
                .base_ns = malloc(n_slots * sizeof(*part->dag.base_ns)),
                .io_ns = malloc(n_slots * sizeof(*part->dag.io_ns))},
        .n_slots = n_slots,
        .n_kept = n_kept,
        .share = calloc(n_slots, sizeof(*part->share)),
        .last = malloc(n_slots * sizeof(*part->last)),
        .slot_up = malloc(n_kept * sizeof(*part->slot_up)),
        .before = malloc(n_kept * sizeof(*part->before)),
    };
    if (part->dag.in_first && part->dag.src && part->dag.base_ns && part->dag.io_ns &&
        part->share && part->last && part->slot_up && part->before)
        return part;
    free_part(part);
    return NULL;
}

static int64_t *share_of(const struct iot_pieces *pieces, const struct iot_subgraph *part)
{
    return part ? part->share : pieces->share;
}

static void spread(struct iot_pieces *pieces, const struct iot_subgraph *part)
{
    int64_t *sum = pieces->sums, *to = share_of(pieces, part->up);

    memset(sum, 0, part->n_kept * sizeof(*sum));
    for (size_t slot = 0; slot < part->n_slots; slot++)
        sum[part->last[slot]] = part->share[slot];
    for (size_t k = 0; k < part->n_kept; k++) {
        to[part->slot_up[k]] += sum[k];
        if (part->before[k] != NONE)
            sum[part->before[k]] += sum[k];
    }
}

/* One of the open is done: the part itself, or one that was taken out of it. */
static void done(struct iot_pieces *pieces, struct iot_subgraph *part)
{
    while (part && --part->n_open == 0) {
        struct iot_subgraph *up = part->up;
        spread(pieces, part);
        free_part(part);
        part = up;
    }
}

/* --- taking apart --- */

/* a - b at lambda, for an a that is not below b, in ns times lambda's denominator: as good as a
 * double is, and 0 only if it is. By halves, since compilers convert 128 bits slowly. */
static double gap(struct iot_line a, struct iot_line b, struct iot_lambda lambda)
{
    unsigned __int128 d = (unsigned __int128)iot_line_difference(a, b, lambda);
    uint64_t high = (uint64_t)(d >> 64);
    return high || d > INT64_MAX ? (double)high * 0x1p64 + (double)(uint64_t)d : (double)(int64_t)d;
}

static void need_last(struct iot_pieces *f, const struct iot_dag *dag)
{
    memset(f->needed, 0, dag->n_nodes);
    f->needed[dag->n_nodes - 1] = 1;
}

/* Rules out slots into p by the tangents at the ends, which the longest path to p is not below, and
 * which are a bump below its chord. A slot's own length is convex, and so not above its chord. */
static void rule_out_into(struct iot_pieces *f, const struct iot_dag *dag,
                          const struct iot_interval *v, uint32_t p)
{
    const struct iot_line *l = v->at_left.at, *r = v->at_right.at;
    double u = gap(l[p], r[p], v->left), w = gap(r[p], l[p], v->right);

    for (uint32_t k = dag->in_first[p]; k < dag->in_first[p + 1]; k++)
        f->never[k] = iot_never_longest(u, w, gap(l[p], iot_dag_extend(dag, k, l), v->left),
                                        gap(r[p], iot_dag_extend(dag, k, r), v->right));
}

/* From the last node down, of slots into nodes that are needed. Returns at how many nodes a choice
 * is left; if it is more than `most`, it was given up there. */
static size_t rule_out(struct iot_pieces *f, const struct iot_dag *dag,
                       const struct iot_interval *v, size_t most)
{
    size_t n_open = 0;

    need_last(f, dag);
    for (uint32_t p = (uint32_t)dag->n_nodes; p-- > 0 && n_open <= most;) {
        if (!f->needed[p])
            continue;
        rule_out_into(f, dag, v, p);
        uint32_t left = 0;
        for (uint32_t k = dag->in_first[p]; k < dag->in_first[p + 1]; k++) {
            left += !f->never[k];
            f->needed[dag->src[k]] |= !f->never[k];
        }
        n_open += left > 1;
    }
    return n_open;
}

/* Notes node p and those of its slots that are kept. Returns how many nodes are newly needed. */
static size_t keep(struct iot_pieces *f, const struct iot_dag *dag, uint32_t p)
{
    size_t more = 0;

    for (uint32_t k = dag->in_first[p]; k < dag->in_first[p + 1]; k++) {
        if (f->never[k])
            continue;
        f->kept[f->n_kept++] = k;
        more += !f->needed[dag->src[k]];
        f->needed[dag->src[k]] = 1;
    }
    f->nodes[f->n_nodes] = p;
    f->kept_to[f->n_nodes++] = (uint32_t)f->n_kept;
    return more;
}

static uint32_t kept_from(const struct iot_pieces *f, size_t i)
{
    return i ? f->kept_to[i - 1] : 0;
}

/* From the part's node before, along a slot. */
static struct iot_line along(const struct iot_pieces *f, const struct iot_dag *dag, uint32_t slot)
{
    return iot_dag_extend(dag, slot, f->way);
}

/* Numbers the part's nodes; says how many there are, and how many slots. */
static void number(struct iot_pieces *f, const struct iot_dag *dag, uint32_t first, size_t *n_nodes,
                   size_t *n_slots)
{
    *n_nodes = *n_slots = 0;
    f->root[first] = first;
    f->way[first] = (struct iot_line){0, 0};
    f->place[first] = (uint32_t)(*n_nodes)++;
    for (size_t i = f->n_nodes; i-- > 0;) {
        uint32_t p = f->nodes[i], from = kept_from(f, i), n = f->kept_to[i] - from;
        if (n == 1) {
            f->root[p] = f->root[dag->src[f->kept[from]]];
            f->way[p] = along(f, dag, f->kept[from]);
            f->place[p] = from;
            continue;
        }
        f->root[p] = p;
        f->way[p] = (struct iot_line){0, 0};
        f->place[p] = (uint32_t)(*n_nodes)++;
        *n_slots += n;
    }
}

/* The place in kept of the slot that node p is led to by, if it was left out. */
static uint32_t led_by(const struct iot_pieces *f, uint32_t p)
{
    return f->root[p] == p ? NONE : f->place[p];
}

/* Puts what was found, which begins at node `first`, on the list. */
static int add_part(struct iot_pieces *f, struct iot_subgraph *up, const struct iot_dag *dag,
                    const struct iot_interval *v, uint32_t first)
{
    size_t n_nodes, n_slots;
    uint32_t slot = 0, node = 0;

    number(f, dag, first, &n_nodes, &n_slots);
    struct iot_subgraph *part = new_part(n_nodes, n_slots, f->n_kept);
    if (!part)
        return -ENOMEM;
    part->dag.in_first[node++] = 0;
    for (size_t i = f->n_nodes; i-- > 0;) {
        uint32_t from = kept_from(f, i);
        bool choice = f->kept_to[i] - from > 1;
        if (choice)
            part->dag.in_first[node++] = slot;
        for (uint32_t k = from; k < f->kept_to[i]; k++) {
            uint32_t src = dag->src[f->kept[k]];
            part->slot_up[k] = f->kept[k];
            part->before[k] = led_by(f, src);
            if (!choice)
                continue;
            struct iot_line way = along(f, dag, f->kept[k]);
            part->dag.src[slot] = f->place[f->root[src]];
            part->dag.base_ns[slot] = way.base_ns;
            part->dag.io_ns[slot] = way.io_ns;
            part->last[slot++] = k;
        }
    }
    part->dag.in_first[node] = slot;
    part->left = v->left;
    part->right = v->right;
    part->up = up;
    if (up)
        up->n_open++;
    part->next = f->todo;
    f->todo = part;
    return 0;
}

/* Goes from the last node down, and ends a part wherever no edge kept passes by. */
static int take_apart(struct iot_pieces *f, struct iot_subgraph *up, const struct iot_dag *dag,
                      const struct iot_interval *v)
{
    int64_t width = fixed(v->right) - fixed(v->left);
    size_t pending = 1; /* nodes needed that are still to come */

    f->n_kept = f->n_nodes = 0;
    need_last(f, dag);
    for (uint32_t p = (uint32_t)dag->n_nodes; p-- > 0;) {
        if (!f->needed[p])
            continue;
        pending--;
        if (pending == 0) {
            if (f->n_kept == 1)
                share_of(f, up)[f->kept[0]] += width;
            else if (f->n_kept && add_part(f, up, dag, v, p))
                return -ENOMEM;
            f->n_kept = f->n_nodes = 0;
        }
        pending += keep(f, dag, p);
    }
    return 0;
}

/* --- solving a part --- */

static void add_path(const struct iot_subgraph *part, const uint32_t *slot_in, int64_t width)
{
    if (width == 0)
        return;
    for (uint32_t p = (uint32_t)part->dag.n_nodes - 1; p != 0; p = part->dag.src[slot_in[p]])
        part->share[slot_in[p]] += width;
}

/* Gives the part to its two tangents, from where they cross. Also right for what is not known: as
 * both are on the curve at their ends, the I/O given is the difference of T. */
static void give(const struct iot_subgraph *part, const struct iot_interval *v)
{
    size_t last = part->dag.n_nodes - 1;
    struct iot_line l = v->at_left.at[last], r = v->at_right.at[last];
    int64_t begin = fixed(part->left), end = fixed(part->right);
    int64_t cross = r.io_ns == l.io_ns ? begin : fixed(crossing(l, r));

    add_path(part, v->at_left.slot, cross - begin);
    add_path(part, v->at_right.slot, end - cross);
}

/* Is T a line in between? If one tangent touches the curve where the other does, it lies on the
 * curve all the way, as that is convex. */
static bool straight(const struct iot_subgraph *part, struct iot_line l, struct iot_line r)
{
    return iot_line_difference(l, r, part->left) == 0 ||
           iot_line_difference(l, r, part->right) == 0;
}

static int solve(struct iot_pieces *pieces, struct iot_subgraph *part,
                 const struct iot_longest *room)
{
    size_t last = part->dag.n_nodes - 1;
    struct iot_interval v = {part->left, part->right, room[0], room[1]};

    iot_dag_run(&part->dag, part->left, &room[0]);
    iot_dag_run(&part->dag, part->right, &room[1]);
    struct iot_line l = room[0].at[last], r = room[1].at[last];
    if (straight(part, l, r)) {
        give(part, &v);
        return 0;
    }
    if (pieces->budget <= 0) {
        give(part, &v);
        pieces->error_ns += iot_line_ns(r, part->right) + 1 - iot_line_ns(l, part->left);
        return 0;
    }
    pieces->budget -= 4 * (int64_t)part->n_slots;

    struct iot_lambda cross = crossing(l, r);
    iot_dag_run(&part->dag, cross, &room[2]);
    if (iot_line_difference(room[2].at[last], l, cross) == 0) {
        give(part, &v);
        return 0;
    }
    struct iot_interval left = {part->left, cross, room[0], room[2]};
    struct iot_interval right = {cross, part->right, room[2], room[1]};
    rule_out(pieces, &part->dag, &left, SIZE_MAX);
    int err = take_apart(pieces, part, &part->dag, &left);
    if (err)
        return err;
    rule_out(pieces, &part->dag, &right, SIZE_MAX);
    return take_apart(pieces, part, &part->dag, &right);
}

static int solve_with_room(struct iot_pieces *pieces, struct iot_subgraph *part)
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
    free_dag(&part->dag);
    return err;
}

/* By node, what parts are found with has the room of the sags, which are not needed by then. */
_Static_assert(sizeof(struct iot_sag) == sizeof(struct iot_line) + 4 * sizeof(uint32_t),
               "the room of a node");

int iot_pieces_init(struct iot_pieces *pieces, const struct iot_dag *dag, int64_t *share,
                    int64_t budget)
{
    size_t n = dag->n_nodes, n_slots = dag->in_first[n];

    *pieces = (struct iot_pieces){
        .share = share,
        .budget = budget,
        .sags = malloc(n * sizeof(*pieces->sags)),
        .never = malloc((n_slots + 1) * sizeof(*pieces->never)),
        .needed = malloc(n * sizeof(*pieces->needed)),
        .kept = malloc((n_slots + 1) * sizeof(*pieces->kept)),
        .sums = malloc((n_slots + 1) * sizeof(*pieces->sums)),
    };
    if (!pieces->sags || !pieces->never || !pieces->needed || !pieces->kept || !pieces->sums)
        return -ENOMEM;
    pieces->way = (struct iot_line *)pieces->sags;
    pieces->root = (uint32_t *)(pieces->way + n);
    pieces->place = pieces->root + n;
    pieces->nodes = pieces->place + n;
    pieces->kept_to = pieces->nodes + n;
    return 0;
}

size_t iot_pieces_open(struct iot_pieces *pieces, const struct iot_dag *dag,
                       const struct iot_interval *interval)
{
    size_t few = dag->n_nodes / ENOUGH;
    size_t n_open = rule_out(pieces, dag, interval, few);
    return n_open <= few ? n_open : iot_sag_never(dag, interval, pieces->sags, pieces->never);
}

int iot_pieces_add(struct iot_pieces *pieces, const struct iot_dag *dag,
                   const struct iot_interval *interval)
{
    int err = take_apart(pieces, NULL, dag, interval);

    pieces->spare = interval->at_left; /* as large as the whole, and so as any part of it */
    while (pieces->todo && !err) {
        struct iot_subgraph *part = pieces->todo;
        pieces->todo = part->next;
        err = solve_with_room(pieces, part);
        done(pieces, part);
    }
    return err;
}

void iot_pieces_free(struct iot_pieces *pieces)
{
    while (pieces->todo) { /* without memory: of what came before them nothing is left to give to */
        struct iot_subgraph *part = pieces->todo;
        pieces->todo = part->next;
        done(pieces, part);
    }
    free(pieces->sags);
    free(pieces->never);
    free(pieces->needed);
    free(pieces->kept);
    free(pieces->sums);
    *pieces = (struct iot_pieces){0};
}
