#include "analyzer/explain.h"
#include "analyzer/json_out.h"

static void put_way(struct iot_json *json, const struct iot_explained *x, int d)
{
    const struct iot_explained_way *way = &x->ways[d];
    const struct iot_file_class *c = &x->explainer->classes->files[x->file];

    iot_json_put_object(json, d == IOT_READING ? "read" : "written");
    iot_json_put_string(json, "object", iot_object_names[c->object[d]]);
    iot_json_put_string(json, "by", iot_by_words(c->by[d]));
    iot_json_put_string(json, "why", c->why[d]);
    iot_json_put_int(json, "calls", way->calls);
    iot_json_put_int(json, "bytes", way->bytes);
    iot_json_put_int(json, "empty", way->empty);
    iot_json_put_int(json, "small", way->small);
    iot_json_put_int(json, "sequential", way->orders[IOT_ORDER_SEQUENTIAL]);
    iot_json_put_int(json, "strided", way->orders[IOT_ORDER_STRIDED]);
    iot_json_put_int(json, "random", way->orders[IOT_ORDER_RANDOM]);
    iot_json_put_array(json, "sizes");
    for (int k = 0; k < IOT_EXPLAIN_SIZES; k++) {
        if (!way->sizes[k])
            continue;
        iot_json_begin_object(json);
        iot_json_put_int(json, "from_bytes", INT64_C(1) << k);
        iot_json_put_int(json, "calls", way->sizes[k]);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
    iot_json_end_object(json);
}

static void put_parts(struct iot_json *json, const char *key,
                      const int64_t parts[IOT_EXPLAIN_PARTS])
{
    iot_json_put_array(json, key);
    for (int k = 0; k < IOT_EXPLAIN_PARTS; k++)
        iot_json_int(json, parts[k]);
    iot_json_end_array(json);
}

static void put_lanes(struct iot_json *json, const struct iot_explained *x)
{
    const struct iot_trace *t = x->explainer->trace;
    iot_json_put_array(json, "lanes");
    for (size_t k = 0; k < x->n_lanes; k++) {
        const struct iot_explained_lane *l = &x->lanes[k];
        iot_json_begin_object(json);
        iot_json_put_int(json, "lane", l->lane);
        iot_json_put_int(json, "pid", t->processes[t->lanes[l->lane].process].pid);
        iot_json_put_int(json, "tid", t->lanes[l->lane].tid);
        iot_json_put_int(json, "calls", l->calls);
        iot_json_put_int(json, "bytes", l->bytes);
        iot_json_put_int(json, "service_ns", l->service_ns);
        iot_json_put_int(json, "exposed_ns", l->exposed_ns);
        iot_json_put_int(json, "waited_ns", l->waited_ns);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}

static void put_file(struct iot_json *json, const struct iot_explained *x)
{
    const struct iot_trace *t = x->explainer->trace;

    iot_json_begin_object(json);
    iot_json_put_string(json, "path", t->files[x->file].name);
    for (int d = 0; d < IOT_DIRECTIONS; d++)
        put_way(json, x, d);
    iot_json_put_int(json, "mapped", x->explainer->uses.files[x->file].maps);
    iot_json_put_int(json, "opens", x->opens);
    iot_json_put_int(json, "failed_opens", x->failed_opens);
    iot_json_put_int(json, "opening_processes", x->opening_processes);
    iot_json_put_int(json, "metadata_ops", x->metadata_ops);
    iot_json_put_int(json, "sync_ops", x->sync_ops);
    iot_json_put_string(json, "cache_scope", iot_explain_cache_scope(x));
    iot_json_put_int(json, "service_ns", x->service_ns);
    iot_json_put_int(json, "exposed_ns", x->exposed_ns);
    iot_json_put_int(json, "waited_ns", x->waited_ns);
    put_parts(json, "service_in_tenths_ns", x->service_in);
    put_parts(json, "exposed_in_tenths_ns", x->exposed_in);
    put_lanes(json, x);
    iot_json_put_array(json, "renames");
    for (size_t k = 0; k < x->n_renames; k++)
        iot_json_string(json, t->files[x->renames[k]].name);
    iot_json_end_array(json);
    iot_json_put_int(json, "mapped_bytes", x->mapped_bytes);
    iot_json_put_int(json, "fault_ns", x->fault_ns);
    iot_call_sites_put(json, x->sites, x->n_sites);
    iot_json_end_object(json);
}

void iot_explain_write_json(const struct iot_explained *explained, size_t n, FILE *out)
{
    struct iot_json json;
    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", "iotrace-explain/1");
    iot_json_put_array(&json, "files");
    for (size_t k = 0; k < n; k++)
        put_file(&json, &explained[k]);
    iot_json_end_array(&json);
    iot_json_end_object(&json);
    iot_json_finish(&json);
}
