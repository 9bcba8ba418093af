/* What a report says of GPUs, for machines. */
#include "analyzer/report_gpu.h"
#include "analyzer/report_json_parts.h"

static void put_copies(struct iot_json *json, const struct iot_report_gpu *g)
{
    iot_json_put_array(json, "copies");
    for (size_t k = 0; k < g->n_copies; k++) {
        const struct iot_gpu_copies *c = &g->copies[k];
        iot_json_begin_object(json);
        iot_json_put_string(json, "direction", iot_copy_direction_name(c->direction));
        iot_json_put_string(json, "decided_by", iot_copy_rule_names[c->rule]);
        iot_json_put_string(json, "object", iot_object_names[c->object]);
        iot_json_put_string(json, "memory", c->memory ? iot_host_memory_name(c->memory) : NULL);
        iot_json_put_int(json, "copies", c->copies);
        iot_json_put_int(json, "bytes", c->bytes);
        iot_json_put_int(json, "service_ns", c->service_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_devices(struct iot_json *json, const struct iot_report_gpu *g)
{
    iot_json_put_array(json, "devices");
    for (size_t k = 0; k < g->n_devices; k++) {
        const struct iot_gpu_device *d = &g->devices[k];
        iot_json_begin_object(json);
        iot_json_put_uint(json, "device", d->device);
        if (!d->kernels) {
            iot_json_put_null(json, "busy_ns");
            iot_json_put_null(json, "idle_ns");
            iot_json_put_null(json, "idle_of_ns");
        } else {
            iot_json_put_int(json, "busy_ns", d->busy_ns);
            iot_json_put_int(json, "idle_ns", d->idle_ns);
            iot_json_put_object(json, "idle_of_ns");
            for (int o = 0; o < IOT_OBJECTS; o++)
                iot_json_put_int(json, iot_object_names[o], d->idle_of_ns[o]);
            iot_json_end_object(json);
        }
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_ranks(struct iot_json *json, const struct iot_report_gpu *g)
{
    iot_json_put_array(json, "ranks");
    for (size_t k = 0; k < g->n_ranks; k++) {
        const struct iot_gpu_rank *rank = &g->ranks[k];
        iot_json_begin_object(json);
        iot_json_put_uint(json, "pid", rank->pid);
        iot_json_put_uint(json, "device", rank->device);
        iot_json_put_int(json, "collectives", rank->collectives);
        iot_json_put_int(json, "matched", rank->matched);
        iot_json_put_int(json, "waited_ns", rank->waited_ns);
        iot_json_put_int(json, "transfer_ns", rank->transfer_ns);
        if (rank->rank >= 0)
            iot_json_put_int(json, "rank", rank->rank);
        else
            iot_json_put_null(json, "rank");
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

/* null: no GPU was seen. */
void iot_report_put_gpu(struct iot_json *json, const struct iot_report *r)
{
    const struct iot_path_parts *path = &r->model->path;
    if (!r->gpu) {
        iot_json_put_null(json, "gpu");
        return;
    }
    iot_json_put_object(json, "gpu");
    put_copies(json, r->gpu);
    put_devices(json, r->gpu);
    put_ranks(json, r->gpu);
    iot_json_put_object(json, "path");
    iot_json_put_int(json, "work_ns", path->gpu_ns - path->gpu_launch_ns - path->gpu_gap_ns);
    iot_json_put_int(json, "launch_ns", path->gpu_launch_ns);
    iot_json_put_int(json, "gap_ns", path->gpu_gap_ns);
    iot_json_end_object(json);
    iot_json_put_uint(json, "ranges_forgotten", r->trace->lineage_forgotten);
    iot_json_end_object(json);
}
