/* What is known not to be in the trace: children without one, and kinds of waiting and moving bytes
 * that are not followed. A report says it in words. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/op_sets.h"
#include "analyzer/people.h"
#include "analyzer/report_parts.h"
#include "analyzer/room.h"

/* --- children without a trace --- */

/* Each image of a traced process: sorted by pid, then start. */
struct born {
    uint32_t pid;
    uint32_t exec_file; /* what it executed, if its last deed was that; else 0 */
    int64_t start_ns;
    uint8_t end;
};

static int by_birth(const void *a, const void *b)
{
    const struct born *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static struct born *births(const struct iot_trace *t)
{
    struct born *born = calloc(t->n_processes + 1, sizeof *born);
    for (size_t i = 0; i < t->n_processes && born; i++)
        born[i] = (struct born){.pid = t->processes[i].pid,
                                .start_ns = t->processes[i].start_ns,
                                .end = t->processes[i].end};
    for (size_t k = 0; k < t->n_lanes && born; k++) {
        const struct iot_lane *lane = &t->lanes[k];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (t->events.op[i] == IOT_OP_EXEC && t->events.result[i] != -1)
                born[lane->process].exec_file = t->events.file[i];
    }
    if (born)
        qsort(born, t->n_processes, sizeof *born, by_birth);
    return born;
}

static int knows(const struct born *born, size_t n, uint32_t pid)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (born[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && born[low].pid == pid;
}

static int add_untraced(struct iot_report *r, size_t *room, uint32_t pid, const char *why)
{
    if (IOT_ROOM(r->run.untraced, r->run.n_untraced + 1, *room))
        return -1;
    r->run.untraced[r->run.n_untraced++] = (struct iot_untraced){pid, why};
    return 0;
}

static int add_execed(struct iot_report *r, size_t *room, const struct born *b)
{
    const char *name = b->exec_file ? r->trace->files[b->exec_file].name : "a program";
    size_t n = strlen(name) + 96;
    char *why = iot_arena_take(r->arena, n);
    if (!why)
        return -1;
    snprintf(why, n, "executed %s, which left no trace (static, set-user-id, or no LD_PRELOAD)",
             name);
    return add_untraced(r, room, b->pid, why);
}

static const char *why_missing(unsigned op)
{
    switch (op) {
    case IOT_OP_FORK:
    case IOT_OP_VFORK:
        return "forked, but left no trace (ended before it recorded anything, or was denied its "
               "file: "
               "set-user-id, chroot, no descriptor, a seccomp filter)";
    case IOT_OP_SPAWN:
    case IOT_OP_POPEN:
        return "started, but left no trace (static, set-user-id, or no LD_PRELOAD)";
    case IOT_OP_WAITPID:
    case IOT_OP_WAIT:
    case IOT_OP_WAITID:
    case IOT_OP_PCLOSE:
        return "waited for, but left no trace (static, set-user-id, or no LD_PRELOAD)";
    default:
        return NULL;
    }
}

static int by_pid(const void *a, const void *b)
{
    const struct iot_untraced *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* One of each pid: a child that was spawned is also waited for. */
static void keep_first(struct iot_report_run *run)
{
    size_t n = 0;
    if (run->n_untraced)
        qsort(run->untraced, run->n_untraced, sizeof *run->untraced, by_pid);
    for (size_t i = 0; i < run->n_untraced; i++)
        if (!n || run->untraced[n - 1].pid != run->untraced[i].pid)
            run->untraced[n++] = run->untraced[i];
    run->n_untraced = n;
}

int iot_report_untraced(struct iot_report *r)
{
    const struct iot_trace *t = r->trace;
    struct born *born = births(t);
    size_t room = 0;
    int failed = !born;

    for (size_t i = 0; i < t->n_processes && !failed; i++)
        if (born[i].end == IOT_END_EXEC &&
            (i + 1 == t->n_processes || born[i + 1].pid != born[i].pid))
            failed = add_execed(r, &room, &born[i]);
    for (size_t i = 0; i < t->events.n && !failed; i++) {
        const char *why = why_missing(t->events.op[i]);
        int64_t pid = t->events.result[i];
        if (why && pid > 0 && pid <= INT32_MAX && !knows(born, t->n_processes, (uint32_t)pid))
            failed = add_untraced(r, &room, (uint32_t)pid, why);
    }
    free(born);
    keep_first(&r->run);
    return failed ? -1 : 0;
}

/* --- what is not followed --- */

enum { SENTENCES_MAX = 32 };

static int say(struct iot_report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int say(struct iot_report *r, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || r->run.n_not_seen == SENTENCES_MAX)
        return 0;
    size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    const char *kept = iot_arena_text(r->arena, text, length);
    if (!kept)
        return -1;
    r->run.not_seen[r->run.n_not_seen++] = kept;
    return 0;
}

int iot_report_say(struct iot_report *r, const char *sentence)
{
    return say(r, "%s", sentence);
}

struct met {
    uint64_t mapped; /* mappings of data files of whose end nothing is known */
    uint64_t unmapped, direct; /* requests of rings: of unknown memory, handed over past libc */
    uint64_t open;             /* requests that were never found done */
    uint64_t nameless;         /* that moved bytes of a file that is not known */
    uint64_t faults;           /* of threads that make no calls */
    uint64_t bypassed;         /* files opened for direct I/O of which no call moved anything */
    int threads;     /* a process has more than one */
};

static void meet_requests(struct met *met, const struct iot_trace *t)
{
    enum { UNMAPPED = 1, DIRECT = 2 };
    for (size_t i = 0; i < t->events.n; i++) {
        if (t->events.op[i] != IOT_OP_ASYNC_UNSEEN || t->events.result[i] < 0)
            continue;
        if (t->events.offset[i] == UNMAPPED)
            met->unmapped += (uint64_t)t->events.result[i];
        else if (t->events.offset[i] == DIRECT)
            met->direct += (uint64_t)t->events.result[i];
    }
    for (size_t k = 0; k < t->n_requests; k++) {
        met->open += !t->requests[k].found;
        met->nameless += t->events.bytes[t->requests[k].event] > 0 &&
                         !t->events.file[t->requests[k].event];
    }
}

/* Nothing is brought in where a file is memory from the first. */
static int is_memory(const struct iot_file *file)
{
    return file->kind == IOT_FILE_ANON || !strncmp(file->name, "/dev/shm/", strlen("/dev/shm/"));
}

/* Who opens a file for direct I/O moves its bytes, and in ways that go past libc more often than
 * others. */
static uint64_t bypassed(const struct iot_trace *t)
{
    enum { DIRECT = 1, MOVED = 2 };
    uint8_t *seen = calloc(t->n_files + 1, 1);
    uint64_t n = 0;
    for (size_t i = 0; i < t->events.n && seen; i++) {
        unsigned op = t->events.op[i];
        if (iot_op_opens(op) && !t->events.err[i] && t->events.offset[i] & O_DIRECT &&
            t->files[t->events.file[i]].kind == IOT_FILE_REGULAR)
            seen[t->events.file[i]] |= DIRECT;
        if (iot_op_info(op)->class_ == IOT_DATA || op == IOT_OP_MMAP) {
            seen[t->events.file[i]] |= MOVED;
            seen[t->events.file2[i]] |= MOVED;
        }
    }
    for (size_t f = 1; f < t->n_files && seen; f++)
        n += seen[f] == DIRECT;
    free(seen);
    return n;
}

static struct met meet(const struct iot_report *r, uint8_t *is_data)
{
    const struct iot_trace *t = r->trace;
    struct met met = {0};
    uint64_t told = 0;
    meet_requests(&met, t);
    met.bypassed = bypassed(t);
    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].file != IOT_NO_INDEX && r->files[i].object != IOT_OTHER &&
            !is_memory(&t->files[r->files[i].file]))
            is_data[r->files[i].file] = 1;
    for (size_t i = 0; i < t->events.n; i++) {
        uint32_t file = t->events.file[i];
        met.mapped += t->events.op[i] == IOT_OP_MMAP && !t->events.err[i] && is_data[file];
        met.faults += t->events.op[i] == IOT_OP_FAULTS_UNSEEN && t->events.result[i] > 0
                          ? (uint64_t)t->events.result[i]
                          : 0;
        told += t->events.op[i] == IOT_OP_RESIDENT && t->events.result[i] >= 0 && is_data[file];
    }
    met.mapped -= told < met.mapped ? told : met.mapped;
    for (size_t l = 0; l < t->n_lanes; l++)
        met.threads |= t->lanes[l].kind == IOT_LANE_THREAD && t->lanes[l].number;
    return met;
}

/* Below this, a process's loader and libc alone can have read as much inside themselves. */
enum { SAID_BYTES = 64 * 1024 };

/* As many pages of the program itself a thread may fetch before it is looked at. */
enum { SAID_FAULTS = 16 };

static int say_uncalled(struct iot_report *r)
{
    const struct iot_uncalled *most = r->run.uncalled;
    uint64_t read = r->run.uncalled_read_bytes, written = r->run.uncalled_write_bytes;
    if (read < SAID_BYTES && written < SAID_BYTES)
        return 0;
    return say(
        r,
        "Calls read %s and wrote %s that no recorded call moved (without libc, inside it, or in "
        "children without a trace), most of it in %.120s (pid %u)",
        iot_people_bytes((int64_t)read).text, iot_people_bytes((int64_t)written).text, most->exe,
        most->pid);
}

/* In the order of how much they can change the figures. */
static int say_all(struct iot_report *r, const struct met *met)
{
    const struct iot_trace *t = r->trace;
    int failed = 0;
    if (t->dropped_events)
        failed |= say(r, "%s could not be recorded (no room for the trace)",
                      iot_people_many((int64_t)t->dropped_events, "call").text);
    if (t->salvaged_processes)
        failed |= say(r, "The trace is damaged, and what could be read of it was used: %s",
                      *t->damage ? t->damage : "part of it is missing");
    if (t->unknown_events)
        failed |= say(r, "Left out, of operations that this version does not know: %s",
                      iot_people_many((int64_t)t->unknown_events, "event").text);
    if (r->run.n_untraced)
        failed |= say(r, "%s of the run left no trace",
                      iot_people_many((int64_t)r->run.n_untraced, "process").text);
    failed |= say_uncalled(r);
    if (r->model->unmatched_waits)
        failed |= say(r, "Of %s it is not known who ended them",
                      iot_people_many((int64_t)r->model->unmatched_waits, "wait").text);
    if (met->bypassed)
        failed |=
            say(r, "What moved to and from %s opened for direct I/O: by no call that was seen",
                iot_people_many((int64_t)met->bypassed, "file").text);
    if (met->direct)
        failed |= say(r, "%s of io_uring, handed to the kernel past libc or by a thread of its own",
                      iot_people_many((int64_t)met->direct, "request").text);
    if (met->unmapped)
        failed |= say(r, "%s of io_uring, of rings whose memory was not found",
                      iot_people_many((int64_t)met->unmapped, "request").text);
    if (met->open)
        failed |= say(r, "The end of %s: the program did not look for it, or "
                         "ended before; their bytes and time count as nothing",
                      iot_people_many((int64_t)met->open, "asynchronous request").text);
    if (met->nameless)
        failed |= say(r, "The files of %s: registered out of sight",
                      iot_people_many((int64_t)met->nameless, "asynchronous request").text);
    if (met->faults >= SAID_FAULTS)
        failed |=
            say(r,
                "What %s cost in threads that make no calls: from outside it looks like any other "
                "wait of theirs",
                iot_people_many((int64_t)met->faults, "major page fault").text);
    if (met->threads && !*r->trace->processes[0].imported)
        failed |=
            say(r, "Hand-overs between threads without any call (lock-free queues, flags that are "
                   "polled): what is exposed behind them is a lower bound");
    if (met->mapped)
        failed |= say(r,
                      "What %s of data brought in: the process was killed, or the kernel "
                      "does not tell about files of others",
                      iot_people_many((int64_t)met->mapped, "mapping").text);
    if (*r->trace->processes[0].imported) {
        failed |=
            say(r, "Files, and all else that a profiler does not record: the trace was imported");
        failed |= say(r, "Whom threads waited for: it is inferred from when each was busy");
        return failed;
    }
    failed |=
        say(r, "Calls made without libc: system calls of a program's own, static programs, and of "
               "libraries in which it looks up functions itself (dlsym: libaio, liburing, cuFile)");
    return failed | iot_report_unseen_gpu(r);
}

int iot_report_not_seen(struct iot_report *r)
{
    uint8_t *is_data = calloc(r->trace->n_files + 1, 1);
    r->run.not_seen = calloc(SENTENCES_MAX, sizeof *r->run.not_seen);
    int failed = !is_data || !r->run.not_seen;
    if (!failed) {
        struct met met = meet(r, is_data);
        failed = say_all(r, &met);
    }
    free(is_data);
    return failed ? -1 : 0;
}
