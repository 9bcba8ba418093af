/* Whose end is the end of what is read from a pipe: that of a process that held it; and who let a
 * wait go on that had timed out. */
#include "analyzer/links.h"

#include <errno.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { SHELL, READER, OTHER, PROCESSES, EVENTS_MAX = 32 };
enum { PIPE = 1, BLOCKED_FROM = 100000, EOF_AT = 1000000 };

struct run {
    struct iot_trace trace;
    struct iot_process processes[PROCESSES + 1];
    struct iot_lane lanes[PROCESSES + 1];
    struct iot_file files[2];
    int64_t t0[EVENTS_MAX], t1[EVENTS_MAX], bytes[EVENTS_MAX], result[EVENTS_MAX],
        offset[EVENTS_MAX];
    uint64_t addr[EVENTS_MAX];
    uint32_t file[EVENTS_MAX], file2[EVENTS_MAX], arg[EVENTS_MAX], stack[EVENTS_MAX];
    int32_t fd[EVENTS_MAX];
    uint16_t op[EVENTS_MAX], err[EVENTS_MAX];
};

static size_t add(struct run *r, unsigned op, int64_t t0, int64_t t1, uint32_t file, int64_t result)
{
    size_t i = r->trace.events.n++;
    r->op[i] = (uint16_t)op;
    r->t0[i] = t0;
    r->t1[i] = t1;
    r->file[i] = file;
    r->result[i] = result;
    r->lanes[r->trace.n_lanes - 1].n_events++;
    return i;
}

/* A process of one lane, whose events follow. */
static void begin(struct run *r, uint32_t pid, uint32_t ppid, int64_t start, int64_t end)
{
    uint32_t p = (uint32_t)r->trace.n_processes++;
    r->processes[p] = (struct iot_process){.pid = pid,
                                           .ppid = ppid,
                                           .root = !p,
                                           .end = IOT_END_EXIT,
                                           .first_lane = p,
                                           .n_lanes = 1,
                                           .start_ns = start,
                                           .end_ns = end};
    r->lanes[p] = (struct iot_lane){.process = p,
                                    .tid = pid,
                                    .first_event = r->trace.events.n,
                                    .start_ns = start,
                                    .end_ns = end};
    r->trace.n_lanes++;
}

static void init(struct run *r)
{
    *r = (struct run){.files = {{.name = ""}, {.name = "pipe:[7]", .kind = IOT_FILE_PIPE}}};
    r->trace = (struct iot_trace){.processes = r->processes,
                                  .lanes = r->lanes,
                                  .files = r->files,
                                  .n_files = 2,
                                  .wall_ns = 2 * EOF_AT};
    r->trace.events = (struct iot_events){0,       r->t0,   r->t1,  r->bytes, r->result,
                                          r->offset, r->addr, r->file, r->file2, r->arg,
                                          r->fd,   r->op,   r->err, r->stack};
}

/* A shell that makes a pipe, starts a reader and another process, and closes the pipe before or
 * after that; the other one ends while the reader waits. Returns the reader's waker, and whether it
 * is said to have none. */
static struct iot_waker waker_of_end(int started_with_the_pipe, int uses_it, int *unexplained)
{
    struct run r;
    struct iot_links links;
    int64_t close_at = started_with_the_pipe ? 40000 : 25000;

    init(&r);
    begin(&r, 10, 1, 0, 2 * EOF_AT);
    add(&r, IOT_OP_PIPE, 10000, 10000, PIPE, 0);
    add(&r, IOT_OP_FORK, 20000, 20000, 0, 11);
    if (!started_with_the_pipe)
        add(&r, IOT_OP_CLOSE, close_at, close_at, PIPE, 0);
    add(&r, IOT_OP_FORK, 30000, 30000, 0, 12);
    if (started_with_the_pipe)
        add(&r, IOT_OP_CLOSE, close_at, close_at, PIPE, 0);
    begin(&r, 11, 10, 21000, EOF_AT + 1000);
    size_t read = add(&r, IOT_OP_READ, BLOCKED_FROM, EOF_AT, PIPE, 0);
    begin(&r, 12, 10, 45000, EOF_AT - 5000); /* its first moment is after the close */
    if (uses_it) {
        size_t i = add(&r, IOT_OP_WRITE, 50000, 50000, PIPE, 5);
        r.bytes[i] = 5;
    }

    cr_assert(eq(int, iot_links_find(&links, &r.trace), 0));
    struct iot_waker waker = links.waker[read];
    *unexplained = !!(links.flags[read] & IOT_LINK_UNEXPLAINED) && links.unmatched == 1;
    iot_links_free(&links);
    return waker;
}

Test(links, an_end_of_file_waits_for_who_held_the_pipe)
{
    int unexplained;
    struct iot_waker waker = waker_of_end(1, 0, &unexplained);
    cr_expect(waker.kind == IOT_WAKER_LANE && waker.index == OTHER && !unexplained);
    waker = waker_of_end(0, 1, &unexplained);
    cr_expect(waker.kind == IOT_WAKER_LANE && waker.index == OTHER && !unexplained);
}

Test(links, who_never_held_the_pipe_does_not_end_it)
{
    int unexplained;
    struct iot_waker waker = waker_of_end(0, 0, &unexplained);
    cr_expect(waker.kind == IOT_WAKER_NONE);
}

/* The most that a trace may say of one write would fill more pages than can be counted one by one.
 */
Test(links, a_write_that_is_larger_than_any_pipe_waits_for_the_read_of_its_end, .timeout = 20)
{
    enum { READS = 2 };
    const int64_t all = INT64_C(1) << 48, pipe_bytes = 65536;
    struct run r;
    struct iot_links links;
    size_t reads[READS];
    init(&r);
    begin(&r, 10, 1, 0, 2 * EOF_AT);
    size_t write = add(&r, IOT_OP_WRITE, 1000, EOF_AT, PIPE, 0);
    r.bytes[write] = all;
    begin(&r, 11, 10, 500, EOF_AT + 1000);
    for (int k = 0; k < READS; k++) { /* the second reads what makes room for the last page */
        reads[k] = add(&r, IOT_OP_READ, 2000 + k * 1000, 2500 + k * 1000, PIPE, 0);
        r.bytes[reads[k]] = k ? pipe_bytes : all - 2 * pipe_bytes;
    }
    cr_assert(eq(int, iot_links_find(&links, &r.trace), 0));
    struct iot_waker waker = links.waker[write];
    cr_expect(waker.kind == IOT_WAKER_ENTRY && waker.index == reads[READS - 1]);
    iot_links_free(&links);
}

enum { UNTIL = 500000, NEVER_BACK = 0 };

/* A process holds what a condition in shared memory is about, until it signals; another one sleeps
 * for it in two pieces, which both time out, the second at UNTIL, and goes on. The signal went to a
 * third one, which is back by then or comes too late. */
static struct iot_waker waker_of_timed_out(int64_t given_at, int64_t third_back_at,
                                           int signals_then, int *sleeps)
{
    enum { CONDITION = PIPE, PIECE = 100000 };
    struct run r;
    struct iot_links links;

    init(&r);
    begin(&r, 10, 1, 0, 2 * EOF_AT);
    size_t given = add(&r, IOT_OP_COND_SIGNAL, given_at, given_at, CONDITION, 0);
    begin(&r, 11, 10, 500, EOF_AT);
    for (int k = 0; k < 2; k++) {
        size_t i = add(&r, IOT_OP_COND_WAIT, UNTIL - (2 - k) * PIECE, UNTIL - (1 - k) * PIECE - 10,
                       CONDITION, ETIMEDOUT);
        r.err[i] = ETIMEDOUT;
        r.offset[i] = 64; /* its mutex */
    }
    add(&r, IOT_OP_READ, UNTIL + 1000, UNTIL + 2000, 0, 0);
    if (signals_then)
        add(&r, IOT_OP_COND_SIGNAL, UNTIL + 3000, UNTIL + 3000, CONDITION, 0);
    begin(&r, 12, 10, 500, EOF_AT);
    if (third_back_at != NEVER_BACK)
        r.offset[add(&r, IOT_OP_COND_WAIT, 1000, third_back_at, CONDITION, 0)] = 64;

    cr_assert(eq(int, iot_links_find(&links, &r.trace), 0));
    cr_expect(eq(int, links.flags[given + 1], IOT_LINK_CONTINUES));
    struct iot_waker waker = links.waker[given + 2];
    cr_expect(waker.kind == IOT_WAKER_NONE || waker.index == given);
    *sleeps = !!(links.flags[given + 2] & IOT_LINK_SLEEP);
    iot_links_free(&links);
    return waker;
}

Test(links, who_gave_up_a_lock_lets_a_wait_go_on_that_timed_out)
{
    int sleeps;
    cr_expect(waker_of_timed_out(450000, NEVER_BACK, 1, &sleeps).kind == IOT_WAKER_ENTRY);
    cr_expect(eq(int, sleeps, 0));
    cr_expect(waker_of_timed_out(450000, UNTIL + 500, 1, &sleeps).kind == IOT_WAKER_ENTRY);
    cr_expect(eq(int, sleeps, 0));
}

static void expect_sleep(int64_t given_at, int64_t third_back_at, int signals_then)
{
    int sleeps;
    struct iot_waker waker = waker_of_timed_out(given_at, third_back_at, signals_then, &sleeps);
    cr_expect(waker.kind == IOT_WAKER_NONE);
    cr_expect(eq(int, sleeps, 1));
}

Test(links, a_wait_that_gave_up_slept)
{
    expect_sleep(450000, NEVER_BACK, 0); /* not a lock's */
    expect_sleep(350000, NEVER_BACK, 1); /* in an earlier piece */
    expect_sleep(450000, 460000, 1);     /* a lock would be the third one's by then: a timer's */
}
