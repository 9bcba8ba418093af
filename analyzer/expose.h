/* Which I/O makes the run longer, exactly: a call of service s is exposed by
 *
 *     s * (the share of lambda in 0 .. 1 at which it is on the critical path of T(lambda))
 */
#ifndef IOT_ANALYZER_EXPOSE_H
#define IOT_ANALYZER_EXPOSE_H

#include "analyzer/pieces.h"
#include "analyzer/replay.h"

/* The curve is at lambda = 1, 0.9, ... 0. */
#define IOT_CURVE_STEPS 10

struct iot_curve_point {
    struct iot_lambda lambda;
    int64_t t_ns; /* T(lambda), rounded down */
};

struct iot_exposure {
    int64_t t1_ns, t0_ns; /* T(1), T(0) */
    int64_t *exposed_ns;  /* by call: 0 <= exposed <= service; they sum to t1_ns - t0_ns */
    int64_t *edge_share;  /* by edge: the share of lambda at which it is on the path, of
                             IOT_SHARE_ONE */
    /* How much of T(1) - T(0) may be given to the wrong calls, as the budget ended: no sum of
     * exposed_ns over any set of calls is wrong by more, beside the rounding of each call by less
     * than 1 ns. 0: exact. */
    int64_t exposed_error_ns;
    struct iot_curve_point curve[IOT_CURVE_STEPS + 1];
    struct iot_path path0, path1; /* the walk at lambda 0 and at 1 */
};

/* Decomposes T(1) - T(0) over the calls, with the services as recorded. Memory is linear in the
 * graph, and so is the time, by the budget.
 * budget: edges to be passed over beyond the replays of the curve; 0 for the time of some fifty
 * replays, and at least about half a second. Returns 0 or -ENOMEM; free it in either case. */
int iot_expose(struct iot_exposure *x, struct iot_replay *r, int64_t budget);
void iot_expose_free(struct iot_exposure *x);

#endif
