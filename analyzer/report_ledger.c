#include "analyzer/report_ledger.h"

#include "analyzer/json_out.h"
#include "analyzer/ledger_json.h"
#include "analyzer/phases.h"

/* GB/s of calls that took no time: bytes at this rate take less than a ledger shows. */
#define AT_ONCE 1e30

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* What of the service does not depend on bytes. */
static double fixed_ns(const struct iot_figures *f)
{
    double service = (double)f->service_ns;
    double fixed = service - (double)f->data_service_ns;
    double calls = f->fit.known ? f->fit.latency_ns * (double)f->timed_ops : 0;
    if (f->bytes == 0)
        return service;
    return fixed + calls < service ? fixed + calls : fixed;
}

/* The event of one object of the four; its `bytes` and all times are totals. */
static struct io_ledger_event event_of(enum iot_object object, const struct iot_figures *f)
{
    struct io_ledger_event e = IO_LEDGER_EVENT_INIT;
    double fixed = fixed_ns(f), moving = (double)f->service_ns - fixed;

    e.object = (enum io_ledger_object)object; /* in the same order */
    e.bytes = f->bytes;
    e.bandwidth_gbps = moving > 0 ? (double)f->bytes / moving : f->bytes ? AT_ONCE : 1;
    e.fixed_latency_ms = fixed / 1e6;
    e.overlap_window_ms = ms(f->service_ns - f->exposed_ns);
    e.blocking_dependency = f->exposed_ns == f->service_ns;
    e.serialization_ms = ms(f->serialization_ns);
    e.backpressure_ms = object == IOT_OUTPUT ? ms(f->waited_ns) : 0;
    return e;
}

static int is_empty(const struct iot_figures *f)
{
    return !f->data_ops && !f->metadata_ops && !f->sync_ops && !f->service_ns && !f->bytes;
}

static void put_event(struct iot_json *json, const struct io_ledger_event *e, const char *phase)
{
    iot_json_begin_object(json);
    if (phase)
        iot_json_put_string(json, IOT_LEDGER_LABEL, phase);
    iot_json_put_string(json, "object", iot_ledger_object_names[e->object]);
    iot_json_put_int(json, "bytes", e->bytes);
    iot_json_put_double(json, "bandwidth_gbps", e->bandwidth_gbps);
    iot_json_put_double(json, "fixed_latency_ms", e->fixed_latency_ms);
    iot_json_put_int(json, "frequency", e->frequency);
    iot_json_put_double(json, "overlap_window_ms", e->overlap_window_ms);
    iot_json_put_bool(json, "blocking_dependency", e->blocking_dependency);
    iot_json_put_double(json, "serialization_ms", e->serialization_ms);
    iot_json_put_double(json, "backpressure_ms", e->backpressure_ms);
    iot_json_end_object(json);
}

int iot_report_write_ledger(const struct iot_report *r, FILE *out)
{
    struct iot_json json;
    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_array(&json);
    for (size_t p = 0; p < r->phases->n; p++) {
        const struct iot_phase *phase = &r->phases->phases[p];
        for (int o = 0; o < IOT_OTHER; o++) {
            const struct iot_figures *f = &phase->objects[o].figures;
            struct io_ledger_event e = event_of((enum iot_object)o, f);
            if (!is_empty(f))
                put_event(&json, &e, r->phases->n > 1 ? phase->name : NULL);
        }
    }
    iot_json_end_array(&json);
    return iot_json_finish(&json);
}
