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
    uint64_t *counts = calloc(IOT_LATENCY_BUCKETS, sizeof *counts), n = 0;
    if (!counts)
        return -1;
    for (int c = 0; c < IOT_CALL_CLASSES; c++)
        for (int b = 0; calls->classes[c] && b < IOT_LATENCY_BUCKETS; b++) {
            uint64_t more = (uint64_t)calls->classes[c]->counts[b];
            counts[b] = (uint64_t)iot_sum((int64_t)counts[b], (int64_t)more);
            n = (uint64_t)iot_sum((int64_t)n, (int64_t)more);
        }
    if (n)
        f->latency = iot_latency_of_counts(counts, n, max_ns);
    f->timed_ops = (int64_t)n;
    free(counts);
    return 0;
}

/* The times of a class stand at the mean of its sizes, as many as a sample keeps, evenly spread
 * over its calls. */
static void sample_class(struct iot_fit_sample *sample, const struct iot_call_class *class_)
{
    int64_t n = 0, seen = 0;
    for (int b = 0; b < IOT_LATENCY_BUCKETS; b++)
        n = iot_sum(n, class_->counts[b]);
    if (!n)
        return;
    int64_t taken = n < IOT_FIT_CALLS ? n : IOT_FIT_CALLS, k = 0;
    for (unsigned b = 0; b < IOT_LATENCY_BUCKETS && k < taken; b++) {
        seen = iot_sum(seen, class_->counts[b]);
        for (; k < taken && seen > (int64_t)((__int128)n * (2 * k + 1) / (2 * taken)); k++)
            iot_fit_add(sample, class_->bytes / n, iot_latency_value(b));
    }
}

static int set_fit(struct iot_figures *f, const struct iot_calls *calls)
{
    struct iot_fit_sample *sample = malloc(sizeof *sample);
    if (!sample)
        return -1;
    iot_fit_begin(sample);
    for (int c = 1; c < IOT_CALL_CLASSES; c++)
        if (calls->classes[c])
            sample_class(sample, calls->classes[c]);
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
            f, iot_job_figures(&f->sums),
            left(rest[IOT_COLUMN_cut_exposed_ns], at[IOT_COLUMN_cut_exposed_ns]),
            left(rest[IOT_COLUMN_cut_service_ns], at[IOT_COLUMN_cut_service_ns]),
            left(rest[IOT_COLUMN_cut_bytes], at[IOT_COLUMN_cut_bytes])};
    }
    job->n_files = p->n_files;
    if (job->n_files)
        qsort(job->files, job->n_files, sizeof *job->files, by_cost);
    return 0;
}

struct reading {
    int64_t bytes;
    size_t index;
};

static int by_bytes(const void *a, const void *b)
{
    const struct reading *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int find_shared(struct iot_job *job)
{
    struct reading *found = malloc((job->n_files + 1) * sizeof *found);
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
            found[job->n_shared++] = (struct reading){f->figures.read_bytes, i};
    }
    if (job->n_shared)
        qsort(found, job->n_shared, sizeof *found, by_bytes);
    for (size_t k = 0; k < job->n_shared; k++)
        job->shared[k] = found[k].index;
    free(found);
    return 0;
}

/* --- spread --- */

static struct iot_spread spread_of(struct reading *values, size_t n)
{
    qsort(values, n, sizeof *values, by_bytes); /* the most first; of equals, the first unit */
    size_t last = n - 1;
    while (last && values[last - 1].bytes == values[n - 1].bytes)
        last--;
    return (struct iot_spread){values[n - 1].bytes, values[n / 2].bytes, values[0].bytes,
                               values[last].index, values[0].index};
}

static int make_spreads(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    struct reading *values = malloc((p->n_units + 1) * sizeof *values);
    if (!values)
        return -1;
    for (int o = 0; o < IOT_OBJECTS; o++)
        for (int s = 0; s < IOT_SPREADS; s++) {
            for (size_t k = 0; k < p->n_units; k++)
                values[k] = (struct reading){p->units[k].objects[o].at[spread_columns[s]], k};
            job->spread[o][s] = spread_of(values, p->n_units);
        }
    for (size_t k = 0; k < p->n_units; k++)
        values[k] = (struct reading){p->units[k].numbers[IOT_UNIT_wall_ns], k};
    job->wall = spread_of(values, p->n_units);
    job->straggler = job->wall.max_unit;
    job->wall_ns = job->wall.max;
    free(values);
    return 0;
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

/* --- hosts --- */

static int by_host(const void *a, const void *b)
{
    return strcmp(((const struct iot_job_host *)a)->host, ((const struct iot_job_host *)b)->host);
}

static int make_hosts(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    size_t n = 0;
    job->hosts = calloc(p->n_units + 1, sizeof *job->hosts);
    if (!job->hosts)
        return -1;
    for (size_t k = 0; k < p->n_units; k++) {
        job->hosts[k] =
            (struct iot_job_host){.host = p->units[k].host, .units = 1, .slow_object = -1};
        memcpy(job->hosts[k].objects, p->units[k].objects, sizeof job->hosts[k].objects);
    }
    qsort(job->hosts, p->n_units, sizeof *job->hosts, by_host);
    for (size_t k = 0; k < p->n_units; k++) {
        if (!n || by_host(&job->hosts[n - 1], &job->hosts[k])) {
            job->hosts[n++] = job->hosts[k];
            continue;
        }
        job->hosts[n - 1].units++;
        for (int o = 0; o < IOT_OBJECTS; o++)
            iot_sums_add(&job->hosts[n - 1].objects[o], &job->hosts[k].objects[o]);
    }
    job->n_hosts = n;
    return 0;
}

static double rate(const struct iot_job_host *host, int object, enum iot_sum_column per)
{
    const int64_t *at = host->objects[object].at;
    return at[per] > 0 ? (double)at[IOT_COLUMN_data_service_ns] / (double)at[per] : -1;
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The lower median over the hosts that have such calls; -1 if fewer than two have. */
static double median_rate(const struct iot_job *job, int object, enum iot_sum_column per,
                          double *rates)
{
    size_t n = 0;
    for (size_t h = 0; h < job->n_hosts; h++) {
        double r = rate(&job->hosts[h], object, per);
        if (r >= 0)
            rates[n++] = r;
    }
    qsort(rates, n, sizeof *rates, by_double);
    return n < 2 ? -1 : rates[(n - 1) / 2];
}

/* Slow by byte and by call, so that neither more bytes nor larger calls look like it; and by a
 * hundredth of the job at least. */
static int find_slow(struct iot_job *job)
{
    static const double slow = 1.5;
    double *rates = malloc((job->n_hosts + 1) * sizeof *rates);
    if (!rates)
        return -1;
    for (int o = 0; o < IOT_OTHER; o++) {
        double byte = median_rate(job, o, IOT_COLUMN_bytes, rates);
        double call = median_rate(job, o, IOT_COLUMN_data_ops, rates);
        for (size_t h = 0; h < job->n_hosts && byte > 0 && call > 0; h++) {
            struct iot_job_host *host = &job->hosts[h];
            double of_byte = rate(host, o, IOT_COLUMN_bytes);
            double of_call = rate(host, o, IOT_COLUMN_data_ops);
            double excess = (double)host->objects[o].at[IOT_COLUMN_data_service_ns] *
                            (1 - byte / of_byte) / (double)host->units;
            if (of_byte < slow * byte || of_call < slow * call ||
                excess < (double)job->wall_ns / 100 || excess <= (double)host->excess_ns)
                continue;
            host->slow_object = o;
            host->excess_ns = excess < 9e18 ? (int64_t)excess : INT64_MAX;
            host->times = of_byte / byte;
        }
    }
    free(rates);
    return 0;
}

int iot_job_make(struct iot_job *job, const struct iot_partial *partial)
{
    *job = (struct iot_job){.partial = partial, .arena = iot_arena_new()};
    if (!job->arena || sum_objects(job) || make_files(job) || find_shared(job) ||
        make_spreads(job) || make_hosts(job) || find_slow(job))
        return -1;
    sum_units(job);
    return iot_job_notes(job) || iot_job_words(job) ? -1 : 0;
}

void iot_job_free(struct iot_job *job)
{
    free(job->files);
    free(job->shared);
    free(job->hosts);
    free(job->notes.lines);
    free(job->ranks.lines);
    free(job->shared_words.lines);
    free(job->slow.lines);
    iot_arena_free(job->arena);
    *job = (struct iot_job){0};
}
