#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/ledger.h"

#define N_EVENTS 40
#define ROUNDS 2000

/* Of every time column, for tests that go over all of them. */
static const size_t time_columns[] = {
    offsetof(struct io_ledger_row, service_ms),
    offsetof(struct io_ledger_row, exposed_ms),
    offsetof(struct io_ledger_row, hidden_ms),
    offsetof(struct io_ledger_row, serialization_ms),
    offsetof(struct io_ledger_row, backpressure_ms),
};
#define N_TIME_COLUMNS (sizeof time_columns / sizeof time_columns[0])

static double column(const struct io_ledger_row *row, size_t c)
{
    return *(const double *)((const char *)row + time_columns[c]);
}

static double service(int64_t bytes, double bandwidth, double latency)
{
    double ms = -1;

    cr_assert_eq(io_service_time_ms(bytes, bandwidth, latency, &ms), IO_LEDGER_OK);
    return ms;
}

static double exposed(double service_ms, double window, bool blocking)
{
    double ms = -1;

    cr_assert_eq(exposed_io_time_ms(service_ms, window, blocking, &ms), IO_LEDGER_OK);
    return ms;
}

/* splitmix64: a fixed seed gives the same events everywhere. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In [0, limit], of all magnitudes, 0 and the limit included. */
static double random_time(uint64_t *state, double limit)
{
    switch (next_random(state) % 8) {
    case 0:
        return 0;
    case 1:
        return limit;
    default:
        return limit * exp2(-(double)(next_random(state) % 40)) *
               ((double)(next_random(state) >> 11) * 0x1p-53);
    }
}

static struct io_ledger_event random_event(uint64_t *state)
{
    return (struct io_ledger_event){
        .object = (enum io_ledger_object)(next_random(state) % IO_LEDGER_OBJECTS),
        .bytes = (int64_t)(next_random(state) >> (20 + next_random(state) % 44)),
        .bandwidth_gbps = 1e-3 + random_time(state, 1e3),
        .fixed_latency_ms = random_time(state, 1e4),
        .frequency = 1 + (int64_t)(next_random(state) % 50),
        .overlap_window_ms = random_time(state, 1e5),
        .blocking_dependency = next_random(state) % 2,
        .serialization_ms = random_time(state, 1e4),
        .backpressure_ms = random_time(state, 1e4),
    };
}

static struct io_ledger_event valid_event(void)
{
    struct io_ledger_event event = IO_LEDGER_EVENT_INIT;

    event.object = IO_LEDGER_STATE;
    event.bytes = 1000;
    event.bandwidth_gbps = 1;
    return event;
}

static struct io_ledger ledger_of(const struct io_ledger_event *events, size_t n)
{
    struct io_ledger ledger;
    struct io_ledger_fault fault = {0};

    cr_assert_eq(io_critical_path_ledger(events, n, &ledger, &fault), IO_LEDGER_OK,
                 "events[%zu].%s", fault.event, fault.field);
    return ledger;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 4 * DBL_EPSILON * fmax(fabs(a), fabs(b));
}

Test(ledger, service_cases)
{
    cr_assert_eq(service(1000000000, 1, 2), 1002);
    cr_assert_eq(service(0, 10, 0.5), 0.5);
}

Test(ledger, exposed_cases)
{
    cr_assert_eq(exposed(8, 20, true), 8);
    cr_assert_eq(exposed(8, 20, false), 0);
    cr_assert_eq(exposed(12, 5, false), 7);
}

Test(ledger, artifact_and_state_case)
{
    struct io_ledger_event events[2] = {IO_LEDGER_EVENT_INIT, IO_LEDGER_EVENT_INIT};

    events[0].object = IO_LEDGER_ARTIFACT;
    events[0].bytes = 1000000000;
    events[0].bandwidth_gbps = 1;
    events[1].object = IO_LEDGER_STATE;
    events[1].bytes = 100000000;
    events[1].bandwidth_gbps = 10;
    events[1].frequency = 4;
    events[1].overlap_window_ms = 6;
    events[1].blocking_dependency = false;
    struct io_ledger ledger = ledger_of(events, 2);

    cr_assert_eq(ledger.total.bytes, 1400000000);
    cr_assert_eq(ledger.objects[IO_LEDGER_ARTIFACT].exposed_ms, 1000);
    cr_assert_eq(ledger.objects[IO_LEDGER_STATE].service_ms, 40);
    cr_assert_eq(ledger.objects[IO_LEDGER_STATE].exposed_ms, 16);
    cr_assert_eq(ledger.objects[IO_LEDGER_STATE].hidden_ms, 24);
    cr_assert_eq(ledger.objects[IO_LEDGER_STATE].calls, 4);
    cr_assert_eq(ledger.total.service_ms, 1040);
    cr_assert_eq(ledger.total.exposed_ms, 1016);
    cr_assert_eq(ledger.objects[IO_LEDGER_INPUT].bytes, 0);
    cr_assert_eq(ledger.objects[IO_LEDGER_OUTPUT].service_ms, 0);
}

Test(ledger, own_columns_stay_out_of_service)
{
    struct io_ledger_event event = valid_event();

    event.frequency = 3;
    event.serialization_ms = 5;
    event.backpressure_ms = 7;
    struct io_ledger ledger = ledger_of(&event, 1);
    cr_assert_eq(ledger.total.serialization_ms, 15);
    cr_assert_eq(ledger.total.backpressure_ms, 21);
    cr_assert_eq(ledger.total.service_ms, 3 * service(1000, 1, 0));
    cr_assert_eq(ledger.total.exposed_ms, ledger.total.service_ms);
}

Test(ledger, no_events)
{
    struct io_ledger zero = {0};
    struct io_ledger ledger = ledger_of(NULL, 0);

    for (size_t c = 0; c < N_TIME_COLUMNS; c++)
        cr_assert_eq(column(&ledger.total, c), column(&zero.total, c));
    cr_assert_eq(ledger.total.bytes, 0);
    cr_assert_eq(ledger.total.calls, 0);
}

Test(ledger, defaults)
{
    struct io_ledger_event event = IO_LEDGER_EVENT_INIT;

    cr_assert_eq(event.frequency, 1);
    cr_assert(event.blocking_dependency);
    cr_assert_eq(event.fixed_latency_ms, 0);
    cr_assert_eq(event.overlap_window_ms, 0);
    cr_assert_eq(event.serialization_ms, 0);
    cr_assert_eq(event.backpressure_ms, 0);
}

Test(ledger, exposed_is_within_service)
{
    uint64_t state = 42;

    for (int round = 0; round < 100 * ROUNDS; round++) {
        double service_ms = random_time(&state, 1e6), window = random_time(&state, 1e6);
        double ms = exposed(service_ms, window, false);
        cr_assert(ms >= 0 && ms <= service_ms);
        cr_assert(window < service_ms ? ms > 0 || window > 0 : ms == 0);
        cr_assert_eq(exposed(service_ms, window, true), service_ms);
    }
    cr_assert_eq(exposed(DBL_MAX, 0, false), DBL_MAX);
    cr_assert_eq(exposed(DBL_MAX, DBL_MAX, false), 0);
    cr_assert_eq(exposed(DBL_TRUE_MIN, DBL_MAX, false), 0);
}

Test(ledger, totals_are_the_sums_of_the_rows)
{
    uint64_t state = 43;

    for (int round = 0; round < ROUNDS; round++) {
        struct io_ledger_event events[N_EVENTS];
        int64_t bytes[IO_LEDGER_OBJECTS] = {0}, all_bytes = 0, calls = 0;
        for (int i = 0; i < N_EVENTS; i++) {
            events[i] = random_event(&state);
            bytes[events[i].object] += events[i].bytes * events[i].frequency;
            all_bytes += events[i].bytes * events[i].frequency;
            calls += events[i].frequency;
        }
        struct io_ledger ledger = ledger_of(events, N_EVENTS);
        cr_assert_eq(ledger.total.bytes, all_bytes);
        cr_assert_eq(ledger.total.calls, calls);
        for (size_t c = 0; c < N_TIME_COLUMNS; c++) {
            double sum = 0;
            for (int object = 0; object < IO_LEDGER_OBJECTS; object++)
                sum += column(&ledger.objects[object], c);
            cr_assert_eq(column(&ledger.total, c), sum);
        }
        for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
            const struct io_ledger_row *row = &ledger.objects[object];
            cr_assert_eq(row->bytes, bytes[object]);
            cr_assert(row->exposed_ms >= 0 && row->exposed_ms <= row->service_ms);
            cr_assert(close_to(row->exposed_ms + row->hidden_ms, row->service_ms));
        }
    }
}

/* Against sums made event by event with the two scalar functions, in long double. */
Test(ledger, rows_are_the_sums_of_the_events)
{
    uint64_t state = 44;

    for (int round = 0; round < ROUNDS; round++) {
        struct io_ledger_event events[N_EVENTS];
        long double sums[IO_LEDGER_OBJECTS][4] = {{0}};
        for (int i = 0; i < N_EVENTS; i++) {
            events[i] = random_event(&state);
            double ms =
                service(events[i].bytes, events[i].bandwidth_gbps, events[i].fixed_latency_ms);
            long double *sum = sums[events[i].object];
            sum[0] += (long double)ms * events[i].frequency;
            sum[1] += (long double)exposed(ms, events[i].overlap_window_ms,
                                           events[i].blocking_dependency) *
                      events[i].frequency;
            sum[2] += (long double)events[i].serialization_ms * events[i].frequency;
            sum[3] += (long double)events[i].backpressure_ms * events[i].frequency;
        }
        struct io_ledger ledger = ledger_of(events, N_EVENTS);
        for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
            const struct io_ledger_row *row = &ledger.objects[object];
            cr_assert(close_to(row->service_ms, (double)sums[object][0]));
            cr_assert(close_to(row->exposed_ms, (double)sums[object][1]));
            cr_assert(close_to(row->serialization_ms, (double)sums[object][2]));
            cr_assert(close_to(row->backpressure_ms, (double)sums[object][3]));
        }
    }
}

Test(ledger, frequency_is_listing_n_times)
{
    static struct io_ledger_event listed[N_EVENTS * 50];
    uint64_t state = 45;

    for (int round = 0; round < ROUNDS / 10; round++) {
        struct io_ledger_event events[N_EVENTS];
        size_t n = 0;
        for (int i = 0; i < N_EVENTS; i++) {
            events[i] = random_event(&state);
            for (int64_t k = 0; k < events[i].frequency; k++) {
                listed[n] = events[i];
                listed[n++].frequency = 1;
            }
        }
        struct io_ledger a = ledger_of(events, N_EVENTS), b = ledger_of(listed, n);
        for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
            cr_assert_eq(a.objects[object].bytes, b.objects[object].bytes);
            cr_assert_eq(a.objects[object].calls, b.objects[object].calls);
            for (size_t c = 0; c < N_TIME_COLUMNS; c++)
                /* hidden is a difference, so its error is that of service */
                cr_assert(fabs(column(&a.objects[object], c) - column(&b.objects[object], c)) <=
                          4 * DBL_EPSILON *
                              fmax(a.objects[object].service_ms, column(&a.objects[object], c)));
        }
    }
}

/* A plain sum of a million times 0.1 ms is off by 1e-11 of it. */
Test(ledger, long_sums_do_not_drift)
{
    static struct io_ledger_event listed[1000000];
    struct io_ledger_event event = valid_event();

    event.bytes = 0;
    event.fixed_latency_ms = 0.1;
    for (size_t i = 0; i < 1000000; i++)
        listed[i] = event;
    event.frequency = 1000000;
    cr_assert_eq(ledger_of(listed, 1000000).total.service_ms,
                 ledger_of(&event, 1).total.service_ms);
}

/* Small times survive beside a large one, whichever comes first. */
Test(ledger, order_does_not_matter)
{
    for (size_t large = 0; large < 17; large++) {
        struct io_ledger_event events[17];
        for (size_t i = 0; i < 17; i++) {
            events[i] = valid_event();
            events[i].bytes = 0;
            events[i].fixed_latency_ms = i == large ? 1e17 : 1;
        }
        cr_assert_eq(ledger_of(events, 17).total.service_ms, 1e17 + 16);
    }
}

static void refuses(const struct io_ledger_event *event, enum io_ledger_error error,
                    const char *field)
{
    struct io_ledger_event events[3] = {valid_event(), valid_event(), valid_event()};
    char expected[80], text[80];

    /* At each index: what comes before or after must not matter. */
    for (size_t at = 0; at < 3; at++) {
        struct io_ledger ledger;
        struct io_ledger_fault fault = {0};
        struct io_ledger_event kept = events[at];
        memset(&ledger, 0x5a, sizeof ledger);
        events[at] = *event;
        cr_assert_eq(io_critical_path_ledger(events, 3, &ledger, &fault), error, "%s", field);
        cr_assert_eq(fault.error, error);
        cr_assert_eq(fault.event, at);
        cr_assert_str_eq(fault.field, field);
        cr_assert_eq(io_critical_path_ledger(events, 3, &ledger, NULL), error);
        for (size_t i = 0; i < sizeof ledger; i++)
            cr_assert_eq(((unsigned char *)&ledger)[i], 0x5a);
        iot_ledger_fault_text(&fault, text, sizeof text);
        snprintf(expected, sizeof expected, "events[%zu].%s m", at, field);
        cr_assert_eq(strncmp(text, expected, strlen(expected)), 0, "%s", text);
        events[at] = kept;
    }
}

static void refuses_real(size_t offset, double value, enum io_ledger_error error, const char *field)
{
    struct io_ledger_event event = valid_event();

    *(double *)((char *)&event + offset) = value;
    refuses(&event, error, field);
}

static void refuses_integer(size_t offset, int64_t value, enum io_ledger_error error,
                            const char *field)
{
    struct io_ledger_event event = valid_event();

    *(int64_t *)((char *)&event + offset) = value;
    refuses(&event, error, field);
}

Test(ledger, every_invalid_field)
{
    size_t kinds[4] = {0};

    for (size_t f = 0; f < IO_LEDGER_FIELDS; f++) {
        const struct io_ledger_field *field = &iot_ledger_fields[f];
        enum io_ledger_error below = field->positive ? IO_LEDGER_NOT_POSITIVE : IO_LEDGER_NEGATIVE;
        struct io_ledger_event event = valid_event();
        kinds[field->kind]++;
        switch (field->kind) {
        case IO_LEDGER_KIND_OBJECT:
            event.object = IO_LEDGER_OBJECTS;
            refuses(&event, IO_LEDGER_UNKNOWN_OBJECT, field->name);
            memset(&event.object, 0xff, sizeof event.object);
            refuses(&event, IO_LEDGER_UNKNOWN_OBJECT, field->name);
            break;
        case IO_LEDGER_KIND_INTEGER:
            refuses_integer(field->offset, -1, below, field->name);
            refuses_integer(field->offset, INT64_MIN, below, field->name);
            if (field->positive)
                refuses_integer(field->offset, 0, below, field->name);
            break;
        case IO_LEDGER_KIND_REAL:
            refuses_real(field->offset, -1, below, field->name);
            refuses_real(field->offset, -DBL_TRUE_MIN, below, field->name);
            refuses_real(field->offset, -DBL_MAX, below, field->name);
            refuses_real(field->offset, (double)NAN, IO_LEDGER_NOT_FINITE, field->name);
            refuses_real(field->offset, -(double)NAN, IO_LEDGER_NOT_FINITE, field->name);
            refuses_real(field->offset, HUGE_VAL, IO_LEDGER_NOT_FINITE, field->name);
            refuses_real(field->offset, -HUGE_VAL, IO_LEDGER_NOT_FINITE, field->name);
            if (field->positive) {
                refuses_real(field->offset, 0, below, field->name);
                refuses_real(field->offset, -0.0, below, field->name);
            }
            break;
        case IO_LEDGER_KIND_BOOL:
            break;
        }
    }
    cr_assert_eq(kinds[IO_LEDGER_KIND_OBJECT], 1);
    cr_assert_eq(kinds[IO_LEDGER_KIND_INTEGER], 2);
    cr_assert_eq(kinds[IO_LEDGER_KIND_REAL], 5);
    cr_assert_eq(kinds[IO_LEDGER_KIND_BOOL], 1);
}

Test(ledger, every_invalid_argument_of_the_scalars)
{
    const double bad[] = {-1, -DBL_TRUE_MIN, (double)NAN, HUGE_VAL, -HUGE_VAL};
    double ms = 77;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        enum io_ledger_error time = isfinite(bad[i]) ? IO_LEDGER_NEGATIVE : IO_LEDGER_NOT_FINITE;
        enum io_ledger_error rate =
            isfinite(bad[i]) ? IO_LEDGER_NOT_POSITIVE : IO_LEDGER_NOT_FINITE;
        cr_assert_eq(io_service_time_ms(1, bad[i], 0, &ms), rate);
        cr_assert_eq(io_service_time_ms(1, 1, bad[i], &ms), time);
        for (int blocking = 0; blocking < 2; blocking++) {
            cr_assert_eq(exposed_io_time_ms(bad[i], 0, blocking, &ms), time);
            cr_assert_eq(exposed_io_time_ms(0, bad[i], blocking, &ms), time);
        }
    }
    cr_assert_eq(io_service_time_ms(-1, 1, 0, &ms), IO_LEDGER_NEGATIVE);
    cr_assert_eq(io_service_time_ms(INT64_MIN, 1, 0, &ms), IO_LEDGER_NEGATIVE);
    cr_assert_eq(io_service_time_ms(1, 0, 0, &ms), IO_LEDGER_NOT_POSITIVE);
    cr_assert_eq(io_service_time_ms(INT64_MAX, DBL_TRUE_MIN, 0, &ms), IO_LEDGER_OVERFLOW);
    cr_assert_eq(ms, 77, "an error wrote a result");
}

Test(ledger, integer_sums_at_their_limit)
{
    struct io_ledger_event events[2] = {valid_event(), valid_event()};
    struct io_ledger ledger;
    struct io_ledger_fault fault = {0};

    events[0].bytes = INT64_MAX;
    events[1].bytes = 0;
    cr_assert_eq(ledger_of(events, 2).total.bytes, INT64_MAX);

    /* Of two objects: no row overflows, only the total does. */
    events[1].object = IO_LEDGER_OUTPUT;
    events[1].bytes = 1;
    cr_assert_eq(io_critical_path_ledger(events, 2, &ledger, &fault), IO_LEDGER_OVERFLOW);
    cr_assert_eq(fault.event, 1);
    cr_assert_str_eq(fault.field, "bytes");

    events[0].frequency = 2;
    cr_assert_eq(io_critical_path_ledger(events, 2, &ledger, &fault), IO_LEDGER_OVERFLOW);
    cr_assert_eq(fault.event, 0);
    cr_assert_str_eq(fault.field, "bytes");

    events[0].bytes = 0;
    events[0].frequency = INT64_MAX - 1;
    cr_assert_eq(ledger_of(events, 2).total.calls, INT64_MAX);
    events[1].frequency = 2;
    cr_assert_eq(io_critical_path_ledger(events, 2, &ledger, &fault), IO_LEDGER_OVERFLOW);
    cr_assert_eq(fault.event, 1);
    cr_assert_str_eq(fault.field, "frequency");
}

Test(ledger, time_sums_at_their_limit)
{
    static const struct {
        size_t offset;
        const char *field;
    } cases[] = {
        {offsetof(struct io_ledger_event, fixed_latency_ms), "service_ms"},
        {offsetof(struct io_ledger_event, serialization_ms), "serialization_ms"},
        {offsetof(struct io_ledger_event, backpressure_ms), "backpressure_ms"},
    };
    struct io_ledger ledger;
    struct io_ledger_fault fault = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct io_ledger_event events[2] = {valid_event(), valid_event()};
        events[0].bytes = events[1].bytes = 0;
        events[1].object = IO_LEDGER_INPUT;
        *(double *)((char *)&events[0] + cases[i].offset) = DBL_MAX;
        ledger_of(events, 2);

        *(double *)((char *)&events[1] + cases[i].offset) = DBL_MAX;
        cr_assert_eq(io_critical_path_ledger(events, 2, &ledger, &fault), IO_LEDGER_OVERFLOW);
        cr_assert_eq(fault.event, 1);
        cr_assert_str_eq(fault.field, cases[i].field);

        events[0].frequency = 2;
        cr_assert_eq(io_critical_path_ledger(events, 2, &ledger, &fault), IO_LEDGER_OVERFLOW);
        cr_assert_eq(fault.event, 0);
        cr_assert_str_eq(fault.field, cases[i].field);
    }
}
