/* iotrace dump: every event of a run. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/gpu.h"
#include "analyzer/json_out.h"
#include "analyzer/links.h"
#include "analyzer/merge.h"
#include "analyzer/op_sets.h"
#include "analyzer/people.h"
#include "analyzer/progress.h"
#include "analyzer/text.h"
#include "analyzer/trace.h"

enum { TEXT, JSONL };

struct options {
    size_t format;
};

static const struct iot_option options[] = {
    {"format", 0, "text|jsonl",
     "a table (the default), with times in ms from the start of the run; or one JSON object a "
     "line, with times in ns",
     IOT_OPTION_WORD, offsetof(struct options, format),
     (const char *const[]){"text", "jsonl", NULL}, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_dump = {
    .command = "dump",
    .summary = "every event of a run",
    .operands = "DIR",
    .about = "Prints every event that the run in DIR recorded, by the time it began.\n"
             "What a GPU does, and the calls that made it do so, have one number each in the\n"
             "place of an offset (#12).\n",
    .options = options,
};

/* The operations whose offset is a place in their file. */
static bool has_offset(unsigned op, int64_t offset)
{
    switch (op) {
    case IOT_OP_PREADV2:
    case IOT_OP_PWRITEV2:
    case IOT_OP_ASYNC_READ:
    case IOT_OP_ASYNC_WRITE:
        return offset != -1; /* where the descriptor stands */
    case IOT_OP_PREAD:
    case IOT_OP_PWRITE:
    case IOT_OP_PREADV:
    case IOT_OP_PWRITEV:
    case IOT_OP_CUFILE_READ:
    case IOT_OP_CUFILE_WRITE:
    case IOT_OP_LSEEK:
    case IOT_OP_FSEEK:
    case IOT_OP_MMAP:
        return true;
    default:
        return false;
    }
}

static void write_name(struct iot_json *json, const char *key, const struct iot_file *file)
{
    iot_json_key(json, key);
    if (*file->name)
        iot_json_string(json, file->name);
    else
        iot_json_null(json);
}

/* Who let a wait go on, and when. */
static void write_waker(struct iot_json *json, const struct iot_trace *t,
                        const struct iot_links *links, size_t i)
{
    struct iot_waker waker = links->waker[i];
    iot_json_key(json, "waker");
    if (waker.kind == IOT_WAKER_NONE) {
        iot_json_null(json);
        return;
    }
    uint32_t lane = waker.kind == IOT_WAKER_LANE ? waker.index : links->lane_of[waker.index];
    iot_json_begin_object(json);
    iot_json_put_uint(json, "pid", t->processes[t->lanes[lane].process].pid);
    iot_json_put_uint(json, "tid", t->lanes[lane].tid);
    iot_json_put_int(json, "t_ns", iot_waker_time(t, waker));
    iot_json_end_object(json);
}

/* What only some have: where the bytes lie in memory, and which call of a thread made a GPU do it.
 */
static void write_memory(struct iot_json *json, const struct iot_events *e, size_t i)
{
    if (iot_op_has_buffer(e->op[i]) && e->addr[i]) {
        iot_json_put_uint(json, "addr", e->addr[i]);
        iot_json_put_uint(json, "addr_bytes",
                          e->arg[i] ? e->arg[i] : e->bytes[i] > 0 ? (uint64_t)e->bytes[i] : 0);
    }
    if (e->op[i] == IOT_OP_BUFFER) {
        iot_json_put_uint(json, "addr", e->addr[i]);
        iot_json_put_uint(json, "addr_bytes", (uint64_t)e->offset[i]);
    }
    if (!iot_gpu_op(e->op[i]) || e->op[i] == IOT_OP_GPU_STREAM)
        return;
    iot_json_key(json, "correlation");
    if (e->offset[i])
        iot_json_int(json, e->offset[i]);
    else
        iot_json_null(json);
    if (e->op[i] == IOT_OP_GPU_LAUNCH && (e->addr[i] || e->result[i]))
        iot_json_put_uint(json, "addr", e->addr[i] ? e->addr[i] : (uint64_t)e->result[i]);
}

static void write_json(struct iot_json *json, const struct iot_trace *t,
                       const struct iot_links *links, size_t i, uint32_t lane)
{
    const struct iot_events *e = &t->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);

    iot_json_begin_object(json);
    iot_json_put_int(json, "t0_ns", e->t0_ns[i]);
    iot_json_put_int(json, "t1_ns", e->t1_ns[i]);
    iot_json_put_uint(json, "pid", t->processes[t->lanes[lane].process].pid);
    iot_json_put_uint(json, "tid", t->lanes[lane].tid);
    iot_json_put_uint(json, "lane", lane);
    iot_json_put_string(json, "op", op->name);
    iot_json_key(json, "fd");
    if (e->fd[i] >= 0)
        iot_json_int(json, e->fd[i]);
    else
        iot_json_null(json);
    write_name(json, "path", &t->files[e->file[i]]);
    write_name(json, "path2", &t->files[e->file2[i]]);
    iot_json_put_int(json, "bytes", e->bytes[i]);
    iot_json_key(json, "offset");
    if (has_offset(e->op[i], e->offset[i]))
        iot_json_int(json, e->offset[i]);
    else
        iot_json_null(json);
    iot_json_put_int(json, "result", e->result[i]);
    iot_json_put_int(json, "errno", e->err[i]);
    if (op->class_ == IOT_WAIT)
        write_waker(json, t, links, i);
    write_memory(json, e, i);
    iot_json_end_object(json);
}

static void print_heading(void)
{
    printf("%14s %12s %7s %7s %4s %-15s %4s %10s %12s %-12s %s\n", "start ms", "took ms", "pid",
           "tid", "lane", "op", "fd", "bytes", "offset", "result", "path");
}

static void print_event(const struct iot_trace *t, size_t i, uint32_t lane)
{
    const struct iot_events *e = &t->events;
    char fd[16] = "-", offset[24] = "-", result[32];
    int64_t took = e->t1_ns[i] - e->t0_ns[i];

    if (e->fd[i] >= 0)
        snprintf(fd, sizeof fd, "%" PRId32, e->fd[i]);
    if (has_offset(e->op[i], e->offset[i]))
        snprintf(offset, sizeof offset, "%" PRId64, e->offset[i]);
    else if (iot_gpu_op(e->op[i]) && e->op[i] != IOT_OP_GPU_STREAM && e->offset[i])
        snprintf(offset, sizeof offset, "#%" PRId64, e->offset[i]);
    const char *error = e->err[i] ? strerrorname_np(e->err[i]) : NULL;
    if (error)
        snprintf(result, sizeof result, "%s", error);
    else if (e->err[i])
        snprintf(result, sizeof result, "errno %u", e->err[i]);
    else
        snprintf(result, sizeof result, "%" PRId64, e->result[i]);
    printf("%7" PRId64 ".%06" PRId64 " %5" PRId64 ".%06" PRId64 " %7" PRIu32 " %7" PRIu32
           " %4" PRIu32 " %-15s %4s %10" PRId64 " %12s %-12s ",
           e->t0_ns[i] / 1000000, e->t0_ns[i] % 1000000, took / 1000000, took % 1000000,
           t->processes[t->lanes[lane].process].pid, t->lanes[lane].tid, lane,
           iot_op_info(e->op[i])->name, fd, e->bytes[i], offset, result);
    const char *path = t->files[e->file[i]].name, *path2 = t->files[e->file2[i]].name;
    iot_write_printable(stdout, *path ? path : "-", *path ? strlen(path) : 1);
    if (*path2) {
        fputs(" -> ", stdout);
        iot_write_printable(stdout, path2, strlen(path2));
    }
    putchar('\n');
}

/* What of the run is not in the dump. */
static void print_losses(const struct iot_trace *t)
{
    if (t->salvaged_processes)
        iot_error("%s: damaged files, of which only what is whole was read: %" PRIu32
                  "; the first: %s; trace again for all of it",
                  t->folder, t->salvaged_processes, t->damage);
    if (t->dropped_events)
        iot_error("%s: not recorded for want of room: %s; look at the disk's free space "
                  "and the limits on file size",
                  t->folder, iot_people_many((int64_t)t->dropped_events, "event").text);
    if (t->unknown_events)
        iot_error("%s: left out, of operations this version does not know: %s; a newer iotrace "
                  "shows them",
                  t->folder, iot_people_many((int64_t)t->unknown_events, "event").text);
}

static int dump(const char *folder, bool jsonl)
{
    char error[512];
    struct iot_merge merge;
    struct iot_json json;
    struct iot_links links = {0};
    size_t event;
    uint32_t lane;

    iot_progress_start();
    struct iot_trace *trace = iot_trace_read(folder, error);
    iot_progress_end();
    if (!trace) {
        iot_error("%s", error);
        return IOT_EXIT_USAGE;
    }
    iot_tell_part("dump", trace);
    if (iot_merge_init(&merge, trace) || (jsonl && iot_links_find(&links, trace))) {
        iot_error("%s: out of memory; dump it on a machine with more", folder);
        iot_trace_free(trace);
        return IOT_EXIT_USAGE;
    }
    /* One thread writes, in small pieces: half of the time would go into locking the stream. */
    __fsetlocking(stdout, FSETLOCKING_BYCALLER);
    iot_json_init(&json, stdout, IOT_JSON_COMPACT);
    if (!jsonl)
        print_heading();
    while (!ferror(stdout) && iot_merge_next(&merge, &event, &lane)) {
        if (jsonl)
            write_json(&json, trace, &links, event, lane);
        else
            print_event(trace, event, lane);
    }
    int status = iot_finish_stdout();
    print_losses(trace);
    iot_merge_free(&merge);
    iot_links_free(&links);
    iot_trace_free(trace);
    return status;
}

int iot_cmd_dump(int argc, char **argv)
{
    struct options o = {0};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_dump, argc, argv, &o);
    if (parsed.done)
        return parsed.status;
    if (parsed.n_operands == 1)
        return dump(parsed.operands[0], o.format == JSONL);
    iot_error("dump: %s; see 'iotrace dump --help'",
              parsed.n_operands ? "one folder only" : "which folder?");
    return IOT_EXIT_USAGE;
}
