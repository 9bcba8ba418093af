/* The rows with names of one unit: what its report says of phases, queues, ranges and so on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/advice.h"
#include "analyzer/partial.h"
#include "analyzer/phases.h"
#include "analyzer/report.h"
#include "analyzer/report_gpu.h"

static int64_t whole(double value)
{
    return value > 0 && value < (double)IOT_SUM_MAX ? (int64_t)(value + 0.5) : 0;
}

static int64_t counted(uint64_t n)
{
    return n < (uint64_t)IOT_SUM_MAX ? (int64_t)n : IOT_SUM_MAX;
}

/* As many as its kind takes of n. */
static size_t taken(enum iot_row_kind kind, size_t n)
{
    return n < iot_rows_about[kind].most ? n : iot_rows_about[kind].most;
}

/* Rows of one unit that are alike are one, and count as one unit. */
struct gathered {
    struct iot_named_rows rows[IOT_ROW_KINDS];
    struct iot_arena *arena;
};

static int add(struct gathered *g, enum iot_row_kind kind, const struct iot_named_row *row)
{
    return iot_named_rows_add(&g->rows[kind], kind, row, g->arena);
}

/* --- phases --- */

/* By object, and the last of all. */
static int count_exposed(struct iot_histogram times[IOT_OBJECTS + 1], const struct iot_report *r)
{
    const struct iot_steps *s = r->phases->steps;
    int64_t(*exposed)[IOT_OBJECTS + 1] = calloc(s->n + 1, sizeof *exposed);
    int failed = !exposed;
    for (size_t i = 0; i < r->trace->events.n && !failed; i++) {
        size_t step = iot_steps_at(s, r->trace->events.t1_ns[i]);
        if (step == SIZE_MAX || r->of_event[i] == IOT_NO_INDEX)
            continue;
        exposed[step][r->files[r->of_event[i]].object] += r->model->exposed_ns[i];
        exposed[step][IOT_OBJECTS] += r->model->exposed_ns[i];
    }
    for (size_t k = 0; k < s->n && !failed; k++)
        for (size_t o = 0; o <= IOT_OBJECTS && !failed; o++)
            failed = iot_histogram_add(&times[o], iot_latency_bucket(exposed[k][o]), 1);
    free(exposed);
    return failed;
}

static int add_phase_objects(struct gathered *g, const struct iot_report *r,
                             const struct iot_phase *phase)
{
    struct iot_histogram times[IOT_OBJECTS + 1] = {0};
    struct iot_named_row all = {.texts = {phase->name}, .object = IOT_OBJECTS};
    int failed = phase->steps && count_exposed(times, r);
    for (uint8_t o = 0; o < IOT_OBJECTS && !failed; o++) {
        const struct iot_figures *f = &phase->objects[o].figures;
        struct iot_named_row row = {
            .texts = {phase->name},
            .object = o,
            .numbers = {[IOT_ROW_phase_objects_units] = 1,
                        [IOT_ROW_phase_objects_ops] = f->data_ops + f->metadata_ops + f->sync_ops,
                        [IOT_ROW_phase_objects_bytes] = f->bytes,
                        [IOT_ROW_phase_objects_service_ns] = f->service_ns,
                        [IOT_ROW_phase_objects_exposed_ns] = f->exposed_ns,
                        [IOT_ROW_phase_objects_waited_ns] = f->waited_ns},
            .times = times[o]};
        for (size_t k = 0; k < IOT_ROW_NUMBERS; k++)
            all.numbers[k] = iot_sum(all.numbers[k], row.numbers[k]);
        failed = add(g, IOT_ROWS_phase_objects, &row);
    }
    all.numbers[IOT_ROW_phase_objects_units] = 1;
    all.times = times[IOT_OBJECTS];
    failed = failed || add(g, IOT_ROWS_phase_objects, &all);
    for (size_t o = 0; o <= IOT_OBJECTS; o++)
        iot_histogram_free(&times[o]);
    return failed;
}

/* The last step's end is not known. */
static int add_phase(struct gathered *g, const struct iot_report *r, const struct iot_phase *phase)
{
    const struct iot_steps *s = r->phases->steps;
    struct iot_named_row row = {
        .texts = {phase->name},
        .numbers = {[IOT_ROW_phases_units] = 1,
                    [IOT_ROW_phases_steps] = counted(phase->steps),
                    [IOT_ROW_phases_total_ns] = phase->end_ns - phase->start_ns}};
    int failed = 0;
    for (size_t i = 0; phase->steps && i + 1 < s->n && !failed; i++)
        failed = iot_histogram_add(&row.times,
                                   iot_latency_bucket(s->starts_ns[i + 1] - s->starts_ns[i]), 1);
    failed = failed || add(g, IOT_ROWS_phases, &row) || add_phase_objects(g, r, phase);
    iot_histogram_free(&row.times);
    return failed;
}

static int add_phases(struct gathered *g, const struct iot_report *r)
{
    int failed = 0;
    for (size_t k = 0; k < r->phases->n && !failed; k++)
        failed = add_phase(g, r, &r->phases->phases[k]);
    return failed;
}

/* --- what the program does --- */

static int add_queues(struct gathered *g, const struct iot_report *r)
{
    int failed = 0;
    for (size_t k = 0; k < taken(IOT_ROWS_queues, r->n_queues) && !failed; k++) {
        const struct iot_queue *q = &r->queues[k];
        failed =
            add(g, IOT_ROWS_queues,
                &(struct iot_named_row){
                    .texts = {q->name, q->producer, q->consumer},
                    .object = q->object,
                    .numbers = {[IOT_ROW_queues_units] = 1,
                                [IOT_ROW_queues_messages] = q->messages,
                                [IOT_ROW_queues_growing] = q->growing != 0,
                                [IOT_ROW_queues_mean_thousandths] = whole(q->mean_length * 1000),
                                [IOT_ROW_queues_max_length] = q->max_length}});
    }
    return failed;
}

static int add_range(struct gathered *g, const struct iot_range *range)
{
    struct iot_named_row row = {.texts = {range->name},
                                .numbers = {[IOT_ROW_ranges_units] = 1,
                                            [IOT_ROW_ranges_ranges] = counted(range->n),
                                            [IOT_ROW_ranges_total_ns] = range->total_ns,
                                            [IOT_ROW_ranges_ops] = range->ops,
                                            [IOT_ROW_ranges_bytes] = range->bytes,
                                            [IOT_ROW_ranges_service_ns] = range->service_ns,
                                            [IOT_ROW_ranges_exposed_ns] = range->exposed_ns}};
    int failed = 0;
    for (size_t k = 0; k < range->n && !failed; k++)
        failed = iot_histogram_add(&row.times, range->buckets[k], 1);
    failed = failed || add(g, IOT_ROWS_ranges, &row);
    iot_histogram_free(&row.times);
    return failed;
}

static int add_marked(struct gathered *g, const struct iot_report *r)
{
    int failed = 0;
    for (size_t k = 0; k < taken(IOT_ROWS_ranges, r->n_ranges) && !failed; k++)
        failed = add_range(g, &r->ranges[k]);
    for (size_t k = 0; k < taken(IOT_ROWS_marks, r->n_marks) && !failed; k++) {
        const struct iot_named_mark *mark = &r->marks[k];
        failed =
            add(g, IOT_ROWS_marks,
                &(struct iot_named_row){
                    .texts = {mark->name},
                    .numbers = {[IOT_ROW_marks_units] = 1,
                                [IOT_ROW_marks_marks] = counted(mark->n),
                                [IOT_ROW_marks_first_ns] = mark->first_ns > 0 ? mark->first_ns : 0,
                                [IOT_ROW_marks_last_ns] = mark->last_ns > 0 ? mark->last_ns : 0}});
    }
    return failed;
}

static int add_waits(struct gathered *g, const struct iot_report *r)
{
    int failed = 0;
    for (size_t k = 0; k < taken(IOT_ROWS_waits, r->n_waits) && !failed; k++) {
        const struct iot_waited *w = &r->waits[k];
        failed = add(g, IOT_ROWS_waits,
                     &(struct iot_named_row){.texts = {w->waiter, w->other, w->doing, w->path},
                                             .object = w->object,
                                             .numbers = {[IOT_ROW_waits_units] = 1,
                                                         [IOT_ROW_waits_waited_ns] = w->waited_ns,
                                                         [IOT_ROW_waits_most_ns] = w->waited_ns}});
    }
    return failed;
}

/* --- what it says --- */

static int add_advice(struct gathered *g, const struct iot_report *r)
{
    int failed = 0;
    for (size_t k = 0; k < r->advice->n && !failed; k++) {
        const struct iot_advice *a = &r->advice->advice[k];
        failed =
            add(g, IOT_ROWS_advice,
                &(struct iot_named_row){.texts = {a->action},
                                        .shown = a->finding,
                                        .object = a->object < 0 ? IOT_OBJECTS : (uint8_t)a->object,
                                        .numbers = {[IOT_ROW_advice_units] = 1,
                                                    [IOT_ROW_advice_gain_ns] = a->gain_ns,
                                                    [IOT_ROW_advice_most_ns] = a->gain_ns}});
    }
    return failed;
}

static int add_sites(struct gathered *g, const struct iot_report *r)
{
    enum { WORDS_BYTES = 2000 };
    int failed = 0;
    for (size_t k = 0; k < r->n_sites && !failed; k++) {
        const struct iot_call_site *site = &r->sites[k];
        char words[WORDS_BYTES];
        iot_call_site_words(site, words, sizeof words);
        failed = add(
            g, IOT_ROWS_sites,
            &(struct iot_named_row){.texts = {words},
                                    .numbers = {[IOT_ROW_sites_units] = 1,
                                                [IOT_ROW_sites_calls] = counted(site->calls),
                                                [IOT_ROW_sites_bytes] = site->bytes,
                                                [IOT_ROW_sites_service_ns] = site->service_ns,
                                                [IOT_ROW_sites_exposed_ns] = site->exposed_ns}});
    }
    return failed;
}

static int add_sentences(struct gathered *g, enum iot_row_kind kind, const char *const *sentences,
                         size_t n)
{
    int failed = 0;
    for (size_t k = 0; k < n && !failed; k++)
        failed = add(g, kind,
                     &(struct iot_named_row){
                         .texts = {sentences[k]}, .shown = sentences[k], .numbers = {1}});
    return failed;
}

static int add_uncalled(struct gathered *g, const struct iot_report_run *run)
{
    int failed = 0;
    for (size_t k = 0; k < taken(IOT_ROWS_uncalled, run->n_uncalled) && !failed; k++) {
        const struct iot_uncalled *u = &run->uncalled[k];
        failed = add(g, IOT_ROWS_uncalled,
                     &(struct iot_named_row){
                         .texts = {u->exe},
                         .numbers = {[IOT_ROW_uncalled_units] = 1,
                                     [IOT_ROW_uncalled_processes] = 1,
                                     [IOT_ROW_uncalled_read_bytes] = counted(u->read_bytes),
                                     [IOT_ROW_uncalled_write_bytes] = counted(u->write_bytes)}});
    }
    return failed;
}

/* --- GPUs --- */

static int add_copies(struct gathered *g, const struct iot_report_gpu *gpu)
{
    int failed = 0;
    for (size_t k = 0; k < gpu->n_copies && !failed; k++) {
        const struct iot_gpu_copies *c = &gpu->copies[k];
        failed = add(g, IOT_ROWS_gpu_copies,
                     &(struct iot_named_row){
                         .texts = {iot_copy_direction_name(c->direction),
                                   iot_copy_rule_names[c->rule], iot_host_memory_name(c->memory)},
                         .object = c->object,
                         .numbers = {[IOT_ROW_gpu_copies_units] = 1,
                                     [IOT_ROW_gpu_copies_copies] = c->copies,
                                     [IOT_ROW_gpu_copies_bytes] = c->bytes,
                                     [IOT_ROW_gpu_copies_service_ns] = c->service_ns}});
    }
    return failed;
}

static int add_devices(struct gathered *g, const struct iot_report_gpu *gpu)
{
    int failed = 0;
    for (size_t k = 0; k < taken(IOT_ROWS_gpu_devices, gpu->n_devices) && !failed; k++) {
        const struct iot_gpu_device *d = &gpu->devices[k];
        char number[16];
        snprintf(number, sizeof number, "%u", d->device);
        struct iot_named_row row = {.texts = {number},
                                    .numbers = {[IOT_ROW_gpu_devices_units] = 1,
                                                [IOT_ROW_gpu_devices_unknown] = !d->kernels,
                                                [IOT_ROW_gpu_devices_busy_ns] = d->busy_ns,
                                                [IOT_ROW_gpu_devices_idle_ns] = d->idle_ns}};
        for (int o = 0; o < IOT_OBJECTS; o++)
            row.numbers[IOT_ROW_gpu_devices_input_ns + o] = d->idle_of_ns[o];
        failed = add(g, IOT_ROWS_gpu_devices, &row);
    }
    return failed;
}

static int add_gpus(struct gathered *g, const struct iot_report *r)
{
    return r->gpu && (add_copies(g, r->gpu) || add_devices(g, r->gpu));
}

int iot_partial_add_named(struct iot_partial *p, const struct iot_report *r)
{
    struct gathered unit = {.arena = p->arena}, *g = &unit;
    int failed = add_phases(g, r) || add_queues(g, r) || add_marked(g, r) || add_waits(g, r) ||
                 add_advice(g, r) || add_sites(g, r) ||
                 add_sentences(g, IOT_ROWS_not_seen, r->run.not_seen, r->run.n_not_seen) ||
                 add_sentences(g, IOT_ROWS_evidence, r->evidence, r->n_evidence) ||
                 add_uncalled(g, &r->run) || add_gpus(g, r);
    for (enum iot_row_kind kind = 0; kind < IOT_ROW_KINDS; kind++) {
        for (size_t k = 0; k < unit.rows[kind].n && !failed; k++) {
            struct iot_named_row *row = &unit.rows[kind].rows[k];
            row->numbers[0] = 1; /* units */
            failed = iot_named_rows_add(&p->named[kind], kind, row, p->arena);
        }
        iot_named_rows_free(&unit.rows[kind]);
    }
    return failed ? -1 : 0;
}
