/* A job's report as JSON: rows of objects and files have the fields of iotrace-report/1. */
#include <stdlib.h>

#include "analyzer/job.h"
#include "analyzer/json_out.h"
#include "analyzer/partial_json.h"
#include "analyzer/report_json_parts.h"

static void put_lines(struct iot_json *json, const char *key, const struct iot_job_lines *lines)
{
    iot_json_put_strings(json, key, lines->lines, lines->n);
}

static void put_unit(struct iot_json *json, const struct iot_unit *u)
{
    char text[IOT_LABEL_BYTES];
    iot_json_begin_object(json);
    iot_json_put_string(json, "name", iot_unit_label(u, text));
    iot_unit_put_head(json, u);
    iot_json_put_array(json, "objects");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const int64_t *at = u->objects[o].at;
        iot_json_begin_object(json);
        iot_json_put_string(json, "object", iot_object_names[o]);
        iot_json_put_int(json, "bytes", at[IOT_COLUMN_bytes]);
        iot_json_put_int(json, "service_ns", at[IOT_COLUMN_service_ns]);
        iot_json_put_int(json, "exposed_ns", at[IOT_COLUMN_exposed_ns]);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    iot_report_put_waits(json, u->waits, u->n_waits);
    iot_json_end_object(json);
}

static void put_spread(struct iot_json *json, const char *key, const struct iot_spread *s)
{
    iot_json_put_object(json, key);
    iot_json_put_int(json, "min", s->min);
    iot_json_put_int(json, "median", s->median);
    iot_json_put_int(json, "max", s->max);
    iot_json_put_uint(json, "min_unit", s->min_unit);
    iot_json_put_uint(json, "max_unit", s->max_unit);
    iot_json_end_object(json);
}

static void put_totals(struct iot_json *json, const struct iot_job *job)
{
    iot_json_put_object(json, "path");
    for (int k = 0; k < 7; k++)
        iot_json_put_int(json, iot_unit_number_names[IOT_UNIT_compute_ns + k], job->path[k]);
    iot_json_end_object(json);
    iot_json_put_array(json, "curve");
    for (int k = 0; k < IOT_UNIT_CURVE; k++) {
        iot_json_begin_array(json);
        iot_json_double(json, (double)(IOT_UNIT_CURVE - 1 - k) / (IOT_UNIT_CURVE - 1));
        iot_json_int(json, job->curve[k]);
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
    iot_json_put_array(json, "objects");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_object(json);
        iot_json_put_string(json, "object", iot_object_names[o]);
        iot_json_put_uint(json, "files", job->objects[o].files);
        iot_report_put_figures(json, &job->objects[o].figures);
        iot_report_put_reads(json, &job->objects[o].figures);
        for (int s = 0; s < IOT_SPREADS; s++) {
            char key[40];
            snprintf(key, sizeof key, "spread_%s", iot_spread_names[s]);
            put_spread(json, key, &job->spread[o][s]);
        }
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    iot_report_put_total(json, &job->total);
}

/* As in a report, of the unit in which it took longest. */
static void put_longest(struct iot_json *json, const struct iot_job_file *f)
{
    if (!f->ready_units) {
        iot_json_put_null(json, "ready_ns");
        return;
    }
    iot_json_put_object(json, "ready_ns");
    iot_json_put_int(json, "storage", f->longest->storage_ns);
    iot_json_put_int(json, "decode", f->longest->decode_ns);
    iot_json_put_int(json, "placement", f->longest->placement_ns);
    iot_json_end_object(json);
}

static void put_file(struct iot_json *json, const struct iot_job_file *f)
{
    const int64_t *at = f->file->sums.at;
    iot_json_begin_object(json);
    iot_json_put_string(json, "path", f->file->path);
    iot_json_put_string(json, "object", iot_object_names[f->file->object]);
    iot_json_put_string(json, "why", f->file->why);
    iot_report_put_figures(json, &f->figures);
    put_longest(json, f);
    iot_report_put_reads(json, &f->figures);
    iot_json_put_int(json, "units", at[IOT_COLUMN_units]);
    iot_json_put_int(json, "largest_read_bytes", at[IOT_COLUMN_largest_read_bytes]);
    iot_json_put_int(json, "error_exposed_ns", f->error_exposed_ns);
    iot_json_put_int(json, "error_service_ns", f->error_service_ns);
    iot_json_put_int(json, "error_bytes", f->error_bytes);
    iot_json_put_int(json, "recoverable_units", at[IOT_COLUMN_recoverable_units]);
    iot_json_put_uint(json, "ready_units", f->ready_units);
    if (f->ready_units)
        put_spread(json, "spread_ready_ns", &f->ready);
    else
        iot_json_put_null(json, "spread_ready_ns");
    iot_json_end_object(json);
}

/* Files that a unit does not name, and those beyond `top`. */
static void put_rest(struct iot_json *json, const struct iot_job *job, size_t top)
{
    for (int o = 0; o < IOT_OBJECTS; o++) {
        struct iot_sums sums = job->partial->rest[o];
        for (size_t i = top; i < job->n_files; i++)
            if (job->files[i].file->object == o)
                iot_sums_add(&sums, &job->files[i].file->sums);
        int64_t files = sums.at[IOT_COLUMN_files];
        if (!files)
            continue;
        struct iot_figures f = iot_job_figures(&sums);
        char text[40];
        snprintf(text, sizeof text, "(%lld more)", (long long)files);
        iot_json_begin_object(json);
        iot_json_put_string(json, "path", text);
        iot_json_put_string(json, "object", iot_object_names[o]);
        iot_json_put_string(json, "why", "");
        iot_report_put_figures(json, &f);
        iot_json_put_null(json, "ready_ns");
        iot_report_put_reads(json, &f);
        iot_json_end_object(json);
    }
}

static void put_hosts(struct iot_json *json, const struct iot_job *job)
{
    iot_json_put_array(json, "hosts");
    for (size_t h = 0; h < job->n_hosts; h++) {
        const struct iot_job_host *host = &job->hosts[h];
        iot_json_begin_object(json);
        iot_json_put_string(json, "host", host->host);
        iot_json_put_uint(json, "units", host->units);
        iot_json_put_string(json, "slow_object",
                            host->slow_object < 0 ? NULL : iot_object_names[host->slow_object]);
        iot_json_put_int(json, "excess_ns", host->excess_ns);
        iot_json_put_double(json, "times", host->times);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

/* --- rows with names --- */

static void put_times(struct iot_json *json, const struct iot_histogram *times)
{
    if (!times->n) {
        iot_json_put_null(json, "times_ns");
        return;
    }
    struct iot_latency found = iot_histogram_latency(times, INT64_MAX);
    iot_json_put_object(json, "times_ns");
    iot_json_put_int(json, "p50", found.p50_ns);
    iot_json_put_int(json, "p95", found.p95_ns);
    iot_json_end_object(json);
}

static void put_row(struct iot_json *json, const struct iot_row_about *about,
                    const struct iot_named_row *row)
{
    iot_json_begin_object(json);
    char *span = about->flags & IOT_ROW_SPAN ? iot_named_row_span(row) : NULL;
    for (size_t k = 0; about->texts[k]; k++)
        iot_json_put_string(json, about->texts[k], span ? span : row->texts[k]);
    free(span);
    if (about->flags & IOT_ROW_OBJECT)
        iot_json_put_string(json, "object",
                            row->object == IOT_OBJECTS ? NULL : iot_object_names[row->object]);
    if (about->flags & IOT_ROW_SHOWN)
        iot_json_put_string(json, "finding", row->shown);
    for (size_t k = 0; about->numbers[k].name; k++)
        iot_json_put_int(json, about->numbers[k].name, row->numbers[k]);
    if (about->flags & IOT_ROW_TIMES)
        put_times(json, &row->times);
    iot_json_end_object(json);
}

static void put_rows(struct iot_json *json, const struct iot_job *job, enum iot_row_kind kind,
                     const char *key)
{
    iot_json_put_array(json, key);
    for (size_t k = 0; k < job->partial->named[kind].n; k++)
        put_row(json, &iot_rows_about[kind], job->named[kind][k]);
    iot_json_end_array(json);
}

/* Those behind have a place of their own. */
static void put_named(struct iot_json *json, const struct iot_job *job)
{
    for (enum iot_row_kind kind = 0; kind <= IOT_ROWS_evidence; kind++)
        put_rows(json, job, kind, iot_rows_about[kind].name);
}

/* --- what units say of steps, of bytes without a call, and of GPUs --- */

static void put_starts(struct iot_json *json, const struct iot_job *job)
{
    iot_json_put_array(json, "step_starts");
    for (size_t k = 0; k < job->n_starts; k++) {
        iot_json_begin_object(json);
        iot_json_put_int(json, "step", job->starts[k].step);
        iot_json_put_uint(json, "units", job->starts[k].units);
        put_spread(json, "spread_start_ns", &job->starts[k].begins);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_sum(struct iot_json *json, const struct iot_job *job, const char *key,
                    enum iot_unit_number number)
{
    iot_json_put_int(json, key, iot_job_sum(job, number));
}

/* null: no unit knows it. */
static void put_uncalled(struct iot_json *json, const struct iot_job *job)
{
    size_t units = 0;
    for (size_t k = 0; k < job->partial->n_units; k++)
        units += !job->partial->units[k].numbers[IOT_UNIT_part_of_ns];
    if (!units) {
        iot_json_put_null(json, "uncalled");
        return;
    }
    iot_json_put_object(json, "uncalled");
    put_sum(json, job, "read_bytes", IOT_UNIT_uncalled_read_bytes);
    put_sum(json, job, "write_bytes", IOT_UNIT_uncalled_write_bytes);
    put_rows(json, job, IOT_ROWS_uncalled, "programs");
    iot_json_put_uint(json, "units", units);
    iot_json_end_object(json);
}

static void put_collectives(struct iot_json *json, const struct iot_job *job)
{
    iot_json_put_object(json, "collectives");
    put_sum(json, job, "collectives", IOT_UNIT_collectives);
    put_sum(json, job, "matched", IOT_UNIT_collectives_matched);
    put_sum(json, job, "waited_ns", IOT_UNIT_collectives_waited_ns);
    put_sum(json, job, "transfer_ns", IOT_UNIT_collectives_transfer_ns);
    put_spread(json, "spread_ns", &job->collectives);
    iot_json_end_object(json);
}

/* null: no unit has one. */
static void put_gpu(struct iot_json *json, const struct iot_job *job)
{
    if (!job->gpu_units) {
        iot_json_put_null(json, "gpu");
        return;
    }
    int64_t launch_ns = iot_job_sum(job, IOT_UNIT_gpu_launch_ns);
    int64_t gap_ns = iot_job_sum(job, IOT_UNIT_gpu_gap_ns);
    int64_t rest_ns = iot_job_sum(job, IOT_UNIT_gpu_ns) - launch_ns - gap_ns;
    iot_json_put_object(json, "gpu");
    put_rows(json, job, IOT_ROWS_gpu_copies, "copies");
    put_rows(json, job, IOT_ROWS_gpu_devices, "devices");
    put_collectives(json, job);
    iot_json_put_object(json, "path");
    iot_json_put_int(json, "work_ns", rest_ns > 0 ? rest_ns : 0);
    iot_json_put_int(json, "launch_ns", launch_ns);
    iot_json_put_int(json, "gap_ns", gap_ns);
    iot_json_end_object(json);
    put_sum(json, job, "ranges_forgotten", IOT_UNIT_gpu_ranges_forgotten);
    iot_json_put_uint(json, "units", job->gpu_units);
    if (job->known_units)
        put_spread(json, "spread_idle_ns", &job->gpu_idle);
    else
        iot_json_put_null(json, "spread_idle_ns");
    iot_json_put_uint(json, "known_units", job->known_units);
    iot_json_end_object(json);
}

int iot_job_write_json(const struct iot_job *job, FILE *out, size_t top)
{
    struct iot_json json;

    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", IOT_JOB_SCHEMA);
    iot_json_put_string(&json, "version", IOT_VERSION);
    iot_json_put_int(&json, "wall_ns", job->wall_ns);
    iot_json_put_int(&json, "unit_wall_ns", job->unit_wall_ns);
    put_totals(&json, job);
    iot_json_put_array(&json, "files");
    for (size_t i = 0; i < job->n_files && i < top; i++)
        put_file(&json, &job->files[i]);
    put_rest(&json, job, top);
    iot_json_end_array(&json);
    iot_json_put_array(&json, "units");
    for (size_t k = 0; k < job->partial->n_units; k++)
        put_unit(&json, &job->partial->units[k]);
    iot_json_end_array(&json);
    put_spread(&json, "spread_wall_ns", &job->wall);
    iot_json_put_uint(&json, "straggler", job->straggler);
    put_hosts(&json, job);
    iot_json_put_object(&json, "clock");
    iot_json_put_string(&json, "alignment", job->n_boots > 1 ? "realtime" : "monotonic");
    iot_json_put_uint(&json, "boots", job->n_boots);
    iot_json_put_int(&json, "start_spread_ns", job->start_spread_ns);
    iot_json_end_object(&json);
    put_named(&json, job);
    put_lines(&json, "ranks", &job->ranks);
    put_lines(&json, "shared_reads", &job->shared_words);
    put_lines(&json, "slow_hosts", &job->slow);
    put_lines(&json, "notes", &job->notes);
    put_starts(&json, job);
    put_uncalled(&json, job);
    put_gpu(&json, job);
    iot_json_end_object(&json);
    return iot_json_finish(&json);
}
