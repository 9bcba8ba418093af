#include "analyzer/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/report_parts.h"

struct work {
    const struct iot_rows *rows; /* of the run's files */
    struct iot_phases *phases;
    struct iot_rows parts;    /* their rows are the objects of each phase */
    struct iot_report report; /* of the parts */
    uint8_t *seen;            /* by the run's row: bit p: it has an event in that phase */
    int64_t (*exposed_ns)[IOT_OBJECTS + 1]; /* by step; the last is of all objects */
};

static void add_phase(struct iot_phases *phases, const char *name, int64_t start_ns, int64_t end_ns,
                      size_t steps)
{
    if (end_ns > start_ns)
        phases->phases[phases->n++] = (struct iot_phase){
            .name = name, .start_ns = start_ns, .end_ns = end_ns, .steps = steps};
}

static void divide(struct iot_phases *phases, int64_t wall_ns)
{
    const struct iot_steps *s = phases->steps;
    if (s->n) {
        add_phase(phases, "cold_start", 0, s->starts_ns[0], 0);
        add_phase(phases, "steady", s->starts_ns[0], s->end_ns, s->n);
        add_phase(phases, "shutdown", s->end_ns, wall_ns, 0);
    }
    if (!phases->n) {
        phases->phases[0] = (struct iot_phase){.name = "run", .end_ns = wall_ns};
        phases->n = 1;
    }
}

uint8_t iot_phase_at(const struct iot_phases *phases, int64_t ns)
{
    uint8_t p = 0;
    while (p + 1u < phases->n && ns > phases->phases[p].end_ns)
        p++;
    return p;
}

struct iot_phase_sum iot_phase_sum(const struct iot_phase *phase)
{
    struct iot_phase_sum sum = {0};
    for (int o = 0; o < IOT_OBJECTS; o++) {
        sum.bytes += phase->objects[o].figures.bytes;
        sum.service_ns += phase->objects[o].figures.service_ns;
        sum.exposed_ns += phase->objects[o].figures.exposed_ns;
    }
    return sum;
}

/* --- figures --- */

static struct iot_figures *part(struct work *w, size_t phase, size_t object)
{
    return &w->report.files[phase * IOT_OBJECTS + object].figures;
}

static void count_event(struct work *w, size_t i)
{
    const struct iot_report *r = w->rows->report;
    const struct iot_events *e = &r->trace->events;
    uint32_t row = w->rows->of_event[i];
    size_t p = iot_phase_at(w->phases, e->t1_ns[i]), o;

    w->parts.of_event[i] = IOT_NO_INDEX;
    if (row == IOT_NO_INDEX)
        return;
    o = r->files[row].object;
    w->seen[row] |= (uint8_t)(1u << p);
    w->parts.of_event[i] = (uint32_t)(p * IOT_OBJECTS + o);
    iot_rows_count(w->rows, i, part(w, p, o));
    size_t step = iot_steps_at(w->phases->steps, e->t1_ns[i]);
    if (step != SIZE_MAX) {
        w->exposed_ns[step][o] += r->model->exposed_ns[i];
        w->exposed_ns[step][IOT_OBJECTS] += r->model->exposed_ns[i];
    }
    row = iot_rows_target(w->rows, i);
    if (row != IOT_NO_INDEX) {
        w->seen[row] |= (uint8_t)(1u << p);
        iot_rows_count_target(w->rows, i, part(w, p, r->files[row].object));
    }
}

/* What the page cache held of a file counts in all phases it was used in. */
static void count_file(struct work *w, const struct iot_report_file *file, size_t p)
{
    struct iot_figures *f = part(w, p, file->object);
    w->phases->phases[p].objects[file->object].files++;
    f->opened_bytes += file->figures.opened_bytes;
    f->resident_bytes += file->figures.resident_bytes;
}

static void count_files(struct work *w)
{
    const struct iot_report *r = w->rows->report;
    for (size_t row = 0; row < r->n_files; row++)
        for (size_t p = 0; p < w->phases->n; p++)
            if (w->seen[row] >> p & 1)
                count_file(w, &r->files[row], p);
}

/* --- over the steps --- */

static struct iot_step_times spread(uint16_t *buckets, size_t n)
{
    if (!n)
        return (struct iot_step_times){0};
    struct iot_latency found = iot_latency_of_buckets(buckets, n, INT64_MAX);
    return (struct iot_step_times){found.p50_ns, found.p95_ns};
}

static int spread_steps(struct work *w)
{
    const struct iot_steps *s = w->phases->steps;
    uint16_t *buckets = malloc((s->n + 1) * sizeof *buckets);
    if (!buckets)
        return -1;
    for (size_t p = 0; p < w->phases->n; p++) {
        struct iot_phase *phase = &w->phases->phases[p];
        if (!phase->steps)
            continue;
        for (size_t i = 0; i + 1 < s->n; i++)
            buckets[i] = (uint16_t)iot_latency_bucket(s->starts_ns[i + 1] - s->starts_ns[i]);
        phase->length = spread(buckets, s->n - 1);
        for (size_t o = 0; o <= IOT_OBJECTS; o++) {
            for (size_t i = 0; i < s->n; i++)
                buckets[i] = (uint16_t)iot_latency_bucket(w->exposed_ns[i][o]);
            *(o < IOT_OBJECTS ? &phase->objects[o].exposed : &phase->exposed) =
                spread(buckets, s->n);
        }
    }
    free(buckets);
    return 0;
}

/* --- what a replay says --- */

static int find_recoverable(struct work *w)
{
    size_t n = w->rows->report->trace->events.n;
    uint8_t *selected = malloc(n + 1);
    if (!selected)
        return -1;
    for (uint32_t k = 0; k < w->phases->n * IOT_OBJECTS; k++) {
        struct iot_figures *f = &w->report.files[k].figures;
        for (size_t i = 0; i < n && f->exposed_ns; i++)
            selected[i] = w->parts.of_event[i] == k;
        f->recoverable_ns = iot_rows_won(w->rows->report, f, selected);
    }
    free(selected);
    return 0;
}

static int fill(struct work *w)
{
    const struct iot_report *r = w->rows->report;
    for (size_t i = 0; i < r->trace->events.n; i++)
        count_event(w, i);
    count_files(w);
    if (iot_rows_latency(&w->parts) || iot_rows_group(&w->parts) || iot_rows_fit(&w->parts) ||
        find_recoverable(w) || spread_steps(w))
        return -1;
    for (size_t p = 0; p < w->phases->n; p++)
        for (size_t o = 0; o < IOT_OBJECTS; o++)
            w->phases->phases[p].objects[o].figures = *part(w, p, o);
    return 0;
}

int iot_rows_phases(struct iot_rows *rows, const struct iot_steps *steps)
{
    struct iot_report *r = rows->report;
    struct iot_phases *phases = r->phases = calloc(1, sizeof *phases);
    size_t n = r->trace->events.n;
    if (!phases)
        return -1;
    phases->steps = steps;
    divide(phases, r->trace->wall_ns);
    struct work w = {.rows = rows,
                     .phases = phases,
                     .seen = calloc(r->n_files + 1, 1),
                     .exposed_ns = calloc(steps->n + 1, sizeof *w.exposed_ns)};
    w.report = (struct iot_report){.trace = r->trace,
                                   .model = r->model,
                                   .files = calloc(IOT_PHASES_MAX * IOT_OBJECTS, sizeof *r->files),
                                   .n_files = phases->n * IOT_OBJECTS};
    w.parts = (struct iot_rows){.report = &w.report,
                                .classes = rows->classes,
                                .of_event = malloc((n + 1) * sizeof *rows->of_event)};
    int failed = !w.seen || !w.exposed_ns || !w.report.files || !w.parts.of_event;
    for (size_t k = 0; k < w.report.n_files && !failed; k++)
        w.report.files[k].object = (uint8_t)(k % IOT_OBJECTS);
    failed = failed || fill(&w);
    free(w.seen);
    free(w.parts.events);
    free(w.parts.first);
    free(w.exposed_ns);
    free(w.report.files);
    free(w.parts.of_event);
    return failed ? -1 : 0;
}
