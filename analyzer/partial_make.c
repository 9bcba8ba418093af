/* The partial result of one unit: what its report says, in integers that add up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/partial.h"
#include "analyzer/phases.h"
#include "analyzer/report.h"
#include "analyzer/report_gpu.h"

enum { COMMAND_BYTES = 200 };

static struct iot_sums sums_of(const struct iot_figures *f)
{
    struct iot_sums sums = {{
#define IOT_COLUMN(group, how, name, of) [IOT_COLUMN_##name] = (of),
#include "analyzer/partial_columns.def"
#undef IOT_COLUMN
    }};
    if (f->recoverable_ns == IOT_NOT_COMPUTED)
        sums.at[IOT_COLUMN_recoverable_ns] = 0;
    return sums;
}

static const char *copy(struct iot_partial *p, const char *text)
{
    return iot_arena_text(p->arena, text, strlen(text));
}

/* --- the unit --- */

static const char *boot_text(struct iot_partial *p, const uint8_t id[16])
{
    char text[33] = "";
    int known = 0;
    for (int k = 0; k < 16; k++) {
        snprintf(text + 2 * k, 3, "%02x", id[k]);
        known |= id[k];
    }
    return copy(p, known ? text : "");
}

static const char *command_text(struct iot_partial *p, const char *const *command)
{
    char text[COMMAND_BYTES] = "";
    size_t n = 0;
    for (size_t k = 0; command[k] && n < sizeof text; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? " " : "", command[k]);
    return copy(p, text);
}

/* T(lambda) between two points of the curve. */
static int64_t time_at(const struct iot_model *model, double lambda)
{
    for (size_t k = 1; k < model->n_curve; k++) {
        const struct iot_model_curve *from = &model->curve[k - 1], *to = &model->curve[k];
        if (lambda < to->lambda || from->lambda <= to->lambda)
            continue;
        double share = (lambda - to->lambda) / (from->lambda - to->lambda);
        return to->time_ns + llround(share * (double)(from->time_ns - to->time_ns));
    }
    return model->wall_ns;
}

/* The ranks of its processes. One: it is the unit's. Several, as under an `mpirun` that is traced
 * itself: they are one unit. */
static int set_ranks(struct iot_partial *p, struct iot_unit *u, const struct iot_report *r)
{
    const struct iot_identity *found = NULL;
    u->ranks = iot_arena_take(p->arena, (r->run.n_ranks + 1) * sizeof *u->ranks);
    if (!u->ranks)
        return -1;
    for (size_t k = 0; k < r->run.n_ranks; k++) {
        const struct iot_identity *identity = r->run.ranks[k].identity;
        if (identity->rank < 0)
            continue;
        if (!u->n_ranks || u->ranks[u->n_ranks - 1] != identity->rank)
            u->ranks[u->n_ranks++] = identity->rank;
        found = identity;
    }
    if (!found)
        found = &r->trace->processes[0].identity;
    u->identity = *found;
    u->identity.job = copy(p, found->job);
    u->identity.source = copy(p, found->source);
    if (u->n_ranks > 1)
        u->identity.rank = u->identity.local_rank = -1;
    else
        u->n_ranks = 0;
    return u->identity.job && u->identity.source ? 0 : -1;
}

/* Of all its GPUs, and of its ranks within collectives. */
struct gpu_numbers {
    int64_t known, busy_ns, idle_ns, idle_of_ns[IOT_OBJECTS];
    int64_t collectives, matched, waited_ns, transfer_ns;
};

static struct gpu_numbers gpu_numbers(const struct iot_report_gpu *g)
{
    struct gpu_numbers n = {0};
    for (size_t k = 0; g && k < g->n_devices; k++) {
        n.known += g->devices[k].kernels != 0;
        n.busy_ns = iot_sum(n.busy_ns, g->devices[k].busy_ns);
        n.idle_ns = iot_sum(n.idle_ns, g->devices[k].idle_ns);
        for (int o = 0; o < IOT_OBJECTS; o++)
            n.idle_of_ns[o] = iot_sum(n.idle_of_ns[o], g->devices[k].idle_of_ns[o]);
    }
    for (size_t k = 0; g && k < g->n_ranks; k++) {
        n.collectives = iot_sum(n.collectives, g->ranks[k].collectives);
        n.matched = iot_sum(n.matched, g->ranks[k].matched);
        n.waited_ns = iot_sum(n.waited_ns, g->ranks[k].waited_ns);
        n.transfer_ns = iot_sum(n.transfer_ns, g->ranks[k].transfer_ns);
    }
    return n;
}

static void set_numbers(struct iot_unit *u, const struct iot_report *r)
{
    const struct gpu_numbers gpu = gpu_numbers(r->gpu);
    const struct iot_model *m = r->model;
    const struct iot_process *root = &r->trace->processes[0];
    const struct {
        enum iot_unit_number number;
        uint64_t value;
    } numbers[] = {
        {IOT_UNIT_pid, root->pid},
        {IOT_UNIT_start_realtime_ns, root->start_realtime_ns},
        {IOT_UNIT_start_mono_ns, root->start_mono_ns},
        {IOT_UNIT_wall_ns, (uint64_t)m->wall_ns},
        {IOT_UNIT_part_of_ns, r->trace->seen.spans ? (uint64_t)r->trace->seen.run_ns : 0},
        {IOT_UNIT_processes, r->run.processes},
        {IOT_UNIT_lanes, r->run.lanes},
        {IOT_UNIT_events, r->trace->events.n},
        {IOT_UNIT_dropped_events, r->trace->dropped_events},
        {IOT_UNIT_salvaged_processes, r->trace->salvaged_processes},
        {IOT_UNIT_untraced, r->run.n_untraced},
        {IOT_UNIT_storage_read_bytes, r->run.storage_read_bytes},
        {IOT_UNIT_storage_write_bytes, r->run.storage_write_bytes},
        {IOT_UNIT_runqueue_ns, r->run.runqueue_ns},
        {IOT_UNIT_compute_ns, (uint64_t)m->path.compute_ns},
        {IOT_UNIT_io_ns, (uint64_t)m->path.io_ns},
        {IOT_UNIT_gpu_ns, (uint64_t)m->path.gpu_ns},
        {IOT_UNIT_sleep_ns, (uint64_t)m->path.sleep_ns},
        {IOT_UNIT_wake_ns, (uint64_t)m->path.wake_ns},
        {IOT_UNIT_external_ns, (uint64_t)m->path.external_ns},
        {IOT_UNIT_unexplained_ns, (uint64_t)m->path.unexplained_ns},
        {IOT_UNIT_exposed_error_ns, (uint64_t)m->exposed_error_ns},
        {IOT_UNIT_replay_error_ns, (uint64_t)llabs(m->replay_error_ns)},
        {IOT_UNIT_unmatched_waits, m->unmatched_waits},
        {IOT_UNIT_cut_edges, m->cut_edges},
        {IOT_UNIT_gpus, r->gpu ? r->gpu->n_devices : 0},
        {IOT_UNIT_gpus_known, (uint64_t)gpu.known},
        {IOT_UNIT_gpu_busy_ns, (uint64_t)gpu.busy_ns},
        {IOT_UNIT_gpu_idle_ns, (uint64_t)gpu.idle_ns},
        {IOT_UNIT_gpu_launch_ns, (uint64_t)m->path.gpu_launch_ns},
        {IOT_UNIT_gpu_gap_ns, (uint64_t)m->path.gpu_gap_ns},
        {IOT_UNIT_gpu_ranges_forgotten, r->trace->lineage_forgotten},
        {IOT_UNIT_collectives, (uint64_t)gpu.collectives},
        {IOT_UNIT_collectives_matched, (uint64_t)gpu.matched},
        {IOT_UNIT_collectives_waited_ns, (uint64_t)gpu.waited_ns},
        {IOT_UNIT_collectives_transfer_ns, (uint64_t)gpu.transfer_ns},
        {IOT_UNIT_uncalled_read_bytes, r->run.uncalled_read_bytes},
        {IOT_UNIT_uncalled_write_bytes, r->run.uncalled_write_bytes},
        {IOT_UNIT_steps, r->phases->steps->n},
    };
    _Static_assert(sizeof numbers / sizeof *numbers == IOT_UNIT_NUMBERS, "all of them");
    for (size_t k = 0; k < IOT_UNIT_NUMBERS; k++)
        u->numbers[numbers[k].number] =
            numbers[k].value > IOT_SUM_MAX ? IOT_SUM_MAX : (int64_t)numbers[k].value;
    for (int o = 0; o < IOT_OBJECTS; o++)
        u->objects[o].at[IOT_COLUMN_gpu_idle_ns] = gpu.idle_of_ns[o];
    for (int k = 0; k < IOT_UNIT_CURVE; k++)
        u->curve[k] = time_at(m, (double)(IOT_UNIT_CURVE - 1 - k) / (IOT_UNIT_CURVE - 1));
}

static int set_waits(struct iot_partial *p, struct iot_unit *u, const struct iot_report *r)
{
    for (size_t k = 0; k < r->n_waits && k < IOT_UNIT_WAITS; k++) {
        const struct iot_waited *w = &r->waits[k];
        struct iot_waited *to = &u->waits[u->n_waits++];
        *to = (struct iot_waited){.waiter = copy(p, w->waiter),
                                  .other = copy(p, w->other),
                                  .doing = copy(p, w->doing),
                                  .path = copy(p, w->path),
                                  .object = w->object,
                                  .waited_ns = w->waited_ns};
        if (!to->waiter || !to->other || !to->doing || !to->path)
            return -1;
    }
    return 0;
}

static int add_unit(struct iot_partial *p, const struct iot_report *r)
{
    struct iot_unit *u = iot_partial_unit(p);
    if (!u)
        return -1;
    u->host = copy(p, r->run.host);
    u->boot_id = boot_text(p, r->trace->processes[0].boot_id);
    u->command = command_text(p, r->run.command);
    u->damage = copy(p, r->trace->damage);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        u->objects[o] = sums_of(&r->objects[o].figures);
        u->objects[o].at[IOT_COLUMN_files] = (int64_t)r->objects[o].files;
    }
    set_numbers(u, r);
    return set_ranks(p, u, r) || set_waits(p, u, r) || !u->host || !u->boot_id || !u->command ||
                   !u->damage
               ? -1
               : 0;
}

/* --- its calls --- */

/* Of the unit alone; then they are part of all. */
static int set_calls(struct iot_partial *p, struct iot_unit *u, const struct iot_calls *calls)
{
    u->calls = iot_arena_take(p->arena, IOT_OBJECTS * IOT_CALL_CLASSES * sizeof *u->calls);
    if (!u->calls)
        return -1;
    for (unsigned k = 0; k < IOT_OBJECTS * IOT_CALL_CLASSES; k++) {
        unsigned object = k / IOT_CALL_CLASSES, class_ = k % IOT_CALL_CLASSES;
        const struct iot_histogram *times = &calls[object].classes[class_].times;
        if (times->n)
            u->calls[u->n_calls++] = (struct iot_unit_calls){
                (uint8_t)object, (uint8_t)class_, iot_histogram_count(times),
                iot_histogram_latency(times, INT64_MAX).p50_ns};
    }
    return 0;
}

static int count_calls(struct iot_calls *calls, const struct iot_report *r)
{
    int failed = 0;
    for (size_t i = 0; i < r->trace->events.n && !failed; i++) {
        if (r->of_event[i] == IOT_NO_INDEX || !iot_report_is_timed(r, i))
            continue;
        int64_t bytes = r->trace->events.bytes[i];
        struct iot_call_class *class_ =
            &calls[r->files[r->of_event[i]].object].classes[iot_call_class_of(bytes)];
        class_->bytes = iot_sum(class_->bytes, bytes > 0 ? bytes : 0);
        failed = iot_histogram_add(&class_->times, iot_latency_bucket(r->model->service_ns[i]), 1);
    }
    return failed;
}

static int add_calls(struct iot_partial *p, const struct iot_report *r)
{
    struct iot_calls calls[IOT_OBJECTS] = {0};
    int failed = count_calls(calls, r) || set_calls(p, &p->units[p->n_units - 1], calls);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        failed = failed || iot_calls_join(&p->calls[o], &calls[o]);
        iot_calls_free(&calls[o]);
    }
    return failed ? -1 : 0;
}

/* --- its files --- */

/* By what files are chosen, and where the largest of those that are not goes. */
static const struct {
    enum iot_sum_column by, cut;
} choices[] = {{IOT_COLUMN_exposed_ns, IOT_COLUMN_cut_exposed_ns},
               {IOT_COLUMN_service_ns, IOT_COLUMN_cut_service_ns},
               {IOT_COLUMN_bytes, IOT_COLUMN_cut_bytes}};
enum { CHOICES = sizeof choices / sizeof *choices };

struct row {
    int64_t key;
    const struct iot_report_file *file;
    size_t index;
};

static int by_key(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    int paths = strcmp(x->file->path, y->file->path);
    return paths ? paths : (int)x->file->object - (int)y->file->object;
}

static void choose(uint8_t *named, struct row *rows, const struct iot_report *r,
                   enum iot_sum_column by, size_t top)
{
    for (size_t i = 0; i < r->n_files; i++) {
        struct iot_sums sums = sums_of(&r->files[i].figures);
        rows[i] = (struct row){sums.at[by], &r->files[i], i};
    }
    if (r->n_files)
        qsort(rows, r->n_files, sizeof *rows, by_key);
    for (size_t i = 0; i < r->n_files && i < top; i++)
        named[rows[i].index] = 1;
}

static struct iot_sums file_sums(const struct iot_report_file *f)
{
    struct iot_sums sums = sums_of(&f->figures);
    sums.at[IOT_COLUMN_recoverable_units] = f->figures.recoverable_ns != IOT_NOT_COMPUTED;
    sums.at[IOT_COLUMN_files] = 1;
    sums.at[IOT_COLUMN_largest_read_bytes] = f->figures.read_bytes;
    return sums;
}

/* Of those that are named. */
static int count_times(struct iot_histogram *times, const uint8_t *named,
                       const struct iot_report *r)
{
    int failed = 0;
    for (size_t i = 0; i < r->trace->events.n && !failed; i++) {
        uint32_t row = r->of_event[i];
        if (row != IOT_NO_INDEX && named[row] && iot_report_is_timed(r, i))
            failed = iot_histogram_add(&times[row], iot_latency_bucket(r->model->service_ns[i]), 1);
    }
    return failed;
}

static int add_files(struct iot_partial *p, const struct iot_report *r, size_t top)
{
    uint8_t *named = calloc(r->n_files + 1, 1);
    struct row *rows = malloc((r->n_files + 1) * sizeof *rows);
    struct iot_histogram *times = calloc(r->n_files + 1, sizeof *times);
    struct iot_sums rest[IOT_OBJECTS] = {0};
    int failed = !named || !rows || !times;
    for (size_t c = 0; c < CHOICES && !failed; c++)
        choose(named, rows, r, choices[c].by, top);
    failed = failed || count_times(times, named, r);
    for (size_t i = 0; i < r->n_files && !failed; i++) {
        if (named[i])
            continue;
        struct iot_sums sums = file_sums(&r->files[i]), *to = &rest[r->files[i].object];
        iot_sums_add(to, &sums);
        to->at[IOT_COLUMN_units] = 1;
        for (size_t c = 0; c < CHOICES; c++)
            if (sums.at[choices[c].by] > to->at[choices[c].cut])
                to->at[choices[c].cut] = sums.at[choices[c].by];
    }
    for (size_t i = 0; i < r->n_files && !failed; i++) {
        const struct iot_report_file *f = &r->files[i];
        if (!named[i])
            continue;
        struct iot_sums sums = file_sums(f);
        sums.at[IOT_COLUMN_units] = 1;
        for (size_t c = 0; c < CHOICES; c++)
            sums.at[choices[c].cut] = rest[f->object].at[choices[c].cut];
        failed = iot_partial_file(
            p, &(struct iot_partial_file){f->path, f->why, f->object, sums, times[i]});
    }
    for (int o = 0; o < IOT_OBJECTS && !failed; o++)
        iot_sums_add(&p->rest[o], &rest[o]);
    failed = failed || iot_partial_set_moments(p, &p->units[p->n_units - 1], r, named);
    for (size_t i = 0; times && i < r->n_files; i++)
        iot_histogram_free(&times[i]);
    free(times);
    free(named);
    free(rows);
    return failed ? -1 : 0;
}

int iot_partial_add_report(struct iot_partial *partial, const struct iot_report *report, size_t top)
{
    return add_unit(partial, report) || add_calls(partial, report) ||
                   add_files(partial, report, top) || iot_partial_add_named(partial, report)
               ? -1
               : 0;
}
