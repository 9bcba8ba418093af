#include "analyzer/parquet_values.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/parquet_encode.h"

/* A page ends with its rows, or where plain texts have become so many bytes. */
enum { PAGE_ROWS = 1 << 15, PAGE_BYTES = 1 << 20 };

/* A dictionary with more has no use, or no end. */
enum { TEXTS_MOST = 1 << 15, TEXT_BYTES_MOST = 1 << 20, NUMBERS_MOST = 1 << 10 };

/* Tables are twice as large at least, and powers of two. */
enum { SLOTS = 1 << 16, SEEN = 1 << 12 };

/* Longer texts are no bounds: other readers cut them as well. */
enum { BOUND_BYTES = 256 };

struct iot_parquet_room {
    uint32_t levels[IOT_PARQUET_GROUP_ROWS]; /* by row: 0 null */
    uint32_t ids[IOT_PARQUET_GROUP_ROWS];    /* of values, in the dictionary */
    union {
        int64_t numbers[IOT_PARQUET_GROUP_ROWS];
        const char *texts[IOT_PARQUET_GROUP_ROWS];
    };
    /* The dictionary by content; an id and one, 0: free. */
    uint32_t slots[SLOTS];
    uint32_t offsets[TEXTS_MOST]; /* of its texts, with their length before them */
    int64_t entries[NUMBERS_MOST];
    /* Texts by where they are: the same place is the same text. */
    struct {
        const char *text;
        uint32_t id;
    } seen[SEEN];
    size_t value; /* the first that no page has */
    char *escaped;
};

int iot_parquet_values_init(struct iot_parquet_values *v)
{
    *v = (struct iot_parquet_values){.room = malloc(sizeof *v->room)};
    if (!v->room)
        return -1;
    v->room->escaped = NULL;
    return 0;
}

void iot_parquet_values_free(struct iot_parquet_values *v)
{
    if (v->room)
        free(v->room->escaped);
    free(v->room);
    iot_bytes_free(&v->dictionary);
    iot_bytes_free(&v->least);
    iot_bytes_free(&v->most);
    *v = (struct iot_parquet_values){0};
}

static uint64_t mix(uint64_t h)
{
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* --- numbers --- */

/* UINT32_MAX: one too many. */
static uint32_t id_of_number(struct iot_parquet_values *v, int64_t number)
{
    struct iot_parquet_room *room = v->room;
    uint32_t slot = (uint32_t)(mix((uint64_t)number) & (2 * NUMBERS_MOST - 1));
    while (room->slots[slot] && room->entries[room->slots[slot] - 1] != number)
        slot = (slot + 1) & (2 * NUMBERS_MOST - 1);
    if (!room->slots[slot]) {
        if (v->entries == NUMBERS_MOST)
            return UINT32_MAX;
        room->entries[v->entries] = number;
        room->slots[slot] = ++v->entries;
    }
    return room->slots[slot] - 1;
}

static void take_numbers(struct iot_parquet_values *v)
{
    struct iot_parquet_room *room = v->room;
    int64_t least = INT64_MAX, most = INT64_MIN;
    size_t k = 0;
    for (size_t i = 0; i < v->n; i++) {
        least = room->numbers[i] < least ? room->numbers[i] : least;
        most = room->numbers[i] > most ? room->numbers[i] : most;
    }
    if (v->n) {
        iot_bytes_fixed(&v->least, (uint64_t)least, 8);
        iot_bytes_fixed(&v->most, (uint64_t)most, 8);
        v->bounded = true;
    }
    memset(room->slots, 0, 2 * NUMBERS_MOST * sizeof *room->slots);
    while (k < v->n && (room->ids[k] = id_of_number(v, room->numbers[k])) != UINT32_MAX)
        k++;
    v->encoding = k == v->n ? IOT_PARQUET_DICTIONARY : IOT_PARQUET_DELTA;
    for (uint32_t e = 0; k == v->n && e < v->entries; e++)
        iot_bytes_fixed(&v->dictionary, (uint64_t)room->entries[e], 8);
}

/* --- texts --- */

static const unsigned char *entry(const struct iot_parquet_values *v, uint32_t id, size_t *n)
{
    const unsigned char *at = v->dictionary.at + v->room->offsets[id];
    *n = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
    return at + 4;
}

static uint64_t hash(const char *text, size_t n)
{
    uint64_t h = n, word;
    for (; n >= 8; n -= 8, text += 8) {
        memcpy(&word, text, 8);
        h = mix(h ^ word);
    }
    word = 0;
    memcpy(&word, text, n);
    return mix(h ^ word);
}

/* By content. UINT32_MAX: too many, or without memory. */
static uint32_t id_of_content(struct iot_parquet_values *v, const char *text)
{
    struct iot_parquet_room *room = v->room;
    size_t n = strlen(text), length;
    uint32_t slot = (uint32_t)hash(text, n) & (SLOTS - 1);
    for (; room->slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
        const unsigned char *there = entry(v, room->slots[slot] - 1, &length);
        if (length == n && !memcmp(there, text, n))
            return room->slots[slot] - 1;
    }
    if (v->entries == TEXTS_MOST || v->dictionary.n + n > TEXT_BYTES_MOST)
        return UINT32_MAX;
    room->offsets[v->entries] = (uint32_t)v->dictionary.n;
    iot_bytes_fixed(&v->dictionary, n, 4);
    iot_bytes_add(&v->dictionary, text, n);
    if (v->dictionary.failed)
        return UINT32_MAX;
    room->slots[slot] = ++v->entries;
    return v->entries - 1;
}

/* -1 without memory. */
static int put_text(struct iot_bytes *to, const char *text, char **escaped)
{
    const char *plain = iot_cell_text(text, escaped);
    if (!plain)
        return -1;
    iot_bytes_fixed(to, strlen(plain), 4);
    iot_bytes_add(to, plain, strlen(plain));
    return 0;
}

static int order(const unsigned char *a, size_t n_a, const unsigned char *b, size_t n_b)
{
    int first = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return first ? first : (n_a > n_b) - (n_a < n_b);
}

static void bound_texts(struct iot_parquet_values *v)
{
    size_t n_least = 0, n_most = 0;
    const unsigned char *least = NULL, *most = NULL;
    for (uint32_t id = 0; id < v->entries; id++) {
        size_t n;
        const unsigned char *at = entry(v, id, &n);
        if (!least || order(at, n, least, n_least) < 0) {
            least = at;
            n_least = n;
        }
        if (!most || order(at, n, most, n_most) > 0) {
            most = at;
            n_most = n;
        }
    }
    v->bounded = least && n_least <= BOUND_BYTES && n_most <= BOUND_BYTES;
    if (!v->bounded)
        return;
    iot_bytes_add(&v->least, least, n_least);
    iot_bytes_add(&v->most, most, n_most);
}

static int take_texts(struct iot_parquet_values *v)
{
    struct iot_parquet_room *room = v->room;
    size_t k = 0;
    memset(room->slots, 0, sizeof room->slots);
    memset(room->seen, 0, sizeof room->seen);
    for (; k < v->n; k++) {
        const char *text = room->texts[k];
        size_t place = mix((uintptr_t)text) >> 20 & (SEEN - 1);
        if (room->seen[place].text != text) {
            const char *plain = iot_cell_text(text, &room->escaped);
            uint32_t id = plain ? id_of_content(v, plain) : UINT32_MAX;
            if (!plain || v->dictionary.failed)
                return -1;
            if (id == UINT32_MAX)
                break;
            room->seen[place].text = text;
            room->seen[place].id = id;
        }
        room->ids[k] = room->seen[place].id;
    }
    v->encoding = k == v->n ? IOT_PARQUET_DICTIONARY : IOT_PARQUET_PLAIN;
    if (k == v->n)
        bound_texts(v);
    return 0;
}

/* --- all --- */

int iot_parquet_values_gather(struct iot_parquet_values *v, const struct iot_exported *x,
                              const struct iot_column *column, size_t first, size_t rows)
{
    struct iot_parquet_room *room = v->room;
    v->column = column;
    v->rows = rows;
    v->n = v->entries = 0;
    v->dictionary.n = v->least.n = v->most.n = 0;
    v->bounded = false;
    room->value = 0;
    for (size_t k = 0; k < rows; k++) {
        struct iot_cell cell = column->get(x, first + k);
        room->levels[k] = !cell.null;
        if (cell.null)
            continue;
        if (!column->text)
            room->numbers[v->n++] = cell.number;
        else if (!(room->texts[v->n++] = cell.text))
            return -1;
    }
    if (column->text ? take_texts(v) : (take_numbers(v), 0))
        return -1;
    if (!v->n)
        v->encoding = IOT_PARQUET_PLAIN;
    if (v->encoding != IOT_PARQUET_DICTIONARY)
        v->entries = 0;
    return v->dictionary.failed || v->least.failed || v->most.failed ? -1 : 0;
}

/* Behind the last row of a page; *values: how many of its rows have one. */
static size_t page_end(const struct iot_parquet_values *v, size_t row, size_t *values)
{
    const struct iot_parquet_room *room = v->room;
    size_t end = row, bytes = 0;
    *values = 0;
    for (; end < v->rows && end - row < PAGE_ROWS && bytes < PAGE_BYTES; end++) {
        if (room->levels[end] && v->encoding == IOT_PARQUET_PLAIN)
            bytes += strlen(room->texts[room->value + *values]);
        *values += room->levels[end];
    }
    return end;
}

static void put_levels(const struct iot_parquet_values *v, size_t row, size_t rows,
                       struct iot_bytes *to)
{
    size_t at = to->n;
    iot_bytes_fixed(to, 0, 4);
    iot_parquet_hybrid(to, v->room->levels + row, rows, 1);
    for (unsigned k = 0; k < 4 && !to->failed; k++)
        to->at[at + k] = (unsigned char)((to->n - at - 4) >> 8 * k);
}

static int put_values(struct iot_parquet_values *v, size_t n, struct iot_bytes *to)
{
    struct iot_parquet_room *room = v->room;
    size_t at = room->value;
    unsigned width = iot_parquet_width(v->entries ? v->entries - 1 : 0);
    room->value += n;
    switch (v->encoding) {
    case IOT_PARQUET_DELTA:
        iot_parquet_delta(to, room->numbers + at, n);
        break;
    case IOT_PARQUET_DICTIONARY:
        iot_bytes_byte(to, width);
        iot_parquet_hybrid(to, room->ids + at, n, width);
        break;
    default:
        for (; at < room->value; at++)
            if (put_text(to, room->texts[at], &room->escaped))
                return -1;
    }
    return to->failed ? -1 : 0;
}

long iot_parquet_values_page(struct iot_parquet_values *v, size_t *row, struct iot_bytes *to)
{
    size_t values, first = *row;
    *row = page_end(v, first, &values);
    if (v->column->nullable)
        put_levels(v, first, *row - first, to);
    return put_values(v, values, to) ? -1 : (long)(*row - first);
}
