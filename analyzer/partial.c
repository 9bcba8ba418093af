/* Partial results in memory: how they add up. */
#include "analyzer/partial.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/partial_json.h"
#include "analyzer/room.h"

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
        iot_calls_free(&p->calls[o]);
    for (size_t i = 0; i < p->n_files; i++)
        iot_histogram_free(&p->files[i].times);
    for (int k = 0; k < IOT_ROW_KINDS; k++)
        iot_named_rows_free(&p->named[k]);
    free(p->units);
    free(p->unread);
    free(p->files);
    iot_table_free(&p->table);
    iot_arena_free(p->arena);
    *p = (struct iot_partial){0};
}

struct iot_unit *iot_partial_unit(struct iot_partial *p)
{
    if (IOT_ROOM(p->units, p->n_units + 1, p->room_units))
        return NULL;
    struct iot_unit *unit = &p->units[p->n_units++];
    *unit = (struct iot_unit){
        .identity = IOT_NO_IDENTITY, .host = "", .boot_id = "", .command = "", .damage = ""};
    return unit;
}

/* --- files --- */

struct wanted {
    const struct iot_partial *partial;
    const struct iot_partial_file *file;
};

static int is_wanted(const void *user, uint32_t index)
{
    const struct wanted *w = user;
    const struct iot_partial_file *f = &w->partial->files[index];
    return f->object == w->file->object && !strcmp(f->path, w->file->path);
}

static uint64_t hash_of(const struct iot_partial_file *f)
{
    return iot_table_hash(f->path, strlen(f->path)) + f->object;
}

static int new_file(struct iot_partial *p, uint64_t hash, const struct iot_partial_file *from)
{
    if (p->n_files >= UINT32_MAX || IOT_ROOM(p->files, p->n_files + 1, p->room_files))
        return -1;
    struct iot_partial_file *f = &p->files[p->n_files];
    *f = (struct iot_partial_file){iot_arena_text(p->arena, from->path, strlen(from->path)),
                                   iot_arena_text(p->arena, from->why, strlen(from->why)),
                                   from->object,
                                   from->sums,
                                   {0}};
    if (!f->path || !f->why || iot_table_add(&p->table, hash, (uint32_t)p->n_files))
        return -1;
    p->n_files++;
    return iot_histogram_join(&f->times, &from->times);
}

int iot_partial_file(struct iot_partial *p, const struct iot_partial_file *file)
{
    const struct wanted w = {p, file};
    uint64_t hash = hash_of(file);
    uint32_t found = iot_table_find(&p->table, hash, is_wanted, &w);
    if (found == UINT32_MAX)
        return new_file(p, hash, file);
    struct iot_partial_file *f = &p->files[found];
    iot_sums_add(&f->sums, &file->sums);
    if (strcmp(file->why, f->why) < 0)
        f->why = iot_arena_text(p->arena, file->why, strlen(file->why));
    return !f->why || iot_histogram_join(&f->times, &file->times) ? -1 : 0;
}

/* --- calls --- */

unsigned iot_call_class_of(int64_t bytes)
{
    return bytes <= 0 ? 0 : 64 - (unsigned)__builtin_clzll((uint64_t)bytes);
}

int iot_calls_join(struct iot_calls *to, const struct iot_calls *from)
{
    int failed = 0;
    for (int c = 0; c < IOT_CALL_CLASSES && !failed; c++) {
        to->classes[c].bytes = iot_sum(to->classes[c].bytes, from->classes[c].bytes);
        failed = iot_histogram_join(&to->classes[c].times, &from->classes[c].times);
    }
    return failed;
}

void iot_calls_free(struct iot_calls *calls)
{
    for (int c = 0; c < IOT_CALL_CLASSES; c++)
        iot_histogram_free(&calls->classes[c].times);
}

/* --- all of it --- */

int iot_partial_unread(struct iot_partial *p, const char *line)
{
    if (IOT_ROOM(p->unread, p->n_unread + 1, p->room_unread))
        return -1;
    const char *kept = p->unread[p->n_unread] = iot_arena_text(p->arena, line, strlen(line));
    p->n_unread += kept != NULL;
    return kept ? 0 : -1;
}

int iot_partial_join(struct iot_partial *to, const struct iot_partial *from)
{
    int failed = 0;
    for (size_t k = 0; k < from->n_units && !failed; k++) {
        struct iot_unit *unit = iot_partial_unit(to);
        failed = !unit;
        if (unit)
            *unit = from->units[k];
    }
    for (size_t k = 0; k < from->n_unread && !failed; k++)
        failed = iot_partial_unread(to, from->unread[k]);
    for (size_t i = 0; i < from->n_files && !failed; i++)
        failed = iot_partial_file(to, &from->files[i]);
    for (int o = 0; o < IOT_OBJECTS && !failed; o++) {
        iot_sums_add(&to->rest[o], &from->rest[o]);
        failed = iot_calls_join(&to->calls[o], &from->calls[o]);
    }
    for (enum iot_row_kind kind = 0; kind < IOT_ROW_KINDS; kind++)
        for (size_t k = 0; k < from->named[kind].n && !failed; k++)
            failed =
                iot_named_rows_add(&to->named[kind], kind, &from->named[kind].rows[k], to->arena);
    return failed ? -1 : 0;
}

/* --- order --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

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
    if (p->n_unread)
        qsort(p->unread, p->n_unread, sizeof *p->unread, by_text);
    iot_table_free(&p->table); /* its indexes are those of before */
    p->table = (struct iot_table){0};
    for (size_t i = 0; i < p->n_files && !failed; i++)
        failed = iot_table_add(&p->table, hash_of(&p->files[i]), (uint32_t)i);
    for (enum iot_row_kind kind = 0; kind < IOT_ROW_KINDS && !failed; kind++)
        failed = iot_named_rows_order(&p->named[kind], kind);
    return failed ? -1 : 0;
}
