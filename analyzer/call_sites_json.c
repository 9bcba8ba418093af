/* Call sites as they stand in reports. */
#include "analyzer/call_sites.h"
#include "analyzer/json_out.h"

static void put_place(struct iot_json *json, const struct iot_place *place)
{
    iot_json_begin_object(json);
    iot_json_put_string(json, "function", place->function);
    iot_json_put_string(json, "file", place->file);
    if (place->line)
        iot_json_put_uint(json, "line", place->line);
    else
        iot_json_put_null(json, "line");
    iot_json_end_object(json);
}

void iot_call_sites_put(struct iot_json *json, const struct iot_call_site *sites, size_t n)
{
    iot_json_put_array(json, "sites");
    for (size_t i = 0; i < n; i++) {
        const struct iot_call_site *s = &sites[i];
        iot_json_begin_object(json);
        iot_json_put_int(json, "exposed_ns", s->exposed_ns);
        iot_json_put_int(json, "service_ns", s->service_ns);
        iot_json_put_uint(json, "calls", s->calls);
        iot_json_put_int(json, "bytes", s->bytes);
        iot_json_put_array(json, "frames");
        for (uint32_t f = 0; f < s->n_frames; f++)
            iot_json_string(json, s->frames[f].words);
        iot_json_end_array(json);
        iot_json_put_array(json, "places");
        for (uint32_t f = 0; f < s->n_frames; f++)
            put_place(json, &s->frames[f]);
        iot_json_end_array(json);
        if (s->path) {
            iot_json_put_string(json, "object", s->object);
            iot_json_put_string(json, "path", s->path);
        }
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}
