#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "analyzer/compose.h"
#include "analyzer/schedule.h"
#include "analyzer/whatif.h"
#include "tests/unit/programs.h"

/* Everything selected, by a program of the simulator's. */
static struct iot_test_program *program;
static struct iot_model *model;
static struct iot_report report;
static uint8_t *selected;

static void make(uint64_t seed)
{
    program = iot_test_program_new(seed, 0);
    model = iot_model_build(&program->trace);
    size_t n = program->trace.events.n;
    report = (struct iot_report){.trace = &program->trace, .model = model};
    report.of_event = malloc((n + 1) * sizeof *report.of_event);
    selected = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        report.of_event[i] = IOT_NO_INDEX; /* counts as other */
        selected[i] = model->part[i] == IOT_PART_IO;
    }
}

static void done(void)
{
    free(report.of_event);
    free(selected);
    iot_model_free(model);
    iot_test_program_free(program);
}

static int64_t length(const struct iot_path_parts *p)
{
    return p->compute_ns + p->io_ns + p->gpu_ns + p->sleep_ns + p->wake_ns + p->external_ns +
           p->unexplained_ns;
}

static void check(const struct iot_whatif *w)
{
    int64_t io = 0, new_io = 0;
    cr_assert_eq(w->wall_ns, model->wall_ns);
    cr_assert_eq(length(&w->path), w->wall_ns);
    cr_assert_eq(length(&w->new_path), w->new_wall_ns);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        io += w->io_ns[o];
        new_io += w->new_io_ns[o];
    }
    cr_assert_eq(io, w->path.io_ns);
    cr_assert_eq(new_io, w->new_path.io_ns);
}

Test(whatif, scaled_it_takes_what_the_simulator_says)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make(seed);
        for (int tenths = 0; tenths <= 20; tenths += 5) {
            struct iot_whatif w;
            struct iot_whatif_change change = {.kind = IOT_WHATIF_SCALE, .scale = tenths / 10.0};
            cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), 0);
            cr_assert_eq(w.new_wall_ns, iot_test_program_takes(program, tenths, NULL));
            check(&w);
        }
        done();
    }
}

/* Asynchronous, it is never slower, and never faster than without any I/O; a second time nothing is
 * left to gain, since all lanes' services are what could not be hidden. */
Test(whatif, overlapped_lies_between_all_and_nothing)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make(seed);
        struct iot_whatif w;
        struct iot_whatif_change change = {.kind = IOT_WHATIF_OVERLAP};
        cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), 0);
        cr_assert(w.new_wall_ns <= w.wall_ns);
        cr_assert(w.new_wall_ns >= iot_test_program_takes(program, 0, NULL));
        cr_assert(w.new_service_ns <= w.service_ns);
        check(&w);
        done();
    }
}

Test(whatif, too_much_is_refused)
{
    make(1);
    struct iot_whatif w;
    struct iot_whatif_change change = {.kind = IOT_WHATIF_SCALE, .scale = 1e15};
    cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), -ERANGE);
    change.scale = 1; /* and the replay is as it was */
    cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), 0);
    cr_assert_eq(w.new_wall_ns, w.wall_ns);
    done();
}

/* The simulator's reads are all of one size: no line can be laid through them. */
Test(whatif, a_fixed_part_that_is_not_known_is_said)
{
    make(3);
    for (size_t i = 0; i < program->trace.events.n; i++)
        selected[i] = selected[i] && program->trace.events.op[i] == IOT_OP_PREAD;
    struct iot_whatif w;
    struct iot_whatif_change change = {
        .kind = IOT_WHATIF_TRANSFER, .bandwidth_gbps = 0, .latency_ns = 1000};
    cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), -EDOM);
    done();
}

/* A latency in place of the fitted one: with 5 us and 2 ns a byte, 1 us is 4 us less for each. */
Test(whatif, a_latency_takes_the_place_of_the_fitted_one)
{
    make(3);
    int64_t reads = 0;
    for (size_t i = 0; i < program->trace.events.n; i++) {
        selected[i] = selected[i] && program->trace.events.op[i] == IOT_OP_PREAD;
        if (!selected[i])
            continue;
        program->trace.events.bytes[i] = 1000 * (1 + reads++ % 9);
        model->service_ns[i] = 5000 + 2 * program->trace.events.bytes[i];
    }
    struct iot_whatif w;
    struct iot_whatif_change change = {
        .kind = IOT_WHATIF_TRANSFER, .bandwidth_gbps = 0, .latency_ns = 1000};
    cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), 0);
    cr_assert_eq(w.fixed_ns, 5000);
    cr_assert_eq(w.service_ns - w.new_service_ns, 4000 * reads);
    done();
}

/* At a bandwidth and a latency nothing is slower than it was; a latency alone takes the fixed
 * part's place. */
Test(whatif, transfers)
{
    make(7);
    struct iot_whatif w;
    struct iot_whatif_change change = {
        .kind = IOT_WHATIF_TRANSFER, .bandwidth_gbps = 1, .latency_ns = 1000};
    int64_t sum = 0;
    for (size_t i = 0; i < program->trace.events.n; i++) {
        int64_t bytes = program->trace.events.bytes[i], ns = 1000 + bytes;
        if (selected[i])
            sum += bytes > 0 && ns < model->service_ns[i] ? ns : model->service_ns[i];
    }
    cr_assert_eq(iot_whatif_run(&w, &report, selected, &change), 0);
    cr_assert_eq(w.new_service_ns, sum);
    check(&w);
    done();
}
