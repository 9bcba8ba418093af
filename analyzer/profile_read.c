/* From the tokens of a profiler's file to its events. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/profile_event.h"
#include "analyzer/progress.h"

/* Where a value of an event, or of its args, goes. */
enum field {
    F_NONE,
    F_PHASE,
    F_NAME,
    F_CATEGORY,
    F_TS,
    F_DUR,
    F_PID,
    F_TID,
    F_ARGS,
    F_CORRELATION,
    F_STREAM,
    F_DEVICE,
    F_BYTES,
    F_SYNC,
    F_OTHER,
    F_RECORD,
    F_GIVEN,
    F_GROUP,
    F_RANKS,
};

struct key {
    const char *name;
    enum field field;
};

static const struct key event_keys[] = {
    {"ph", F_PHASE}, {"name", F_NAME}, {"cat", F_CATEGORY}, {"ts", F_TS},   {"dur", F_DUR},
    {"pid", F_PID},  {"tid", F_TID},   {"args", F_ARGS},    {NULL, F_NONE},
};

static const struct key args_keys[] = {
    {"correlation", F_CORRELATION},
    {"stream", F_STREAM},
    {"device", F_DEVICE},
    {"bytes", F_BYTES},
    {"cuda_sync_kind", F_SYNC},
    {"wait_on_stream", F_OTHER},
    {"wait_on_cuda_event_record_corr_id", F_RECORD},
    {"name", F_GIVEN},
    {"Process Group Name", F_GROUP},
    {"Process Group Ranks", F_RANKS},
    {NULL, F_NONE},
};

static enum field field_of(const struct key *keys, const char *name)
{
    while (keys->name && strcmp(keys->name, name) != 0)
        keys++;
    return keys->field;
}

static void copy(char *to, size_t room, const struct iot_json_in *in)
{
    size_t n = strnlen(in->text, room - 1);
    memcpy(to, in->text, n);
    to[n] = '\0';
}

/* Behind what is there already, whichever comes first. */
static void append(char *to, size_t room, const struct iot_json_in *in)
{
    size_t n = strlen(to);
    if (n && n + 1 < room)
        to[n++] = ' ';
    copy(to + n, room - n, in);
}

/* A pid or tid: a number, also as a text; any other text has a number of its own. */
static int64_t number_of_text(struct iot_profile *p, const char *text)
{
    int64_t value;
    if (!iot_json_whole(text, &value))
        return value;
    return -(INT64_C(1) << 40) - (int64_t)iot_profile_name(p, text);
}

/* What a number is for. -1: it cannot be that. */
static int take_number(struct iot_profile_event *e, enum field field, const char *text)
{
    int64_t value = -1;
    switch (field) {
    case F_TS:
        return iot_json_thousandths(text, &e->ts_ns) || e->ts_ns < 0 ? -1 : 0;
    case F_DUR:
        return iot_json_thousandths(text, &e->dur_ns);
    case F_PID:
        return iot_json_whole(text, &e->pid);
    case F_TID:
        return iot_json_whole(text, &e->tid);
    case F_NONE:
        return 0;
    default:
        break;
    }
    if (iot_json_whole(text, &value))
        return 0; /* of no use */
    /* 2^32 - 1 and -1 stand for none. */
    int64_t some = value >= 0 && value < UINT32_MAX ? value : -1;
    switch (field) {
    case F_CORRELATION:
        e->correlation = some > 0 ? (uint32_t)some : 0;
        break;
    case F_RECORD:
        e->record = some > 0 ? (uint32_t)some : 0;
        break;
    case F_STREAM:
        e->stream = some > INT32_MAX ? -1 : some;
        break;
    case F_OTHER:
        e->other = some > INT32_MAX ? -1 : some;
        break;
    case F_DEVICE:
        e->device = some > INT32_MAX ? -1 : some;
        break;
    case F_BYTES:
        e->bytes = value > 0 ? value : 0;
        break;
    default:
        break;
    }
    return 0;
}

static void take_string(struct iot_profile *p, struct iot_profile_event *e, enum field field,
                        const struct iot_json_in *in)
{
    switch (field) {
    case F_PHASE:
        e->phase = in->text[0];
        break;
    case F_NAME:
        copy(e->name, sizeof e->name, in);
        break;
    case F_CATEGORY:
        copy(e->category, sizeof e->category, in);
        break;
    case F_PID:
        e->pid = number_of_text(p, in->text);
        break;
    case F_TID:
        e->tid = number_of_text(p, in->text);
        break;
    case F_SYNC:
        copy(e->sync, sizeof e->sync, in);
        break;
    case F_GROUP:
    case F_RANKS:
        append(e->group, sizeof e->group, in);
        break;
    case F_GIVEN:
        copy(e->given, sizeof e->given, in);
        break;
    default:
        break;
    }
}

static enum iot_json_token fail(struct iot_json_in *in, const char *what)
{
    return iot_json_in_fail(in, what);
}

/* The members of an event, or of its args; the object is open. */
static enum iot_json_token read_members(struct iot_profile *p, struct iot_json_in *in,
                                        const struct key *keys, struct iot_profile_event *e)
{
    enum iot_json_token token;
    while ((token = iot_json_in_next(in)) == IOT_JSON_KEY) {
        enum field field = field_of(keys, in->text);
        token = iot_json_in_next(in);
        if (token == IOT_JSON_ERROR)
            return token;
        if (token == IOT_JSON_NUMBER && take_number(e, field, in->text))
            return fail(in, "a time or number that cannot be");
        if (token == IOT_JSON_STRING)
            take_string(p, e, field, in);
        if (token == IOT_JSON_OBJECT && field == F_ARGS)
            token = read_members(p, in, args_keys, e);
        else
            token = iot_json_in_skip(in, token);
        if (token == IOT_JSON_ERROR)
            return token;
    }
    return token;
}

static int read_event(struct iot_profile *p, struct iot_json_in *in, struct iot_profile_event *e)
{
    uint64_t at = in->at;
    e->phase = 0;
    e->ts_ns = -1;
    e->dur_ns = e->pid = e->tid = e->bytes = 0;
    e->device = e->stream = e->other = -1;
    e->correlation = e->record = 0;
    e->category[0] = e->sync[0] = e->group[0] = e->given[0] = e->name[0] = '\0';
    if (read_members(p, in, event_keys, e) == IOT_JSON_ERROR)
        return -1;
    const char *wrong = NULL;
    if ((e->phase == 'X' || e->phase == 'B' || e->phase == 'E') && e->ts_ns < 0)
        wrong = "an event without its time";
    else if (e->phase == 'X' && e->dur_ns < 0)
        wrong = "an event that ends before it begins";
    if (wrong) {
        in->at = at;
        fail(in, wrong);
        return -1;
    }
    return iot_profile_add(p, e);
}

static int read_events(struct iot_profile *p, struct iot_json_in *in)
{
    struct iot_profile_event *e = malloc(sizeof *e);
    enum iot_json_token token = IOT_JSON_ERROR;
    int failed = !e;
    while (!failed && (token = iot_json_in_next(in)) == IOT_JSON_OBJECT) {
        failed = read_event(p, in, e);
        if (!(p->events & 0xffff))
            iot_progress("reading the profile", iot_json_in_bytes(in), 0);
    }
    free(e);
    if (!failed && token != IOT_JSON_ARRAY_END)
        failed = fail(in, "not an event") == IOT_JSON_ERROR;
    return failed ? -1 : 0;
}

static int read_rank(struct iot_profile *p, struct iot_json_in *in)
{
    enum iot_json_token token;
    while ((token = iot_json_in_next(in)) == IOT_JSON_KEY) {
        int64_t *number = !strcmp(in->text, "rank")         ? &p->rank
                          : !strcmp(in->text, "world_size") ? &p->world_size
                                                            : NULL;
        token = iot_json_in_next(in);
        if (number && token == IOT_JSON_NUMBER && (iot_json_whole(in->text, number) || *number < 0))
            *number = -1;
        if (iot_json_in_skip(in, token) == IOT_JSON_ERROR)
            return -1;
    }
    return token == IOT_JSON_ERROR ? -1 : 0;
}

/* What the recording says of itself beside its events. */
static const char **text_of(struct iot_profile *p, const char *key)
{
    static const char *const hosts[] = {"hostname", "host_name", "hostName"};
    for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++)
        if (!strcmp(key, hosts[k]))
            return &p->host;
    return !strcmp(key, "traceName") ? &p->trace_name : NULL;
}

static int read_file(struct iot_profile *p, struct iot_json_in *in)
{
    enum iot_json_token token = iot_json_in_next(in);
    int found = 0;
    if (token == IOT_JSON_ARRAY) {
        if (read_events(p, in))
            return -1;
        found = 1;
        token = IOT_JSON_ARRAY_END;
    }
    while (token == IOT_JSON_OBJECT || token == IOT_JSON_OBJECT_END) {
        token = iot_json_in_next(in);
        if (token != IOT_JSON_KEY)
            break;
        int events = !strcmp(in->text, "traceEvents"),
            base = !strcmp(in->text, "baseTimeNanoseconds");
        int rank = !strcmp(in->text, "distributedInfo");
        const char **text = text_of(p, in->text);
        token = iot_json_in_next(in);
        if (events && token == IOT_JSON_ARRAY) {
            if (read_events(p, in))
                return -1;
            found = 1;
        } else if (rank && token == IOT_JSON_OBJECT) {
            if (read_rank(p, in))
                return -1;
        } else {
            if (text && token == IOT_JSON_STRING && *in->text &&
                !(*text = iot_arena_text(p->arena, in->text, strlen(in->text))))
                return -1;
            if (base && token == IOT_JSON_NUMBER)
                iot_json_whole(in->text, &p->base_ns);
            if (iot_json_in_skip(in, token) == IOT_JSON_ERROR)
                return -1;
        }
        token = IOT_JSON_OBJECT;
    }
    if (!in->error && iot_json_in_next(in) == IOT_JSON_END && found)
        return 0;
    if (!in->error)
        fail(in, "no list of events (traceEvents) is in it");
    return -1;
}

int iot_profile_read(struct iot_profile *p, struct iot_json_in *in)
{
    *p = (struct iot_profile){
        .start_ns = INT64_MAX, .end_ns = INT64_MIN, .rank = -1, .world_size = -1};
    p->arena = iot_arena_new();
    if (!p->arena || iot_profile_name(p, "") != 0)
        return -1;
    if (read_file(p, in))
        return -1;
    for (size_t l = 0; l < p->n_lanes; l++)
        p->unended += p->lanes[l].n_open;
    if (p->events)
        return 0;
    fail(in, "no complete events are in it");
    return -1;
}
