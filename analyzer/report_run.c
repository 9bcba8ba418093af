/* What a report says about the run itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/pieces.h"
#include "analyzer/report_parts.h"
#include "analyzer/schedule.h"
#include "analyzer/sum.h"

static int by_pid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int has(const uint32_t *sorted, size_t n, uint32_t pid)
{
    return n && bsearch(&pid, sorted, n, sizeof *sorted, by_pid);
}

static int is_reaped(const struct iot_events *e, size_t i)
{
    switch (e->op[i]) {
    case IOT_OP_WAITPID:
    case IOT_OP_WAIT:
    case IOT_OP_WAITID:
    case IOT_OP_PCLOSE:
        return e->result[i] > 0 && e->result[i] <= INT32_MAX;
    default:
        return 0;
    }
}

/* A process that execs has several images: the same pid. */
static void count_processes(struct iot_report *r, uint32_t *pids)
{
    const struct iot_trace *t = r->trace;
    size_t n = 0;
    for (size_t i = 0; i < t->n_processes; i++)
        pids[i] = t->processes[i].pid;
    qsort(pids, t->n_processes, sizeof *pids, by_pid);
    for (size_t i = 0; i < t->n_processes; i++)
        n += !i || pids[i] != pids[i - 1];
    r->run.processes = n;
    r->run.lanes = t->n_lanes - (t->n_processes - n); /* the main thread goes on as well */
}

static uint64_t since(uint64_t end, uint64_t start)
{
    return end > start ? end - start : 0;
}

/* When a child is waited for, the kernel adds its bytes to its parent's: they would count twice. */
static void sum_usage(struct iot_report *r, const uint32_t *reaped, size_t n_reaped)
{
    const struct iot_trace *t = r->trace;
    for (size_t i = 0; i < t->n_processes; i++) {
        const struct iot_process *p = &t->processes[i];
        const struct iot_usage *from = &p->usage_start, *to = &p->usage_end;
        r->run.runqueue_ns =
            iot_sum_unsigned(r->run.runqueue_ns, since(to->runqueue_ns, from->runqueue_ns));
        if (has(reaped, n_reaped, p->pid))
            continue;
        r->run.storage_read_bytes = iot_sum_unsigned(
            r->run.storage_read_bytes, since(to->storage_read_bytes, from->storage_read_bytes));
        r->run.storage_write_bytes = iot_sum_unsigned(
            r->run.storage_write_bytes, since(to->storage_write_bytes, from->storage_write_bytes));
    }
}

static int carries(const struct iot_report *r, const struct iot_lane *lane)
{
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
        if (!r->model->waited[i])
            return 1;
    return 0;
}

/* For how long each lane is on the critical path, by edge the mean over lambda. */
static void add_path_times(const struct iot_model *model, int64_t *by_lane)
{
    const struct iot_graph *g = &model->schedule->graph;
    for (size_t n = 0; n < g->n_edges; n++)
        if (g->edges[n].kind == IOT_EDGE_LANE)
            by_lane[g->nodes[g->edges[n].dst].lane] +=
                (int64_t)((double)(g->edges[n].base_ns + g->edges[n].io_ns) *
                          ((double)model->edge_share[n] / (double)IOT_SHARE_ONE));
}

/* A process says how long it waited, not when: no more of it counts than it carries the run for.
 * Two that work side by side, as in a pipeline, would fill the run with it otherwise. */
static int sum_carrier_runqueue(struct iot_report *r)
{
    const struct iot_trace *t = r->trace;
    int64_t *on_path = calloc(t->n_lanes + 1, sizeof *on_path), sum = 0;
    if (!on_path)
        return -1;
    if (r->model->edge_share)
        add_path_times(r->model, on_path);
    for (size_t i = 0; i < t->n_processes; i++) {
        const struct iot_process *p = &t->processes[i];
        if (!p->n_lanes || !carries(r, &t->lanes[p->first_lane]))
            continue;
        uint64_t ns = since(p->usage_end.runqueue_ns, p->usage_start.runqueue_ns);
        int64_t most = on_path[p->first_lane];
        sum += ns < (uint64_t)most ? (int64_t)ns : most;
    }
    free(on_path);
    r->run.carrier_runqueue_ns = sum < t->wall_ns ? sum : t->wall_ns;
    return 0;
}

/* The pids that a wait of a process gave, sorted, if that process lived to say what it used. */
static uint32_t *reaped_pids(const struct iot_trace *t, size_t *n)
{
    size_t room = 1;
    for (size_t i = 0; i < t->events.n; i++)
        room += (size_t)is_reaped(&t->events, i);
    uint32_t *pids = malloc(room * sizeof *pids);
    *n = 0;
    for (size_t k = 0; k < t->n_lanes && pids; k++) {
        const struct iot_lane *lane = &t->lanes[k];
        if (t->processes[lane->process].end == IOT_END_OPEN)
            continue;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            if (is_reaped(&t->events, i))
                pids[(*n)++] = (uint32_t)t->events.result[i];
    }
    if (pids)
        qsort(pids, *n, sizeof *pids, by_pid);
    return pids;
}

/* --- file systems --- */

static int by_point(const void *a, const void *b)
{
    const struct iot_mount *x = a, *y = b;
    return strcmp(x->point, y->point);
}

static int add_filesystem(struct iot_report *r, const struct iot_mount *mount)
{
    size_t n = mount->n_point + strlen(mount->type) + 2;
    char *text = iot_arena_take(r->arena, n);
    if (!text)
        return -1;
    snprintf(text, n, "%s %s", mount->point, mount->type);
    r->run.filesystems[r->run.n_filesystems++] = text;
    return 0;
}

/* Those that hold files of the four objects. */
static int find_filesystems(struct iot_report *r)
{
    struct iot_mounts mounts = {0};
    uint8_t *used = NULL;
    int failed = iot_mounts_read(&mounts, r->trace->processes[0].mounts, r->arena);

    if (mounts.n)
        qsort(mounts.mounts, mounts.n, sizeof *mounts.mounts, by_point);
    used = calloc(mounts.n + 1, 1);
    r->run.filesystems = calloc(mounts.n + 1, sizeof *r->run.filesystems);
    failed = failed || !used || !r->run.filesystems;
    for (size_t i = 0; i < r->n_files && !failed; i++) {
        const struct iot_report_file *f = &r->files[i];
        if (f->object == IOT_OTHER || f->path[0] != '/' || !f->figures.bytes)
            continue;
        const struct iot_mount *mount = iot_mounts_find(&mounts, f->path);
        if (mount)
            used[mount - mounts.mounts] = 1;
    }
    for (size_t m = 0; m < mounts.n && !failed; m++)
        failed = used[m] && add_filesystem(r, &mounts.mounts[m]);
    free(mounts.mounts);
    free(used);
    return failed ? -1 : 0;
}

int iot_report_run(struct iot_report *r)
{
    const struct iot_process *root = &r->trace->processes[0];
    size_t n_reaped = 0;
    uint32_t *reaped = reaped_pids(r->trace, &n_reaped);
    uint32_t *pids = malloc((r->trace->n_processes + 1) * sizeof *pids);
    int failed = !reaped || !pids;

    r->run.command = root->command;
    r->run.host = root->host;
    r->run.cpu = root->cpu;
    r->run.kernel = root->kernel;
    r->run.start_realtime_ns = root->start_realtime_ns;
    r->run.tsc = root->tsc;
    failed = failed || sum_carrier_runqueue(r);
    if (!failed) {
        count_processes(r, pids);
        sum_usage(r, reaped, n_reaped);
    }
    free(pids);
    free(reaped);
    return failed ? -1 : find_filesystems(r);
}
