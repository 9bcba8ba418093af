/* Writes the traces of a training job of many ranks in the real format, for measurements of what
 * reads jobs.
 *
 *     make_job FOLDER [ranks=N] [events=N] [from=N] [to=N]
 *
 * ranks   of the job, eight to a host (64)
 * events  of each rank, about (100000)
 * from    the first rank that is written, and behind the last: several can write one job (0, ranks)
 *
 * Each rank loads the same model, then trains: a loader reads the samples of a batch from the
 * rank's own shards, at most two batches ahead; the main thread waits for a batch, computes, logs,
 * and writes a checkpoint now and then. Most ranks read faster than they compute. Those of one host
 * read at half the speed, one rank at a third, and once in a while a single read takes long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/mark.h"
#include "format/ops.h"
#include "tests/bench/lane.h"
#include "tests/bench/plan.h"

enum { RANKS_A_HOST = 8, SLOW_HOST = 5, STRAGGLER = 17, AHEAD = 2 };
enum { START_NS = 1000000, FIRST_PID = 2000, READY = 0x1000, SLOTS = 0x2000 };
/* Of a step: 25 ms of reading beside 40 ms of computing. */
enum {
    READS = 96,
    READ_BYTES = 128 << 10,
    READ_NS = 200000,
    READ_SPREAD_NS = 120000,
    COMPUTE_NS = 40000000,
    WAKE_NS = 4000
};
/* In steps. */
enum { SHARD_STEPS = 40, CHECKPOINT_STEPS = 250, HICCUP_STEPS = 700 };
enum { MODEL_READS = 256, MODEL_READ_BYTES = 8 << 20, CHECKPOINT_WRITES = 64 };
/* Of a step, with what comes once in a while. */
enum { EVENTS_A_STEP = READS + 7 };

struct plan {
    const char *folder;
    long ranks, events, from, to;
};

struct rank {
    long number, ranks, shard;
    uint64_t slow; /* times as long as elsewhere */
    struct iot_written file;
    struct iot_lane_writer main, loader;
    uint32_t shard_desc, log_desc;
    uint64_t taken[AHEAD]; /* when the batch was, by its number's remainder */
};

static void touch(struct iot_lane_writer *w, uint64_t at, uint64_t took, unsigned op,
                  uint64_t address)
{
    iot_lane_call(w, at, took, (struct iot_row){.op = (uint16_t)op, .addr = address});
}

static uint32_t open_file(struct iot_lane_writer *w, const char *name, int fd, uint64_t inode,
                          int64_t size)
{
    uint32_t desc = iot_lane_define(w, name, fd, S_IFREG | 0644, 2049, inode, size);
    iot_lane_call(
        w, 0, 30000 + iot_below(20000),
        (struct iot_row){.op = IOT_OP_OPENAT, .obj = desc, .obj2 = w->strings, .result = fd});
    return desc;
}

static void close_file(struct iot_lane_writer *w, uint32_t desc)
{
    iot_lane_call(w, 0, 400, (struct iot_row){.op = IOT_OP_CLOSE, .obj = desc});
}

static void load_model(struct rank *r, long events)
{
    long reads = events / 20 < MODEL_READS ? events / 20 : MODEL_READS;
    uint32_t desc =
        open_file(&r->main, "/models/large/tokenizer.json", 4, 700001, INT64_C(9) << 20);
    for (int k = 0; k < 9; k++)
        iot_lane_move(&r->main, 0, 300000, IOT_OP_READ, desc, 1 << 20, 0);
    close_file(&r->main, desc);
    desc =
        open_file(&r->main, "/models/large/model.safetensors", 4, 700002, reads * INT64_C(8) << 20);
    for (long k = 0; k < reads; k++)
        iot_lane_move(&r->main, 0, r->slow * (2500000 + iot_below(700000)), IOT_OP_PREAD, desc,
                      MODEL_READ_BYTES, k * (int64_t)MODEL_READ_BYTES);
    close_file(&r->main, desc);
}

static void next_shard(struct rank *r)
{
    char name[80];
    if (r->shard_desc)
        close_file(&r->loader, r->shard_desc);
    long number = r->shard++ * r->ranks + r->number;
    snprintf(name, sizeof name, "/data/train/shard-%06ld.tar", number);
    r->shard_desc = open_file(&r->loader, name, 5, 800000 + (uint64_t)number,
                              (int64_t)SHARD_STEPS * READS * READ_BYTES);
}

/* Returns when the batch is there. */
static uint64_t load_batch(struct rank *r, long step)
{
    struct iot_lane_writer *w = &r->loader;
    uint64_t slot = r->taken[step % AHEAD], free_at = slot > w->now ? slot + WAKE_NS : 0;
    long hiccup = step % HICCUP_STEPS == r->number % HICCUP_STEPS + 1 ? READS / 2 : -1;
    touch(w, 0, free_at ? free_at - w->now : 50, IOT_OP_SEM_WAIT, SLOTS);
    if (step % SHARD_STEPS == 0)
        next_shard(r);
    for (long k = 0; k < READS; k++) {
        uint64_t took = r->slow * (READ_NS + iot_below(READ_SPREAD_NS));
        iot_lane_move(w, w->now + 2000, k == hiccup ? 1000 * took : took, IOT_OP_PREAD,
                      r->shard_desc, READ_BYTES, (step % SHARD_STEPS * READS + k) * READ_BYTES);
    }
    touch(w, w->now + 1000, 60, IOT_OP_SEM_POST, READY);
    return w->now - 60;
}

static void write_checkpoint(struct rank *r, long step)
{
    char whole[96], part[sizeof whole + 5];
    struct iot_lane_writer *w = &r->main;
    snprintf(whole, sizeof whole, "/ckpt/step-%08ld/rank-%ld.pt", step, r->number);
    snprintf(part, sizeof part, "%s.part", whole);
    uint64_t inode = 900000 + (uint64_t)(step / CHECKPOINT_STEPS * r->ranks + r->number);
    uint32_t desc = open_file(w, part, 6, inode, 0), from = w->strings;
    for (int k = 0; k < CHECKPOINT_WRITES; k++)
        iot_lane_move(w, 0, 1500000 + iot_below(500000), IOT_OP_WRITE, desc, 4 << 20, 0);
    iot_lane_call(w, 0, 30000000, (struct iot_row){.op = IOT_OP_FSYNC, .obj = desc});
    close_file(w, desc);
    iot_lane_define(w, whole, -1, S_IFREG | 0644, 2049, inode, 0); /* names it */
    iot_lane_call(w, 0, 20000,
                  (struct iot_row){.op = IOT_OP_RENAME, .obj = from, .obj2 = w->strings});
}

static void train_step(struct rank *r, long step)
{
    struct iot_lane_writer *w = &r->main;
    uint64_t there = load_batch(r, step);
    iot_lane_call(w, 0, 0, (struct iot_row){.op = IOT_OP_MARK, .result = IOT_MARK_STEP});
    touch(w, 0, there > w->now ? there + WAKE_NS - w->now : 50, IOT_OP_SEM_WAIT, READY);
    r->taken[step % AHEAD] = w->now + 500;
    touch(w, w->now + 500, 60, IOT_OP_SEM_POST, SLOTS);
    iot_lane_move(w, w->now + COMPUTE_NS + iot_below(COMPUTE_NS / 20), 2000 + iot_below(500),
                  IOT_OP_WRITE, r->log_desc, 180, 0);
    if (step % CHECKPOINT_STEPS == CHECKPOINT_STEPS - 1)
        write_checkpoint(r, step);
}

static void fact(struct rank *r, enum iot_fact_tag tag, const char *text)
{
    iot_written_fact(&r->file, tag, text, strlen(text));
}

static void begin_rank(struct rank *r, long number, long ranks)
{
    static const char command[] = "python3\0train.py\0--model\0large";
    long host = number / RANKS_A_HOST;
    uint64_t start = START_NS * (uint64_t)(1 + number % RANKS_A_HOST + 1000 * host);
    char text[200];
    *r = (struct rank){.number = number, .ranks = ranks, .slow = 1 + (host == SLOW_HOST)};
    r->slow = number == STRAGGLER ? 3 : r->slow;
    iot_below_seed((uint64_t)number);
    r->file = iot_written_new(FIRST_PID + (uint32_t)number, 1, start);
    struct iot_file_header *h = iot_written_header(&r->file);
    h->root = 1;
    h->lanes = 2;
    h->end = IOT_END_EXIT;
    memset(h->boot_id, 1 + (int)(host % 250), sizeof h->boot_id);
    fact(r, IOT_FACT_EXE, "/usr/bin/python3");
    iot_written_fact(&r->file, IOT_FACT_COMMAND, command, sizeof command);
    fact(r, IOT_FACT_CWD, "/scratch/train");
    snprintf(text, sizeof text, "node%03ld", host);
    fact(r, IOT_FACT_HOST, text);
    snprintf(text, sizeof text,
             "job=train-large\nrank=%ld\nlocal_rank=%ld\nworld_size=%ld\nsource=slurm\n", number,
             number % RANKS_A_HOST, ranks);
    fact(r, IOT_FACT_IDENTITY, text);
    struct iot_lane_writer *lanes[] = {&r->main, &r->loader};
    for (uint32_t k = 0; k < 2; k++)
        *lanes[k] = (struct iot_lane_writer){.file = &r->file,
                                             .rows = calloc(1, sizeof *r->main.rows),
                                             .lane = k,
                                             .tid = FIRST_PID + (uint32_t)number + (k << 20),
                                             .strings = k << 24,
                                             .descs = k << 24,
                                             .now = start};
    iot_lane_call(&r->main, 0, 0,
                  (struct iot_row){.op = IOT_OP_START, .obj = UINT32_MAX, .result = 1});
}

static void start_loader(struct rank *r)
{
    iot_lane_call(&r->main, 0, 100,
                  (struct iot_row){.op = IOT_OP_SEM_INIT, .offset = AHEAD, .addr = SLOTS});
    iot_lane_call(&r->main, 0, 100, (struct iot_row){.op = IOT_OP_SEM_INIT, .addr = READY});
    iot_lane_call(&r->main, 0, 20000, (struct iot_row){.op = IOT_OP_THREAD_CREATE, .obj = 1});
    r->loader.now = r->main.now;
    iot_lane_call(&r->loader, 0, 0,
                  (struct iot_row){.op = IOT_OP_THREAD_START, .result = r->loader.tid});
}

static void end_rank(struct rank *r, const char *folder)
{
    char path[4096];
    close_file(&r->loader, r->shard_desc);
    iot_lane_call(&r->loader, 0, 0, (struct iot_row){.op = IOT_OP_THREAD_EXIT});
    close_file(&r->main, r->log_desc);
    iot_lane_call(&r->main, 0,
                  r->loader.now > r->main.now ? r->loader.now - r->main.now + WAKE_NS : 500,
                  (struct iot_row){.op = IOT_OP_JOIN, .obj = 1});
    iot_lane_call(&r->main, 0, 0, (struct iot_row){.op = IOT_OP_EXIT});
    iot_lane_flush(&r->main);
    iot_lane_flush(&r->loader);
    free(r->main.rows);
    free(r->loader.rows);
    iot_written_header(&r->file)->last = (struct iot_anchor){r->main.now, r->main.now};
    snprintf(path, sizeof path, "%s/rank-%ld", folder, r->number);
    mkdir(path, 0755); /* a failure shows when the file is made */
    iot_bytes_save("", 0, path, "run");
    iot_written_save(&r->file, path, "process.iot");
    iot_written_free(&r->file);
}

static void write_rank(const struct plan *plan, long number)
{
    static struct rank r;
    char name[80];
    begin_rank(&r, number, plan->ranks);
    load_model(&r, plan->events);
    snprintf(name, sizeof name, "/scratch/train/logs/rank-%ld.log", number);
    r.log_desc = open_file(&r.main, name, 7, 600000 + (uint64_t)number, 0);
    start_loader(&r);
    long step = 0;
    while (r.main.events + r.loader.events + EVENTS_A_STEP / 2 < plan->events)
        train_step(&r, step++);
    if (!step)
        train_step(&r, step);
    end_rank(&r, plan->folder);
}

static int read_plan(struct plan *plan, int argc, char **argv)
{
    const struct iot_plan_number numbers[] = {
        {"ranks", &plan->ranks, 1, 100000},
        {"events", &plan->events, 1, 1000000000},
        {"from", &plan->from, 0, 100000},
        {"to", &plan->to, 0, 100000},
    };
    plan->folder = iot_plan_read(numbers, sizeof numbers / sizeof *numbers, argc, argv);
    return plan->folder ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct plan plan = {.ranks = 64, .events = 100000, .to = -1};
    if (read_plan(&plan, argc, argv)) {
        fprintf(stderr, "usage: make_job FOLDER [ranks=N] [events=N] [from=N] [to=N]\n");
        return 2;
    }
    if (plan.to < 0 || plan.to > plan.ranks)
        plan.to = plan.ranks;
    mkdir(plan.folder, 0755); /* a failure shows when its folders are made */
    for (long number = plan.from; number < plan.to; number++)
        write_rank(&plan, number);
    return 0;
}
