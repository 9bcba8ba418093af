/* Which process of a recording each lane and item belongs to.
 *
 * Threads say it. What ran on a GPU only has the number of the call that launched it, and calls of
 * two processes may have one number. So each stream goes to the process that launched most of what
 * ran in it; an item whose number that process does not have goes to one that does. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/profile.h"

enum {
    PROCESSES_MAX = UINT16_MAX,
    CALLS_MAX = 64, /* of one number that are looked at */
};

static int has_thread(const struct iot_profile_lane *lane)
{
    return !lane->gpu && (lane->last_span || lane->n_steps);
}

/* More calls or steps first. */
static int is_more(const struct iot_profile_process *a, const struct iot_profile_process *b)
{
    return a->n_steps != b->n_steps ? a->n_steps > b->n_steps : a->n_calls > b->n_calls;
}

struct look {
    const struct iot_profile *profile;
    int64_t pid;
};

static int same_pid(const void *user, uint32_t index)
{
    const struct look *look = user;
    return look->profile->processes[index].pid == look->pid;
}

/* UINT32_MAX: without memory, or too many. */
static uint32_t process_of(struct iot_profile *p, struct iot_table *by_pid, int64_t pid)
{
    struct look look = {p, pid};
    uint64_t hash = iot_table_hash((const char *)&pid, sizeof pid);
    uint32_t index = iot_table_find(by_pid, hash, same_pid, &look);
    if (index != UINT32_MAX || p->n_processes == PROCESSES_MAX)
        return index;
    struct iot_profile_process *more = realloc(p->processes, (p->n_processes + 1) * sizeof *more);
    if (!more)
        return UINT32_MAX;
    p->processes = more;
    more[p->n_processes] = (struct iot_profile_process){.pid = pid};
    return iot_table_add(by_pid, hash, (uint32_t)p->n_processes) ? UINT32_MAX
                                                                 : (uint32_t)p->n_processes++;
}

static int list_processes(struct iot_profile *p)
{
    struct iot_table by_pid = {0};
    int failed = 0;
    for (size_t l = 0; l < p->n_lanes && !failed; l++) {
        struct iot_profile_lane *lane = &p->lanes[l];
        if (!has_thread(lane))
            continue;
        uint32_t k = process_of(p, &by_pid, lane->pid);
        failed = k == UINT32_MAX;
        if (failed)
            break;
        lane->process = (uint16_t)k;
        p->processes[k].n_calls += lane->n_calls;
        p->processes[k].n_steps += lane->n_steps;
    }
    iot_table_free(&by_pid);
    if (failed)
        return -1;
    for (size_t k = 1; k < p->n_processes; k++)
        if (is_more(&p->processes[k], &p->processes[p->main_process]))
            p->main_process = k;
    return 0;
}

/* --- what ran on GPUs --- */

struct call {
    uint32_t correlation;
    uint16_t process;
    int64_t t0_ns;
};

static int by_correlation(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->t0_ns < y->t0_ns ? -1 : x->t0_ns > y->t0_ns;
}

struct calls {
    struct call *calls;
    size_t n;
};

static size_t first_call(const struct calls *c, uint32_t correlation)
{
    size_t low = 0, high = c->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->calls[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int list_calls(struct calls *c, const struct iot_profile *p)
{
    for (size_t k = 0; k < p->n_items; k++)
        c->n += p->items[k].kind == IOT_ITEM_CALL && p->items[k].correlation;
    c->calls = malloc((c->n + 1) * sizeof *c->calls);
    if (!c->calls)
        return -1;
    c->n = 0;
    for (size_t k = 0; k < p->n_items; k++)
        if (p->items[k].kind == IOT_ITEM_CALL && p->items[k].correlation)
            c->calls[c->n++] = (struct call){p->items[k].correlation, p->items[k].process,
                                             p->items[k].t0_ns};
    if (c->n)
        qsort(c->calls, c->n, sizeof *c->calls, by_correlation);
    return 0;
}

static int on_gpu(const struct iot_item *item)
{
    return item->kind >= IOT_ITEM_KERNEL && item->kind <= IOT_ITEM_MEMSET;
}

/* What ran on a GPU, by correlation and time. */
struct work {
    uint32_t correlation, lane;
    int64_t t0_ns;
};

static int by_work(const void *a, const void *b)
{
    const struct work *x = a, *y = b;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static struct work *list_works(const struct iot_profile *p, size_t *n)
{
    *n = 0;
    for (size_t k = 0; k < p->n_items; k++)
        *n += on_gpu(&p->items[k]) && p->items[k].correlation;
    struct work *works = malloc((*n + 1) * sizeof *works);
    *n = 0;
    for (size_t k = 0; works && k < p->n_items; k++)
        if (on_gpu(&p->items[k]) && p->items[k].correlation)
            works[(*n)++] = (struct work){p->items[k].correlation, p->items[k].lane,
                                          p->items[k].t0_ns};
    if (works && *n)
        qsort(works, *n, sizeof *works, by_work);
    return works;
}

static int by_time(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

/* Works and calls of one correlation. Where there are as many of the ones as of the others, the
 * first that was asked for is the first that ran; else every call that came before counts. */
static void vote(const struct iot_profile *p, const struct work *works, size_t n,
                 struct call *calls, size_t n_calls, const size_t *stream, uint64_t *votes)
{
    if (n == n_calls)
        qsort(calls, n, sizeof *calls, by_time);
    for (size_t k = 0; k < n; k++) {
        uint64_t *of = &votes[stream[works[k].lane] * p->n_processes];
        if (n == n_calls)
            of[calls[k].process]++;
        for (size_t j = 0; n != n_calls && j < n_calls && j < CALLS_MAX; j++)
            of[calls[j].process] += calls[j].t0_ns <= works[k].t0_ns;
    }
    if (n == n_calls)
        qsort(calls, n, sizeof *calls, by_correlation);
}

/* For the streams' lanes: votes[stream[lane] * n_processes + process]. */
static int count_votes(const struct iot_profile *p, struct calls *c, const size_t *stream,
                       uint64_t *votes)
{
    size_t n, end;
    struct work *works = list_works(p, &n);
    if (!works)
        return -1;
    for (size_t k = 0; k < n; k = end) {
        size_t first = first_call(c, works[k].correlation), last = first;
        for (end = k + 1; end < n && works[end].correlation == works[k].correlation;)
            end++;
        while (last < c->n && c->calls[last].correlation == works[k].correlation)
            last++;
        vote(p, &works[k], end - k, &c->calls[first], last - first, stream, votes);
    }
    free(works);
    return 0;
}

static uint16_t elect(const struct iot_profile *p, const uint64_t *votes)
{
    size_t best = p->main_process;
    for (size_t k = 0; k < p->n_processes; k++)
        if (votes[k] > votes[best])
            best = k;
    return (uint16_t)best;
}

/* Of the processes that have the number, the one that is wanted if it is among them; else the last
 * to call before. */
static uint16_t caller(const struct calls *c, const struct iot_item *item, uint16_t wanted)
{
    uint16_t found = wanted;
    int64_t best = INT64_MIN;
    for (size_t j = first_call(c, item->correlation);
         j < c->n && c->calls[j].correlation == item->correlation; j++) {
        if (c->calls[j].process == wanted)
            return wanted;
        if (c->calls[j].t0_ns <= item->t0_ns && c->calls[j].t0_ns > best) {
            best = c->calls[j].t0_ns;
            found = c->calls[j].process;
        }
    }
    return found;
}

int iot_profile_divide(struct iot_profile *p)
{
    struct calls c = {NULL, 0};
    uint64_t *votes = NULL;
    size_t *stream = NULL, n_streams = 0;
    if (list_processes(p))
        return -1;
    for (size_t k = 0; k < p->n_items; k++)
        p->items[k].process = on_gpu(&p->items[k]) || p->items[k].kind == IOT_ITEM_SYNC
                                  ? (uint16_t)p->main_process
                                  : p->lanes[p->items[k].lane].process;
    if (p->n_processes < 2)
        return 0;
    stream = calloc(p->n_lanes + 1, sizeof *stream);
    for (size_t l = 0; stream && l < p->n_lanes; l++)
        stream[l] = p->lanes[l].gpu ? n_streams++ : 0;
    votes = calloc(n_streams * p->n_processes + 1, sizeof *votes);
    int failed = !stream || !votes || list_calls(&c, p) || count_votes(p, &c, stream, votes);
    for (size_t l = 0; l < p->n_lanes && !failed; l++)
        if (p->lanes[l].gpu)
            p->lanes[l].process = elect(p, &votes[stream[l] * p->n_processes]);
    for (size_t k = 0; k < p->n_items && !failed; k++) {
        struct iot_item *item = &p->items[k];
        if (on_gpu(item))
            item->process = caller(&c, item, p->lanes[item->lane].process);
        else if (item->kind == IOT_ITEM_SYNC)
            item->process = caller(&c, item, item->process);
    }
    free(stream);
    free(votes);
    free(c.calls);
    return failed ? -1 : 0;
}
