/* From the rows of units to what a job's report says. */
#include "analyzer/job.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"

const char *const iot_spread_names[IOT_SPREADS] = {"exposed_ns", "service_ns", "bytes"};
static const enum iot_sum_column spread_columns[IOT_SPREADS] = {
    IOT_COLUMN_exposed_ns, IOT_COLUMN_service_ns, IOT_COLUMN_bytes};

const char *iot_unit_label(const struct iot_unit *u, char text[IOT_LABEL_BYTES])
{
    if (u->identity.rank >= 0)
        snprintf(text, IOT_LABEL_BYTES, "rank %lld on %.100s", (long long)u->identity.rank,
                 u->host);
    else if (u->n_ranks)
        snprintf(text, IOT_LABEL_BYTES, "ranks %lld to %lld on %.100s", (long long)u->ranks[0],
                 (long long)u->ranks[u->n_ranks - 1], u->host);
    else
        snprintf(text, IOT_LABEL_BYTES, "process %lld on %.100s",
                 (long long)u->numbers[IOT_UNIT_pid], u->host);
    return text;
}

/* --- figures --- */

struct iot_figures iot_job_figures(const struct iot_sums *sums)
{
    const int64_t *at = sums->at;
    return (struct iot_figures){
        .data_ops = at[IOT_COLUMN_data_ops],
        .metadata_ops = at[IOT_COLUMN_metadata_ops],
        .sync_ops = at[IOT_COLUMN_sync_ops],
        .bytes = at[IOT_COLUMN_bytes],
        .read_bytes = at[IOT_COLUMN_read_bytes],
        .write_bytes = at[IOT_COLUMN_write_bytes],
        .service_ns = at[IOT_COLUMN_service_ns],
        .data_service_ns = at[IOT_COLUMN_data_service_ns],
        .exposed_ns = at[IOT_COLUMN_exposed_ns],
        .waited_ns = at[IOT_COLUMN_waited_ns],
        .recoverable_ns = IOT_NOT_COMPUTED,
        .mapped_bytes = at[IOT_COLUMN_mapped_bytes],
        .fault_ns = at[IOT_COLUMN_fault_ns],
        .small_ops = at[IOT_COLUMN_small_ops],
        .opens = at[IOT_COLUMN_opens],
        .placed_bytes = at[IOT_COLUMN_placed_bytes],
        .distinct_bytes = at[IOT_COLUMN_distinct_bytes],
        .serialization_ns = at[IOT_COLUMN_serialization_ns],
        .coded = at[IOT_COLUMN_coded] > 0,
        .opened_bytes = (double)at[IOT_COLUMN_opened_bytes],
        .resident_bytes = (double)at[IOT_COLUMN_resident_bytes],
    };
}

/* All classes of sizes in one. */
static int set_latency(struct iot_figures *f, const struct iot_calls *calls, int64_t max_ns)
{
    struct iot_histogram all = {0};
    int failed = 0;
    for (int c = 0; c < IOT_CALL_CLASSES && !failed; c++)
        failed = iot_histogram_join(&all, &calls->classes[c].times);
    f->timed_ops = iot_histogram_count(&all);
    if (f->timed_ops)
        f->latency = iot_histogram_latency(&all, max_ns);
    iot_histogram_free(&all);
    return failed;
}

/* The times of a class stand at the mean of its sizes, as many as a sample keeps, evenly spread
 * over its calls. */
static void sample_class(struct iot_fit_sample *sample, const struct iot_call_class *class_)
{
    const struct iot_histogram *times = &class_->times;
    int64_t n = iot_histogram_count(times), seen = 0;
    if (!n)
        return;
    int64_t taken = n < IOT_FIT_CALLS ? n : IOT_FIT_CALLS, k = 0;
    for (size_t b = 0; b < times->n && k < taken; b++) {
        seen = iot_sum(seen, (int64_t)times->bars[b].count);
        for (; k < taken && seen > (int64_t)((__int128)n * (2 * k + 1) / (2 * taken)); k++)
            iot_fit_add(sample, class_->bytes / n, iot_latency_value(times->bars[b].bucket));
    }
}

static int set_fit(struct iot_figures *f, const struct iot_calls *calls)
{
    struct iot_fit_sample *sample = malloc(sizeof *sample);
    if (!sample)
        return -1;
    iot_fit_begin(sample);
    for (int c = 1; c < IOT_CALL_CLASSES; c++)
        sample_class(sample, &calls->classes[c]);
    f->fit = iot_fit_line(sample);
    free(sample);
    return 0;
}

static int sum_objects(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    struct iot_sums total = {0};
    for (int o = 0; o < IOT_OBJECTS; o++) {
        struct iot_sums sums = {0};
        for (size_t k = 0; k < p->n_units; k++)
            iot_sums_add(&sums, &p->units[k].objects[o]);
        iot_sums_add(&total, &sums);
        struct iot_figures *f = &job->objects[o].figures;
        *f = iot_job_figures(&sums);
        f->recoverable_ns = sums.at[IOT_COLUMN_recoverable_ns];
        job->objects[o].files = (uint64_t)sums.at[IOT_COLUMN_files];
        if (set_latency(f, &p->calls[o], sums.at[IOT_COLUMN_max_ns]) || set_fit(f, &p->calls[o]))
            return -1;
    }
    job->total = iot_job_figures(&total);
    job->total.recoverable_ns = job->total.exposed_ns;
    return 0;
}

/* --- files --- */

static int by_cost(const void *a, const void *b)
{
    const struct iot_job_file *x = a, *y = b;
    if (x->figures.exposed_ns != y->figures.exposed_ns)
        return x->figures.exposed_ns > y->figures.exposed_ns ? -1 : 1;
    if (x->figures.service_ns != y->figures.service_ns)
        return x->figures.service_ns > y->figures.service_ns ? -1 : 1;
    int paths = strcmp(x->file->path, y->file->path);
    return paths ? paths : (int)x->file->object - (int)y->file->object;
}

static int64_t left(int64_t all, int64_t named)
{
    return all > named ? all - named : 0;
}

static int make_files(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    job->files = calloc(p->n_files + 1, sizeof *job->files);
    if (!job->files)
        return -1;
    for (size_t i = 0; i < p->n_files; i++) {
        const struct iot_partial_file *f = &p->files[i];
        const int64_t *rest = p->rest[f->object].at, *at = f->sums.at;
        job->files[i] = (struct iot_job_file){
            .file = f,
            .figures = iot_job_figures(&f->sums),
            .error_exposed_ns =
                left(rest[IOT_COLUMN_cut_exposed_ns], at[IOT_COLUMN_cut_exposed_ns]),
            .error_service_ns =
                left(rest[IOT_COLUMN_cut_service_ns], at[IOT_COLUMN_cut_service_ns]),
            .error_bytes = left(rest[IOT_COLUMN_cut_bytes], at[IOT_COLUMN_cut_bytes])};
        struct iot_figures *figures = &job->files[i].figures;
        figures->timed_ops = iot_histogram_count(&f->times);
        figures->latency = iot_histogram_latency(&f->times, at[IOT_COLUMN_max_ns]);
        if (at[IOT_COLUMN_recoverable_units])
            figures->recoverable_ns = at[IOT_COLUMN_recoverable_ns];
    }
    job->n_files = p->n_files;
    if (iot_job_moments(job))
        return -1;
    if (job->n_files)
        qsort(job->files, job->n_files, sizeof *job->files, by_cost);
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct iot_job_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->unit < y->unit ? -1 : 1;
}

static int find_shared(struct iot_job *job)
{
    struct iot_job_value *found = malloc((job->n_files + 1) * sizeof *found);
    job->shared = malloc((job->n_files + 1) * sizeof *job->shared);
    if (!found || !job->shared) {
        free(found);
        return -1;
    }
    for (size_t i = 0; i < job->n_files; i++) {
        const struct iot_job_file *f = &job->files[i];
        int is_file = *f->file->path == '/'; /* neither a pipe nor copies of a GPU */
        if (is_file && f->file->object != IOT_OTHER &&
            f->figures.read_bytes > f->file->sums.at[IOT_COLUMN_largest_read_bytes])
            found[job->n_shared++] = (struct iot_job_value){f->figures.read_bytes, i};
    }
    if (job->n_shared)
        qsort(found, job->n_shared, sizeof *found, most_first);
    for (size_t k = 0; k < job->n_shared; k++)
        job->shared[k] = found[k].unit;
    free(found);
    return 0;
}

/* --- spread --- */

struct iot_spread iot_job_spread(struct iot_job_value *values, size_t n)
{
    qsort(values, n, sizeof *values, most_first); /* of equals, the first unit */
    size_t last = n - 1;
    while (last && values[last - 1].value == values[n - 1].value)
        last--;
    return (struct iot_spread){values[n - 1].value, values[n / 2].value, values[0].value,
                               values[last].unit, values[0].unit};
}

static int make_spreads(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    struct iot_job_value *values = malloc((p->n_units + 1) * sizeof *values);
    if (!values)
        return -1;
    for (int o = 0; o < IOT_OBJECTS; o++)
        for (int s = 0; s < IOT_SPREADS; s++) {
            for (size_t k = 0; k < p->n_units; k++)
                values[k] = (struct iot_job_value){p->units[k].objects[o].at[spread_columns[s]], k};
            job->spread[o][s] = iot_job_spread(values, p->n_units);
        }
    for (size_t k = 0; k < p->n_units; k++)
        values[k] = (struct iot_job_value){p->units[k].numbers[IOT_UNIT_wall_ns], k};
    job->wall = iot_job_spread(values, p->n_units);
    job->straggler = job->wall.max_unit;
    job->wall_ns = job->wall.max;
    free(values);
    return 0;
}

int64_t iot_job_sum(const struct iot_job *job, enum iot_unit_number number)
{
    int64_t sum = 0;
    for (size_t k = 0; k < job->partial->n_units; k++)
        sum = iot_sum(sum, job->partial->units[k].numbers[number]);
    return sum;
}

static void sum_units(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    for (size_t k = 0; k < p->n_units; k++) {
        const struct iot_unit *u = &p->units[k];
        job->unit_wall_ns = iot_sum(job->unit_wall_ns, u->numbers[IOT_UNIT_wall_ns]);
        for (int part = 0; part < 7; part++)
            job->path[part] = iot_sum(job->path[part], u->numbers[IOT_UNIT_compute_ns + part]);
        for (int c = 0; c < IOT_UNIT_CURVE; c++)
            if (u->curve[c] > job->curve[c])
                job->curve[c] = u->curve[c];
    }
}

int iot_job_make(struct iot_job *job, const struct iot_partial *partial)
{
    *job = (struct iot_job){.partial = partial, .arena = iot_arena_new()};
    if (!job->arena || sum_objects(job) || make_files(job) || find_shared(job) ||
        make_spreads(job) || iot_job_gpu(job) || iot_job_hosts(job) || iot_job_named(job))
        return -1;
    sum_units(job);
    return iot_job_notes(job) || iot_job_words(job) || iot_job_named_words(job) ||
                   iot_job_moments_words(job) || iot_job_gpu_words(job)
               ? -1
               : 0;
}

void iot_job_free(struct iot_job *job)
{
    free(job->files);
    free(job->shared);
    free(job->starts);
    free(job->hosts);
    free(job->notes.lines);
    free(job->ranks.lines);
    free(job->shared_words.lines);
    free(job->slow.lines);
    for (int kind = 0; kind < IOT_ROW_KINDS; kind++)
        free(job->named[kind]);
    for (int k = 0; k < IOT_JOB_SECTIONS; k++)
        free(job->sections[k].lines);
    iot_arena_free(job->arena);
    *job = (struct iot_job){0};
}
