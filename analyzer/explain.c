#include "analyzer/explain.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/report.h"
#include "analyzer/room.h"

int iot_explainer_init(struct iot_explainer *x, const struct iot_trace *trace,
                       const struct iot_model *model, const struct iot_classes *classes,
                       const struct iot_steps *steps)
{
    *x = (struct iot_explainer){.trace = trace, .model = model, .classes = classes};
    return iot_uses_gather(&x->uses, trace, steps) ||
                   iot_groups_gather(&x->groups, trace, &x->uses) ||
                   iot_step_use_gather(&x->step_use, trace, &x->groups, steps)
               ? -1
               : 0;
}

void iot_explainer_free(struct iot_explainer *x)
{
    iot_uses_free(&x->uses);
    iot_groups_free(&x->groups);
    iot_step_use_free(&x->step_use);
}

const char *iot_by_words(unsigned by)
{
    static const char *const words[] = {
        [IOT_BY_USER] = "a rule of yours",
        [IOT_BY_KIND] = "what it is",
        [IOT_BY_SURE] = "a built-in rule",
        [IOT_BY_BEHAVIOUR] = "how it was used",
        [IOT_BY_COMPANY] = "the files beside it",
        [IOT_BY_SMALL] = "its size and its name",
        [IOT_BY_LIKELY] = "its name alone, so it may be wrong",
        [IOT_BY_GUESS] = "a guess, since nothing else tells",
        [IOT_BY_CARRIED] = "the file that the copies carry bytes of",
        [IOT_BY_NOTHING] = "no bytes moved",
    };
    return by < sizeof words / sizeof *words ? words[by] : "?";
}

const char *iot_explain_cache_scope(const struct iot_explained *x)
{
    const struct iot_file *file = &x->explainer->trace->files[x->file];
    struct iot_figures figures = {.opened_bytes = (double)file->opened_bytes,
                                  .resident_bytes = (double)file->resident_bytes};
    return iot_cache_scope(&figures);
}

/* --- the events of the file --- */

/* What syncs a whole file system is not of a file. */
static int is_of(const struct iot_explainer *x, size_t i, uint32_t file)
{
    const struct iot_events *e = &x->trace->events;
    if (e->op[i] == IOT_OP_SYNC || e->op[i] == IOT_OP_SYNCFS)
        return 0;
    return e->file[i] == file || e->file2[i] == file;
}

/* An event and the lane it is in. */
struct lane_event {
    size_t event;
    uint32_t lane;
};

struct sorted {
    int64_t t0_ns;
    struct lane_event at;
};

static int by_time(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return (x->at.event > y->at.event) - (x->at.event < y->at.event);
}

/* NULL without memory. */
static struct lane_event *events_of(const struct iot_explainer *x, uint32_t file, size_t *n)
{
    const struct iot_trace *t = x->trace;
    struct sorted *found = NULL;
    size_t room = 0;
    *n = 0;
    for (uint32_t lane = 0; lane < t->n_lanes; lane++) {
        size_t first = t->lanes[lane].first_event, end = first + t->lanes[lane].n_events;
        for (size_t i = first; i < end; i++) {
            if (!is_of(x, i, file))
                continue;
            if (IOT_ROOM(found, *n + 1, room)) {
                free(found);
                return NULL;
            }
            found[(*n)++] = (struct sorted){t->events.t0_ns[i], {i, lane}};
        }
    }
    if (*n)
        qsort(found, *n, sizeof *found, by_time);
    struct lane_event *events = malloc((*n + 1) * sizeof *events);
    for (size_t k = 0; events && k < *n; k++)
        events[k] = found[k].at;
    free(found);
    return events;
}

/* --- figures --- */

static int size_class(int64_t bytes)
{
    return 63 - __builtin_clzll((uint64_t)bytes);
}

static void count_call(struct iot_explained_way *way, int64_t bytes, enum iot_order order)
{
    way->calls++;
    if (bytes <= 0) {
        way->empty++;
        return;
    }
    way->bytes += bytes;
    way->small += bytes < IOT_SMALL_BYTES;
    way->sizes[size_class(bytes)]++;
    way->orders[order]++;
}

/* A call's time, spread over the tenths it lies in; the last of them takes what is left over. */
static void spread(int64_t parts[IOT_EXPLAIN_PARTS], int64_t *after, int64_t wall_ns, int64_t t0,
                   int64_t t1, int64_t ns)
{
    int64_t left = ns;
    for (int k = 0; k < IOT_EXPLAIN_PARTS && left > 0; k++) {
        int64_t begin = wall_ns / IOT_EXPLAIN_PARTS * k;
        int64_t end = k + 1 < IOT_EXPLAIN_PARTS ? wall_ns / IOT_EXPLAIN_PARTS * (k + 1) : wall_ns;
        if (t0 >= end)
            continue;
        int64_t from = t0 > begin ? t0 : begin, to = t1 < end ? t1 : end;
        int64_t share = t1 <= end ? left : (int64_t)((__int128)ns * (to - from) / (t1 - t0));
        parts[k] += share;
        left -= share;
    }
    *after += left;
}

static struct iot_explained_lane *lane_of(struct iot_explained *x, uint32_t *of_lane, uint32_t lane)
{
    if (of_lane[lane] == IOT_NO_INDEX) {
        of_lane[lane] = (uint32_t)x->n_lanes++;
        x->lanes[of_lane[lane]].lane = lane;
    }
    return &x->lanes[of_lane[lane]];
}

static void count_time(struct iot_explained *x, struct iot_explained_lane *lane, size_t i)
{
    const struct iot_model *model = x->explainer->model;
    const struct iot_events *e = &x->explainer->trace->events;
    int64_t service = model->service_ns[i], exposed = model->exposed_ns[i];
    int64_t wall = x->explainer->trace->wall_ns, t0 = e->t0_ns[i], t1 = e->t1_ns[i];

    x->service_ns += service;
    lane->service_ns += service;
    spread(x->service_in, &x->outlived_service_ns, wall, t0, t1, service);
    x->exposed_ns += exposed;
    lane->exposed_ns += exposed;
    spread(x->exposed_in, &x->outlived_exposed_ns, wall, t0, t1, exposed);
    if (model->waited[i]) {
        x->waited_ns += exposed;
        lane->waited_ns += exposed;
    }
}

static int is_open(unsigned op)
{
    return op == IOT_OP_OPEN || op == IOT_OP_OPENAT || op == IOT_OP_CREAT || op == IOT_OP_FOPEN ||
           op == IOT_OP_FREOPEN || op == IOT_OP_OPENDIR;
}

static int is_rename(unsigned op)
{
    return op == IOT_OP_RENAME || op == IOT_OP_RENAMEAT || op == IOT_OP_RENAMEAT2;
}

static int add_rename(struct iot_explained *x, uint32_t other)
{
    for (size_t k = 0; k < x->n_renames; k++)
        if (x->renames[k] == other)
            return 0;
    uint32_t *more = realloc(x->renames, (x->n_renames + 1) * sizeof *more);
    if (!more)
        return -1;
    x->renames = more;
    x->renames[x->n_renames++] = other;
    return 0;
}

static int count_event(struct iot_explained *x, uint32_t *of_lane, uint8_t *opens,
                       const struct lane_event *at, enum iot_order order)
{
    const struct iot_trace *t = x->explainer->trace;
    const struct iot_events *e = &t->events;
    size_t i = at->event;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    int64_t bytes = e->bytes[i] > 0 ? e->bytes[i] : 0;
    int own = e->file[i] == x->file;

    if (!e->err[i] && is_rename(e->op[i]) && add_rename(x, own ? e->file2[i] : e->file[i]))
        return -1;
    if (!own) { /* where sendfile and its kind write to */
        if (op->class_ == IOT_DATA && op->moves == IOT_BOTH)
            x->ways[IOT_WRITING].bytes += bytes;
        return 0;
    }
    struct iot_explained_lane *lane = lane_of(x, of_lane, at->lane);
    count_time(x, lane, i);
    if (e->op[i] == IOT_OP_RESIDENT || e->op[i] == IOT_OP_FAULTS) {
        x->mapped_bytes += e->op[i] == IOT_OP_RESIDENT ? bytes : 0;
        x->fault_ns += e->op[i] == IOT_OP_FAULTS ? x->explainer->model->service_ns[i] : 0;
        return 0;
    }
    if (e->op[i] == IOT_OP_GPU_MEMCPY_REST) /* of a copy that is counted already */
        return 0;
    lane->calls++;
    if (op->class_ == IOT_DATA) {
        lane->bytes += bytes;
        count_call(&x->ways[op->moves == IOT_OUT ? IOT_WRITING : IOT_READING], bytes, order);
    }
    x->metadata_ops += op->class_ == IOT_META;
    x->sync_ops += op->class_ == IOT_SYNC;
    if (is_open(e->op[i])) {
        uint32_t process = t->lanes[at->lane].process;
        x->opens++;
        x->failed_opens += e->err[i] != 0;
        x->opening_processes += !e->err[i] && !opens[process];
        opens[process] |= !e->err[i];
    }
    return 0;
}

static int by_weight(const void *a, const void *b)
{
    const struct iot_explained_lane *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns)
        return x->exposed_ns > y->exposed_ns ? -1 : 1;
    if (x->service_ns != y->service_ns)
        return x->service_ns > y->service_ns ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

int iot_explain(struct iot_explained *x, const struct iot_explainer *explainer, uint32_t file)
{
    const struct iot_trace *t = explainer->trace;
    size_t n = 0;
    *x = (struct iot_explained){.explainer = explainer, .file = file};
    struct lane_event *events = events_of(explainer, file, &n);
    struct iot_order_walk *orders = iot_order_walk_begin(t);
    uint32_t *of_lane = malloc((t->n_lanes + 1) * sizeof *of_lane);
    uint8_t *opens = calloc(t->n_processes + 1, 1);
    x->lanes = calloc(t->n_lanes + 1, sizeof *x->lanes);

    int failed = !events || !orders || !of_lane || !opens || !x->lanes;
    if (!failed)
        memset(of_lane, 0xff, t->n_lanes * sizeof *of_lane); /* IOT_NO_INDEX */
    for (size_t k = 0; k < n && !failed; k++) {
        struct iot_placed placed;
        uint32_t process = t->lanes[events[k].lane].process;
        failed = iot_order_walk_next(orders, events[k].event, process, &placed) ||
                 count_event(x, of_lane, opens, &events[k], placed.order);
    }
    if (!failed && x->n_lanes)
        qsort(x->lanes, x->n_lanes, sizeof *x->lanes, by_weight);
    failed = failed || iot_call_sites_find(&x->sites, &x->n_sites, IOT_EXPLAIN_SITES, t,
                                           explainer->model, file, NULL, t->arena);
    free(events);
    iot_order_walk_end(orders);
    free(of_lane);
    free(opens);
    return failed ? -1 : 0;
}

void iot_explained_free(struct iot_explained *x)
{
    free(x->lanes);
    free(x->sites);
    free(x->renames);
    *x = (struct iot_explained){0};
}
