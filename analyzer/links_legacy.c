/* The legacy default stream of a context: what is launched there waits for all that was launched
 * before in the streams that are made blocking, and what is launched in those afterwards waits for
 * it.
 *
 * Of what was launched before, the last of a stream is enough: its stream keeps its own order. And
 * what one operation of a stream waits for, the next need not wait for again.
 */
#include "analyzer/links_gpu.h"

static int add(struct iot_streams *s, size_t then, size_t first)
{
    return iot_came_before(s->trace, first, then)
               ? iot_links_add(s->links, (uint32_t)then, iot_the_end(first))
               : 0;
}

static int link_pair(struct iot_streams *s, const struct iot_lane *legacy,
                     const struct iot_lane *other)
{
    size_t end = other->first_event + other->n_events, none = legacy->first_event;
    size_t legacy_end = none + legacy->n_events, seen = none;
    for (size_t i = other->first_event + 1; i < end; i++) {
        size_t next = iot_launched_from(s, legacy, s->launched_ns[i]), before = next - 1;
        if (before != none && before != seen && add(s, i, before))
            return -1;
        seen = before;
        int is_last = i + 1 == end || iot_launched_from(s, legacy, s->launched_ns[i + 1]) != next;
        if (next < legacy_end && is_last && add(s, next, i))
            return -1;
    }
    return 0;
}

static int waits_for(const struct iot_lane *lane, const struct iot_lane *legacy)
{
    return iot_lane_is_stream(lane) && lane->stream_kind == IOT_STREAM_BLOCKING &&
           iot_lane_context(lane) == iot_lane_context(legacy);
}

int iot_link_legacy(struct iot_streams *s)
{
    const struct iot_trace *t = s->trace;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *legacy = &t->lanes[l];
        const struct iot_process *p = &t->processes[legacy->process];
        if (!iot_lane_is_stream(legacy) || legacy->stream_kind != IOT_STREAM_LEGACY)
            continue;
        for (uint32_t k = p->first_lane; k < p->first_lane + p->n_lanes; k++)
            if (waits_for(&t->lanes[k], legacy) && link_pair(s, legacy, &t->lanes[k]))
                return -1;
    }
    return 0;
}
