/* poll and its kind: they waited for what made ready the descriptor that they say was ready, which
 * is found with the streams, else the one that is consumed next. */
#include "analyzer/links.h"

#include <string.h>

#include "analyzer/lane_names.h"

/* How many calls on the consumption may come: programs look at their sockets' states between, and
 * poll again what they have found ready. Locks
 * that are taken and released there (an interpreter's) do not count. */
enum { LOOK_AHEAD = 16 };

static int is_poll(unsigned op)
{
    return op == IOT_OP_POLL || op == IOT_OP_SELECT || op == IOT_OP_EPOLL_WAIT;
}

static int consumes(unsigned op)
{
    return iot_op_info(op)->class_ == IOT_DATA || op == IOT_OP_ACCEPT || op == IOT_OP_ACCEPT4;
}

static int is_timer(const struct iot_trace *trace, uint32_t file)
{
    return trace->files[file].kind == IOT_FILE_ANON &&
           strcmp(trace->files[file].name, "anon:timerfd") == 0;
}

static void link_poll(struct iot_links *links, const struct iot_trace *trace, size_t i, size_t end)
{
    const struct iot_events *e = &trace->events;
    if (e->result[i] == 0) { /* nothing came: it was a sleep */
        links->flags[i] |= IOT_LINK_SLEEP;
        return;
    }
    if (links->waker[i].kind || links->flags[i] & IOT_LINK_EXTERNAL)
        return; /* known by what was ready, or by a signal */
    if (is_timer(trace, e->file[i])) {
        links->flags[i] |= IOT_LINK_SLEEP;
        return;
    }
    int calls = 0;
    for (size_t j = i + 1; j < end && calls <= LOOK_AHEAD; j++) {
        unsigned class_ = iot_op_info(e->op[j])->class_;
        calls +=
            class_ == IOT_DATA || class_ == IOT_META || class_ == IOT_SYNC || is_poll(e->op[j]);
        if (links->waker[j].kind && consumes(e->op[j])) {
            links->waker[i] = links->waker[j];
            return;
        }
        if (links->flags[j] & IOT_LINK_EXTERNAL) {
            links->flags[i] |= IOT_LINK_EXTERNAL;
            return;
        }
    }
    links->flags[i] |= IOT_LINK_UNEXPLAINED;
}

/* Python makes an absolute time of each time.sleep(): it would begin, and so end, sooner. */
static int is_held(const struct iot_trace *trace, uint32_t process, size_t i)
{
    const struct iot_events *e = &trace->events;
    return e->op[i] == IOT_OP_SLEEP && e->arg[i] && !e->result[i] && e->offset[i] &&
           !iot_is_python(trace->processes[process].exe);
}

void iot_link_polls(struct iot_links *links, const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    for (size_t l = 0; l < trace->n_lanes; l++) {
        const struct iot_lane *lane = &trace->lanes[l];
        size_t end = lane->first_event + lane->n_events;
        for (size_t i = lane->first_event; i < end; i++) {
            if (is_poll(e->op[i]))
                link_poll(links, trace, i, end);
            else if (links->waker[i].kind || links->flags[i] & IOT_LINK_EXTERNAL)
                continue; /* a signal ended it */
            else if (e->op[i] == IOT_OP_SLEEP ||
                     (e->op[i] == IOT_OP_READ && is_timer(trace, e->file[i])))
                links->flags[i] |= IOT_LINK_SLEEP |
                                   (is_held(trace, lane->process, i) ? IOT_LINK_HELD : 0);
        }
    }
}
