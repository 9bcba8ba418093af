/* Threads that take turns. A profiler does not say that a thread waited for another: that the one
 * had been idle, and began when the other had just ended, and that this one then did nothing, does.
 * (PyTorch's main thread and the one that runs backward passes take turns like that.) */
#include <stdlib.h>

#include "analyzer/import.h"
#include "analyzer/room.h"

static int by_start(const void *a, const void *b)
{
    const struct iot_busy *x = a, *y = b;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Of the lanes that do nothing now, the one that has ended last. */
static uint32_t last_ended(const int64_t *ended, size_t n, uint32_t lane, int64_t now)
{
    uint32_t last = UINT32_MAX;
    for (uint32_t l = 0; l < n; l++)
        if (l != lane && ended[l] != INT64_MIN && ended[l] <= now &&
            (last == UINT32_MAX || ended[l] > ended[last]))
            last = l;
    return last;
}

int iot_hand_offs_find(const struct iot_profile *p, size_t process, struct iot_hand_off **list,
                       size_t *n)
{
    int64_t *ended = malloc((p->n_lanes + 1) * sizeof *ended);
    size_t room = 0;
    *list = NULL;
    *n = 0;
    if (!ended)
        return -1;
    for (size_t l = 0; l < p->n_lanes; l++)
        ended[l] = INT64_MIN;
    if (p->n_spans)
        qsort(p->spans, p->n_spans, sizeof *p->spans, by_start);
    for (size_t k = 0; k < p->n_spans; k++) {
        const struct iot_busy *s = &p->spans[k];
        if (p->lanes[s->lane].process != process)
            continue;
        int64_t before = ended[s->lane];
        uint32_t from =
            before > s->t0_ns ? UINT32_MAX : last_ended(ended, p->n_lanes, s->lane, s->t0_ns);
        if (s->t1_ns > before)
            ended[s->lane] = s->t1_ns;
        if (from == UINT32_MAX || ended[from] <= before)
            continue;
        if (IOT_ROOM(*list, *n + 1, room)) {
            free(ended);
            free(*list);
            *list = NULL;
            return -1;
        }
        (*list)[(*n)++] = (struct iot_hand_off){ended[from], s->t0_ns, before, from, s->lane};
    }
    free(ended);
    return 0;
}
