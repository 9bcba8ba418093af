/* Partial results in memory: how they add up. */
#include "analyzer/partial.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/partial_json.h"

enum { SUM, MOST };
#define GROUP_BOTH IOT_COLUMN_BOTH
#define GROUP_UNIT IOT_COLUMN_UNIT
#define GROUP_FILE IOT_COLUMN_FILE

const char *const iot_column_names[IOT_COLUMNS] = {
#define IOT_COLUMN(group, how, name, of) #name,
#include "analyzer/partial_columns.def"
#undef IOT_COLUMN
};

static const uint8_t column_how[IOT_COLUMNS] = {
#define IOT_COLUMN(group, how, name, of) how,
#include "analyzer/partial_columns.def"
#undef IOT_COLUMN
};

static const uint8_t column_group[IOT_COLUMNS] = {
#define IOT_COLUMN(group, how, name, of) GROUP_##group,
#include "analyzer/partial_columns.def"
#undef IOT_COLUMN
};

const char *const iot_unit_number_names[IOT_UNIT_NUMBERS] = {
#define IOT_NUMBER(name) #name,
#include "analyzer/partial_unit.def"
#undef IOT_NUMBER
};

int iot_column_is_in(enum iot_sum_column column, enum iot_column_group group)
{
    return column_group[column] == IOT_COLUMN_BOTH || column_group[column] == group;
}

void iot_sums_add(struct iot_sums *to, const struct iot_sums *from)
{
    for (int c = 0; c < IOT_COLUMNS; c++)
        if (column_how[c] == SUM)
            to->at[c] = iot_sum(to->at[c], from->at[c]);
        else if (from->at[c] > to->at[c])
            to->at[c] = from->at[c];
}

int iot_partial_init(struct iot_partial *partial)
{
    *partial = (struct iot_partial){.arena = iot_arena_new()};
    return partial->arena ? 0 : -1;
}

void iot_partial_free(struct iot_partial *p)
{
    for (int o = 0; o < IOT_OBJECTS; o++)
        for (int c = 0; c < IOT_CALL_CLASSES; c++)
            free(p->calls[o].classes[c]);
    free(p->units);
    free(p->files);
    iot_table_free(&p->table);
    iot_arena_free(p->arena);
    *p = (struct iot_partial){0};
}

static void *room_for(void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    size_t wanted = *room ? 2 * *room : 16;
    void *more = realloc(items, wanted * size);
    if (more)
        *room = wanted;
    return more;
}

struct iot_unit *iot_partial_unit(struct iot_partial *p)
{
    void *more = room_for(p->units, p->n_units, &p->room_units, sizeof *p->units);
    if (!more)
        return NULL;
    p->units = more;
    struct iot_unit *unit = &p->units[p->n_units++];
    *unit = (struct iot_unit){
        .identity = IOT_NO_IDENTITY, .host = "", .boot_id = "", .command = "", .damage = ""};
    return unit;
}

/* --- files --- */

struct wanted {
    const struct iot_partial *partial;
    const char *path;
    uint8_t object;
};

static int is_wanted(const void *user, uint32_t index)
{
    const struct wanted *w = user;
    const struct iot_partial_file *f = &w->partial->files[index];
    return f->object == w->object && !strcmp(f->path, w->path);
}

static int new_file(struct iot_partial *p, uint64_t hash, const struct wanted *w, const char *why,
                    const struct iot_sums *sums)
{
    void *more = room_for(p->files, p->n_files, &p->room_files, sizeof *p->files);
    if (!more || p->n_files >= UINT32_MAX)
        return -1;
    p->files = more;
    struct iot_partial_file *f = &p->files[p->n_files];
    *f = (struct iot_partial_file){iot_arena_text(p->arena, w->path, strlen(w->path)),
                                   iot_arena_text(p->arena, why, strlen(why)), w->object, *sums};
    if (!f->path || !f->why || iot_table_add(&p->table, hash, (uint32_t)p->n_files))
        return -1;
    p->n_files++;
    return 0;
}

int iot_partial_file(struct iot_partial *p, const char *path, uint8_t object, const char *why,
                     const struct iot_sums *sums)
{
    const struct wanted w = {p, path, object};
    uint64_t hash = iot_table_hash(path, strlen(path)) + object;
    uint32_t found = iot_table_find(&p->table, hash, is_wanted, &w);
    if (found == UINT32_MAX)
        return new_file(p, hash, &w, why, sums);
    struct iot_partial_file *f = &p->files[found];
    iot_sums_add(&f->sums, sums);
    if (strcmp(why, f->why) < 0)
        f->why = iot_arena_text(p->arena, why, strlen(why));
    return f->why ? 0 : -1;
}

/* --- calls --- */

struct iot_call_class *iot_calls_class(struct iot_calls *calls, unsigned class_)
{
    if (!calls->classes[class_])
        calls->classes[class_] = calloc(1, sizeof **calls->classes);
    return calls->classes[class_];
}

unsigned iot_call_class_of(int64_t bytes)
{
    return bytes <= 0 ? 0 : 64 - (unsigned)__builtin_clzll((uint64_t)bytes);
}

/* --- order --- */

static int by_path(const void *a, const void *b)
{
    const struct iot_partial_file *x = a, *y = b;
    int paths = strcmp(x->path, y->path);
    return paths ? paths : (int)x->object - (int)y->object;
}

struct placed {
    struct iot_unit unit;
    char *text; /* as it is written: made only of those that are alike otherwise */
};

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* A unit's identity: what no two have in common. */
static int by_id(const struct iot_unit *x, const struct iot_unit *y)
{
    static const uint8_t numbers[] = {IOT_UNIT_pid, IOT_UNIT_start_mono_ns,
                                      IOT_UNIT_start_realtime_ns};
    int order = strcmp(x->identity.job, y->identity.job);
    if (!order)
        order = by_number(x->identity.rank, y->identity.rank);
    if (!order)
        order = strcmp(x->host, y->host);
    if (!order)
        order = strcmp(x->boot_id, y->boot_id);
    for (size_t k = 0; k < sizeof numbers && !order; k++)
        order = by_number(x->numbers[numbers[k]], y->numbers[numbers[k]]);
    return order;
}

int iot_units_are_one(const struct iot_unit *x, const struct iot_unit *y)
{
    return !by_id(x, y);
}

static int by_unit(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = by_id(&x->unit, &y->unit);
    return order || !x->text || !y->text ? order : strcmp(x->text, y->text);
}

int iot_partial_order(struct iot_partial *p)
{
    struct placed *placed = calloc(p->n_units + 1, sizeof *placed);
    int failed = !placed;
    for (size_t k = 0; k < p->n_units && !failed; k++)
        placed[k].unit = p->units[k];
    if (!failed && p->n_units)
        qsort(placed, p->n_units, sizeof *placed, by_unit);
    int alike = 0;
    for (size_t k = 0; k < p->n_units && !failed; k++) {
        int twin = (k && !by_id(&placed[k - 1].unit, &placed[k].unit)) ||
                   (k + 1 < p->n_units && !by_id(&placed[k].unit, &placed[k + 1].unit));
        alike |= twin;
        failed = twin && !(placed[k].text = iot_partial_unit_text(&placed[k].unit));
    }
    if (alike && !failed)
        qsort(placed, p->n_units, sizeof *placed, by_unit);
    for (size_t k = 0; k < p->n_units && !failed; k++)
        p->units[k] = placed[k].unit;
    for (size_t k = 0; placed && k < p->n_units; k++)
        free(placed[k].text);
    free(placed);
    if (!failed && p->n_files)
        qsort(p->files, p->n_files, sizeof *p->files, by_path);
    iot_table_free(&p->table); /* its indexes are those of before */
    p->table = (struct iot_table){0};
    for (size_t i = 0; i < p->n_files && !failed; i++)
        failed = iot_table_add(&p->table,
                               iot_table_hash(p->files[i].path, strlen(p->files[i].path)) +
                                   p->files[i].object,
                               (uint32_t)i);
    return failed ? -1 : 0;
}
