/* The service-time ledger: what hand-written I/O events cost, and how much of it a program waits
 * for. The definitions are those of section 7 of the design.
 *
 * Units: times in milliseconds, bandwidths in decimal GB/s (10^9 bytes a second), bytes as exact
 * integers from 0 to INT64_MAX. The functions allocate nothing and keep no state.
 */
#ifndef IOT_ANALYZER_LEDGER_H
#define IOT_ANALYZER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum io_ledger_object {
    IO_LEDGER_INPUT,
    IO_LEDGER_ARTIFACT,
    IO_LEDGER_STATE,
    IO_LEDGER_OUTPUT,
    IO_LEDGER_OBJECTS /* how many there are */
};

enum io_ledger_error {
    IO_LEDGER_OK,
    IO_LEDGER_NEGATIVE,       /* bytes or a time below 0 */
    IO_LEDGER_NOT_POSITIVE,   /* a bandwidth <= 0, a frequency < 1 */
    IO_LEDGER_NOT_FINITE,     /* NaN or infinite */
    IO_LEDGER_UNKNOWN_OBJECT, /* outside enum io_ledger_object */
    IO_LEDGER_OVERFLOW,       /* a result is beyond INT64_MAX or DBL_MAX */
    IO_LEDGER_ERRORS          /* how many there are */
};

/* `frequency` equal I/Os. Start from IO_LEDGER_EVENT_INIT, which sets the defaults. */
struct io_ledger_event {
    enum io_ledger_object object;
    int64_t bytes;            /* of one I/O, >= 0 */
    double bandwidth_gbps;    /* > 0 */
    double fixed_latency_ms;  /* >= 0 */
    int64_t frequency;        /* >= 1 */
    double overlap_window_ms; /* >= 0; other work that one I/O can run beside */
    bool blocking_dependency; /* the program waits for it, whatever the window */
    double serialization_ms;  /* >= 0; of one I/O, beside its service time */
    double backpressure_ms;   /* >= 0; of one I/O, beside its service time */
};

#define IO_LEDGER_EVENT_INIT                                                                       \
    {                                                                                              \
        .frequency = 1, .blocking_dependency = true                                                \
    }

/* Every figure is expanded by frequency. 0 <= exposed <= service; hidden = service - exposed. */
struct io_ledger_row {
    int64_t calls; /* sum of the frequencies */
    int64_t bytes;
    double service_ms;
    double exposed_ms;
    double hidden_ms;
    double serialization_ms;
    double backpressure_ms;
};

/* Each figure of `total` is that of the four rows added in their order, bit for bit. */
struct io_ledger {
    struct io_ledger_row objects[IO_LEDGER_OBJECTS]; /* input, artifact, state, output */
    struct io_ledger_row total;
};

/* What is wrong with which event. `field` is a name of iot_ledger_fields, or "service_ms" when
 * the service time that follows from valid fields is too large. */
struct io_ledger_fault {
    enum io_ledger_error error;
    size_t event; /* index into the events */
    const char *field;
};

/* bytes / (bandwidth_gbps * 10^9) * 1000 + fixed_latency_ms.
 * Errors (then *service_ms is left alone): NEGATIVE, NOT_POSITIVE, NOT_FINITE, OVERFLOW. */
enum io_ledger_error io_service_time_ms(int64_t bytes, double bandwidth_gbps,
                                        double fixed_latency_ms, double *service_ms);

/* service_ms if blocking, else service_ms - min(service_ms, overlap_window_ms): in
 * [0, service_ms]. Errors (then *exposed_ms is left alone): NEGATIVE, NOT_FINITE. */
enum io_ledger_error exposed_io_time_ms(double service_ms, double overlap_window_ms,
                                        bool blocking_dependency, double *exposed_ms);

/* Sums the events by object. No events give a ledger of zeros. On an error *ledger is left alone
 * and *fault, unless fault is NULL, says which event and field; a sum that overflows is the fault
 * of the event that made it do so. */
enum io_ledger_error io_critical_path_ledger(const struct io_ledger_event *events, size_t n_events,
                                             struct io_ledger *ledger,
                                             struct io_ledger_fault *fault);

enum io_ledger_kind {
    IO_LEDGER_KIND_OBJECT,
    IO_LEDGER_KIND_INTEGER, /* int64_t */
    IO_LEDGER_KIND_REAL,    /* double */
    IO_LEDGER_KIND_BOOL
};

/* The fields of an event: what the checks here, the JSON reader and the tests go by. */
struct io_ledger_field {
    const char *name;
    size_t offset; /* in struct io_ledger_event */
    enum io_ledger_kind kind;
    bool required; /* in JSON; the others have the default of IO_LEDGER_EVENT_INIT */
    bool positive; /* of an INTEGER or REAL: 0 is not allowed */
};

#define IO_LEDGER_FIELDS 9
extern const struct io_ledger_field iot_ledger_fields[IO_LEDGER_FIELDS];

extern const char *const iot_ledger_object_names[IO_LEDGER_OBJECTS];

/* Writes one line such as "events[3].bytes must be at least 0" into text (cut to size). */
void iot_ledger_fault_text(const struct io_ledger_fault *fault, char *text, size_t size);

#endif
