/* Which I/O makes the run longer, exactly: a call of service s is exposed by
 *
 *     s * (the share of lambda in 0 .. 1 at which it is on the critical path of T(lambda))
 *
 * T is the upper envelope of the lines of all paths. Replays where the tangents of two
 * neighbours cross find its pieces, the most uncertain first.
 */
#ifndef IOT_ANALYZER_EXPOSE_H
#define IOT_ANALYZER_EXPOSE_H

#include "analyzer/replay.h"

/* Shares of lambda are fixed point: IOT_SHARE_ONE is the whole of 0 .. 1. */
#define IOT_SHARE_ONE ((int64_t)1 << 60)

/* A large graph gets so many replays, a small one more: as many as take about a second. */
#define IOT_EXPOSE_REPLAYS 64
#define IOT_EXPOSE_REPLAYS_MAX 4096
#define IOT_EXPOSE_WORK ((size_t)1 << 27) /* edges passed, over all replays */

struct iot_curve_point {
    struct iot_lambda lambda;
    int64_t t_ns; /* T(lambda), rounded down; exact at 0 and 1 */
};

struct iot_path {
    uint32_t *edges; /* indices, from start to end */
    size_t n_edges;
};

struct iot_exposure {
    int64_t t1_ns, t0_ns; /* T(1), T(0) */
    int64_t *exposed_ns;  /* by call: 0 <= exposed <= service; they sum to t1_ns - t0_ns */
    int64_t *edge_share;  /* by edge: the share of lambda at which it is on the path */
    /* The pieces of T that are not known to be exact can give their part of T(1) - T(0) to the
     * wrong calls. This is that part: no sum of exposed_ns over any set of calls is wrong by
     * more, beside the rounding of each call by less than 1 ns. */
    int64_t exposed_error_ns;
    struct iot_curve_point *curve; /* every lambda replayed, from 1 down to 0; straight between
                                      neighbours, save for what exposed_error_ns counts */
    size_t n_curve;                /* also the number of replays it took */
    struct iot_path path0, path1;  /* the walk at lambda 0 and at 1 */
};

/* Decomposes T(1) - T(0) over the calls. The services are as recorded, also afterwards.
 * max_replays: at least 2, or 0 for the rule above. Returns 0 or -ENOMEM; free it in either
 * case. */
int iot_expose(struct iot_exposure *x, struct iot_replay *r, size_t max_replays);
void iot_expose_free(struct iot_exposure *x);

#endif
