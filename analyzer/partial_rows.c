#include "analyzer/partial_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/partial.h"
#include "analyzer/room.h"

enum { SUM, MOST, LEAST };
enum {
    FAMILY = IOT_ROW_FAMILY,
    OBJECT = IOT_ROW_OBJECT,
    TIMES = IOT_ROW_TIMES,
    SHOWN = IOT_ROW_SHOWN,
    SPAN = IOT_ROW_SPAN
};

const struct iot_row_about iot_rows_about[IOT_ROW_KINDS] = {
#define IOT_ROWS(kind, most_, flags_)                                                              \
    [IOT_ROWS_##kind].name = #kind, [IOT_ROWS_##kind].most = (most_) ? (most_) : SIZE_MAX,         \
    [IOT_ROWS_##kind].flags = (flags_),
#define IOT_ROW_TEXT(kind, name) [IOT_ROWS_##kind].texts[IOT_ROW_TEXT_##kind##_##name] = #name,
#define IOT_ROW_NUMBER(kind, how_, name_)                                                          \
    [IOT_ROWS_##kind].numbers[IOT_ROW_##kind##_##name_] = {(how_), #name_},
#include "analyzer/partial_rows.def"
};

/* --- families of texts --- */

/* The next character; a number, and what stands for one, is '#'. */
static char next(const char **text)
{
    size_t n = iot_number_length(*text);
    char c = n ? '#' : **text;
    *text += n ? n : c != '\0';
    return c;
}

int iot_texts_are_kin(const char *x, const char *y)
{
    for (char c;;) {
        if ((c = next(&x)) != next(&y))
            return 0;
        if (!c)
            return 1;
    }
}

static int alike(const char *x, const char *y, unsigned flags)
{
    return flags & FAMILY ? iot_texts_are_kin(x, y) : !strcmp(x, y);
}

static uint64_t hash_of(const struct iot_row_about *about, const struct iot_named_row *row)
{
    uint64_t hash = about->flags & OBJECT ? row->object : 0;
    for (size_t k = 0; about->texts[k]; k++) {
        const char *p = row->texts[k];
        char c;
        do {
            c = about->flags & FAMILY ? next(&p) : *p ? *p++ : '\0';
            hash = (hash ^ (unsigned char)c) * UINT64_C(0x100000001b3);
        } while (c);
    }
    return iot_table_hash(&hash, sizeof hash);
}

/* Of two texts that are alike. NULL without memory. */
static const char *common(const char *x, const char *y, struct iot_arena *arena)
{
    if (!strcmp(x, y))
        return x;
    char *text = iot_arena_text(arena, x, strlen(x)), *to = text;
    for (const char *p = x; text && (*to = next(&p)); to++)
        ;
    return text;
}

/* --- rows --- */

struct wanted {
    const struct iot_named_rows *rows;
    const struct iot_row_about *about;
    const struct iot_named_row *row;
};

static int is_wanted(const void *user, uint32_t index)
{
    const struct wanted *w = user;
    const struct iot_named_row *row = &w->rows->rows[index];
    if (w->about->flags & OBJECT && row->object != w->row->object)
        return 0;
    for (size_t k = 0; w->about->texts[k]; k++)
        if (!alike(row->texts[k], w->row->texts[k], w->about->flags))
            return 0;
    return 1;
}

static int add_new(struct iot_named_rows *rows, uint64_t hash, const struct iot_row_about *about,
                   const struct iot_named_row *from, struct iot_arena *arena)
{
    if (IOT_ROOM(rows->rows, rows->n + 1, rows->room))
        return -1;
    struct iot_named_row *row = &rows->rows[rows->n];
    *row = (struct iot_named_row){.object = from->object};
    for (size_t k = 0; about->texts[k]; k++)
        if (!(row->texts[k] = iot_arena_text(arena, from->texts[k], strlen(from->texts[k]))))
            return -1;
    if (about->flags & IOT_ROW_MORE &&
        !(row->shown = iot_arena_text(arena, from->shown, strlen(from->shown))))
        return -1;
    memcpy(row->numbers, from->numbers, sizeof row->numbers);
    if (rows->n >= UINT32_MAX || iot_table_add(&rows->table, hash, (uint32_t)rows->n))
        return -1;
    rows->n++;
    return iot_histogram_join(&row->times, &from->times);
}

static int show(struct iot_named_row *to, const struct iot_named_row *from, size_t last,
                struct iot_arena *arena)
{
    int64_t more = from->numbers[last] - to->numbers[last];
    if (more > 0 || (!more && strcmp(from->shown, to->shown) < 0))
        to->shown = iot_arena_text(arena, from->shown, strlen(from->shown));
    return to->shown ? 0 : -1;
}

static int join(struct iot_named_row *to, const struct iot_row_about *about,
                const struct iot_named_row *from, struct iot_arena *arena)
{
    size_t n = 0;
    for (size_t k = 0; about->texts[k]; k++) {
        to->texts[k] = about->flags & SPAN
                           ? iot_text_of_numbers(to->texts[k], from->texts[k], -1, arena)
                           : common(to->texts[k], from->texts[k], arena);
        if (!to->texts[k])
            return -1;
    }
    if (about->flags & SPAN && !(to->shown = iot_text_of_numbers(to->shown, from->shown, 1, arena)))
        return -1;
    while (about->numbers[n].name)
        n++;
    if (about->flags & SHOWN && show(to, from, n - 1, arena))
        return -1;
    for (size_t k = 0; k < n; k++) {
        int64_t *at = &to->numbers[k], more = from->numbers[k];
        if (about->numbers[k].how == SUM)
            *at = iot_sum(*at, more);
        else if (about->numbers[k].how == MOST ? more > *at : more < *at)
            *at = more;
    }
    return iot_histogram_join(&to->times, &from->times);
}

int iot_named_rows_add(struct iot_named_rows *rows, enum iot_row_kind kind,
                       const struct iot_named_row *row, struct iot_arena *arena)
{
    const struct iot_row_about *about = &iot_rows_about[kind];
    const struct wanted w = {rows, about, row};
    uint64_t hash = hash_of(about, row);
    uint32_t found = iot_table_find(&rows->table, hash, is_wanted, &w);
    return found == UINT32_MAX ? add_new(rows, hash, about, row, arena)
                               : join(&rows->rows[found], about, row, arena);
}

static int by_texts(const void *a, const void *b)
{
    const struct iot_named_row *x = a, *y = b;
    int order = 0;
    for (size_t k = 0; k < IOT_ROW_TEXTS && x->texts[k] && !order; k++)
        order = strcmp(x->texts[k], y->texts[k]);
    return order ? order : (int)x->object - (int)y->object;
}

int iot_named_rows_order(struct iot_named_rows *rows, enum iot_row_kind kind)
{
    int failed = 0;
    if (rows->n)
        qsort(rows->rows, rows->n, sizeof *rows->rows, by_texts);
    iot_table_free(&rows->table); /* its indexes are those of before */
    rows->table = (struct iot_table){0};
    for (size_t k = 0; k < rows->n && !failed; k++)
        failed = iot_table_add(&rows->table, hash_of(&iot_rows_about[kind], &rows->rows[k]),
                               (uint32_t)k);
    return failed ? -1 : 0;
}

void iot_named_rows_free(struct iot_named_rows *rows)
{
    for (size_t k = 0; k < rows->n; k++)
        iot_histogram_free(&rows->rows[k].times);
    free(rows->rows);
    iot_table_free(&rows->table);
    *rows = (struct iot_named_rows){0};
}
