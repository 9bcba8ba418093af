/* Writes a trace of a given size in the real format, for measurements of what reads it.
 *
 *     make_trace FOLDER [events=N] [processes=N] [lanes=N] [files=N] [queues=0|1]
 *
 * events     of the whole run, about (1000000)
 * processes  the root and its children (1)
 * lanes      threads of each process; the first is the main one (1)
 * files      of the whole run: each is opened and closed once (one a lane)
 * queues     1: with two or more lanes, threads hand each other a lock, a semaphore and a
 * condition, and each process its bytes to the next one through a pipe (0)
 *
 * Time is made up: every lane goes through rounds of one length, in which all have their moments,
 * so that whoever waits is let go on by somebody who came later. What an I/O call takes varies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/ops.h"
#include "tests/bench/lane.h"
#include "tests/bench/plan.h"

enum { ROUND_NS = 100000, START_NS = 1000000, FIRST_PID = 1000, LANES_MAX = 64 };

struct plan {
    const char *folder;
    long events, processes, lanes, files, queues;
};

static uint32_t open_file(struct iot_lane_writer *w, uint64_t at, long number)
{
    static const char *const kinds[] = {"train/%06ld.jpg", "shards/part-%06ld.bin",
                                        "out/%06ld.log"};
    char name[80] = "/data/";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name + 6, sizeof name - 6, kinds[number % 3], number);
#pragma GCC diagnostic pop
    uint32_t desc =
        iot_lane_define(w, name, 3, S_IFREG | 0644, 2049, 100000 + (uint64_t)number, 1 << 20);
    iot_lane_call(
        w, at, 900 + iot_below(400),
        (struct iot_row){.op = IOT_OP_OPENAT, .obj = desc, .obj2 = w->strings, .result = 3});
    return desc;
}

static void move(struct iot_lane_writer *w, uint64_t at, unsigned op, uint32_t desc, int64_t bytes,
                 int64_t offset)
{
    uint64_t took = 500 + iot_below(2500);
    iot_lane_move(w, at, took, op, desc, bytes, offset);
}

static void plain_round(struct iot_lane_writer *w, uint64_t round, uint32_t desc)
{
    for (unsigned k = 0; k < 20; k++)
        move(w, round + 4900 * k, k % 5 ? IOT_OP_PREAD : IOT_OP_WRITE, desc, 4096,
             (int64_t)iot_below(256) * 4096);
}

static void touch(struct iot_lane_writer *w, uint64_t at, uint64_t until, unsigned op,
                  uint64_t address, uint64_t mutex)
{
    iot_lane_call(w, at, until - at,
                  (struct iot_row){.op = (uint16_t)op, .addr = address, .offset = (int64_t)mutex});
}

enum { MUTEX = 0x1000, SEMAPHORE = 0x2000, CONDITION = 0x3000, OTHER_MUTEX = 0x4000 };

/* Takes what the neighbour sends, waits for the lock and wakes the other lane. */
static void taking_round(struct iot_lane_writer *w, uint64_t r, uint32_t desc, uint32_t from)
{
    iot_lane_call(w, r + 1000, 30000,
                  (struct iot_row){.op = IOT_OP_READ, .obj = from, .result = 512, .bytes = 512});
    touch(w, r + 32000, r + 40500, IOT_OP_MUTEX_LOCK, MUTEX, 0);
    move(w, r + 41000, IOT_OP_PREAD, desc, 4096, (int64_t)iot_below(256) * 4096);
    touch(w, r + 45000, r + 45050, IOT_OP_MUTEX_UNLOCK, MUTEX, 0);
    touch(w, r + 46000, r + 46050, IOT_OP_SEM_POST, SEMAPHORE, 0);
    for (unsigned k = 0; k < 4; k++)
        move(w, r + 50000 + 4900 * k, IOT_OP_PREAD, desc, 4096, (int64_t)iot_below(256) * 4096);
    touch(w, r + 76000, r + 76050, IOT_OP_COND_SIGNAL, CONDITION, 0);
    for (unsigned k = 0; k < 3; k++)
        move(w, r + 80000 + 4900 * k, IOT_OP_WRITE, desc, 100, 0);
}

static void giving_round(struct iot_lane_writer *w, uint64_t r, uint32_t desc, uint32_t to)
{
    touch(w, r + 500, r + 550, IOT_OP_MUTEX_LOCK, MUTEX, 0);
    for (unsigned k = 0; k < 4; k++)
        move(w, r + 2000 + 4900 * k, IOT_OP_PREAD, desc, 4096, (int64_t)iot_below(256) * 4096);
    move(w, r + 26000, IOT_OP_WRITE, to, 512, 0);
    touch(w, r + 40000, r + 40050, IOT_OP_MUTEX_UNLOCK, MUTEX, 0);
    touch(w, r + 41000, r + 47000, IOT_OP_SEM_WAIT, SEMAPHORE, 0);
    touch(w, r + 50000, r + 76500, IOT_OP_COND_WAIT, CONDITION, OTHER_MUTEX);
    for (unsigned k = 0; k < 3; k++)
        move(w, r + 78000 + 4900 * k, IOT_OP_PREAD, desc, 4096, (int64_t)iot_below(256) * 4096);
}

static uint32_t pipe_end(struct iot_lane_writer *w, long number)
{
    char name[40];
    snprintf(name, sizeof name, "pipe:[%ld]", 5000 + number);
    return iot_lane_define(w, name, 5, S_IFIFO | 0600, 13, 5000 + (uint64_t)number, 65536);
}

/* The rounds of one lane, which its share of the files is spread over. */
static void write_lane(const struct plan *plan, struct iot_lane_writer *w, long process,
                       uint64_t begin, long rounds, long first_file, long files)
{
    long next = first_file;
    int queues = plan->queues && w->lane < 2 && plan->lanes > 1;
    uint32_t channel = 0, desc = 0;
    if (queues)
        channel = pipe_end(w, w->lane == 0 ? process : (process + 1) % plan->processes);
    for (long k = 0; k < rounds; k++) {
        uint64_t round = begin + (uint64_t)k * ROUND_NS;
        long due = first_file + files * (k + 1) / rounds;
        for (; next < due || !desc; next++) {
            if (desc) {
                move(w, round, IOT_OP_READ, desc, 4096, 0);
                iot_lane_call(w, round, 300, (struct iot_row){.op = IOT_OP_CLOSE, .obj = desc});
            }
            desc = open_file(w, round, next);
        }
        if (!queues)
            plain_round(w, round, desc);
        else if (w->lane == 0)
            taking_round(w, round, desc, channel);
        else
            giving_round(w, round, desc, channel);
    }
    iot_lane_call(w, 0, 300, (struct iot_row){.op = IOT_OP_CLOSE, .obj = desc});
}

static long events_a_round(const struct plan *plan)
{
    return plan->queues && plan->lanes > 1 ? 13 + 12 + 20 * (plan->lanes - 2) : 20 * plan->lanes;
}

static struct iot_written new_process(const struct plan *plan, long process)
{
    uint32_t pid = FIRST_PID + (uint32_t)process;
    struct iot_written file =
        iot_written_new(pid, process ? FIRST_PID : 1, START_NS + 20000 * (uint64_t)process);
    struct iot_file_header *h = iot_written_header(&file);
    h->root = process == 0;
    h->parent_lane = process ? 0 : UINT32_MAX;
    h->lanes = (uint32_t)plan->lanes;
    h->end = IOT_END_EXIT;
    static const char command[] = "trainer\0--size\0large";
    iot_written_fact(&file, IOT_FACT_EXE, "/usr/bin/trainer", 16);
    iot_written_fact(&file, IOT_FACT_COMMAND, command, sizeof command);
    iot_written_fact(&file, IOT_FACT_CWD, "/data", 5);
    return file;
}

/* One process; returns when its last lane was done. The root waits for its children, which are
 * done by `children_end`. */
static uint64_t write_process(const struct plan *plan, long process, uint64_t children_end)
{
    struct iot_written file = new_process(plan, process);
    struct iot_lane_writer w[LANES_MAX] = {0};
    long lanes = plan->lanes;
    long rounds = (plan->events - 3 * plan->files) / plan->processes / events_a_round(plan);
    long all = plan->processes * lanes, files = plan->files > all ? plan->files : all;
    uint64_t born = iot_written_header(&file)->start.mono_ns, end = 0;
    /* All rounds begin together, when the last process is there. */
    uint64_t begin = START_NS + 20000 * (uint64_t)plan->processes + 1000 * (uint64_t)lanes;

    for (long l = 0; l < lanes; l++) {
        w[l] = (struct iot_lane_writer){.file = &file,
                                        .rows = calloc(1, sizeof *w[l].rows),
                                        .now = born,
                                        .lane = (uint32_t)l,
                                        .strings = (uint32_t)l << 24,
                                        .tid = FIRST_PID + (uint32_t)process + ((uint32_t)l << 20),
                                        .descs = (uint32_t)l << 24};
        if (l == 0)
            iot_lane_call(&w[0], born, 0,
                          (struct iot_row){.op = IOT_OP_START,
                                           .obj = process ? 0 : UINT32_MAX,
                                           .result = process ? FIRST_PID : 1});
        else
            iot_lane_call(
                &w[l], born + 1000 * (uint64_t)l + 500, 0,
                (struct iot_row){.op = IOT_OP_THREAD_START, .obj = 0, .result = w[l].tid});
    }
    for (long l = 1; l < lanes; l++)
        iot_lane_call(&w[0], born + 1000 * (uint64_t)l, 600,
                      (struct iot_row){.op = IOT_OP_THREAD_CREATE, .obj = (uint32_t)l});
    for (long c = 1; process == 0 && c < plan->processes; c++)
        iot_lane_call(&w[0], START_NS + 20000 * (uint64_t)c - 5000, 6000,
                      (struct iot_row){.op = IOT_OP_FORK, .result = FIRST_PID + c});
    for (long l = 0; l < lanes; l++) {
        long k = process * lanes + l, first = files * k / all;
        write_lane(plan, &w[l], process, begin, rounds > 0 ? rounds : 1, first,
                   files * (k + 1) / all - first);
        end = w[l].now > end ? w[l].now : end;
    }
    for (long l = 1; l < lanes; l++) {
        iot_lane_call(&w[l], end + 1000, 0, (struct iot_row){.op = IOT_OP_THREAD_EXIT});
        iot_lane_call(&w[0], end, 2000, (struct iot_row){.op = IOT_OP_JOIN, .obj = (uint32_t)l});
    }
    for (long c = 1; process == 0 && c < plan->processes; c++)
        iot_lane_call(&w[0], 0,
                      c == 1 && children_end > w[0].now ? children_end - w[0].now + 100 : 100,
                      (struct iot_row){.op = IOT_OP_WAITPID, .result = FIRST_PID + c});
    iot_lane_call(&w[0], end, 0, (struct iot_row){.op = IOT_OP_EXIT});
    end = w[0].now;
    for (long l = 0; l < lanes; l++) {
        iot_lane_flush(&w[l]);
        free(w[l].rows);
    }
    char name[40];
    snprintf(name, sizeof name, "%ld.iot", FIRST_PID + process);
    iot_written_header(&file)->last = (struct iot_anchor){end, end};
    iot_written_save(&file, plan->folder, name);
    iot_written_free(&file);
    return end;
}

static int read_plan(struct plan *plan, int argc, char **argv)
{
    const struct iot_plan_number numbers[] = {
        {"events", &plan->events, 1, 1000000000}, {"processes", &plan->processes, 1, 100000},
        {"lanes", &plan->lanes, 1, LANES_MAX},    {"files", &plan->files, 0, 16000000},
        {"queues", &plan->queues, 0, 1},
    };
    plan->folder = iot_plan_read(numbers, sizeof numbers / sizeof *numbers, argc, argv);
    return plan->folder ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct plan plan = {.events = 1000000, .processes = 1, .lanes = 1};
    uint64_t last = 0;
    if (read_plan(&plan, argc, argv)) {
        fprintf(stderr, "usage: make_trace FOLDER [events=N] [processes=N] [lanes=N] [files=N] "
                        "[queues=0|1]\n");
        return 2;
    }
    mkdir(plan.folder, 0755); /* a failure shows when its files are made */
    for (long p = plan.processes; p-- > 0;) {
        uint64_t end = write_process(&plan, p, last);
        last = end > last ? end : last;
    }
    iot_bytes_save("", 0, plan.folder, "run");
    return 0;
}
