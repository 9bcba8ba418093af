#include "analyzer/seen.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/requests.h"
#include "analyzer/trace.h"

struct change {
    int64_t t_ns;
    uint8_t resumes, first; /* first: the window began later than the run */
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->first != y->first ? y->first - x->first : 0;
}

static struct change *changes(const struct iot_trace *t, size_t *n)
{
    const struct iot_events *e = &t->events;
    *n = 0;
    for (size_t i = 0; i < e->n; i++)
        *n += e->op[i] == IOT_OP_WINDOW_CLOSE || e->op[i] == IOT_OP_WINDOW_OPEN;
    struct change *list = malloc((*n + 1) * sizeof *list);
    if (!list)
        return NULL;
    *n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->op[i] == IOT_OP_WINDOW_CLOSE || e->op[i] == IOT_OP_WINDOW_OPEN)
            list[(*n)++] = (struct change){e->t0_ns[i], e->op[i] == IOT_OP_WINDOW_OPEN,
                                           e->op[i] == IOT_OP_WINDOW_CLOSE && e->offset[i] == 1};
    if (*n)
        qsort(list, *n, sizeof *list, by_time);
    return list;
}

/* From when on all is there: what is older has made room in one of the files. */
static int64_t complete_from(const struct iot_trace *t)
{
    int64_t from = 0;
    for (size_t i = 0; i < t->n_processes; i++)
        if (t->processes[i].older_until_ns > from)
            from = t->processes[i].older_until_ns;
    return from < t->wall_ns ? from : t->wall_ns;
}

static void add_span(struct iot_seen *seen, int64_t begin, int64_t end, int64_t from)
{
    if (begin < from)
        begin = from;
    if (end <= begin)
        return;
    seen->spans[seen->n] = (struct iot_span){begin, end};
    seen->cuts_ns[seen->n] = seen->n
                                 ? seen->cuts_ns[seen->n - 1] + seen->spans[seen->n - 1].end_ns -
                                       seen->spans[seen->n - 1].begin_ns
                                 : 0;
    seen->n++;
}

/* Each change is the other of the one before; of two that are the same one is missing, and the
 * second tells nothing new. What made room may have been the first of them. */
static int find_spans(struct iot_trace *t)
{
    struct iot_seen *seen = &t->seen;
    size_t n, first = 0;
    struct change *list = changes(t, &n);
    int64_t from = complete_from(t), begin = -1;

    seen->run_ns = t->wall_ns;
    for (size_t i = 0; i < t->n_processes; i++)
        seen->older_events += t->processes[i].older_events;
    if (list && (n || from)) {
        seen->spans = calloc(n + 2, sizeof *seen->spans);
        seen->cuts_ns = calloc(n + 2, sizeof *seen->cuts_ns);
        if (!seen->spans || !seen->cuts_ns) {
            free(list);
            return -1;
        }
        if (n && list[0].first)
            first = 1;
        else if (!n || !list[0].resumes)
            begin = 0;
        for (size_t k = first; k < n; k++) {
            int64_t at = list[k].t_ns < t->wall_ns ? list[k].t_ns : t->wall_ns;
            if (list[k].resumes && begin < 0) {
                begin = at;
            } else if (!list[k].resumes && begin >= 0) {
                add_span(seen, begin, at, from);
                begin = -1;
            }
        }
        if (begin >= 0)
            add_span(seen, begin, t->wall_ns, from);
    }
    int failed = !list;
    free(list);
    return failed ? -1 : 0;
}

/* How many spans have begun by then. */
static size_t begun(const struct iot_seen *s, int64_t t_ns)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->spans[middle].begin_ns <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The time of the model at a time of the run. */
static int64_t seen_until(const struct iot_seen *s, int64_t t_ns)
{
    size_t n = begun(s, t_ns);
    if (!n)
        return 0;
    const struct iot_span *span = &s->spans[n - 1];
    return s->cuts_ns[n - 1] + (t_ns < span->end_ns ? t_ns : span->end_ns) - span->begin_ns;
}

/* Whether the moment is in a span, its ends included. */
static int is_seen(const struct iot_seen *s, int64_t t_ns)
{
    size_t n = begun(s, t_ns);
    return n && t_ns <= s->spans[n - 1].end_ns;
}

/* What tells who is who, whenever it was. */
static int stays(const struct iot_events *e, size_t i)
{
    switch (e->op[i]) {
    case IOT_OP_PIPE:
    case IOT_OP_PIPE2:
    case IOT_OP_SOCKET:
    case IOT_OP_SOCKETPAIR:
    case IOT_OP_ACCEPT:
    case IOT_OP_ACCEPT4:
    case IOT_OP_CONNECT:
        return 1;
    case IOT_OP_RESIDENT: /* of a mapping's whole life */
    case IOT_OP_FAULTS:
    case IOT_OP_FAULTS_UNSEEN:
    case IOT_OP_ASYNC_UNSEEN:
    case IOT_OP_BUFFER:
        return 0;
    case IOT_OP_MARK:
        return e->result[i] >= 2; /* of a range, the rest of which may be seen */
    default:
        return iot_op_info(e->op[i])->class_ == IOT_LIFE;
    }
}

static void narrow_lane(struct iot_trace *t, struct iot_lane *lane, size_t *to, uint32_t *moved)
{
    struct iot_events *e = &t->events;
    const struct iot_seen *s = &t->seen;
    size_t first = *to, was = lane->first_event, n_was = lane->n_events;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        int64_t t0 = e->t0_ns[i], t1 = e->t1_ns[i];
        int64_t begin = seen_until(s, t0), end = seen_until(s, t1);
        if (e->op[i] == IOT_OP_WINDOW_CLOSE || e->op[i] == IOT_OP_WINDOW_OPEN)
            continue;
        if (begin == end && !stays(e, i) && (!is_seen(s, t0) || (t0 < t1 && !is_seen(s, t1))))
            continue;
        iot_events_copy(e, *to, i);
        moved[i] = (uint32_t)*to;
        e->t0_ns[*to] = begin;
        e->t1_ns[*to] = end;
        ++*to;
    }
    lane->first_event = first;
    lane->n_events = *to - first;
    iot_requests_lane_moved(lane, was, n_was, moved);
    lane->start_ns = seen_until(s, lane->start_ns);
    lane->end_ns = seen_until(s, lane->end_ns);
}

static int by_events(const void *a, const void *b)
{
    const struct iot_lane *x = *(struct iot_lane *const *)a, *y = *(struct iot_lane *const *)b;
    if (x->first_event != y->first_event)
        return x->first_event < y->first_event ? -1 : 1;
    return (x->n_events > y->n_events) - (x->n_events < y->n_events);
}

int iot_seen_narrow(struct iot_trace *t)
{
    size_t n = 0;
    if (find_spans(t))
        return -1;
    if (!t->seen.spans)
        return 0;
    uint32_t *moved = malloc((t->events.n + 1) * sizeof *moved);
    struct iot_lane **lanes = calloc(t->n_lanes + 1, sizeof *lanes);
    if (!moved || !lanes) {
        free(moved);
        free(lanes);
        return -1;
    }
    for (size_t k = 0; k < t->n_lanes; k++)
        lanes[k] = &t->lanes[k];
    /* what is kept moves down over what is not */
    qsort(lanes, t->n_lanes, sizeof *lanes, by_events);
    memset(moved, 0xff, (t->events.n + 1) * sizeof *moved); /* IOT_NO_INDEX */
    for (size_t k = 0; k < t->n_lanes; k++)
        narrow_lane(t, lanes[k], &n, moved);
    for (size_t k = 0; k < t->n_requests; k++)
        t->requests[k].not_before_ns = seen_until(&t->seen, t->requests[k].not_before_ns);
    iot_requests_moved(t, moved);
    free(moved);
    free(lanes);
    t->events.n = n;
    iot_events_trim(&t->events);
    for (size_t i = 0; i < t->n_processes; i++) {
        struct iot_process *p = &t->processes[i];
        p->start_ns = seen_until(&t->seen, p->start_ns);
        p->end_ns = seen_until(&t->seen, p->end_ns);
        p->usage_end = p->usage_start; /* it is of the whole run */
    }
    t->wall_ns = seen_until(&t->seen, t->wall_ns);
    return 0;
}

int iot_seen_cut(const struct iot_seen *seen, int64_t a_ns, int64_t b_ns)
{
    size_t low = 0, high = seen->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (seen->cuts_ns[middle] <= a_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < seen->n && seen->cuts_ns[low] <= b_ns;
}

void iot_seen_free(struct iot_seen *seen)
{
    free(seen->spans);
    free(seen->cuts_ns);
    *seen = (struct iot_seen){0};
}
