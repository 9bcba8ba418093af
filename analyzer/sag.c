/* The length of the longest path to a node is convex in lambda: within an interval it sags below
 * the straight line between its ends, its chord, which two replays know exactly. A slot from s into
 * p, taken with the chord of s, is a line that lies left (1 - t) + right t below the chord of p:
 * that is what the slot lacks at the ends, and
 *
 *     sag(p) = least of sag(s) + left (1 - t) + right t over the slots into p,
 *
 * where only a slot that is least is on a longest path. So where sag(p) - sag(s) is always less
 * than what the slot lacks, it is on none. How far a node sags grows with all that is before it.
 * That difference does not, as p and s have most of what is before them in common. It is bounded
 * by way of a reference r, a node before both, to which each sags so much more or less at most. All
 * bounds are bumps: zero at the ends, as sags are there, and the sum of two, and the higher of two,
 * are at most the bump of the sums, and of the higher figures.
 *
 *  - more(p), of sag(p) - sag(r): let slots from a and b be the longest at the left and the
 *    right end, so that they lack nothing there. Then sag(p) <= sag(a) + right(a) t, and
 *    <= sag(b) + left(b) (1 - t): the lower of the two bumps has its left from b and its right
 *    from a.
 *  - less(p), of sag(r) - sag(p): the highest of less(s) - left (1 - t) - right t over the slots
 *    that may be on a longest path. A bump less a line is at most the bump of what is left of
 *    its figures, and not above zero where nothing is left of one.
 *  - From r to the next reference q: sag(p) - sag(q) <= more(p) + less(q), and sag(q) - sag(p) <=
 *    less(p) + more(q); of q itself both are nothing. All nodes gain the same, so that is summed
 *    up in one place, and what is noted of a node is less what the sum was then.
 *
 * So what is long ago is forgotten: what comes from q begins with nothing, and a path beside it
 * counts only as long as it lacks less than what it has gained. Any node may be a reference. Here
 * it is nodes that the longest paths to the end go through at both ends of the interval, as most of
 * what comes after them comes from them; and not many, as with each of them a bound widens by what
 * is not known of that one. Four times as many or as few make little difference.
 */
#include "analyzer/sag.h"

#include <string.h>

enum { APART = 1024 }; /* nodes */

/* Of what is gained: twice that, and twice a length, can be added up. */
#define GAINED_MAX ((int64_t)1 << 60)

struct walk {
    struct iot_dag dag;
    struct iot_lambda left, right;
    const struct iot_line *left_at, *right_at; /* the longest paths at the two ends, */
    const uint32_t *left_in, *right_in;        /* and the slots they come in by */
    struct iot_sag *at;                        /* by node, less: */
    struct iot_sag gained;                     /* by all, where the reference changed */
};

static struct iot_bump plus(struct iot_bump a, struct iot_bump b)
{
    return (struct iot_bump){a.left + b.left, a.right + b.right};
}

static struct iot_bump minus(struct iot_bump a, struct iot_bump b)
{
    return (struct iot_bump){a.left - b.left, a.right - b.right};
}

/* How much longer at lambda the longest path to p is than one by the slot. */
static inline int64_t lack(const struct walk *w, const struct iot_line *at,
                           struct iot_lambda lambda, uint32_t p, uint32_t slot)
{
    struct iot_line by = iot_dag_extend(&w->dag, slot, at);
    return (at[p].base_ns - by.base_ns) * lambda.den + (at[p].io_ns - by.io_ns) * lambda.num;
}

static inline int64_t lack_left(const struct walk *w, uint32_t p, uint32_t slot)
{
    return lack(w, w->left_at, w->left, p, slot);
}

static inline int64_t lack_right(const struct walk *w, uint32_t p, uint32_t slot)
{
    return lack(w, w->right_at, w->right, p, slot);
}

static inline struct iot_bump highest(struct iot_bump a, struct iot_bump b)
{
    return (struct iot_bump){a.left > b.left ? a.left : b.left,
                             a.right > b.right ? a.right : b.right};
}

/* Notes whether slot k into p is ruled out, if p sags by so much more than the reference at most.
 * Returns by how much less it may sag as k is not. */
static inline struct iot_bump weigh(const struct walk *w, uint32_t p, uint32_t k,
                                    struct iot_bump more, bool *never)
{
    struct iot_bump lack = {lack_left(w, p, k), lack_right(w, p, k)};
    struct iot_bump from = plus(w->at[w->dag.src[k]].less, w->gained.less);
    struct iot_bump most = plus(more, from), by = minus(from, lack);

    /* This alone nearly always does; both at once, as which of them does is chance. */
    never[k] = (lack.left > most.left) | (lack.right > most.right);
    if (!never[k])
        never[k] = iot_never_longest((double)most.left, (double)most.right, (double)lack.left,
                                     (double)lack.right);
    if (never[k] || by.left <= 0 || by.right <= 0)
        return (struct iot_bump){0, 0};
    return by;
}

/* Returns whether a choice is left at p. */
static inline bool pass(const struct walk *w, uint32_t p, bool *never)
{
    uint32_t first = w->dag.in_first[p], end = w->dag.in_first[p + 1];
    uint32_t a = w->left_in[p], b = w->right_in[p];
    const struct iot_sag *by_a = &w->at[w->dag.src[a]], *by_b = &w->at[w->dag.src[b]];
    struct iot_bump more = plus(by_a->more, w->gained.more), less = {0, 0};
    uint32_t open = 0;

    if (a == b) {
        /* As it nearly always is: that one lacks nothing, and only the others are weighed. */
        less = plus(by_a->less, w->gained.less);
        never[a] = false;
        open = 1;
        for (uint32_t k = a + 1, n = end - first; n > 1; n--, k++) {
            k = k < end ? k : first;
            less = highest(less, weigh(w, p, k, more, never));
            open += !never[k];
        }
    } else {
        more.left = by_b->more.left + w->gained.more.left + lack_left(w, p, b);
        more.right += lack_right(w, p, a);
        for (uint32_t k = first; k < end; k++) {
            less = highest(less, weigh(w, p, k, more, never));
            open += !never[k];
        }
    }
    w->at[p] = (struct iot_sag){minus(more, w->gained.more), minus(less, w->gained.less)};
    return open > 1;
}

static struct iot_sag of_reference(const struct walk *w)
{
    const struct iot_bump zero = {0, 0};
    return (struct iot_sag){minus(zero, w->gained.more), minus(zero, w->gained.less)};
}

static bool fit_together(struct iot_bump a, struct iot_bump b)
{
    return a.left < GAINED_MAX - b.left && a.right < GAINED_MAX - b.right;
}

/* If sums stay small enough; else it goes on with the one before. */
static void refer_to(struct walk *w, uint32_t p)
{
    struct iot_bump more = plus(w->gained.more, w->at[p].more);
    struct iot_bump less = plus(w->gained.less, w->at[p].less);

    if (!fit_together(w->gained.more, less) || !fit_together(w->gained.less, more))
        return;
    w->gained = (struct iot_sag){plus(w->gained.more, less), plus(w->gained.less, more)};
    w->at[p] = of_reference(w);
}

/* Returns the first reference after node 0. The entry of each has the next one as more.left until
 * the pass comes there. */
static uint32_t choose_references(const struct walk *w)
{
    uint32_t next = (uint32_t)w->dag.n_nodes, l = next - 1, r = next - 1;

    while (l != 0) {
        if (l > r) {
            l = w->dag.src[w->left_in[l]];
        } else if (r > l) {
            r = w->dag.src[w->right_in[r]];
        } else {
            if (next - l >= APART) {
                w->at[l].more.left = next;
                next = l;
            }
            l = w->dag.src[w->left_in[l]];
        }
    }
    return next;
}

/* As all nodes lead to the last, none is further. */
static bool is_short(struct iot_line longest, struct iot_lambda lambda)
{
    return iot_line_difference(longest, (struct iot_line){0, 0}, lambda) < IOT_SAG_LENGTH_MAX;
}

size_t iot_sag_never(const struct iot_dag *dag, const struct iot_interval *v, struct iot_sag *room,
                     bool *never)
{
    struct walk w = {.dag = *dag,
                     .left = v->left,
                     .right = v->right,
                     .left_at = v->at_left.at,
                     .right_at = v->at_right.at,
                     .left_in = v->at_left.slot,
                     .right_in = v->at_right.slot,
                     .at = room};
    size_t last = dag->n_nodes - 1, n_open = 0;

    if (!is_short(v->at_left.at[last], v->left) || !is_short(v->at_right.at[last], v->right)) {
        memset(never, 0, dag->in_first[dag->n_nodes] * sizeof(*never));
        return dag->n_nodes;
    }
    uint32_t reference = choose_references(&w);
    w.at[0] = of_reference(&w);
    for (uint32_t p = 1; p <= last; p++) {
        int64_t after = w.at[p].more.left; /* if it is one */
        n_open += pass(&w, p, never);
        if (p != reference)
            continue;
        refer_to(&w, p);
        reference = (uint32_t)after;
    }
    return n_open;
}
