#include "analyzer/steps.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/family.h"
#include "analyzer/period.h"
#include "format/mark.h"

enum { RANGES_MIN = 3, THREADS_MAX = 8 };

int iot_is_step(const struct iot_trace *t, size_t event)
{
    return t->events.op[event] == IOT_OP_MARK && t->events.result[event] == IOT_MARK_STEP;
}

size_t iot_steps_begun(const struct iot_steps *s, int64_t ns)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->starts_ns[middle] <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t iot_steps_at(const struct iot_steps *s, int64_t ns)
{
    if (!s->n || ns <= s->starts_ns[0] || ns > s->end_ns)
        return SIZE_MAX;
    return iot_steps_begun(s, ns - 1) - 1; /* what ends as a step begins is of the one before */
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median_span(const struct iot_steps *s, int64_t *spans)
{
    for (size_t i = 0; i + 1 < s->n; i++)
        spans[i] = s->starts_ns[i + 1] - s->starts_ns[i];
    qsort(spans, s->n - 1, sizeof *spans, by_time);
    return spans[(s->n - 2) / 2];
}

static int set_end(struct iot_steps *s, const struct iot_trace *t, const struct iot_model *m)
{
    const struct iot_events *e = &t->events;
    int64_t *spans = malloc(s->n * sizeof *spans), end = t->wall_ns;
    if (!spans)
        return -1;
    s->end_ns = t->wall_ns;
    if (s->n > 1) {
        int64_t last = s->starts_ns[s->n - 1], median = median_span(s, spans);
        end = last + (median < t->wall_ns - last ? median : t->wall_ns - last);
        s->end_ns = end;
    }
    for (size_t i = 0; i < e->n; i++)
        if (!m->waited[i] && e->t0_ns[i] < end && e->t1_ns[i] > s->end_ns)
            s->end_ns = e->t1_ns[i] < t->wall_ns ? e->t1_ns[i] : t->wall_ns;
    free(spans);
    return 0;
}

/* --- marks --- */

/* What is marked after the run has ended belongs to nobody's step. */
static size_t count_marks(const struct iot_trace *t, const struct iot_lane *lane,
                          int64_t *starts_ns, size_t *first)
{
    size_t n = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        if (!iot_is_step(t, i) || t->events.t0_ns[i] >= t->wall_ns)
            continue;
        if (starts_ns)
            starts_ns[n] = t->events.t0_ns[i];
        if (!n++ && first)
            *first = i;
    }
    return n;
}

/* Without step marks, ranges whose name says so. */
static int names_a_step(const char *name)
{
    static const char *const words[] = {"step", "iter", "batch"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcasestr(name, words[k]))
            return 1;
    return 0;
}

static int begins_range(const struct iot_trace *t, size_t i)
{
    return t->events.op[i] == IOT_OP_MARK &&
           (t->events.result[i] == IOT_MARK_BEGIN || t->events.result[i] == IOT_MARK_START);
}

/* The ranges of the lane that are called as the first is whose name says so: one that lies within
 * another begins later. */
static size_t count_ranges(const struct iot_trace *t, const struct iot_lane *lane,
                           int64_t *starts_ns, size_t *first)
{
    size_t n = 0;
    uint64_t family = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        if (!begins_range(t, i) || t->events.t0_ns[i] >= t->wall_ns)
            continue;
        const char *name = t->files[t->events.file[i]].name;
        if (n ? iot_family_of(name) != family : !names_a_step(name))
            continue;
        if (starts_ns)
            starts_ns[n] = t->events.t0_ns[i];
        if (!n++ && first)
            *first = i;
        family = iot_family_of(name);
    }
    return n < RANGES_MIN ? 0 : n;
}

/* How many there are in a lane; starts_ns and first may be NULL. */
typedef size_t counter(const struct iot_trace *t, const struct iot_lane *lane, int64_t *starts_ns,
                       size_t *first);

static int from_marks(struct iot_steps *s, const struct iot_trace *t, counter *count)
{
    size_t most = 0, n_most = 0;
    for (size_t l = 0; l < t->n_lanes; l++) {
        size_t n = count(t, &t->lanes[l], NULL, NULL);
        if (n > n_most) {
            most = l;
            n_most = n;
        }
    }
    if (!n_most)
        return 0;
    s->starts_ns = malloc(n_most * sizeof *s->starts_ns);
    if (!s->starts_ns)
        return -1;
    s->source = IOT_STEPS_MARKS;
    s->n = count(t, &t->lanes[most], s->starts_ns, &s->anchor);
    return 0;
}

/* --- the period of a lane --- */

static int by_entry(const void *a, const void *b, void *times)
{
    const int64_t *t0_ns = times;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (t0_ns[x] != t0_ns[y])
        return t0_ns[x] < t0_ns[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The carrying lane's events of the run, in order of time. */
static size_t carried(const struct iot_trace *t, const struct iot_model *m, uint32_t *events)
{
    size_t n = 0;
    for (size_t i = 0; i < t->events.n; i++)
        if (!m->waited[i] && t->events.t1_ns[i] <= t->wall_ns)
            events[n++] = (uint32_t)i;
    qsort_r(events, n, sizeof *events, by_entry, t->events.t0_ns);
    return n;
}

/* --- the period of a thread that the carrying lane waits for --- */

static const struct iot_lane *joined(const struct iot_trace *t, size_t i)
{
    const struct iot_events *e = &t->events;
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_process *p = &t->processes[t->lanes[l].process];
        const struct iot_lane *main = &t->lanes[p->first_lane];
        if (p->first_lane + (size_t)e->arg[i] == l && i >= main->first_event &&
            i < main->first_event + main->n_events)
            return &t->lanes[l];
    }
    return NULL;
}

static int from_thread(struct iot_steps *s, const struct iot_trace *t, const struct iot_lane *lane,
                       uint32_t *events)
{
    size_t n = 0;
    for (; n < lane->n_events; n++)
        events[n] = (uint32_t)(lane->first_event + n);
    return iot_period_find(s, t, events, n);
}

/* Where the carrying lane spends most of the run in waiting for threads to end, they are where the
 * steps are. Who ends last takes what the others make. */
static int from_threads(struct iot_steps *s, const struct iot_trace *t, uint32_t *events, size_t n)
{
    const struct iot_events *e = &t->events;
    uint32_t joins[THREADS_MAX];
    size_t n_joins = 0;
    int64_t waited = 0;
    for (size_t k = 0; k < n; k++)
        if (e->op[events[k]] == IOT_OP_JOIN) {
            joins[n_joins++ % THREADS_MAX] = events[k];
            waited += e->t1_ns[events[k]] - e->t0_ns[events[k]];
        }
    int failed = 0;
    size_t tries = n_joins < THREADS_MAX ? n_joins : THREADS_MAX;
    for (size_t k = 1; k <= tries && waited >= t->wall_ns / 2 && !failed && !s->n; k++) {
        const struct iot_lane *lane = joined(t, joins[(n_joins - k) % THREADS_MAX]);
        failed = lane && from_thread(s, t, lane, events);
    }
    return failed ? -1 : 0;
}

static int from_period(struct iot_steps *s, const struct iot_trace *t, const struct iot_model *m)
{
    uint32_t *events = malloc((t->events.n + 1) * sizeof *events);
    if (!events)
        return -1;
    size_t n = carried(t, m, events);
    int failed = iot_period_find(s, t, events, n);
    if (!failed && !s->n)
        failed = from_threads(s, t, events, n);
    free(events);
    return failed ? -1 : 0;
}

int iot_steps_find(struct iot_steps *s, const struct iot_trace *t, const struct iot_model *m)
{
    *s = (struct iot_steps){0};
    if (from_marks(s, t, count_marks) || (!s->n && from_marks(s, t, count_ranges)) ||
        (!s->n && from_period(s, t, m)))
        return -1;
    return s->n ? set_end(s, t, m) : 0;
}

void iot_steps_free(struct iot_steps *s)
{
    free(s->starts_ns);
    *s = (struct iot_steps){0};
}
