#include "analyzer/ledger.h"

#include <math.h>
#include <stdio.h>

const char *const iot_ledger_object_names[IO_LEDGER_OBJECTS] = {
    [IO_LEDGER_INPUT] = "input",
    [IO_LEDGER_ARTIFACT] = "artifact",
    [IO_LEDGER_STATE] = "state",
    [IO_LEDGER_OUTPUT] = "output",
};

#define FIELD(name, kind, required, positive)                                                      \
    {                                                                                              \
#name, offsetof(struct io_ledger_event, name), IO_LEDGER_KIND_##kind, required, positive   \
    }
const struct io_ledger_field iot_ledger_fields[IO_LEDGER_FIELDS] = {
    FIELD(object, OBJECT, true, false),
    FIELD(bytes, INTEGER, true, false),
    FIELD(bandwidth_gbps, REAL, true, true),
    FIELD(fixed_latency_ms, REAL, false, false),
    FIELD(frequency, INTEGER, false, true),
    FIELD(overlap_window_ms, REAL, false, false),
    FIELD(blocking_dependency, BOOL, false, false),
    FIELD(serialization_ms, REAL, false, false),
    FIELD(backpressure_ms, REAL, false, false),
};
#undef FIELD

static const char *const error_texts[IO_LEDGER_ERRORS] = {
    [IO_LEDGER_OK] = "is valid",
    [IO_LEDGER_NEGATIVE] = "must be at least 0",
    [IO_LEDGER_NOT_POSITIVE] = "must be greater than 0",
    [IO_LEDGER_NOT_FINITE] = "must be a finite number",
    [IO_LEDGER_UNKNOWN_OBJECT] = "must be one of input, artifact, state, output",
    [IO_LEDGER_OVERFLOW] = "makes a sum too large to represent",
};

void iot_ledger_fault_text(const struct io_ledger_fault *fault, char *text, size_t size)
{
    snprintf(text, size, "events[%zu].%s %s", fault->event, fault->field,
             error_texts[fault->error]);
}

static enum io_ledger_error check_integer(int64_t value, bool positive)
{
    if (positive)
        return value < 1 ? IO_LEDGER_NOT_POSITIVE : IO_LEDGER_OK;
    return value < 0 ? IO_LEDGER_NEGATIVE : IO_LEDGER_OK;
}

static enum io_ledger_error check_real(double value, bool positive)
{
    if (!isfinite(value))
        return IO_LEDGER_NOT_FINITE;
    if (positive)
        return value <= 0 ? IO_LEDGER_NOT_POSITIVE : IO_LEDGER_OK;
    return value < 0 ? IO_LEDGER_NEGATIVE : IO_LEDGER_OK;
}

static enum io_ledger_error check_field(const struct io_ledger_event *event,
                                        const struct io_ledger_field *field)
{
    const void *at = (const char *)event + field->offset;

    switch (field->kind) {
    case IO_LEDGER_KIND_OBJECT:
        return (unsigned)event->object < IO_LEDGER_OBJECTS ? IO_LEDGER_OK
                                                           : IO_LEDGER_UNKNOWN_OBJECT;
    case IO_LEDGER_KIND_INTEGER:
        return check_integer(*(const int64_t *)at, field->positive);
    case IO_LEDGER_KIND_REAL:
        return check_real(*(const double *)at, field->positive);
    case IO_LEDGER_KIND_BOOL:
        break;
    }
    return IO_LEDGER_OK;
}

enum io_ledger_error io_service_time_ms(int64_t bytes, double bandwidth_gbps,
                                        double fixed_latency_ms, double *service_ms)
{
    enum io_ledger_error error;

    if ((error = check_integer(bytes, false)) || (error = check_real(bandwidth_gbps, true)) ||
        (error = check_real(fixed_latency_ms, false)))
        return error;
    double ms = (double)bytes / (bandwidth_gbps * 1e9) * 1000 + fixed_latency_ms;
    if (!isfinite(ms))
        return IO_LEDGER_OVERFLOW;
    *service_ms = ms;
    return IO_LEDGER_OK;
}

enum io_ledger_error exposed_io_time_ms(double service_ms, double overlap_window_ms,
                                        bool blocking_dependency, double *exposed_ms)
{
    enum io_ledger_error error;

    if ((error = check_real(service_ms, false)) || (error = check_real(overlap_window_ms, false)))
        return error;
    *exposed_ms =
        blocking_dependency ? service_ms : service_ms - fmin(service_ms, overlap_window_ms);
    return IO_LEDGER_OK;
}

/* A compensated sum (Neumaier's): without it an event with a frequency of n and the same event
 * listed n times would drift apart as n grows. */
struct sum {
    double value, rest;
};

static void sum_add(struct sum *sum, double term)
{
    double next = sum->value + term;

    if (sum->value >= term)
        sum->rest += (sum->value - next) + term;
    else
        sum->rest += (term - next) + sum->value;
    sum->value = next;
}

static double sum_value(const struct sum *sum)
{
    return sum->value + sum->rest;
}

enum column { SERVICE, EXPOSED, SERIALIZATION, BACKPRESSURE, COLUMNS };

static const char *const column_names[COLUMNS] = {
    [SERVICE] = "service_ms",
    [EXPOSED] = "exposed_ms",
    [SERIALIZATION] = "serialization_ms",
    [BACKPRESSURE] = "backpressure_ms",
};

struct ledger_sums {
    struct io_ledger_row integers[IO_LEDGER_OBJECTS]; /* calls and bytes only */
    int64_t calls, bytes;                             /* of all objects */
    struct sum columns[IO_LEDGER_OBJECTS][COLUMNS];
};

static double column_total(const struct ledger_sums *sums, enum column column)
{
    double total = 0;

    for (int object = 0; object < IO_LEDGER_OBJECTS; object++)
        total += sum_value(&sums->columns[object][column]);
    return total;
}

/* Adds one event; on an error *field says what is wrong. */
static enum io_ledger_error add_event(struct ledger_sums *sums, const struct io_ledger_event *event,
                                      const char **field)
{
    enum io_ledger_error error;

    for (size_t f = 0; f < IO_LEDGER_FIELDS; f++) {
        *field = iot_ledger_fields[f].name;
        if ((error = check_field(event, &iot_ledger_fields[f])))
            return error;
    }

    double times[COLUMNS] = {
        [SERIALIZATION] = event->serialization_ms,
        [BACKPRESSURE] = event->backpressure_ms,
    };
    *field = column_names[SERVICE];
    if ((error = io_service_time_ms(event->bytes, event->bandwidth_gbps, event->fixed_latency_ms,
                                    &times[SERVICE])))
        return error;
    *field = column_names[EXPOSED];
    if ((error = exposed_io_time_ms(times[SERVICE], event->overlap_window_ms,
                                    event->blocking_dependency, &times[EXPOSED])))
        return error;

    /* No row is above the total, so what the total can hold the row can. */
    int64_t bytes;
    *field = "frequency";
    if (__builtin_add_overflow(sums->calls, event->frequency, &sums->calls))
        return IO_LEDGER_OVERFLOW;
    *field = "bytes";
    if (__builtin_mul_overflow(event->bytes, event->frequency, &bytes) ||
        __builtin_add_overflow(sums->bytes, bytes, &sums->bytes))
        return IO_LEDGER_OVERFLOW;
    sums->integers[event->object].calls += event->frequency;
    sums->integers[event->object].bytes += bytes;

    for (int column = 0; column < COLUMNS; column++) {
        *field = column_names[column];
        sum_add(&sums->columns[event->object][column], times[column] * (double)event->frequency);
        if (!isfinite(column_total(sums, (enum column)column)))
            return IO_LEDGER_OVERFLOW;
    }
    return IO_LEDGER_OK;
}

static struct io_ledger_row finish_row(const struct io_ledger_row *integers,
                                       const struct sum columns[COLUMNS])
{
    struct io_ledger_row row = *integers;

    row.service_ms = sum_value(&columns[SERVICE]);
    /* No sums are known that round past each other, but nothing forbids it. */
    row.exposed_ms = fmin(sum_value(&columns[EXPOSED]), row.service_ms);
    row.hidden_ms = row.service_ms - row.exposed_ms;
    row.serialization_ms = sum_value(&columns[SERIALIZATION]);
    row.backpressure_ms = sum_value(&columns[BACKPRESSURE]);
    return row;
}

static void add_row(struct io_ledger_row *total, const struct io_ledger_row *row)
{
    total->calls += row->calls;
    total->bytes += row->bytes;
    total->service_ms += row->service_ms;
    total->exposed_ms += row->exposed_ms;
    total->hidden_ms += row->hidden_ms;
    total->serialization_ms += row->serialization_ms;
    total->backpressure_ms += row->backpressure_ms;
}

enum io_ledger_error io_critical_path_ledger(const struct io_ledger_event *events, size_t n_events,
                                             struct io_ledger *ledger,
                                             struct io_ledger_fault *fault)
{
    struct ledger_sums sums = {0};

    for (size_t i = 0; i < n_events; i++) {
        const char *field;
        enum io_ledger_error error = add_event(&sums, &events[i], &field);
        if (error) {
            if (fault)
                *fault = (struct io_ledger_fault){error, i, field};
            return error;
        }
    }

    struct io_ledger result = {0};
    for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
        result.objects[object] = finish_row(&sums.integers[object], sums.columns[object]);
        add_row(&result.total, &result.objects[object]);
    }
    *ledger = result;
    return IO_LEDGER_OK;
}
