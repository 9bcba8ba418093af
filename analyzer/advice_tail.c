/* Cut the tail: calls that take much longer than others of their size. */
#include <stdlib.h>

#include "analyzer/advice_finds.h"

enum {
    SIZES = 64,     /* by the highest bit of the bytes: within a factor of two */
    CALLS_MIN = 40, /* of a size: fewer have no P95 to speak of */
    TAIL_FROM = 2,  /* medians: what is slower than that, and than P95, is the tail */
};

struct sizes {
    uint64_t counts[SIZES][IOT_LATENCY_BUCKETS];
    uint64_t n[SIZES];
    struct iot_latency latency[SIZES];
};

/* -1: it is no data call that moved something. */
static int size_of(const struct iot_scene *s, size_t i)
{
    const struct iot_events *e = &s->report->trace->events;
    if (!iot_scene_has(s, i) || iot_op_info(e->op[i])->class_ != IOT_DATA || e->bytes[i] <= 0)
        return -1;
    return 63 - __builtin_clzll((unsigned long long)e->bytes[i]);
}

void iot_find_tail(struct iot_scene *s, struct iot_tally *t)
{
    struct sizes *sizes = calloc(1, sizeof *sizes); /* without memory nothing is found */
    for (size_t i = 0; sizes && i < s->report->trace->events.n; i++) {
        int k = size_of(s, i);
        if (k < 0)
            continue;
        sizes->counts[k][iot_latency_bucket(s->report->model->service_ns[i])]++;
        sizes->n[k]++;
    }
    for (int k = 0; sizes && k < SIZES; k++)
        if (sizes->n[k] >= CALLS_MIN)
            sizes->latency[k] = iot_latency_of_counts(sizes->counts[k], sizes->n[k], INT64_MAX);
    for (size_t i = 0; sizes && i < s->report->trace->events.n; i++) {
        int k = size_of(s, i);
        if (k < 0 || sizes->n[k] < CALLS_MIN)
            continue;
        const struct iot_latency *usual = &sizes->latency[k];
        if (s->service_ns[i] > usual->p95_ns && s->service_ns[i] / TAIL_FROM > usual->p50_ns)
            iot_scene_change(s, t, i, usual->p50_ns);
    }
    free(sizes);
}
