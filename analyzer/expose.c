#include "analyzer/expose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_REPLAYS 50
#define BUDGET_LEAST ((int64_t)1 << 26)

/* So many steps at most to one of the curve. */
#define FINE_MOST 32

/* One node of so many left with a choice is: */
#define MANY 8  /* more than to be taken apart in less time than it is replayed in */
#define FEW 128 /* not too many in twice the width either, it seems */

static int note_ends(struct iot_exposure *x, const struct iot_replay *r, int step)
{
    int64_t t = x->curve[IOT_CURVE_STEPS - step].t_ns;
    if (step == 0) {
        x->t0_ns = t;
        return iot_replay_path(r, &x->path0);
    }
    if (step == IOT_CURVE_STEPS) {
        x->t1_ns = t;
        return iot_replay_path(r, &x->path1);
    }
    return 0;
}

/* lambda in steps of which `fine` are one of the curve. */
static struct iot_lambda lambda_at(int64_t step, int64_t fine)
{
    return (struct iot_lambda){step, IOT_CURVE_STEPS * fine};
}

static int note(struct iot_exposure *x, const struct iot_replay *r, int64_t step, int64_t fine)
{
    int64_t k = step / fine;

    if (step % fine)
        return 0;
    x->curve[IOT_CURVE_STEPS - k] = (struct iot_curve_point){
        {k, IOT_CURVE_STEPS}, iot_line_ns(r->longest.at[r->dag.n_nodes - 1], r->lambda)};
    return note_ends(x, r, (int)k);
}

/* So many steps to one of the curve that the bounds of sags have room. */
static int64_t finest(const struct iot_graph *g)
{
    int64_t t1_ns = g->nodes[g->end].time_ns + g->replay_error_ns - g->nodes[g->start].time_ns;
    int64_t fine = FINE_MOST;

    while (fine > 1 && t1_ns >= IOT_SAG_LENGTH_MAX / (IOT_CURVE_STEPS * fine))
        fine /= 2;
    return fine;
}

/* Replays up to `width` steps from the interval's left end; half as far, and so on, where so much
 * would be open that another replay takes less time than to take that apart. Returns how far. */
static int64_t replay_on(struct iot_replay *r, struct iot_pieces *pieces, struct iot_interval *v,
                         int64_t left, int64_t width, int64_t fine, size_t *n_open)
{
    for (;; width /= 2) {
        v->right = lambda_at(left + width, fine);
        iot_replay_run(r, v->right);
        v->at_right = r->longest;
        *n_open = iot_pieces_open(pieces, &r->dag, v);
        bool done = width == 1 || *n_open <= r->dag.n_nodes / MANY || pieces->budget <= 0;
        if (!done || (left + width) % fine)
            pieces->budget -= r->dag.in_first[r->dag.n_nodes];
        if (done)
            return width;
    }
}

/* Replays step by step from lambda 0 to 1, and takes apart each interval between. `before` is
 * room for the replay before, and for what is taken apart.
 *
 * The wider an interval, the more is open, and far from in proportion: from some width on, nearly
 * all. Which that is depends on how many lanes are about as long, hardly on how long the
 * run is, and it changes along lambda. */
static int add_shares(struct iot_exposure *x, struct iot_replay *r, struct iot_longest *before,
                      struct iot_pieces *pieces)
{
    const int64_t fine = finest(r->graph), end = IOT_CURVE_STEPS * fine;
    int64_t step = 0, width = fine;
    struct iot_interval v = {.right = IOT_LAMBDA_0};
    size_t n_open;

    iot_replay_run(r, v.right);
    int err = note(x, r, 0, fine);
    while (step < end && !err) {
        struct iot_longest now = *before;
        *before = r->longest;
        r->longest = now;
        v.left = v.right;
        v.at_left = *before;
        width = replay_on(r, pieces, &v, step, width, fine, &n_open);
        step += width;
        if (iot_pieces_add(pieces, &r->dag, &v))
            return -ENOMEM;
        err = note(x, r, step, fine);
        bool wider = n_open < r->dag.n_nodes / FEW || pieces->budget <= 0;
        if (wider && 2 * width <= fine && step % (2 * width) == 0)
            width *= 2;
    }
    return err;
}

/* Hands out to the calls, in their order, what their edge's share of their service comes to.
 *
 * A call gets what the running sum, kept in fixed point with all its bits, gains in whole
 * nanoseconds. Let r be the fraction kept (0 <= r < 1) and p the call's exact part: it gets
 * floor(r + p), which is not negative and less than p + 1; as p <= service and service is
 * whole, floor(r + p) <= service. The sum telescopes to floor(1/2 + sum of p), since r starts at
 * one half. That is T(1) - T(0) exactly: the shares differ from the true ones only in that the
 * lambda where one piece of T ends and the next begins was rounded, by at most 2^-61, which moves
 * the sum by that times the difference of the two slopes; T is convex, so all those together
 * are less than 2^53, and the sum is off by less than 2^-8. */
static void hand_out(struct iot_exposure *x, const struct iot_graph *g)
{
    unsigned __int128 running = IOT_SHARE_ONE / 2;

    for (size_t i = 0; i < g->n_edges; i++) {
        const struct iot_edge *e = &g->edges[i];
        int64_t share = x->edge_share[i];
        const int64_t *service = g->call_service_ns + e->call_first;
        int64_t *exposed = x->exposed_ns + e->call_first;
        if (share == 0 || e->call_count == 0)
            continue;
        if (share == IOT_SHARE_ONE) { /* the fraction stays as it is */
            memcpy(exposed, service, e->call_count * sizeof(*exposed));
            continue;
        }
        for (uint32_t k = 0; k < e->call_count; k++) {
            running += (unsigned __int128)service[k] * (uint64_t)share;
            exposed[k] = (int64_t)(running / IOT_SHARE_ONE);
            running %= IOT_SHARE_ONE;
        }
    }
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int share_out(struct iot_exposure *x, struct iot_replay *r, int64_t *share, int64_t budget,
                     int64_t *error_ns)
{
    struct iot_longest before = {
        .at = malloc(r->dag.n_nodes * sizeof(*before.at)),
        .slot = malloc(r->dag.n_nodes * sizeof(*before.slot)),
    };
    struct iot_pieces pieces;
    int err = iot_pieces_init(&pieces, &r->dag, share, budget);
    if (!before.at || !before.slot)
        err = -ENOMEM;
    if (!err)
        err = add_shares(x, r, &before, &pieces);
    free(before.at);
    free(before.slot);
    *error_ns = pieces.error_ns;
    iot_pieces_free(&pieces);
    return err;
}

int iot_expose(struct iot_exposure *x, struct iot_replay *r, int64_t budget)
{
    const struct iot_graph *g = r->graph;
    size_t n_slots = r->dag.in_first[r->dag.n_nodes];
    int64_t usual = (int64_t)n_slots * BUDGET_REPLAYS, error = 0;

    *x = (struct iot_exposure){0};
    int64_t *share = calloc(n_slots + 1, sizeof(*share));
    int err = iot_replay_set_service(r, NULL);
    if (!share)
        err = -ENOMEM;
    if (!err)
        err = share_out(x, r, share, budget ? budget : max(usual, BUDGET_LEAST), &error);
    if (!err) {
        x->exposed_ns = calloc(g->n_calls ? g->n_calls : 1, sizeof(*x->exposed_ns));
        x->edge_share = calloc(g->n_edges ? g->n_edges : 1, sizeof(*x->edge_share));
        err = x->exposed_ns && x->edge_share ? iot_replay_spread(r, share, x->edge_share) : -ENOMEM;
    }
    free(share);
    if (err)
        return err;
    x->exposed_error_ns = error < x->t1_ns - x->t0_ns ? error : x->t1_ns - x->t0_ns;
    hand_out(x, g);
    return 0;
}

void iot_expose_free(struct iot_exposure *x)
{
    free(x->exposed_ns);
    free(x->edge_share);
    free(x->path0.edges);
    free(x->path1.edges);
    *x = (struct iot_exposure){0};
}
