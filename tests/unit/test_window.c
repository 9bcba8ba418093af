/* What part of a run is asked for, and what was seen of it; and names for places in code. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/seen.h"
#include "analyzer/symbols.h"
#include "analyzer/trace.h"
#include "format/window.h"

Test(window, times)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1: none */
    } cases[] = {{"90", 90000000000},
                 {"90s", 90000000000},
                 {"1.5h", 5400000000000},
                 {"250ms", 250000000},
                 {"2m", 120000000000},
                 {"80us", 80000},
                 {"7ns", 7},
                 {"0", 0},
                 {"", -1},
                 {"-1", -1},
                 {"5q", -1},
                 {"1e3", -1},
                 {"5 s", -1},
                 {"99999999999h", -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint64_t ns = 0;
        int failed = iot_window_time(cases[k].text, &ns);
        cr_assert_eq(failed, cases[k].ns < 0 ? -1 : 0, "%s", cases[k].text);
        cr_assert(failed || ns == (uint64_t)cases[k].ns, "%s", cases[k].text);
    }
    cr_assert(iot_window_time(NULL, &(uint64_t){0}));
}

Test(window, sizes)
{
    uint64_t n = 0;
    cr_assert(!iot_window_size("64M", &n) && n == 64 << 20);
    cr_assert(!iot_window_size("1.5G", &n) && n == UINT64_C(3) << 29);
    cr_assert(!iot_window_size("4194304", &n) && n == 4194304);
    cr_assert(iot_window_size("M", &n));
    cr_assert(iot_window_size("3T", &n));
    cr_assert(iot_window_size("18446744073709551616", &n));
}

Test(window, steps)
{
    uint32_t a = 0, b = 0;
    cr_assert(!iot_window_steps("3-7", &a, &b) && a == 3 && b == 7);
    cr_assert(!iot_window_steps("3-", &a, &b) && a == 3 && b == UINT32_MAX);
    cr_assert(!iot_window_steps("3", &a, &b) && a == 3 && b == 3);
    static const char *const wrong[] = {"",      "0",   "0-2", "3-2", "-3",
                                        "3-7-9", "3.5", "x",   "3-x", "99999999999"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        cr_assert(iot_window_steps(wrong[k], &a, &b), "%s", wrong[k]);
}

Test(window, a_cut_lies_between)
{
    struct iot_span spans[] = {{10, 20}, {30, 50}, {90, 100}};
    int64_t cuts[] = {0, 10, 30};
    const struct iot_seen seen = {.spans = spans, .cuts_ns = cuts, .n = 3};
    cr_assert(!iot_seen_cut(&seen, 0, 9));
    cr_assert(iot_seen_cut(&seen, 9, 10));
    cr_assert(!iot_seen_cut(&seen, 10, 29));
    cr_assert(iot_seen_cut(&seen, 0, 40));
    cr_assert(!iot_seen_cut(&seen, 30, 1000));
    cr_assert(!iot_seen_cut(&(struct iot_seen){0}, 0, 1000));
}

static const char *module(void *user, uint32_t number)
{
    (void)user;
    return number == 4 ? "ab12 /lib/a.so" : NULL;
}

Test(symbols, stacks_from_text)
{
    struct iot_frame frames[IOT_FRAMES_MAX];
    cr_assert_eq(iot_stack_parse("4 1f\n0 7fff80", module, NULL, frames), 2);
    cr_assert_str_eq(frames[0].module, "ab12 /lib/a.so");
    cr_assert_eq(frames[0].offset, 0x1f);
    cr_assert_null(frames[1].module);
    cr_assert_eq(iot_stack_parse("4 1f\nrest", module, NULL, frames), 1);
    cr_assert_eq(iot_stack_parse("4 -1", module, NULL, frames), 0);
    cr_assert_eq(iot_stack_parse("4", module, NULL, frames), 0);
    cr_assert_eq(iot_stack_parse("", module, NULL, frames), 0);
}

Test(symbols, perf_maps)
{
    struct iot_symbol_table table;
    cr_assert_eq(iot_symbols_of_map(
                     &table, strdup("200 10 two words\nbad line\n100 20 one\n300 0 open\nfff")),
                 0);
    cr_assert_eq(table.n, 3);
    cr_assert_str_eq(iot_symbols_find(&table, 0x100)->name, "one");
    cr_assert_str_eq(iot_symbols_find(&table, 0x20f)->name, "two words");
    cr_assert_null(iot_symbols_find(&table, 0x120));
    cr_assert_null(iot_symbols_find(&table, 0xff));
    cr_assert_str_eq(iot_symbols_find(&table, 0x5000)->name, "open");
    iot_symbols_free(&table);
}

/* A program that pauses and resumes as fast as it can: between two changes of each pair lies a
 * read. */
Test(window, as_many_as_there_are_events, .timeout = 20)
{
    enum { WINDOWS = 300000, STEP = 10, OPS = 4 };
    static const uint16_t ops[OPS] = {IOT_OP_READ, IOT_OP_WINDOW_CLOSE, IOT_OP_READ,
                                      IOT_OP_WINDOW_OPEN};
    struct iot_lane lane = {.n_events = OPS * (size_t)WINDOWS,
                            .end_ns = OPS * (int64_t)WINDOWS * STEP};
    struct iot_process process = {.n_lanes = 1, .end_ns = lane.end_ns};
    struct iot_trace trace = {.lanes = &lane,
                              .n_lanes = 1,
                              .processes = &process,
                              .n_processes = 1,
                              .wall_ns = lane.end_ns};
    cr_assert_eq(iot_events_init(&trace.events, lane.n_events), 0);
    struct iot_events *e = &trace.events;
    for (; e->n < lane.n_events; e->n++) {
        e->op[e->n] = ops[e->n % OPS];
        e->t0_ns[e->n] = e->t1_ns[e->n] = (int64_t)e->n * STEP;
    }
    cr_assert_eq(iot_seen_narrow(&trace), 0);
    cr_expect_eq(trace.seen.n, WINDOWS + 1, "the last is never closed");
    cr_expect_eq(e->n, WINDOWS);
    cr_expect_eq(trace.wall_ns, 2 * (int64_t)WINDOWS * STEP);
    iot_seen_free(&trace.seen);
    iot_events_free(&trace.events);
}
