#include "analyzer/profile.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/profile_event.h"
#include "analyzer/room.h"

static const struct {
    const char *name;
    uint8_t kind;
} categories[] = {
    {"cpu_op", IOT_ITEM_BUSY},           {"Operator", IOT_ITEM_BUSY},
    {"cuda_runtime", IOT_ITEM_CALL},     {"Runtime", IOT_ITEM_CALL},
    {"cuda_driver", IOT_ITEM_CALL},      {"kernel", IOT_ITEM_KERNEL},
    {"Kernel", IOT_ITEM_KERNEL},         {"gpu_memcpy", IOT_ITEM_MEMCPY},
    {"Memcpy", IOT_ITEM_MEMCPY},         {"gpu_memset", IOT_ITEM_MEMSET},
    {"Memset", IOT_ITEM_MEMSET},         {"cuda_sync", IOT_ITEM_SYNC},
    {"user_annotation", IOT_ITEM_RANGE}, {"gpu_user_annotation", IOT_ITEM_COVER},
    {"python_function", IOT_ITEM_COVER}, /* nested around everything else */
    {"Trace", IOT_ITEM_COVER},           {"overhead", IOT_ITEM_COVER},
};

/* Of a category that is not known, a thread was busy: so is every range of a Chrome trace. */
static int kind_of(const char *category, const char *name)
{
    int kind = IOT_ITEM_BUSY;
    for (size_t k = 0; k < sizeof categories / sizeof *categories; k++)
        if (!strcmp(category, categories[k].name))
            kind = categories[k].kind;
    if (kind != IOT_ITEM_BUSY && kind != IOT_ITEM_RANGE)
        return kind;
    if (!strncmp(name, "ProfilerStep", 12))
        return IOT_ITEM_STEP;
    return strstr(name, "enumerate(DataLoader)") ? IOT_ITEM_LOAD : kind;
}

static const struct {
    const char *name;
    uint8_t sync;
} syncs[] = {
    {"Event Sync", IOT_SYNC_EVENT},
    {"Stream Wait Event", IOT_SYNC_STREAM_WAIT},
    {"Stream Sync", IOT_SYNC_STREAM},
    {"Context Sync", IOT_SYNC_CONTEXT},
};

static const struct {
    const char *name;
    uint8_t kind;
} copies[] = {
    {"HtoD", IOT_COPY_HTOD},
    {"DtoH", IOT_COPY_DTOH},
    {"DtoD", IOT_COPY_DTOD},
    {"PtoP", IOT_COPY_PTOP},
};

static unsigned memory_of(const char *text)
{
    return !strncmp(text, "Pageable", 8) ? IOT_MEMORY_PAGEABLE
           : !strncmp(text, "Pinned", 6) ? IOT_MEMORY_PINNED
           : !strncmp(text, "Device", 6) ? IOT_MEMORY_DEVICE
                                         : 0;
}

int iot_copy_of_name(const char *name, uint64_t *addr)
{
    int kind = 0;
    const char *from = strchr(name, '('), *to = strstr(name, "-> ");
    for (size_t k = 0; k < sizeof copies / sizeof *copies; k++)
        if (strstr(name, copies[k].name))
            kind = copies[k].kind;
    *addr = (from ? memory_of(from + 1) : 0) | (to ? memory_of(to + 3) << 8 : 0);
    return kind;
}

/* --- vectors --- */

/* Their indexes have 32 bits, and UINT32_MAX is none. */
#define ROOM(items, n, room) ((n) < UINT32_MAX - 1 ? IOT_ROOM(items, (n) + 1, room) : -1)

struct look {
    const struct iot_profile *profile;
    const void *wanted;
};

static int same_name(const void *user, uint32_t index)
{
    const struct look *look = user;
    return !strcmp(look->profile->names[index], look->wanted);
}

uint32_t iot_profile_name(struct iot_profile *p, const char *text)
{
    size_t n = strlen(text);
    struct look look = {p, text};
    uint64_t hash = iot_table_hash(text, n);
    uint32_t index = p->n_names ? iot_table_find(&p->by_name, hash, same_name, &look) : UINT32_MAX;
    if (index != UINT32_MAX)
        return index;
    if (ROOM(p->names, p->n_names, p->names_room))
        return UINT32_MAX;
    p->names[p->n_names] = iot_arena_text(p->arena, text, n);
    if (!p->names[p->n_names] || iot_table_add(&p->by_name, hash, (uint32_t)p->n_names))
        return UINT32_MAX;
    return (uint32_t)p->n_names++;
}

struct lane_key {
    int64_t pid, tid, gpu;
};

static int same_lane(const void *user, uint32_t index)
{
    const struct look *look = user;
    const struct lane_key *key = look->wanted;
    const struct iot_profile_lane *lane = &look->profile->lanes[index];
    return lane->pid == key->pid && lane->tid == key->tid && lane->gpu == key->gpu;
}

uint32_t iot_profile_lane(struct iot_profile *p, int64_t pid, int64_t tid, int gpu)
{
    struct lane_key key = {pid, tid, gpu};
    struct look look = {p, &key};
    uint64_t hash = iot_table_hash((const char *)&key, sizeof key);
    uint32_t index = iot_table_find(&p->by_lane, hash, same_lane, &look);
    if (index != UINT32_MAX)
        return index;
    if (ROOM(p->lanes, p->n_lanes, p->lanes_room))
        return UINT32_MAX;
    p->lanes[p->n_lanes] = (struct iot_profile_lane){.pid = pid, .tid = tid, .gpu = (uint8_t)gpu};
    if (iot_table_add(&p->by_lane, hash, (uint32_t)p->n_lanes))
        return UINT32_MAX;
    return (uint32_t)p->n_lanes++;
}

/* Most are nested in the one before. */
static int add_span(struct iot_profile *p, uint32_t lane, int64_t t0, int64_t t1)
{
    struct iot_profile_lane *l = &p->lanes[lane];
    if (l->last_span) {
        struct iot_busy *last = &p->spans[l->last_span - 1];
        if (t0 >= last->t0_ns && t0 <= last->t1_ns) {
            if (t1 > last->t1_ns)
                last->t1_ns = t1;
            return 0;
        }
    }
    if (ROOM(p->spans, p->n_spans, p->spans_room))
        return -1;
    p->spans[p->n_spans++] = (struct iot_busy){t0, t1, lane};
    l->last_span = p->n_spans;
    return 0;
}

static int add_item(struct iot_profile *p, const struct iot_item *item)
{
    if (ROOM(p->items, p->n_items, p->items_room))
        return -1;
    p->items[p->n_items++] = *item;
    return 0;
}

/* --- one event --- */

static int on_gpu(int kind)
{
    return kind == IOT_ITEM_KERNEL || kind == IOT_ITEM_MEMCPY || kind == IOT_ITEM_MEMSET;
}

static int add_complete(struct iot_profile *p, const struct iot_profile_event *e, int kind,
                        int64_t t0, int64_t t1)
{
    struct iot_item item = {.t0_ns = t0,
                            .t1_ns = t1,
                            .bytes = e->bytes,
                            .correlation = e->correlation,
                            .record = e->record,
                            .stream = (int32_t)e->stream,
                            .other = (int32_t)e->other,
                            .kind = (uint8_t)kind};
    p->events++;
    p->start_ns = t0 < p->start_ns ? t0 : p->start_ns;
    p->end_ns = t1 > p->end_ns ? t1 : p->end_ns;
    if (kind == IOT_ITEM_COVER)
        return 0;
    if (kind == IOT_ITEM_SYNC) {
        const char *name = *e->sync ? e->sync : e->name;
        for (size_t k = 0; k < sizeof syncs / sizeof *syncs; k++)
            if (!strcmp(name, syncs[k].name))
                item.sync = syncs[k].sync;
        return add_item(p, &item);
    }
    item.lane = on_gpu(kind) ? iot_profile_lane(p, e->device >= 0 ? e->device : e->pid,
                                                e->stream >= 0 ? e->stream : e->tid, 1)
                             : iot_profile_lane(p, e->pid, e->tid, 0);
    if (item.lane == UINT32_MAX)
        return -1;
    int range = kind == IOT_ITEM_RANGE || kind == IOT_ITEM_STEP;
    if (!range && !on_gpu(kind) && add_span(p, item.lane, t0, t1))
        return -1;
    /* Before 2022 record_function's ranges were operators; most have such a name. */
    if (kind == IOT_ITEM_BUSY && strchr(e->name, '#'))
        item.kind = IOT_ITEM_RANGE;
    else if (kind == IOT_ITEM_BUSY)
        return 0;
    if (kind == IOT_ITEM_KERNEL && *e->group) {
        item.group = iot_profile_name(p, e->group);
        if (item.group == UINT32_MAX)
            return -1;
    }
    p->lanes[item.lane].n_calls += kind == IOT_ITEM_CALL;
    p->lanes[item.lane].n_steps += kind == IOT_ITEM_STEP;
    item.name = iot_profile_name(p, e->name);
    return item.name == UINT32_MAX ? -1 : add_item(p, &item);
}

static int begin(struct iot_profile *p, const struct iot_profile_event *e, int kind)
{
    uint32_t index = iot_profile_lane(p, e->pid, e->tid, 0), name = iot_profile_name(p, e->name);
    if (index == UINT32_MAX || name == UINT32_MAX)
        return -1;
    struct iot_profile_lane *lane = &p->lanes[index];
    if (ROOM(lane->open, lane->n_open, lane->open_room))
        return -1;
    lane->open[lane->n_open++] = (struct iot_opened){e->ts_ns, name, (uint8_t)kind};
    return 0;
}

/* Ends what was begun last; what was not begun is nothing. */
static int end(struct iot_profile *p, struct iot_profile_event *e)
{
    uint32_t index = iot_profile_lane(p, e->pid, e->tid, 0);
    if (index == UINT32_MAX)
        return -1;
    struct iot_profile_lane *lane = &p->lanes[index];
    if (!lane->n_open)
        return 0;
    struct iot_opened opened = lane->open[--lane->n_open];
    if (e->ts_ns < opened.t0_ns)
        return 0;
    strcpy(e->name, p->names[opened.name]);
    return add_complete(p, e, opened.kind, opened.t0_ns, e->ts_ns);
}

static int name_lane(struct iot_profile *p, const struct iot_profile_event *e)
{
    uint32_t name = iot_profile_name(p, e->given);
    if (name == UINT32_MAX)
        return -1;
    if (!strcmp(e->name, "process_name") && !p->process_name)
        p->process_name = name;
    if (strcmp(e->name, "thread_name") != 0)
        return 0;
    uint32_t lane = iot_profile_lane(p, e->pid, e->tid, 0);
    if (lane == UINT32_MAX)
        return -1;
    p->lanes[lane].name = name;
    return 0;
}

int iot_profile_add(struct iot_profile *p, struct iot_profile_event *e)
{
    switch (e->phase) {
    case 'X':
        return add_complete(p, e, kind_of(e->category, e->name), e->ts_ns, e->ts_ns + e->dur_ns);
    case 'B':
        return begin(p, e, kind_of(e->category, e->name));
    case 'E':
        return end(p, e);
    case 'M':
        return name_lane(p, e);
    default:
        return 0; /* flows repeat the correlations; counters and instants are of no use here */
    }
}

void iot_profile_free(struct iot_profile *p)
{
    for (size_t l = 0; l < p->n_lanes; l++)
        free(p->lanes[l].open);
    free(p->items);
    free(p->spans);
    free(p->lanes);
    free(p->names);
    free(p->processes);
    iot_table_free(&p->by_name);
    iot_table_free(&p->by_lane);
    if (p->arena)
        iot_arena_free(p->arena);
    *p = (struct iot_profile){0};
}
