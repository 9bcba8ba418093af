#include "analyzer/loader_workers.h"

#include <stdlib.h>
#include <string.h>

/* The one process at that end of a pipe, by its pid; or that there are several. */
enum { NOBODY = 0, SEVERAL = UINT32_MAX };

struct ends {
    uint32_t *reader, *writer; /* by file */
};

static int is_module(const char *path)
{
    static const char folder[] = "/torch/utils/data/";
    const char *found = strstr(path, folder), *name = strrchr(path, '/');
    return found && !strncmp(name + 1, "dataloader.", 11);
}

/* The pipe that the event moves bytes through; 0 none. */
static uint32_t pipe_of(const struct iot_trace *t, size_t i)
{
    const struct iot_events *e = &t->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    return op->class_ == IOT_DATA && op->moves != IOT_BOTH && e->bytes[i] > 0 &&
                   t->files[e->file[i]].kind == IOT_FILE_PIPE
               ? e->file[i]
               : 0;
}

static int reads(const struct iot_trace *t, size_t i)
{
    return iot_op_info(t->events.op[i])->moves == IOT_IN;
}

static void note_ends(const struct iot_trace *t, struct ends *ends)
{
    for (size_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        uint32_t pid = t->processes[lane->process].pid;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t file = pipe_of(t, i);
            uint32_t *who = reads(t, i) ? &ends->reader[file] : &ends->writer[file];
            if (file)
                *who = *who == NOBODY || *who == pid ? pid : SEVERAL;
        }
    }
}

static int is_worker(const struct iot_trace *t, const struct iot_process *p,
                     const struct ends *ends)
{
    int asked = 0, answers = 0;
    for (uint32_t l = p->first_lane; l < p->first_lane + p->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t file = pipe_of(t, i);
            if (file && reads(t, i))
                asked |= ends->reader[file] == p->pid && ends->writer[file] == p->ppid;
            else if (file)
                answers |= ends->reader[file] == p->ppid;
            if (asked && answers)
                return 1;
        }
    }
    return 0;
}

static int forked(const struct iot_trace *t, const struct iot_process *p)
{
    for (size_t k = 0; k < t->n_processes; k++)
        if (t->processes[k].pid == p->ppid && !strcmp(t->processes[k].exe, p->exe))
            return 1;
    return 0;
}

int iot_loader_workers_find(struct iot_trace *t)
{
    size_t f = 1;
    while (f < t->n_files && !is_module(t->files[f].name))
        f++;
    if (f >= t->n_files)
        return 0;
    struct ends ends = {calloc(t->n_files, sizeof(uint32_t)), calloc(t->n_files, sizeof(uint32_t))};
    int failed = !ends.reader || !ends.writer;
    if (!failed)
        note_ends(t, &ends);
    for (size_t p = 1; p < t->n_processes && !failed; p++)
        t->processes[p].loader =
            forked(t, &t->processes[p]) && is_worker(t, &t->processes[p], &ends);
    free(ends.reader);
    free(ends.writer);
    return failed ? -1 : 0;
}
