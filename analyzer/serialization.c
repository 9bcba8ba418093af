#include "analyzer/serialization.h"

#include <stdlib.h>

#include "analyzer/op_sets.h"
#include "analyzer/report.h"
#include "analyzer/room.h"

/* Of descriptors above nothing is known to be opened and closed. */
enum { SESSIONS = 4096 };

/* What is open for more than this part of a run without steps is a stream. */
enum { STREAM_FROM = 4 };

/* From one call to the next a loop and the recorder take some time as well. What is shorter codes
 * nothing. */
enum { LEAST_NS = 1000 };

/* A descriptor, from where a lane opens it to where it closes it. */
struct session {
    size_t lane; /* whose it is, + 1 */
    uint32_t file;
    int64_t opened_ns; /* -1: not in this lane */
    int64_t read_bytes;
    struct iot_coding pending; /* counts when it is closed in time */
    size_t last_gap;           /* of these, + 1 */
};

struct work {
    const struct iot_model *model;
    const struct iot_events *events;
    const struct iot_classes *classes;
    const struct iot_steps *steps;
    const struct iot_phases *phases;
    struct iot_coding *coding;
    struct iot_gaps *gaps; /* those that are pending have their time below zero */
    int failed;
    struct session *sessions; /* by descriptor */
    size_t lane;              /* that is being read, + 1 */
    int stepping;             /* the steps were found in it */
    size_t before;            /* the data call before, + 1; 0: something came between */
    int64_t between_ns;       /* in calls on the same file since */
};

/* Whether the lane of a call is one that goes step by step. */
static int takes_steps(const struct work *w, size_t i)
{
    return w->stepping || !w->model->waited[i];
}

static void add(int64_t *to, int64_t ns)
{
    *to = (*to == IOT_NO_CODING ? 0 : *to) + ns;
}

static struct iot_coding no_coding(void)
{
    struct iot_coding c;
    for (int p = 0; p < IOT_PHASES_MAX; p++)
        for (int d = 0; d < IOT_DIRECTIONS; d++)
            c.ns[p][d] = IOT_NO_CODING;
    return c;
}

/* The session of an event's descriptor, NULL if it has none. */
static struct session *session_of(struct work *w, size_t i)
{
    const struct iot_events *e = w->events;
    if (e->fd[i] < 0 || e->fd[i] >= SESSIONS)
        return NULL;
    struct session *s = &w->sessions[e->fd[i]];
    if (s->lane != w->lane || s->file != e->file[i])
        *s = (struct session){w->lane, e->file[i], -1, 0, no_coding(), 0};
    return s;
}

static void open_session(struct work *w, size_t i)
{
    struct session *s = w->events->err[i] ? NULL : session_of(w, i);
    if (s)
        *s = (struct session){w->lane, w->events->file[i], w->events->t0_ns[i], 0, no_coding(), 0};
}

static void close_session(struct work *w, size_t i)
{
    struct session *s = session_of(w, i);
    if (!s)
        return;
    int64_t from = s->opened_ns, to = w->events->t1_ns[i];
    int by_steps = w->steps->n && takes_steps(w, i);
    int in_time = by_steps ? iot_steps_begun(w->steps, from) == iot_steps_begun(w->steps, to)
                           : to - from <= w->model->wall_ns / STREAM_FROM;
    for (size_t p = 0; from >= 0 && in_time && p < w->phases->n; p++)
        for (int d = 0; d < IOT_DIRECTIONS; d++)
            if (s->pending.ns[p][d] != IOT_NO_CODING)
                add(&w->coding[s->file].ns[p][d], s->pending.ns[p][d]);
    for (size_t g = s->last_gap; g && from >= 0 && in_time; g = w->gaps->gaps[g - 1].next)
        w->gaps->gaps[g - 1].ns = -w->gaps->gaps[g - 1].ns;
    s->lane = 0;
}

/* Pending: it counts when the session is closed in time; NULL: it counts. */
static void add_gap(struct work *w, size_t from, size_t to, int64_t ns, struct session *pending)
{
    struct iot_gaps *g = w->gaps;
    if (IOT_ROOM(g->gaps, g->n + 1, g->room)) {
        w->failed = 1;
        return;
    }
    g->gaps[g->n++] = (struct iot_gap){(uint32_t)from, (uint32_t)to, pending ? -ns : ns,
                                       pending ? pending->last_gap : 0};
    if (pending)
        pending->last_gap = g->n;
}

static void keep_counted(struct iot_gaps *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n; k++)
        if (g->gaps[k].ns > 0)
            g->gaps[n++] = g->gaps[k];
    g->n = n;
}

/* Whether the call before and this one are of the same step. */
static int in_one_step(const struct work *w, size_t i)
{
    size_t step = iot_steps_begun(w->steps, w->events->t0_ns[w->before - 1]);
    return step && step == iot_steps_begun(w->steps, w->events->t0_ns[i]) &&
           w->events->t1_ns[i] <= w->steps->end_ns;
}

/* Of a gap in front of call i: where to add it; NULL if it is not coding. */
static struct iot_coding *place(struct work *w, struct session *s, size_t i, enum iot_direction d)
{
    uint32_t file = w->events->file[i];
    const struct iot_file *f = &w->model->trace->files[file];
    struct iot_coding *now = &w->coding[file], *closed = s ? &s->pending : NULL;

    if (f->kind != IOT_FILE_REGULAR || w->classes->files[file].object[d] == IOT_OTHER)
        return NULL;
    if (d == IOT_WRITING)
        return w->events->bytes[i] >= IOT_SMALL_BYTES ? closed : NULL;
    switch (w->classes->files[file].object[d]) {
    case IOT_ARTIFACT:
        return s && (f->size < 0 || s->read_bytes < f->size || !w->events->bytes[i]) ? now : NULL;
    case IOT_INPUT:
        return w->steps->n && (!takes_steps(w, i) || in_one_step(w, i)) ? now : NULL;
    default:
        return closed;
    }
}

static void data_call(struct work *w, size_t i)
{
    const struct iot_events *e = w->events;
    unsigned moves = iot_op_info(e->op[i])->moves;
    enum iot_direction d = moves == IOT_OUT ? IOT_WRITING : IOT_READING;
    size_t last = w->before - 1;

    if (moves == IOT_BOTH || e->op[i] >= IOT_OP_GPU_STREAM || w->model->part[i] != IOT_PART_IO) {
        w->before = 0;
        return;
    }
    struct session *s = session_of(w, i);
    if (w->before && e->file[last] == e->file[i] && e->fd[last] == e->fd[i] &&
        iot_op_info(e->op[last])->moves == moves && e->bytes[last] > 0) {
        int64_t gap = e->t0_ns[i] - e->t1_ns[last] - w->between_ns;
        struct iot_coding *to = place(w, s, i, d);
        if (to)
            add(&to->ns[iot_phase_at(w->phases, e->t1_ns[i])][d], gap >= LEAST_NS ? gap : 0);
        if (to && gap >= LEAST_NS)
            add_gap(w, last, i, gap, s && to == &s->pending ? s : NULL);
    }
    if (s && d == IOT_READING && e->bytes[i] > 0)
        s->read_bytes += e->bytes[i];
    w->before = i + 1;
    w->between_ns = 0;
}

static int is_before_on_same_file(const struct work *w, size_t i)
{
    return w->before && w->events->file[w->before - 1] == w->events->file[i] &&
           w->events->fd[w->before - 1] == w->events->fd[i];
}

static void other_call(struct work *w, size_t i)
{
    const struct iot_events *e = w->events;
    int goes_on = 0;

    if (iot_op_opens(e->op[i]))
        open_session(w, i);
    else if (iot_op_closes(e->op[i]))
        close_session(w, i);
    switch (e->op[i]) {
    case IOT_OP_LSEEK:
    case IOT_OP_FSEEK:
    case IOT_OP_FSTAT:
    case IOT_OP_FTRUNCATE:
        goes_on = is_before_on_same_file(w, i);
        break;
    case IOT_OP_BUFFER: /* of a call, or of a request */
    case IOT_OP_MUNMAP: /* memory given back while coding */
        goes_on = w->before != 0;
        break;
    default:
        break;
    }
    if (goes_on)
        w->between_ns += w->model->service_ns[i];
    else
        w->before = 0;
}

/* A lock that was free is no wait: interpreters take one around every call. */
static int is_no_wait(const struct work *w, size_t i)
{
    return w->model->part[i] == IOT_PART_NONE || w->events->t1_ns[i] == w->events->t0_ns[i];
}

static void event(struct work *w, size_t i)
{
    switch (iot_op_info(w->events->op[i])->class_) {
    case IOT_DATA:
        data_call(w, i);
        break;
    case IOT_WAKE: /* lets somebody else go on, and takes no time */
        break;
    case IOT_WAIT:
        if (is_no_wait(w, i))
            w->between_ns += w->events->t1_ns[i] - w->events->t0_ns[i];
        else
            w->before = 0;
        break;
    default:
        other_call(w, i);
        break;
    }
}

int iot_serialization_find(struct iot_coding *coding, struct iot_gaps *gaps,
                           const struct iot_model *model, const struct iot_classes *classes,
                           const struct iot_phases *phases)
{
    const struct iot_trace *trace = model->trace;
    struct work w = {.model = model,
                     .events = &trace->events,
                     .classes = classes,
                     .phases = phases,
                     .steps = phases->steps,
                     .coding = coding,
                     .gaps = gaps,
                     .sessions = calloc(SESSIONS, sizeof *w.sessions)};
    if (!w.sessions)
        return -1;
    for (size_t f = 0; f < trace->n_files; f++)
        coding[f] = no_coding();
    for (size_t l = 0; l < trace->n_lanes; l++) {
        const struct iot_lane *lane = &trace->lanes[l];
        if (lane->kind != IOT_LANE_THREAD) /* between requests nobody works */
            continue;
        w.lane = l + 1;
        w.stepping = w.steps->n && w.steps->anchor - lane->first_event < lane->n_events;
        w.before = 0;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            event(&w, i);
    }
    free(w.sessions);
    keep_counted(gaps);
    return w.failed ? -1 : 0;
}
