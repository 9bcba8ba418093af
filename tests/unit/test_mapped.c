/* Calls on mappings get their file, and what was lost to page faults its place. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/mapped.h"

enum { ROOM = 64, MS = 1000 * 1000 };

static struct iot_trace trace;
static struct iot_process processes[2];
static struct iot_lane lanes[2];
static struct iot_file files[4];

static void begin(void)
{
    trace =
        (struct iot_trace){.processes = processes, .lanes = lanes, .files = files, .n_files = 4};
    memset(lanes, 0, sizeof lanes);
    cr_assert_eq(iot_events_init(&trace.events, ROOM), 0);
    for (uint32_t f = 0; f < 4; f++)
        files[f] = (struct iot_file){.name = "", .size = 1 << 20, .kind = IOT_FILE_REGULAR};
}

/* Its events are those that are added from now on. */
static void process(uint32_t pid, uint32_t ppid, uint32_t parent_lane, int64_t start_ns)
{
    uint32_t p = (uint32_t)trace.n_processes++;
    processes[p] = (struct iot_process){.pid = pid,
                                        .ppid = ppid,
                                        .first_lane = p,
                                        .n_lanes = 1,
                                        .start_ns = start_ns,
                                        .parent_lane_number = parent_lane};
    lanes[trace.n_lanes++] =
        (struct iot_lane){.process = p, .first_event = trace.events.n, .start_ns = start_ns};
}

static size_t event(enum iot_op op, int64_t t0, int64_t t1)
{
    struct iot_events *e = &trace.events;
    size_t i = e->n++;
    cr_assert_lt(i, ROOM);
    e->op[i] = (uint16_t)op;
    e->t0_ns[i] = t0;
    e->t1_ns[i] = t1;
    e->bytes[i] = e->result[i] = e->offset[i] = 0;
    e->addr[i] = 0;
    e->file[i] = e->file2[i] = e->arg[i] = 0;
    e->err[i] = 0;
    e->fd[i] = -1;
    lanes[trace.n_lanes - 1].n_events++;
    return i;
}

static void map(int64_t t0, uint32_t file, int64_t address, uint64_t bytes)
{
    size_t i = event(IOT_OP_MMAP, t0, t0);
    trace.events.result[i] = address;
    trace.events.addr[i] = bytes;
    trace.events.file[i] = file;
}

static size_t at_address(enum iot_op op, int64_t t0, uint64_t address, uint64_t bytes)
{
    size_t i = event(op, t0, t0);
    trace.events.addr[i] = address;
    trace.events.offset[i] = (int64_t)bytes;
    return i;
}

static void resident(int64_t t0, uint64_t address, uint64_t bytes, int64_t brought)
{
    size_t i = at_address(IOT_OP_RESIDENT, t0, address, bytes);
    trace.events.bytes[i] = brought;
    trace.events.result[i] = (int64_t)bytes;
}

static void faults(int64_t t0, int64_t window, int64_t lost)
{
    size_t i = event(IOT_OP_FAULTS, t0, t0);
    trace.events.offset[i] = window;
    trace.events.result[i] = lost;
}

static void end(void)
{
    iot_events_free(&trace.events);
}

/* What was lost on a file in [from, to). */
static int64_t lost_on(uint32_t file, int64_t from, int64_t to)
{
    const struct iot_events *e = &trace.events;
    int64_t sum = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->op[i] == IOT_OP_FAULTS && e->file[i] == file && e->t0_ns[i] >= from &&
            e->t1_ns[i] <= to)
            sum += e->t1_ns[i] - e->t0_ns[i];
    return sum;
}

static void expect_near(int64_t got, int64_t want)
{
    cr_expect(llabs(got - want) <= 16, "expected %lld, got %lld", (long long)want, (long long)got);
}

Test(mapped, calls_on_an_address_are_of_the_file_there)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(10, 1, 0x10000, 0x4000);
    map(20, 2, 0x12000, 0x1000);
    size_t in_first = at_address(IOT_OP_MADVISE, 30, 0x11000, 0),
           in_second = at_address(IOT_OP_MSYNC, 40, 0x12800, 0),
           gone = at_address(IOT_OP_MUNMAP, 50, 0x12000, 0x1000),
           after = at_address(IOT_OP_MADVISE, 60, 0x12000, 0),
           nowhere = at_address(IOT_OP_MLOCK, 70, 0x20000, 0);
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    cr_expect_eq(trace.events.file[in_first], 1);
    cr_expect_eq(trace.events.file[in_second], 2);
    cr_expect_eq(trace.events.file[gone], 2);
    cr_expect_eq(trace.events.file[after], 0);
    cr_expect_eq(trace.events.file[nowhere], 0);
    end();
}

Test(mapped, what_was_moved_stays_its_file)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(10, 3, 0x10000, 0x1000);
    size_t moved = at_address(IOT_OP_MREMAP, 20, 0x10000, 0x8000);
    trace.events.result[moved] = 0x90000;
    size_t there = at_address(IOT_OP_MADVISE, 30, 0x97000, 0);
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    cr_expect_eq(trace.events.file[moved], 3);
    cr_expect_eq(trace.events.file[there], 3);
    end();
}

Test(mapped, a_forked_child_has_its_parents_and_one_that_execs_has_not)
{
    for (int forked = 0; forked < 2; forked++) {
        begin();
        process(1, 0, UINT32_MAX, 0);
        map(10, 1, 0x10000, 0x4000);
        process(2, 1, forked ? 0 : UINT32_MAX, 100);
        at_address(IOT_OP_MADVISE, 200, 0x10000, 0);
        faults(10 * MS, 9 * MS, 5 * MS);
        cr_assert_eq(iot_mapped_resolve(&trace), 0);
        cr_expect_eq(trace.events.file[1], (uint32_t)forked);
        expect_near(lost_on(1, 0, 10 * MS), forked ? 5 * MS : 0);
        end();
    }
}

Test(mapped, what_is_lost_lies_in_the_longest_gaps_and_in_no_call)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(0, 1, 0x10000, 0x4000);
    event(IOT_OP_WRITE, 1 * MS, 3 * MS);    /* may have waited: 2 ms of what is told */
    event(IOT_OP_WRITE, 4 * MS, 4 * MS + 1000); /* was none */
    event(IOT_OP_MUTEX_LOCK, 10 * MS, 10 * MS);
    faults(12 * MS, 12 * MS, 7 * MS);
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    expect_near(lost_on(1, 0, 12 * MS), 5 * MS);
    expect_near(lost_on(1, 4 * MS, 10 * MS), 5 * MS);
    const struct iot_events *e = &trace.events;
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < e->n; k++)
            if (e->op[i] == IOT_OP_FAULTS && e->op[k] != IOT_OP_FAULTS)
                cr_expect(e->t1_ns[i] < e->t0_ns[k] || e->t1_ns[k] < e->t0_ns[i],
                          "faults %zu meet event %zu", i, k);
    end();
}

Test(mapped, no_more_is_lost_than_there_is_room_for)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(0, 1, 0x10000, 0x4000);
    faults(2 * MS, 100 * MS, 90 * MS);
    event(IOT_OP_SLEEP, 2 * MS + 1, 10 * MS);
    faults(10 * MS + 1, 9 * MS, 8 * MS); /* all of it the sleep's */
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    expect_near(lost_on(1, 0, 2 * MS), 2 * MS);
    expect_near(lost_on(1, 2 * MS, 20 * MS), 0);
    end();
}

Test(mapped, files_share_by_what_they_brought_in)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(0, 1, 0x10000, 0x4000);
    map(0, 2, 0x20000, 0x4000);
    map(0, 3, 0x30000, 0x4000); /* warm */
    faults(8 * MS, 8 * MS, 4 * MS);
    resident(9 * MS, 0x10000, 0x4000, 0x3000);
    resident(9 * MS, 0x20000, 0x4000, 0x1000);
    resident(9 * MS, 0x30000, 0x4000, -0x1000);
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    expect_near(lost_on(1, 0, 8 * MS), 3 * MS);
    expect_near(lost_on(2, 0, 8 * MS), 1 * MS);
    expect_near(lost_on(3, 0, 8 * MS), 0);
    end();
}

Test(mapped, what_two_mappings_of_a_file_brought_in_counts_once)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(0, 1, 0x10000, 0x4000);
    map(10, 1, 0x20000, 0x4000); /* within the life of the first */
    resident(20, 0x20000, 0x4000, 0x4000);
    at_address(IOT_OP_MUNMAP, 21, 0x20000, 0x4000);
    resident(30, 0x10000, 0x4000, 0x4000);
    at_address(IOT_OP_MUNMAP, 31, 0x10000, 0x4000);
    map(40, 1, 0x10000, 0x4000); /* after it: fetched anew */
    resident(50, 0x10000, 0x4000, 0x2000);
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    int64_t sum = 0;
    for (size_t i = 0; i < trace.events.n; i++) {
        cr_expect_geq(trace.events.bytes[i], 0);
        sum += trace.events.bytes[i];
    }
    cr_expect_eq(sum, 0x6000);
    end();
}

Test(mapped, few_pages_of_a_large_file_show_by_their_faults)
{
    begin();
    process(1, 0, UINT32_MAX, 0);
    map(0, 1, 0x10000000, 0x8000000);
    faults(8 * MS, 8 * MS, 4 * MS); /* minor ones: they can be of anything */
    faults(16 * MS, 8 * MS, 4 * MS);
    trace.events.addr[trace.events.n - 1] = UINT64_C(64) << 32;
    size_t told = at_address(IOT_OP_RESIDENT, 20 * MS, 0x10000000, 0x8000000);
    trace.events.result[told] = 0x1000;
    cr_assert_eq(iot_mapped_resolve(&trace), 0);
    expect_near(lost_on(1, 0, 8 * MS), 0);
    expect_near(lost_on(1, 8 * MS, 16 * MS), 4 * MS);
    int64_t brought = 0;
    for (size_t i = 0; i < trace.events.n; i++)
        brought += trace.events.bytes[i];
    cr_expect_eq(brought, 64 * 4096);
    end();
}
