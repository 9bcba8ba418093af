#include "tests/unit/runs.h"

#include <stdlib.h>
#include <string.h>

static const char *const run_command[] = {"program", "argument", NULL};

void iot_test_run_process(struct iot_test_run *run, uint32_t pid, uint32_t ppid)
{
    size_t i = run->trace.n_processes++;
    run->processes[i] = (struct iot_process){.pid = pid,
                                             .ppid = ppid,
                                             .root = i == 0,
                                             .end = IOT_END_EXIT,
                                             .first_lane = (uint32_t)i,
                                             .n_lanes = 1,
                                             .source = "",
                                             .exe = "/usr/bin/program",
                                             .cwd = "/home/user",
                                             .host = "host",
                                             .identity = IOT_NO_IDENTITY,
                                             .kernel = "6.1",
                                             .cpu = "a CPU",
                                             .mounts = "", .imported = "",
                                             .command = run_command};
    run->lanes[i] =
        (struct iot_lane){.process = (uint32_t)i, .tid = pid, .first_event = run->trace.events.n};
    run->trace.n_lanes++;
}

struct iot_test_run *iot_test_run_new(int64_t wall_ns)
{
    struct iot_test_run *run = calloc(1, sizeof *run);
    run->trace = (struct iot_trace){
        .folder = "trace",
        .processes = run->processes,
        .lanes = run->lanes,
        .files = run->files,
        .events = {.t0_ns = run->t0,
                   .t1_ns = run->t1,
                   .bytes = run->bytes,
                   .result = run->result,
                   .offset = run->offset,
                   .addr = run->addr,
                   .file = run->file,
                   .file2 = run->file2,
                   .arg = run->arg,
                   .fd = run->fd,
                   .op = run->op,
                   .err = run->err},
        .n_files = 1,
        .wall_ns = wall_ns,
        .damage = "",
    };
    run->files[0] = (struct iot_file){.name = "", .size = -1};
    run->model = (struct iot_model){.trace = &run->trace,
                                    .part = run->part,
                                    .waited = run->waited,
                                    .service_ns = run->service,
                                    .exposed_ns = run->exposed,
                                    .wall_ns = wall_ns,
                                    .path = {.compute_ns = wall_ns}};
    iot_test_run_process(run, 100, 1);
    return run;
}

uint32_t iot_test_run_file(struct iot_test_run *run, const char *name, enum iot_file_kind kind)
{
    for (uint32_t f = 1; f < run->trace.n_files; f++)
        if (!strcmp(run->files[f].name, name))
            return f;
    run->files[run->trace.n_files] =
        (struct iot_file){.name = strdup(name), .size = -1, .kind = (uint8_t)kind};
    return (uint32_t)run->trace.n_files++;
}

uint32_t iot_test_run_regular(struct iot_test_run *run, const char *name)
{
    return iot_test_run_file(run, name, IOT_FILE_REGULAR);
}

size_t iot_test_run_event(struct iot_test_run *run, enum iot_op op, uint32_t file, int64_t bytes,
                          int64_t t0)
{
    size_t i = run->trace.events.n++;
    struct iot_lane *lane = &run->lanes[run->trace.n_lanes - 1];
    lane->n_events++;
    run->t0[i] = t0;
    run->t1[i] = t0 + bytes + 10;
    run->bytes[i] = run->result[i] = bytes;
    run->file[i] = file;
    run->fd[i] = -1;
    run->op[i] = (uint16_t)op;
    unsigned class_ = iot_op_info(op)->class_;
    run->part[i] = class_ == IOT_DATA || class_ == IOT_META || class_ == IOT_SYNC ? IOT_PART_IO
                                                                                  : IOT_PART_NONE;
    run->service[i] = run->part[i] == IOT_PART_IO ? bytes + 10 : 0;
    return i;
}

void iot_test_run_rename(struct iot_test_run *run, uint32_t from, uint32_t to, int64_t t0)
{
    run->file2[iot_test_run_event(run, IOT_OP_RENAME, from, 0, t0)] = to;
}

void iot_test_run_expose(struct iot_test_run *run, size_t event, int64_t exposed_ns, int waited)
{
    run->exposed[event] = exposed_ns;
    run->waited[event] = (uint8_t)waited;
    run->model.path.io_ns += exposed_ns;
    run->model.path.compute_ns -= exposed_ns;
}

void iot_test_run_free(struct iot_test_run *run)
{
    for (size_t f = 1; f < run->trace.n_files; f++)
        free((void *)(uintptr_t)run->files[f].name);
    free(run);
}

void iot_test_run_marked_steps(const struct iot_test_run *run, struct iot_steps *steps)
{
    if (iot_steps_find(steps, &run->trace, &run->model))
        abort();
    if (steps->source != IOT_STEPS_MARKS)
        iot_steps_free(steps);
}
