#include "analyzer/report_json.h"

#include "analyzer/json_out.h"
#include "analyzer/report_json_parts.h"

static void put_queues(struct iot_json *json, const struct iot_report *r)
{
    iot_json_put_array(json, "queues");
    for (size_t i = 0; i < r->n_queues; i++) {
        const struct iot_queue *q = &r->queues[i];
        iot_json_begin_object(json);
        iot_json_put_string(json, "name", q->name);
        iot_json_put_string(json, "object", iot_object_names[q->object]);
        iot_json_put_string(json, "producer", q->producer);
        iot_json_put_string(json, "consumer", q->consumer);
        iot_json_put_object(json, "length");
        iot_json_put_double(json, "mean", q->mean_length);
        iot_json_put_int(json, "max", q->max_length);
        iot_json_end_object(json);
        iot_json_put_bool(json, "growing", q->growing);
        iot_json_put_int(json, "messages", q->messages);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

/* The rows beyond are of little weight. */
enum { WAITS_MAX = 100 };

void iot_report_put_waits(struct iot_json *json, const struct iot_waited *waits, size_t n)
{
    iot_json_put_array(json, "waits");
    for (size_t i = 0; i < n; i++) {
        const struct iot_waited *w = &waits[i];
        iot_json_begin_object(json);
        iot_json_put_string(json, "waiter", w->waiter);
        iot_json_put_string(json, "waited_for", w->other);
        iot_json_put_string(json, "doing", w->doing);
        iot_json_put_string(json, "path", w->path);
        iot_json_put_string(json, "object", iot_object_names[w->object]);
        iot_json_put_int(json, "waited_ns", w->waited_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_untraced(struct iot_json *json, const struct iot_report_run *run)
{
    iot_json_put_array(json, "untraced");
    for (size_t i = 0; i < run->n_untraced; i++) {
        iot_json_begin_object(json);
        iot_json_put_uint(json, "pid", run->untraced[i].pid);
        iot_json_put_string(json, "why", run->untraced[i].why);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

/* null: all that the trace has was analysed. */
static void put_whole(struct iot_json *json, const struct iot_whole *w)
{
    if (!w->events) {
        iot_json_put_null(json, "trace");
        return;
    }
    iot_json_put_object(json, "trace");
    iot_json_put_uint(json, "events", w->events);
    iot_json_put_uint(json, "data_ops", w->data_ops);
    iot_json_put_uint(json, "metadata_ops", w->metadata_ops);
    iot_json_put_uint(json, "sync_ops", w->sync_ops);
    iot_json_put_uint(json, "read_bytes", w->read_bytes);
    iot_json_put_uint(json, "write_bytes", w->write_bytes);
    iot_json_put_uint(json, "call_ns", w->call_ns);
    iot_json_end_object(json);
}

/* null: the run was seen whole. */
static void put_window(struct iot_json *json, const struct iot_report *r)
{
    const struct iot_seen *seen = &r->trace->seen;
    if (!seen->spans) {
        iot_json_put_null(json, "window");
        return;
    }
    iot_json_put_object(json, "window");
    iot_json_put_int(json, "run_ns", seen->run_ns);
    iot_json_put_uint(json, "older_events", seen->older_events);
    iot_json_put_array(json, "parts");
    for (size_t k = 0; k < seen->n; k++) {
        iot_json_begin_object(json);
        iot_json_put_int(json, "start_ns", seen->spans[k].begin_ns);
        iot_json_put_int(json, "end_ns", seen->spans[k].end_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    put_whole(json, &r->trace->whole);
    iot_json_end_object(json);
}

/* null: not known of a part of a run. */
static void put_uncalled(struct iot_json *json, const struct iot_report *r)
{
    enum { SHOWN = 20 };
    const struct iot_report_run *run = &r->run;
    if (r->trace->seen.spans) {
        iot_json_put_null(json, "uncalled");
        return;
    }
    iot_json_put_object(json, "uncalled");
    iot_json_put_uint(json, "read_bytes", run->uncalled_read_bytes);
    iot_json_put_uint(json, "write_bytes", run->uncalled_write_bytes);
    iot_json_put_array(json, "processes");
    for (size_t i = 0; i < run->n_uncalled && i < SHOWN; i++) {
        iot_json_begin_object(json);
        iot_json_put_uint(json, "pid", run->uncalled[i].pid);
        iot_json_put_string(json, "exe", run->uncalled[i].exe);
        iot_json_put_uint(json, "read_bytes", run->uncalled[i].read_bytes);
        iot_json_put_uint(json, "write_bytes", run->uncalled[i].write_bytes);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    iot_json_end_object(json);
}

static void put_run(struct iot_json *json, const struct iot_report *r)
{
    const struct iot_report_run *run = &r->run;
    size_t n_command = 0;
    while (run->command[n_command])
        n_command++;

    iot_json_put_object(json, "run");
    iot_json_put_strings(json, "command", run->command, n_command);
    iot_json_put_string(json, "host", run->host);
    iot_json_put_uint(json, "start_realtime_ns", run->start_realtime_ns);
    iot_json_put_uint(json, "processes", run->processes);
    iot_json_put_uint(json, "lanes", run->lanes);
    iot_json_put_uint(json, "events", r->trace->events.n);
    iot_json_put_uint(json, "dropped_events", r->trace->dropped_events);
    iot_json_put_uint(json, "salvaged_processes", r->trace->salvaged_processes);
    iot_json_put_string(json, "clock", run->tsc ? "tsc" : "monotonic");
    put_untraced(json, run);
    iot_json_put_strings(json, "not_seen", run->not_seen, run->n_not_seen);
    iot_json_put_object(json, "storage");
    iot_json_put_uint(json, "read_bytes", run->storage_read_bytes);
    iot_json_put_uint(json, "write_bytes", run->storage_write_bytes);
    iot_json_end_object(json);
    iot_json_put_uint(json, "runqueue_ns", run->runqueue_ns);
    iot_json_put_object(json, "fingerprint");
    iot_json_put_string(json, "cpu", run->cpu);
    iot_json_put_string(json, "kernel", run->kernel);
    iot_json_put_strings(json, "filesystems", run->filesystems, run->n_filesystems);
    iot_json_end_object(json);
    put_window(json, r);
    put_uncalled(json, r);
    iot_json_put_string(json, "version", IOT_VERSION); /* of what made the report */
    iot_report_put_ranks(json, run);
    iot_json_end_object(json);
}

static void put_path(struct iot_json *json, const struct iot_path_parts *path)
{
    iot_json_put_object(json, "path");
    iot_json_put_int(json, "compute_ns", path->compute_ns);
    iot_json_put_int(json, "io_ns", path->io_ns);
    iot_json_put_int(json, "gpu_ns", path->gpu_ns);
    iot_json_put_int(json, "sleep_ns", path->sleep_ns);
    iot_json_put_int(json, "wake_ns", path->wake_ns);
    iot_json_put_int(json, "external_ns", path->external_ns);
    iot_json_put_int(json, "unexplained_ns", path->unexplained_ns);
    iot_json_end_object(json);
}

static void put_model(struct iot_json *json, const struct iot_model *model)
{
    iot_json_put_object(json, "model");
    iot_json_put_int(json, "exposed_error_ns", model->exposed_error_ns);
    iot_json_put_int(json, "replay_error_ns", model->replay_error_ns);
    iot_json_put_uint(json, "unmatched_waits", model->unmatched_waits);
    iot_json_put_uint(json, "cut_edges", model->cut_edges);
    iot_json_put_array(json, "curve");
    for (size_t i = 0; i < model->n_curve; i++) {
        iot_json_begin_array(json);
        iot_json_double(json, model->curve[i].lambda);
        iot_json_int(json, model->curve[i].time_ns);
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
    iot_json_end_object(json);
}

static void put_latency(struct iot_json *json, const struct iot_figures *f)
{
    if (!f->timed_ops) {
        iot_json_put_null(json, "latency_ns");
        return;
    }
    iot_json_put_object(json, "latency_ns");
    iot_json_put_int(json, "p50", f->latency.p50_ns);
    iot_json_put_int(json, "p95", f->latency.p95_ns);
    iot_json_put_int(json, "p99", f->latency.p99_ns);
    iot_json_put_int(json, "max", f->latency.max_ns);
    iot_json_end_object(json);
}

static void put_fit(struct iot_json *json, const struct iot_fit *fit)
{
    iot_json_key(json, "bandwidth_gbps");
    if (fit->known && fit->ns_per_byte > 0)
        iot_json_double(json, 1 / fit->ns_per_byte);
    else
        iot_json_null(json);
    if (fit->known)
        iot_json_put_int(json, "fixed_latency_ns", (int64_t)(fit->latency_ns + 0.5));
    else
        iot_json_put_null(json, "fixed_latency_ns");
}

static void put_ready(struct iot_json *json, const struct iot_ready *ready)
{
    if (!ready->known) {
        iot_json_put_null(json, "ready_ns");
        return;
    }
    iot_json_put_object(json, "ready_ns");
    iot_json_put_int(json, "storage", ready->storage_ns);
    iot_json_put_int(json, "decode", ready->decode_ns);
    iot_json_put_int(json, "placement", ready->placement_ns);
    iot_json_end_object(json);
}

void iot_report_put_figures(struct iot_json *json, const struct iot_figures *f)
{
    iot_json_put_int(json, "data_ops", f->data_ops);
    iot_json_put_int(json, "metadata_ops", f->metadata_ops);
    iot_json_put_int(json, "sync_ops", f->sync_ops);
    iot_json_put_int(json, "bytes", f->bytes);
    iot_json_put_int(json, "service_ns", f->service_ns);
    iot_json_put_int(json, "exposed_ns", f->exposed_ns);
    iot_json_put_int(json, "blocking_ns", f->exposed_ns - f->waited_ns);
    iot_json_put_int(json, "waited_ns", f->waited_ns);
    iot_json_put_int(json, "hidden_ns", f->service_ns - f->exposed_ns);
    if (f->recoverable_ns == IOT_NOT_COMPUTED)
        iot_json_put_null(json, "recoverable_ns");
    else
        iot_json_put_int(json, "recoverable_ns", f->recoverable_ns);
    if (f->coded)
        iot_json_put_int(json, "serialization_ns", f->serialization_ns);
    else
        iot_json_put_null(json, "serialization_ns");
    put_fit(json, &f->fit);
    put_latency(json, f);
    iot_json_put_string(json, "cache_scope", iot_cache_scope(f));
    iot_json_key(json, "throughput_gbps");
    if (f->service_ns)
        iot_json_double(json, (double)f->bytes / (double)f->service_ns);
    else
        iot_json_null(json);
    iot_json_put_int(json, "read_bytes", f->read_bytes);
    iot_json_put_int(json, "write_bytes", f->write_bytes);
    iot_json_put_int(json, "mapped_bytes", f->mapped_bytes);
    iot_json_put_int(json, "fault_ns", f->fault_ns);
    iot_json_put_int(json, "small_ops", f->small_ops);
    iot_json_put_int(json, "opens", f->opens);
}

/* null: no read has a place that is known. */
void iot_report_put_reads(struct iot_json *json, const struct iot_figures *f)
{
    if (f->distinct_bytes > 0) {
        iot_json_put_int(json, "placed_bytes", f->placed_bytes);
        iot_json_put_int(json, "distinct_bytes", f->distinct_bytes);
        iot_json_put_double(json, "read_amplification",
                            (double)f->placed_bytes / (double)f->distinct_bytes);
    } else {
        iot_json_put_null(json, "placed_bytes");
        iot_json_put_null(json, "distinct_bytes");
        iot_json_put_null(json, "read_amplification");
    }
}

static void put_objects(struct iot_json *json, const struct iot_report *r)
{
    iot_json_put_array(json, "objects");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_object(json);
        iot_json_put_string(json, "object", iot_object_names[o]);
        iot_json_put_uint(json, "files", r->objects[o].files);
        iot_report_put_figures(json, &r->objects[o].figures);
        iot_report_put_reads(json, &r->objects[o].figures);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

void iot_report_put_total(struct iot_json *json, const struct iot_figures *f)
{
    iot_json_put_object(json, "total");
    iot_json_put_int(json, "data_ops", f->data_ops);
    iot_json_put_int(json, "metadata_ops", f->metadata_ops);
    iot_json_put_int(json, "sync_ops", f->sync_ops);
    iot_json_put_int(json, "bytes", f->bytes);
    iot_json_put_int(json, "service_ns", f->service_ns);
    iot_json_put_int(json, "exposed_ns", f->exposed_ns);
    iot_json_put_int(json, "hidden_ns", f->service_ns - f->exposed_ns);
    iot_json_put_int(json, "recoverable_ns", f->recoverable_ns);
    iot_json_end_object(json);
}

static void put_files(struct iot_json *json, const struct iot_report *r)
{
    iot_json_put_array(json, "files");
    for (size_t i = 0; i < r->n_files; i++) {
        const struct iot_report_file *f = &r->files[i];
        iot_json_begin_object(json);
        iot_json_put_string(json, "path", f->path);
        iot_json_put_string(json, "object", iot_object_names[f->object]);
        iot_json_put_string(json, "why", f->why);
        iot_report_put_figures(json, &f->figures);
        put_ready(json, &f->ready);
        iot_report_put_reads(json, &f->figures);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static int write(const struct iot_report *r, FILE *out, enum iot_json_style style)
{
    struct iot_json json;

    iot_json_init(&json, out, style);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", IOT_REPORT_SCHEMA);
    put_run(&json, r);
    iot_json_put_int(&json, "wall_ns", r->model->wall_ns);
    put_path(&json, &r->model->path);
    put_model(&json, r->model);
    put_objects(&json, r);
    iot_report_put_total(&json, &r->total);
    put_files(&json, r);
    iot_report_put_phases(&json, r);
    put_queues(&json, r);
    iot_report_put_advice(&json, r);
    iot_json_put_strings(&json, "evidence", r->evidence, r->n_evidence);
    iot_report_put_waits(&json, r->waits, r->n_waits < WAITS_MAX ? r->n_waits : WAITS_MAX);
    iot_report_put_steps(&json, r);
    iot_report_put_ranges(&json, r);
    iot_call_sites_put(&json, r->sites, r->n_sites);
    iot_report_put_gpu(&json, r);
    iot_json_end_object(&json);
    return iot_json_finish(&json);
}

int iot_report_write_json(const struct iot_report *r, FILE *out)
{
    return write(r, out, IOT_JSON_PRETTY);
}

int iot_report_write_json_line(const struct iot_report *r, FILE *out)
{
    return write(r, out, IOT_JSON_COMPACT);
}
