#include "analyzer/waits_words.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/lane_names.h"
#include "analyzer/report.h"
#include "analyzer/room.h"
#include "analyzer/schedule.h"
#include "analyzer/table.h"

enum doing { READING, WRITING, SYNCING, OPENING, DOINGS };
static const char *const doings[DOINGS] = {"reading", "writing", "syncing", "opening"};

/* One line while it is summed up. */
struct sum {
    uint32_t waiter, lane, family;
    uint32_t row; /* a file of it; */
    int several;  /* and whether there are others */
    int64_t by_doing[DOINGS];
};

struct words {
    struct iot_report *report;
    uint32_t *waiter;   /* by node: the lane that waits for what leads there */
    uint32_t *family;   /* by row of the report: a row of the same family */
    const char **pattern; /* by row that stands for its family */
    struct iot_table sums_at;
    struct sum *sums;
    size_t n, room;
};

/* --- who waits for what leads to a node --- */

static uint8_t *find_carriers(const struct iot_report *r)
{
    uint8_t *carries = calloc(r->trace->n_lanes + 1, 1);
    for (size_t l = 0; carries && l < r->trace->n_lanes; l++) {
        const struct iot_lane *lane = &r->trace->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
            carries[l] |= !r->model->waited[i];
    }
    return carries;
}

/* From the last node back, along the edge that is on the path for most of lambda. */
static int find_waiters(struct words *w)
{
    const struct iot_graph *g = &w->report->model->schedule->graph;
    const int64_t *share = w->report->model->edge_share;
    uint8_t *carries = find_carriers(w->report);
    int64_t *best = calloc(g->n_nodes + 1, sizeof *best);
    w->waiter = malloc((g->n_nodes + 1) * sizeof *w->waiter);
    int failed = !carries || !best || !w->waiter;
    for (size_t v = 0; v < g->n_nodes && !failed; v++)
        w->waiter[v] = IOT_NO_INDEX;
    for (size_t p = g->n_nodes; p-- > 0 && !failed;) {
        uint32_t v = g->order[p], lane = g->nodes[v].lane;
        for (uint32_t k = g->in_first[p]; k < g->in_first[p + 1]; k++) {
            const struct iot_edge *edge = &g->edges[g->in_edges[k]];
            if (share[g->in_edges[k]] <= best[edge->src])
                continue;
            best[edge->src] = share[g->in_edges[k]];
            w->waiter[edge->src] = edge->kind == IOT_EDGE_CROSS && carries[lane] &&
                                           g->nodes[edge->src].lane != lane
                                       ? lane
                                       : w->waiter[v];
        }
    }
    free(carries);
    free(best);
    return failed ? -1 : 0;
}

/* --- files that differ in their numbers alone --- */

static const char *fold(struct iot_arena *arena, const char *path)
{
    size_t n = (size_t)(basename(path) - path);
    char *to = iot_arena_take(arena, strlen(path) + 1), *p = to;
    if (!to)
        return NULL;
    memcpy(p, path, n);
    p += n;
    for (path += n; *path; path++) {
        int digit = *path >= '0' && *path <= '9';
        if (!digit)
            *p++ = *path;
        else if (p == to || p[-1] != '*')
            *p++ = '*';
    }
    *p = '\0';
    return to;
}

struct look {
    const struct words *w;
    uint32_t row;
};

static int same_family(const void *user, uint32_t index)
{
    const struct look *look = user;
    const struct iot_report_file *files = look->w->report->files;
    return files[index].object == files[look->row].object &&
           !strcmp(look->w->pattern[index], look->w->pattern[look->row]);
}

static int find_families(struct words *w)
{
    struct iot_report *r = w->report;
    struct iot_table table = {0};
    w->family = malloc((r->n_files + 1) * sizeof *w->family);
    w->pattern = calloc(r->n_files + 1, sizeof *w->pattern);
    int failed = !w->family || !w->pattern;
    for (uint32_t row = 0; row < r->n_files && !failed; row++) {
        struct look look = {w, row};
        const char *pattern = w->pattern[row] = fold(r->arena, r->files[row].path);
        if (!pattern) {
            failed = 1;
            break;
        }
        uint64_t hash = iot_table_hash(pattern, strlen(pattern)) + r->files[row].object;
        w->family[row] = iot_table_find(&table, hash, same_family, &look);
        if (w->family[row] == IOT_NO_INDEX) {
            w->family[row] = row;
            failed = iot_table_add(&table, hash, row);
        }
    }
    iot_table_free(&table);
    return failed ? -1 : 0;
}

/* --- the sums --- */

struct wanted {
    const struct words *w;
    uint32_t key[3];
};

static int same_sum(const void *user, uint32_t index)
{
    const struct wanted *wanted = user;
    const struct sum *s = &wanted->w->sums[index];
    return s->waiter == wanted->key[0] && s->lane == wanted->key[1] && s->family == wanted->key[2];
}

static struct sum *sum_of(struct words *w, uint32_t waiter, uint32_t lane, uint32_t row)
{
    struct wanted wanted = {w, {waiter, lane, w->family[row]}};
    uint64_t hash = iot_table_hash((const char *)wanted.key, sizeof wanted.key);
    uint32_t found = iot_table_find(&w->sums_at, hash, same_sum, &wanted);
    if (found != IOT_NO_INDEX) {
        w->sums[found].several |= w->sums[found].row != row;
        return &w->sums[found];
    }
    if (IOT_ROOM(w->sums, w->n + 1, w->room))
        return NULL;
    w->sums[w->n] = (struct sum){.waiter = waiter, .lane = lane, .family = w->family[row],
                                 .row = row};
    if (iot_table_add(&w->sums_at, hash, (uint32_t)w->n))
        return NULL;
    return &w->sums[w->n++];
}

static enum doing doing_of(const struct iot_op_info *op)
{
    if (op->class_ == IOT_DATA)
        return op->moves == IOT_OUT ? WRITING : READING;
    return op->class_ == IOT_SYNC ? SYNCING : OPENING;
}

static int one_thread(const struct iot_trace *t, uint32_t a, uint32_t b)
{
    return t->lanes[a].tid == t->lanes[b].tid;
}

static int add_up(struct words *w)
{
    const struct iot_report *r = w->report;
    const struct iot_model *m = r->model;
    const struct iot_graph *g = &m->schedule->graph;
    for (size_t n = 0; n < g->n_edges; n++) {
        const struct iot_edge *edge = &g->edges[n];
        if (!m->edge_share[n])
            continue;
        for (size_t i = edge->call_first; i < (size_t)edge->call_first + edge->call_count; i++) {
            uint32_t row = r->of_event[i], waiter = w->waiter[edge->dst];
            if (!m->waited[i] || !m->exposed_ns[i] || row == IOT_NO_INDEX)
                continue;
            /* The images of one process are one to whom reads it. */
            if (waiter != IOT_NO_INDEX && one_thread(r->trace, waiter, g->nodes[edge->dst].lane))
                continue;
            struct sum *s = sum_of(w, waiter == IOT_NO_INDEX ? 0 : waiter,
                                   g->nodes[edge->dst].lane, row);
            if (!s)
                return -1;
            s->by_doing[doing_of(iot_op_info(r->trace->events.op[i]))] += m->exposed_ns[i];
        }
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct iot_waited *x = a, *y = b;
    if (x->waited_ns != y->waited_ns)
        return x->waited_ns > y->waited_ns ? -1 : 1;
    int names = strcmp(x->other, y->other);
    return names ? names : strcmp(x->path, y->path);
}

/* The most time of it names what was done, except that opening is only named alone. */
static int say(const struct words *w, const struct sum *s, struct iot_waited *to)
{
    struct iot_report *r = w->report;
    int most = OPENING;
    for (int d = 0; d < DOINGS; d++) {
        to->waited_ns += s->by_doing[d];
        if (d != OPENING && s->by_doing[d] &&
            (most == OPENING || s->by_doing[d] > s->by_doing[most]))
            most = d;
    }
    to->doing = doings[most];
    to->object = r->files[s->row].object;
    to->batch = to->object == IOT_INPUT && most == READING &&
                r->trace->processes[r->trace->lanes[s->lane].process].loader;
    to->path = s->several ? w->pattern[s->family] : r->files[s->row].path;
    to->waiter = iot_lane_name(r->trace, s->waiter, r->arena);
    to->other = iot_lane_name(r->trace, s->lane, r->arena);
    return to->waiter && to->other ? 0 : -1;
}

int iot_report_waits(struct iot_report *r)
{
    struct words w = {.report = r};
    if (!r->model->edge_share)
        return 0;
    int failed = find_waiters(&w) || find_families(&w) || add_up(&w);
    if (!failed && !(r->waits = calloc(w.n + 1, sizeof *r->waits)))
        failed = 1;
    for (size_t k = 0; k < w.n && !failed; k++) {
        failed = say(&w, &w.sums[k], &r->waits[k]);
        r->n_waits++;
    }
    if (!failed && r->n_waits)
        qsort(r->waits, r->n_waits, sizeof *r->waits, by_time);
    free(w.waiter);
    free(w.family);
    free(w.pattern);
    free(w.sums);
    iot_table_free(&w.sums_at);
    return failed ? -1 : 0;
}
