/* What lanes did over the run, in columns. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/lane_names.h"
#include "analyzer/view.h"

/* Beside I/O. The first is no life: what is left of a column. */
enum state { NOTHING, COMPUTE, WAIT, SLEEP, EXTERNAL, UNEXPLAINED, GPU, STATES };
static const char state_letters[] = ".cwseug";
static const char *const state_names[STATES] = {"nothing",  "computing",   "waiting", "sleeping",
                                                "external", "unexplained", "gpu"};

struct columns {
    int64_t state_ns[STATES][IOT_VIEW_COLUMNS];
    int64_t io_ns[IOT_OBJECTS][IOT_VIEW_COLUMNS];
    uint64_t lanes; /* that are added up in it */
};

static enum state state_of(const struct iot_model *m, size_t event)
{
    static const uint8_t states[] = {
        [IOT_PART_WAIT] = WAIT,         [IOT_PART_SLEEP] = SLEEP,
        [IOT_PART_EXTERNAL] = EXTERNAL, [IOT_PART_UNEXPLAINED] = UNEXPLAINED,
        [IOT_PART_GPU] = GPU,           [IOT_PART_NONE] = COMPUTE,
    };
    return states[m->part[event]];
}

static int object_of(const struct iot_report *r, size_t event)
{
    uint32_t row = r->of_event[event];
    return row == IOT_NO_INDEX ? IOT_OTHER : r->files[row].object;
}

static void spread(int64_t *to, int64_t wall, int64_t from, int64_t until)
{
    until = until < wall ? until : wall;
    if (until > from)
        iot_column_spread(to, wall, IOT_VIEW_COLUMNS, from, until, until - from);
}

/* A call inside another one (in a signal handler) is that one's. */
static void add_lane(struct columns *c, const struct iot_report *r, uint32_t l)
{
    const struct iot_lane *lane = &r->trace->lanes[l];
    const struct iot_events *e = &r->trace->events;
    int64_t wall = r->model->wall_ns, now = lane->start_ns > 0 ? lane->start_ns : 0;
    int computes = lane->kind == IOT_LANE_THREAD;
    c->lanes++;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        int64_t t0 = e->t0_ns[i] > now ? e->t0_ns[i] : now;
        if (e->t1_ns[i] <= t0)
            continue;
        if (computes)
            spread(c->state_ns[COMPUTE], wall, now, t0);
        if (r->model->part[i] == IOT_PART_IO)
            spread(c->io_ns[object_of(r, i)], wall, t0, e->t1_ns[i]);
        else if (computes || r->model->part[i] != IOT_PART_NONE)
            spread(c->state_ns[state_of(r->model, i)], wall, t0, e->t1_ns[i]);
        now = e->t1_ns[i];
    }
    if (computes)
        spread(c->state_ns[COMPUTE], wall, now, lane->end_ns);
}

/* --- which ones --- */

struct ranked {
    uint32_t lane;
    int64_t path_ns, io_ns;
};

static int by_weight(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->path_ns != y->path_ns)
        return x->path_ns > y->path_ns ? -1 : 1;
    if (x->io_ns != y->io_ns)
        return x->io_ns > y->io_ns ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static int by_lane(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static int64_t io_of(const struct iot_model *m, const struct iot_lane *lane)
{
    int64_t sum = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
        sum += m->service_ns[i];
    return sum;
}

/* --- as JSON --- */

static void put_columns(struct iot_json *json, const struct columns *c, int64_t wall)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char state[IOT_VIEW_COLUMNS], io[IOT_VIEW_COLUMNS], object[IOT_VIEW_COLUMNS];
    for (int k = 0; k < IOT_VIEW_COLUMNS; k++) {
        int64_t width = (iot_column_start(wall, IOT_VIEW_COLUMNS, k + 1) -
                         iot_column_start(wall, IOT_VIEW_COLUMNS, k)) *
                        (int64_t)c->lanes;
        int64_t in_io = 0, alive = 0;
        int most = NOTHING, of = 0;
        for (int o = 0; o < IOT_OBJECTS; o++) {
            in_io += c->io_ns[o][k];
            of = c->io_ns[o][k] > c->io_ns[of][k] ? o : of;
        }
        for (int s = COMPUTE; s < STATES; s++) {
            alive += c->state_ns[s][k];
            if (c->state_ns[s][k] > (most == NOTHING ? 0 : c->state_ns[most][k]))
                most = s;
        }
        /* Of several lanes, what they do as long as one of them does anything. */
        if (c->lanes == 1 && width - alive - in_io > c->state_ns[most][k])
            most = NOTHING;
        double share = width > 0 ? (double)in_io / (double)width : 0;
        int level = (int)(share * 35 + 0.5);
        level = level > 35 ? 35 : !level && in_io ? 1 : level;
        state[k] = state_letters[most];
        io[k] = digits[level];
        object[k] = (char)('0' + of);
    }
    iot_json_key(json, "state");
    iot_json_bytes(json, state, sizeof state);
    iot_json_key(json, "io");
    iot_json_bytes(json, io, sizeof io);
    iot_json_key(json, "object");
    iot_json_bytes(json, object, sizeof object);
}

static const char *const kind_names[IOT_LANE_KINDS] = {
    [IOT_LANE_THREAD] = "thread", [IOT_LANE_AIO] = "request",    [IOT_LANE_LIBAIO] = "request",
    [IOT_LANE_RING] = "request",  [IOT_LANE_CUFILE] = "request", [IOT_LANE_STREAM] = "stream",
};

static int put_names(struct iot_json *json, const struct iot_report *r, const uint8_t *named)
{
    iot_json_put_object(json, "names");
    for (uint32_t l = 0; l < r->trace->n_lanes; l++) {
        char key[12];
        if (!named[l])
            continue;
        const char *name = iot_lane_name(r->trace, l, r->arena);
        if (!name)
            return -1;
        snprintf(key, sizeof key, "%u", l);
        iot_json_put_string(json, key, name);
    }
    iot_json_end_object(json);
    return 0;
}

static void put_lane(struct iot_json *json, const struct iot_report *r, const struct ranked *ranked,
                     struct columns *c)
{
    const struct iot_lane *lane = &r->trace->lanes[ranked->lane];
    memset(c, 0, sizeof *c);
    add_lane(c, r, ranked->lane);
    iot_json_begin_object(json);
    iot_json_put_uint(json, "lane", ranked->lane);
    iot_json_put_string(json, "kind", kind_names[lane->kind]);
    iot_json_put_uint(json, "pid", r->trace->processes[lane->process].pid);
    iot_json_put_int(json, "path_ns", ranked->path_ns);
    iot_json_put_int(json, "service_ns", ranked->io_ns);
    put_columns(json, c, r->model->wall_ns);
    iot_json_end_object(json);
}

/* Those without a row of their own. */
static void put_rest(struct iot_json *json, const struct iot_report *r, const struct ranked *rest,
                     size_t n, struct columns *c)
{
    int64_t path_ns = 0, io_ns = 0;
    memset(c, 0, sizeof *c);
    for (size_t k = 0; k < n; k++) {
        add_lane(c, r, rest[k].lane);
        path_ns += rest[k].path_ns;
        io_ns += rest[k].io_ns;
    }
    iot_json_key(json, "rest");
    if (!n) {
        iot_json_null(json);
        return;
    }
    iot_json_begin_object(json);
    iot_json_put_uint(json, "lanes", n);
    iot_json_put_int(json, "path_ns", path_ns);
    iot_json_put_int(json, "service_ns", io_ns);
    put_columns(json, c, r->model->wall_ns);
    iot_json_end_object(json);
}

int iot_view_put_lanes(struct iot_json *json, const struct iot_reporting *reporting,
                       struct iot_view_lanes *lanes)
{
    const struct iot_report *r = &reporting->report;
    size_t n = r->trace->n_lanes, shown = n < IOT_VIEW_LANES ? n : IOT_VIEW_LANES;
    struct ranked *ranked = malloc((n + 1) * sizeof *ranked);
    struct columns *columns = malloc(sizeof *columns);
    int failed = !ranked || !columns;

    for (uint32_t l = 0; l < n && !failed; l++)
        ranked[l] = (struct ranked){l, lanes->path_ns[l], io_of(r->model, &r->trace->lanes[l])};
    if (!failed) {
        qsort(ranked, n, sizeof *ranked, by_weight);
        qsort(ranked, shown, sizeof *ranked, by_lane);
        iot_json_put_object(json, "states");
        for (int s = 0; s < STATES; s++)
            iot_json_put_string(json, (char[]){state_letters[s], 0}, state_names[s]);
        iot_json_end_object(json);
        iot_json_put_array(json, "lanes");
        for (size_t k = 0; k < shown; k++) {
            lanes->named[ranked[k].lane] = 1;
            put_lane(json, r, &ranked[k], columns);
        }
        iot_json_end_array(json);
        put_rest(json, r, ranked + shown, n - shown, columns);
        failed = put_names(json, r, lanes->named);
    }
    free(ranked);
    free(columns);
    return failed ? -1 : 0;
}
