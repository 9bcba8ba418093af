/* What is kept of the ends that something waits for. */
#include "analyzer/gpu_ends.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { STREAMS = 3, EVENTS = 12, ROUNDS = 10000 };

/* Whether one of them is of that stream, not before the event, and so sure. */
static int has(const struct iot_gpu_ends *ends, const uint32_t *lane_of, struct iot_gpu_end end)
{
    for (size_t k = 0; k < ends->n; k++)
        if (lane_of[ends->list[k].event] == lane_of[end.event] &&
            ends->list[k].event >= end.event && ends->list[k].is_sure >= end.is_sure)
            return 1;
    return 0;
}

Test(gpu_ends, what_is_sure_is_not_lost_by_what_is_not)
{
    uint32_t lane_of[EVENTS];
    uint64_t rng = 1;
    for (uint32_t i = 0; i < EVENTS; i++)
        lane_of[i] = i % STREAMS;
    for (int round = 0; round < ROUNDS; round++) {
        struct iot_gpu_ends ends = {0};
        struct iot_gpu_end added[EVENTS];
        for (size_t n = 0; n < EVENTS; n++) {
            rng = rng * UINT64_C(6364136223846793005) + 1442695040888963407;
            added[n] = (struct iot_gpu_end){(uint32_t)(rng >> 40) % EVENTS, rng >> 33 & 1};
            cr_assert(eq(int, iot_gpu_ends_add(&ends, lane_of, added[n]), 0));
            for (size_t k = 0; k <= n; k++)
                cr_assert(has(&ends, lane_of, added[k]), "round %d", round);
            for (size_t a = 0; a < ends.n; a++) { /* and none that another one says */
                struct iot_gpu_end end = ends.list[a];
                ends.list[a].event = lane_of[end.event] ? 0 : 1;
                cr_assert(not(has(&ends, lane_of, end)), "round %d", round);
                ends.list[a] = end;
            }
        }
        iot_gpu_ends_free(&ends);
    }
}
