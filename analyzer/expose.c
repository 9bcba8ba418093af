#include "analyzer/expose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_PER_PLANE 64

/* A path that is the longest at `lambda`, and so touches the curve there. */
struct tangent {
    struct iot_line line;
    struct iot_lambda lambda;
    size_t path;  /* its bit in the planes */
    bool settled; /* between here and the next, the curve is known to be these two lines */
};

struct envelope {
    struct iot_replay *replay;
    struct iot_exposure *x;
    struct tangent *tangents; /* by lambda */
    size_t n_tangents, max;
    /* Which slots are on which path, a bit a path: plane [k] has paths 64 k to 64 k + 63. */
    uint64_t **planes;
    size_t n_slots;
};

static bool meet(struct iot_line a, struct iot_line b, struct iot_lambda at)
{
    return (__int128)(a.base_ns - b.base_ns) * at.den + (__int128)(a.io_ns - b.io_ns) * at.num == 0;
}

static struct iot_line replay(struct envelope *v, struct iot_lambda lambda)
{
    struct iot_line line = iot_replay_run(v->replay, lambda);
    v->x->curve[v->x->n_curve++] =
        (struct iot_curve_point){.lambda = lambda, .t_ns = iot_line_ns(line, lambda)};
    return line;
}

/* Puts the last replay's path at index i of the tangents. */
static int insert(struct envelope *v, size_t i, struct iot_line line, struct iot_lambda lambda)
{
    size_t path = v->n_tangents, plane = path / PATHS_PER_PLANE;
    uint64_t bit = (uint64_t)1 << path % PATHS_PER_PLANE;
    uint32_t place = v->replay->end, slot;

    if (!v->planes[plane])
        v->planes[plane] = calloc(v->n_slots, sizeof(**v->planes));
    if (!v->planes[plane])
        return -ENOMEM;
    while (iot_replay_step_back(v->replay, &place, &slot))
        v->planes[plane][slot] |= bit;

    memmove(&v->tangents[i + 1], &v->tangents[i], (v->n_tangents - i) * sizeof(*v->tangents));
    v->tangents[i] = (struct tangent){.line = line, .lambda = lambda, .path = path};
    v->n_tangents++;
    return 0;
}

/* If one of them touches the curve where the other does, it lies on it all the way between,
 * as the curve is convex. So it is too where the two are one line. */
static void settle(struct tangent *left, const struct tangent *right)
{
    left->settled =
        meet(left->line, right->line, left->lambda) || meet(left->line, right->line, right->lambda);
}

/* What of T(1) - T(0) lies between a tangent that is not settled and the next: only this can
 * be given to the wrong calls there, as truth and mixture have the same sum and are not
 * negative. It is never more than the width times the I/O of the right path. */
static double uncertain(const struct tangent *t)
{
    struct iot_lambda l = t[0].lambda, r = t[1].lambda;
    return (double)(t[1].line.base_ns - t[0].line.base_ns) +
           (double)t[1].line.io_ns * ((double)r.num / (double)r.den) -
           (double)t[0].line.io_ns * ((double)l.num / (double)l.den);
}

/* Replays where tangent i and the next cross. As the left one is above at its end and the right
 * one at its own, that is between the two, and the fraction is within the bounds of iot_lambda. */
static int refine(struct envelope *v, size_t i)
{
    struct tangent *left = &v->tangents[i];
    struct iot_lambda cross = {.num = left[0].line.base_ns - left[1].line.base_ns,
                               .den = left[1].line.io_ns - left[0].line.io_ns};
    struct iot_line line = replay(v, cross);

    if (meet(line, left->line, cross)) {
        left->settled = true;
        return 0;
    }
    if (insert(v, i + 1, line, cross))
        return -ENOMEM;
    settle(&left[0], &left[1]);
    settle(&left[1], &left[2]);
    return 0;
}

static int find_pieces(struct envelope *v)
{
    struct iot_exposure *x = v->x;
    struct iot_line line = replay(v, IOT_LAMBDA_0);

    x->t0_ns = iot_line_ns(line, IOT_LAMBDA_0);
    if (insert(v, 0, line, IOT_LAMBDA_0) ||
        iot_replay_path(v->replay, &x->path0.edges, &x->path0.n_edges))
        return -ENOMEM;
    line = replay(v, IOT_LAMBDA_1);
    x->t1_ns = iot_line_ns(line, IOT_LAMBDA_1);
    if (insert(v, 1, line, IOT_LAMBDA_1) ||
        iot_replay_path(v->replay, &x->path1.edges, &x->path1.n_edges))
        return -ENOMEM;
    settle(&v->tangents[0], &v->tangents[1]);

    while (x->n_curve < v->max) {
        size_t worst = v->n_tangents;
        double most = -1;
        for (size_t i = 0; i + 1 < v->n_tangents; i++)
            if (!v->tangents[i].settled && uncertain(&v->tangents[i]) > most) {
                most = uncertain(&v->tangents[i]);
                worst = i;
            }
        if (worst == v->n_tangents)
            break;
        if (refine(v, worst))
            return -ENOMEM;
    }
    return 0;
}

static void state_error(struct envelope *v)
{
    for (size_t i = 0; i + 1 < v->n_tangents; i++) {
        const struct tangent *t = &v->tangents[i];
        if (!t->settled)
            v->x->exposed_error_ns +=
                iot_line_ns(t[1].line, t[1].lambda) + 1 - iot_line_ns(t[0].line, t[0].lambda);
    }
    int64_t all = v->x->t1_ns - v->x->t0_ns;
    if (v->x->exposed_error_ns > all)
        v->x->exposed_error_ns = all;
}

/* Where tangent i hands over to the next, in fixed point, to the nearest. The same rule for
 * pieces that are settled and those that are not: between two points of the curve, to change
 * where the tangents cross is the mixture of the two whose I/O is the difference of T. */
static int64_t handover(const struct tangent *t)
{
    int64_t num = t[0].line.base_ns - t[1].line.base_ns, den = t[1].line.io_ns - t[0].line.io_ns;
    if (den == 0) /* one line: the path nearer to what was recorded */
        num = t[0].lambda.num, den = t[0].lambda.den;
    return (int64_t)(((__int128)num * IOT_SHARE_ONE + den / 2) / den);
}

static int share_edges(struct envelope *v)
{
    const uint32_t *in_edges = v->replay->graph->in_edges;
    int64_t *width = calloc(v->n_tangents, sizeof(*width)), begin = 0;

    if (!width)
        return -ENOMEM;
    for (size_t i = 0; i < v->n_tangents; i++) {
        int64_t end = i + 1 < v->n_tangents ? handover(&v->tangents[i]) : IOT_SHARE_ONE;
        width[v->tangents[i].path] = end - begin;
        begin = end;
    }
    for (size_t first = 0; first < v->n_tangents; first += PATHS_PER_PLANE) {
        const uint64_t *plane = v->planes[first / PATHS_PER_PLANE];
        uint64_t known = 0; /* neighbours are mostly on the same paths */
        int64_t share = 0;
        for (size_t slot = 0; slot < v->n_slots; slot++) {
            if (!plane[slot])
                continue;
            if (plane[slot] != known) {
                known = plane[slot];
                share = 0;
                for (uint64_t left = known; left; left &= left - 1)
                    share += width[first + (size_t)__builtin_ctzll(left)];
            }
            v->x->edge_share[in_edges[slot]] += share;
        }
    }
    free(width);
    return 0;
}

/* Hands out to the calls, in their order, what their edge's share of their service comes to.
 *
 * A call gets what the running sum, kept in fixed point with all its bits, gains in whole
 * nanoseconds. Let r be the fraction kept (0 <= r < 1) and p the call's exact part: it gets
 * floor(r + p), which is not negative and less than p + 1; as p <= service and service is
 * whole, floor(r + p) <= service. The sum telescopes to floor(1/2 + sum of p), since r
 * starts at one half. The exact sum differs from T(1) - T(0) only by the rounding of the
 * handovers: each moves at most 2^-61 of a difference of I/O between two neighbours, and these
 * add up to less than 2^53, so it is off by less than 2^-8 and rounds to T(1) - T(0) exactly. */
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

static int by_lambda_down(const void *a, const void *b)
{
    struct iot_lambda l = ((const struct iot_curve_point *)a)->lambda,
                      r = ((const struct iot_curve_point *)b)->lambda;
    __int128 d = (__int128)r.num * l.den - (__int128)l.num * r.den;
    return d < 0 ? -1 : d > 0;
}

static size_t replays_for(size_t n_slots)
{
    size_t n = IOT_EXPOSE_WORK / n_slots;
    if (n > IOT_EXPOSE_REPLAYS_MAX)
        return IOT_EXPOSE_REPLAYS_MAX;
    return n < IOT_EXPOSE_REPLAYS ? IOT_EXPOSE_REPLAYS : n;
}

static int decompose(struct envelope *v)
{
    const struct iot_graph *g = v->replay->graph;
    struct iot_exposure *x = v->x;

    v->tangents = calloc(v->max, sizeof(*v->tangents));
    v->planes = calloc(v->max / PATHS_PER_PLANE + 1, sizeof(*v->planes));
    x->curve = calloc(v->max, sizeof(*x->curve));
    x->edge_share = calloc(g->n_edges ? g->n_edges : 1, sizeof(*x->edge_share));
    x->exposed_ns = calloc(g->n_calls ? g->n_calls : 1, sizeof(*x->exposed_ns));
    if (!v->tangents || !v->planes || !x->curve || !x->edge_share || !x->exposed_ns)
        return -ENOMEM;
    if (find_pieces(v) || share_edges(v))
        return -ENOMEM;
    state_error(v);
    hand_out(x, g);
    qsort(x->curve, x->n_curve, sizeof(*x->curve), by_lambda_down);
    return 0;
}

int iot_expose(struct iot_exposure *x, struct iot_replay *r, size_t max_replays)
{
    size_t n_slots = r->graph->in_first[r->graph->n_nodes];
    struct envelope v = {.replay = r, .x = x, .n_slots = n_slots ? n_slots : 1};

    *x = (struct iot_exposure){0};
    v.max = max_replays ? max_replays : replays_for(v.n_slots);
    if (v.max < 2)
        v.max = 2;
    iot_replay_set_service(r, NULL);
    int err = decompose(&v);
    for (size_t k = 0; v.planes && k <= v.max / PATHS_PER_PLANE; k++)
        free(v.planes[k]);
    free(v.planes);
    free(v.tangents);
    return err;
}

void iot_expose_free(struct iot_exposure *x)
{
    free(x->exposed_ns);
    free(x->edge_share);
    free(x->curve);
    free(x->path0.edges);
    free(x->path1.edges);
    *x = (struct iot_exposure){0};
}
