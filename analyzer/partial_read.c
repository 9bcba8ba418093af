/* Partial results from JSON. They are read as they are written, member after member: what else is
 * in there is an error, since merging would lose it. */
#include <errno.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/json_in.h"
#include "analyzer/partial.h"

/* Into one of its own first, so that nothing is added of what is damaged further on. Texts of units
 * are kept in the arena of the one that they go to. */
struct reader {
    struct iot_json_in in;
    struct iot_partial partial;
    struct iot_arena *texts;
    const char *head; /* what is wrong with its beginning */
};

static const char unexpected[] = "is no " IOT_PARTIAL_SCHEMA " as this version of iotrace makes it";
static const char foreign[] = "this is no partial result";
static const char of_another[] =
    "this partial result is of another version of iotrace, not " IOT_PARTIAL_SCHEMA;
static const char too_much[] = "has I/O that is exposed for longer than it took";
static const char no_units[] = "has a row of no unit, or of more than there are";
static const char no_memory[] = "out of memory";

static int fail(struct reader *r, const char *error)
{
    iot_json_in_fail(&r->in, error);
    return -1;
}

/* What is no JSON has its own error already. */
static int refuse(struct reader *r, enum iot_json_token token)
{
    return token == IOT_JSON_ERROR ? -1 : fail(r, unexpected);
}

static int expect(struct reader *r, enum iot_json_token token)
{
    enum iot_json_token found = iot_json_in_next(&r->in);
    return found == token ? 0 : refuse(r, found);
}

static int expect_key(struct reader *r, const char *key)
{
    if (expect(r, IOT_JSON_KEY))
        return -1;
    return strcmp(r->in.text, key) ? fail(r, unexpected) : 0;
}

static int number_of(struct reader *r, int64_t *to)
{
    return iot_json_whole(r->in.text, to) || *to < 0 || *to > IOT_SUM_MAX
               ? fail(r, "has a number that is no whole one, below 0 or too large")
               : 0;
}

static int number(struct reader *r, int64_t *to)
{
    return expect(r, IOT_JSON_NUMBER) || number_of(r, to) ? -1 : 0;
}

static int number_at(struct reader *r, const char *key, int64_t *to)
{
    return expect_key(r, key) || number(r, to) ? -1 : 0;
}

static int number_or_null_at(struct reader *r, const char *key, int64_t *to)
{
    if (expect_key(r, key))
        return -1;
    enum iot_json_token token = iot_json_in_next(&r->in);
    *to = -1;
    if (token == IOT_JSON_NULL)
        return 0;
    return token == IOT_JSON_NUMBER ? number_of(r, to) : refuse(r, token);
}

static int text(struct reader *r, const char **to)
{
    if (expect(r, IOT_JSON_STRING))
        return -1;
    *to = iot_arena_text(r->texts, r->in.text, strlen(r->in.text));
    return *to ? 0 : fail(r, no_memory);
}

static int text_at(struct reader *r, const char *key, const char **to)
{
    return expect_key(r, key) || text(r, to) ? -1 : 0;
}

/* A text that is needed no longer than what was read. */
static int scratch_text(struct reader *r, const char **to)
{
    if (expect(r, IOT_JSON_STRING))
        return -1;
    *to = iot_arena_text(r->partial.arena, r->in.text, strlen(r->in.text));
    return *to ? 0 : fail(r, no_memory);
}

static int expect_text(struct reader *r, const char *text)
{
    if (expect(r, IOT_JSON_STRING))
        return -1;
    return strcmp(r->in.text, text) ? fail(r, unexpected) : 0;
}

/* That was just read. */
static int object_of(struct reader *r, uint8_t *object)
{
    for (*object = 0; *object < IOT_OBJECTS; ++*object)
        if (!strcmp(r->in.text, iot_object_names[*object]))
            return 0;
    return fail(r, unexpected);
}

static int object_name(struct reader *r, uint8_t *object)
{
    return expect(r, IOT_JSON_STRING) || object_of(r, object) ? -1 : 0;
}

static int array_at(struct reader *r, const char *key)
{
    return expect_key(r, key) || expect(r, IOT_JSON_ARRAY) ? -1 : 0;
}

/* What is hidden, and what held the run up by itself, is what one of them leaves of another. */
static int numbers(struct reader *r, struct iot_sums *sums, enum iot_column_group group)
{
    const int64_t *at = sums->at;
    for (enum iot_sum_column c = 0; c < IOT_COLUMNS; c++)
        if (iot_column_is_in(c, group) && number(r, &sums->at[c]))
            return -1;
    return at[IOT_COLUMN_exposed_ns] > at[IOT_COLUMN_service_ns] ||
                   at[IOT_COLUMN_waited_ns] > at[IOT_COLUMN_exposed_ns]
               ? fail(r, too_much)
               : 0;
}

static int values(struct reader *r, struct iot_sums *sums, enum iot_column_group group)
{
    return numbers(r, sums, group) || expect(r, IOT_JSON_ARRAY_END) ? -1 : 0;
}

/* Whether an array goes on: 1, 0 at its end, -1 with an error. */
static int more(struct reader *r, enum iot_json_token begins)
{
    enum iot_json_token token = iot_json_in_next(&r->in);
    return token == begins ? 1 : token == IOT_JSON_ARRAY_END ? 0 : refuse(r, token);
}

static int columns(struct reader *r, const char *key, enum iot_column_group group)
{
    if (array_at(r, key))
        return -1;
    for (enum iot_sum_column c = 0; c < IOT_COLUMNS; c++) {
        if (!iot_column_is_in(c, group))
            continue;
        if (expect_text(r, iot_column_names[c]))
            return -1;
    }
    return expect(r, IOT_JSON_ARRAY_END);
}

/* --- units --- */

static int read_ranks(struct reader *r, struct iot_unit *u)
{
    size_t room = 0;
    int goes_on;
    if (array_at(r, "ranks"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_NUMBER)) > 0) {
        if (u->n_ranks == room) {
            int64_t *ranks = iot_arena_take(r->texts, (2 * room + 8) * sizeof *ranks);
            if (!ranks)
                return fail(r, no_memory);
            if (room)
                memcpy(ranks, u->ranks, room * sizeof *ranks);
            u->ranks = ranks;
            room = 2 * room + 8;
        }
        if (number_of(r, &u->ranks[u->n_ranks]))
            return -1;
        u->n_ranks++;
    }
    return goes_on;
}

static int read_waits(struct reader *r, struct iot_unit *u)
{
    int goes_on;
    if (array_at(r, "waits"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_OBJECT)) > 0) {
        if (u->n_waits == IOT_UNIT_WAITS)
            return fail(r, unexpected);
        struct iot_waited *w = &u->waits[u->n_waits++];
        if (text_at(r, "waiter", &w->waiter) || text_at(r, "waited_for", &w->other) ||
            text_at(r, "doing", &w->doing) || text_at(r, "path", &w->path) ||
            expect_key(r, "object") || object_name(r, &w->object) ||
            number_at(r, "waited_ns", &w->waited_ns) || expect(r, IOT_JSON_OBJECT_END))
            return -1;
    }
    return goes_on;
}

static int read_figures(struct reader *r, struct iot_unit *u)
{
    for (int k = 0; k < IOT_UNIT_NUMBERS; k++)
        if (number_at(r, iot_unit_number_names[k], &u->numbers[k]))
            return -1;
    if (array_at(r, "curve"))
        return -1;
    for (int k = 0; k < IOT_UNIT_CURVE; k++)
        if (number(r, &u->curve[k]))
            return -1;
    if (expect(r, IOT_JSON_ARRAY_END) || array_at(r, "objects"))
        return -1;
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (expect(r, IOT_JSON_ARRAY) || values(r, &u->objects[o], IOT_COLUMN_UNIT))
            return -1;
    return expect(r, IOT_JSON_ARRAY_END);
}

/* [path, storage, decode, placement] each; and when steps began. */
static int read_moments(struct reader *r, struct iot_unit *u)
{
    int goes_on;
    u->ready = iot_arena_take(r->texts, IOT_UNIT_READY * sizeof *u->ready);
    u->starts_ns = iot_arena_take(r->texts, IOT_UNIT_STARTS * sizeof *u->starts_ns);
    if (!u->ready || !u->starts_ns)
        return fail(r, no_memory);
    if (array_at(r, "ready"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_ARRAY)) > 0) {
        if (u->n_ready == IOT_UNIT_READY)
            return fail(r, unexpected);
        struct iot_unit_ready *to = &u->ready[u->n_ready++];
        if (text(r, &to->path) || number(r, &to->storage_ns) || number(r, &to->decode_ns) ||
            number(r, &to->placement_ns) || expect(r, IOT_JSON_ARRAY_END))
            return -1;
    }
    if (goes_on || array_at(r, "starts_ns"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_NUMBER)) > 0) {
        if (u->n_starts == IOT_UNIT_STARTS)
            return fail(r, unexpected);
        if (number_of(r, &u->starts_ns[u->n_starts]))
            return -1;
        u->n_starts++;
    }
    return goes_on;
}

/* By object: [class, calls, median] each. */
static int read_calls(struct reader *r, struct iot_unit *u)
{
    struct iot_unit_calls found[IOT_OBJECTS * IOT_CALL_CLASSES];
    int goes_on = 0;
    if (array_at(r, "calls"))
        return -1;
    for (uint8_t o = 0; o < IOT_OBJECTS && !goes_on; o++) {
        if (expect(r, IOT_JSON_ARRAY))
            return -1;
        while ((goes_on = more(r, IOT_JSON_ARRAY)) > 0) {
            struct iot_unit_calls *to = &found[u->n_calls];
            int64_t class_;
            if (u->n_calls++ == sizeof found / sizeof *found || number(r, &class_) ||
                class_ >= IOT_CALL_CLASSES || number(r, &to->calls) || number(r, &to->median_ns) ||
                expect(r, IOT_JSON_ARRAY_END))
                return fail(r, unexpected);
            to->object = o;
            to->class_ = (uint8_t)class_;
        }
    }
    u->calls = iot_arena_take(r->texts, (u->n_calls + 1) * sizeof *u->calls);
    if (!u->calls)
        return fail(r, no_memory);
    memcpy(u->calls, found, u->n_calls * sizeof *found);
    return goes_on || expect(r, IOT_JSON_ARRAY_END) ? -1 : 0;
}

static int read_unit(struct reader *r)
{
    struct iot_unit *u = iot_partial_unit(&r->partial);
    if (!u)
        return fail(r, no_memory);
    struct iot_identity *id = &u->identity;
    return text_at(r, "job", &id->job) || number_or_null_at(r, "rank", &id->rank) ||
                   number_or_null_at(r, "local_rank", &id->local_rank) ||
                   number_or_null_at(r, "world_size", &id->world_size) ||
                   text_at(r, "source", &id->source) || text_at(r, "host", &u->host) ||
                   text_at(r, "boot_id", &u->boot_id) || text_at(r, "command", &u->command) ||
                   text_at(r, "damage", &u->damage) || read_ranks(r, u) || read_figures(r, u) ||
                   read_calls(r, u) || read_waits(r, u) || read_moments(r, u) ||
                   expect(r, IOT_JSON_OBJECT_END)
               ? -1
               : 0;
}

/* --- objects and files --- */

/* bucket, calls, bucket, calls, .. up to the end of the array. */
static int read_bars(struct reader *r, struct iot_histogram *times)
{
    int64_t bucket, n;
    int goes_on;
    while ((goes_on = more(r, IOT_JSON_NUMBER)) > 0) {
        if (number_of(r, &bucket) || number(r, &n))
            return -1;
        if (bucket >= IOT_LATENCY_BUCKETS || n > IOT_COUNT_MAX)
            return fail(r, "has a class of times that there is not");
        if (iot_histogram_add(times, (unsigned)bucket, n))
            return fail(r, no_memory);
    }
    return goes_on;
}

static int read_times(struct reader *r, struct iot_histogram *times)
{
    return expect(r, IOT_JSON_ARRAY) || read_bars(r, times) ? -1 : 0;
}

/* [class, bytes, bucket, calls, bucket, calls, ..] */
static int read_class(struct reader *r, struct iot_calls *calls)
{
    int64_t class_, bytes;
    if (number(r, &class_) || number(r, &bytes))
        return -1;
    if (class_ >= IOT_CALL_CLASSES)
        return fail(r, "has a class of sizes that there is not");
    struct iot_call_class *to = &calls->classes[class_];
    to->bytes = iot_sum(to->bytes, bytes);
    return read_bars(r, &to->times);
}

static int read_object(struct reader *r, int object)
{
    struct iot_partial *p = &r->partial;
    struct iot_sums rest = {0};
    uint8_t name;
    int goes_on;
    if (expect(r, IOT_JSON_OBJECT) || expect_key(r, "object") || object_name(r, &name))
        return -1;
    if (name != object)
        return fail(r, unexpected);
    if (array_at(r, "rest") || values(r, &rest, IOT_COLUMN_FILE) || array_at(r, "calls"))
        return -1;
    iot_sums_add(&p->rest[object], &rest);
    while ((goes_on = more(r, IOT_JSON_ARRAY)) > 0)
        if (read_class(r, &p->calls[object]))
            return -1;
    return goes_on || expect(r, IOT_JSON_OBJECT_END) ? -1 : 0;
}

static int read_file(struct reader *r)
{
    struct iot_partial_file file = {0};
    char path[IOT_JSON_IN_TEXT + 8], why[IOT_JSON_IN_TEXT + 8];
    if (expect(r, IOT_JSON_STRING))
        return -1;
    strcpy(path, r->in.text);
    if (object_name(r, &file.object) || expect(r, IOT_JSON_STRING))
        return -1;
    strcpy(why, r->in.text);
    file.path = path;
    file.why = why;
    int failed = numbers(r, &file.sums, IOT_COLUMN_FILE) || read_times(r, &file.times) ||
                 expect(r, IOT_JSON_ARRAY_END);
    if (!failed && iot_partial_file(&r->partial, &file))
        failed = fail(r, no_memory);
    iot_histogram_free(&file.times);
    return failed;
}

/* --- rows with names --- */

/* null: of none. */
static int read_row_object(struct reader *r, uint8_t *object)
{
    enum iot_json_token token = iot_json_in_next(&r->in);
    *object = IOT_OBJECTS;
    if (token == IOT_JSON_NULL)
        return 0;
    return token == IOT_JSON_STRING ? object_of(r, object) : refuse(r, token);
}

/* [texts.., object, numbers.., [times], text shown], each where its kind has it. */
static int read_row(struct reader *r, enum iot_row_kind kind, struct iot_named_row *row)
{
    const struct iot_row_about *about = &iot_rows_about[kind];
    for (size_t k = 0; about->texts[k]; k++)
        if (scratch_text(r, &row->texts[k]))
            return -1;
    if (about->flags & IOT_ROW_OBJECT && read_row_object(r, &row->object))
        return -1;
    for (size_t k = 0; about->numbers[k].name; k++)
        if (number(r, &row->numbers[k]))
            return -1;
    if (!row->numbers[0] || row->numbers[0] > (int64_t)r->partial.n_units) /* these came before */
        return fail(r, no_units);
    if ((about->flags & IOT_ROW_TIMES && read_times(r, &row->times)) ||
        (about->flags & IOT_ROW_MORE && scratch_text(r, &row->shown)))
        return -1;
    if (about->flags & IOT_ROW_SPAN && !iot_texts_are_kin(row->texts[0], row->shown))
        return fail(r, unexpected);
    return expect(r, IOT_JSON_ARRAY_END);
}

static int read_rows(struct reader *r, enum iot_row_kind kind)
{
    const struct iot_row_about *about = &iot_rows_about[kind];
    int goes_on, failed = 0;
    if (array_at(r, about->name) || expect(r, IOT_JSON_ARRAY))
        return -1;
    for (size_t k = 0; about->texts[k]; k++)
        if (expect_text(r, about->texts[k]))
            return -1;
    for (size_t k = 0; about->numbers[k].name; k++)
        if (expect_text(r, about->numbers[k].name))
            return -1;
    if (expect(r, IOT_JSON_ARRAY_END))
        return -1;
    while (!failed && (goes_on = more(r, IOT_JSON_ARRAY)) != 0) {
        struct iot_named_row row = {0};
        failed = goes_on < 0 || read_row(r, kind, &row);
        if (!failed && iot_named_rows_add(&r->partial.named[kind], kind, &row, r->partial.arena))
            failed = fail(r, no_memory);
        iot_histogram_free(&row.times);
    }
    return failed;
}

static int read_unread(struct reader *r)
{
    int goes_on;
    if (array_at(r, "unread"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_STRING)) > 0)
        if (iot_partial_unread(&r->partial, r->in.text))
            return fail(r, no_memory);
    return goes_on;
}

/* What stands before tells a partial result from anything else. */
static int read_schema(struct reader *r)
{
    static const char ours[] = "iotrace-partial/";
    if (iot_json_in_next(&r->in) != IOT_JSON_OBJECT || iot_json_in_next(&r->in) != IOT_JSON_KEY ||
        strcmp(r->in.text, "schema") != 0 || iot_json_in_next(&r->in) != IOT_JSON_STRING ||
        strncmp(r->in.text, ours, sizeof ours - 1) != 0) {
        r->head = foreign;
        return -1;
    }
    if (!strcmp(r->in.text, IOT_PARTIAL_SCHEMA))
        return 0;
    r->head = of_another;
    return -1;
}

static int read_all(struct reader *r)
{
    int goes_on;
    if (read_schema(r) || columns(r, "unit_columns", IOT_COLUMN_UNIT) ||
        columns(r, "file_columns", IOT_COLUMN_FILE) || array_at(r, "units"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_OBJECT)) > 0)
        if (read_unit(r))
            return -1;
    if (goes_on || array_at(r, "objects"))
        return -1;
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (read_object(r, o))
            return -1;
    if (expect(r, IOT_JSON_ARRAY_END) || array_at(r, "files"))
        return -1;
    while ((goes_on = more(r, IOT_JSON_ARRAY)) > 0)
        if (read_file(r))
            return -1;
    if (goes_on)
        return -1;
    for (enum iot_row_kind kind = 0; kind < IOT_ROW_KINDS; kind++)
        if (read_rows(r, kind))
            return -1;
    return read_unread(r) || expect(r, IOT_JSON_OBJECT_END) || expect(r, IOT_JSON_END) ? -1 : 0;
}

static enum iot_added read_opened(struct reader *r, struct iot_partial *to, const char *name,
                                  char error[512])
{
    enum iot_added added = IOT_ADDED;
    r->texts = to->arena;
    if (iot_partial_init(&r->partial)) {
        snprintf(error, 512, "%.300s: out of memory", name);
        added = IOT_ADD_FAILED;
    } else if (!read_all(r)) {
        if (iot_partial_join(to, &r->partial)) {
            snprintf(error, 512, "%.300s: out of memory", name);
            added = IOT_ADD_FAILED;
        }
    } else if (r->head) {
        snprintf(error, 512,
                 "%.300s: %s; make one with 'iotrace report --partial', or give the folder of a "
                 "trace",
                 name, r->head);
        added = IOT_UNREAD;
    } else {
        snprintf(error, 512, "%.300s: byte %llu: %.120s; make it with 'iotrace report --partial'",
                 name, (unsigned long long)r->in.at, r->in.error ? r->in.error : unexpected);
        added = r->in.error == no_memory ? IOT_ADD_FAILED : IOT_UNREAD;
    }
    iot_partial_free(&r->partial);
    iot_json_in_close(&r->in);
    return added;
}

enum iot_added iot_partial_add_file(struct iot_partial *partial, const char *path, char error[512])
{
    struct reader r = {0};
    int failed = iot_json_in_open(&r.in, path);
    if (failed) {
        snprintf(error, 512, "%.300s: cannot be read: %s", path, strerror(-failed));
        return failed == -ENOMEM ? IOT_ADD_FAILED : IOT_UNREAD;
    }
    return read_opened(&r, partial, path, error);
}

enum iot_added iot_partial_add_memory(struct iot_partial *partial, const char *name,
                                      const void *bytes, size_t n, char error[512])
{
    struct reader r = {0};
    if (iot_json_in_open_memory(&r.in, bytes, n)) {
        snprintf(error, 512, "%.300s: out of memory", name);
        return IOT_ADD_FAILED;
    }
    return read_opened(&r, partial, name, error);
}
