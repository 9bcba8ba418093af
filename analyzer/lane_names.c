#include "analyzer/lane_names.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/gpu.h"

enum { COMM_BYTES = 16, NAME_BYTES = 128 };

static const char *program_of(const struct iot_process *p)
{
    return basename(p->exe);
}

/* Threads have the name of their program, as it was called, until they take one. */
static int own_name(const struct iot_trace *trace, const struct iot_lane *lane,
                    char name[COMM_BYTES + 1])
{
    const struct iot_events *e = &trace->events;
    size_t last = lane->first_event + lane->n_events;
    if (!lane->n_events || e->op[last - 1] != IOT_OP_THREAD_EXIT)
        return 0;
    memcpy(name, &e->offset[last - 1], 8);
    memcpy(name + 8, &e->addr[last - 1], 8);
    name[COMM_BYTES] = '\0';
    const struct iot_process *p = &trace->processes[lane->process];
    const char *first = p->command && p->command[0] ? basename(p->command[0]) : "";
    return name[0] && strncmp(name, program_of(p), COMM_BYTES - 1) != 0 &&
           strncmp(name, first, COMM_BYTES - 1) != 0;
}

static const struct iot_process *parent_of(const struct iot_trace *trace,
                                           const struct iot_process *p)
{
    for (size_t k = 0; k < trace->n_processes; k++)
        if (trace->processes[k].pid == p->ppid && trace->processes[k].start_ns <= p->start_ns)
            return &trace->processes[k];
    return NULL;
}

static int is_interpreter(const char *program)
{
    static const char *const names[] = {"python", "pypy", "perl",  "ruby", "node",
                                        "bash",   "dash", "julia", "java", "sh"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t n = strlen(names[k]);
        if (!strncmp(program, names[k], n) && (!program[n] || strchr(".0123456789-", program[n])))
            return 1;
    }
    return 0;
}

int iot_is_python(const char *path)
{
    return !strncmp(basename(path), "python", 6);
}

/* The program, or the script that its interpreter runs: the first argument, if that is no option.
 */
static const char *called(const struct iot_process *p)
{
    const char *program = program_of(p);
    int has_script = p->command && p->command[0] && p->command[1] && *p->command[1] &&
                     *p->command[1] != '-' && is_interpreter(program);
    return has_script ? basename(p->command[1]) : program;
}

static int has_others(const struct iot_trace *trace)
{
    for (size_t k = 1; k < trace->n_processes; k++)
        if (trace->processes[k].pid != trace->processes[0].pid)
            return 1;
    return 0;
}

static int same_program(const struct iot_process *a, const struct iot_process *b)
{
    return !strcmp(a->exe, b->exe);
}

static void process_name(const struct iot_trace *trace, const struct iot_process *p,
                         char name[NAME_BYTES])
{
    const struct iot_process *parent = parent_of(trace, p);
    if (!parent || !same_program(parent, p)) {
        snprintf(name, NAME_BYTES, "%s (%u)", program_of(p), p->pid);
        return;
    }
    unsigned number = 1;
    for (const struct iot_process *q = trace->processes; q < p; q++)
        number += q->ppid == p->ppid && q->pid != p->pid && same_program(q, p);
    snprintf(name, NAME_BYTES, "%sworker %u", p->loader ? "DataLoader " : "", number);
}

/* Numbered within their kind and process. */
static void request_name(const struct iot_trace *trace, const struct iot_lane *lane,
                         char name[NAME_BYTES])
{
    static const char *const kinds[IOT_LANE_KINDS] = {
        [IOT_LANE_AIO] = "POSIX aio", [IOT_LANE_LIBAIO] = "libaio", [IOT_LANE_RING] = "io_uring",
        [IOT_LANE_CUFILE] = "cuFile"};
    const struct iot_process *p = &trace->processes[lane->process];
    unsigned number = 1;
    for (const struct iot_lane *before = lane - 1;
         before >= &trace->lanes[p->first_lane] && before->kind == lane->kind; before--)
        number++;
    snprintf(name, NAME_BYTES, "%s request %u", kinds[lane->kind], number);
}

const char *iot_lane_name(const struct iot_trace *trace, uint32_t index, struct iot_arena *arena)
{
    const struct iot_lane *lane = &trace->lanes[index];
    const struct iot_process *p = &trace->processes[lane->process];
    int in_root = p->pid == trace->processes[0].pid;
    char process[NAME_BYTES] = "", thread[NAME_BYTES] = "main thread", own[COMM_BYTES + 1];
    char name[2 * NAME_BYTES];

    if (lane->kind == IOT_LANE_STREAM)
        snprintf(thread, sizeof thread, "stream %lld of GPU %u",
                 (long long)lane->stream % IOT_STREAMS_OF_CONTEXT, lane->device);
    else if (lane->kind != IOT_LANE_THREAD)
        request_name(trace, lane, thread);
    else if (lane->number && own_name(trace, lane, own))
        snprintf(thread, sizeof thread, "%s", own);
    else if (lane->number)
        snprintf(thread, sizeof thread, "thread %u", lane->number);
    if (!in_root)
        process_name(trace, p, process);
    else if (has_others(trace))
        snprintf(process, sizeof process, "%.100s", called(p));
    if (!*process)
        snprintf(name, sizeof name, "%s", thread);
    else if (!in_root && !lane->number)
        snprintf(name, sizeof name, "%s", process);
    else
        snprintf(name, sizeof name, "%s of %s", thread, process);
    return iot_arena_text(arena, name, strlen(name));
}
