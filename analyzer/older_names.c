#include "analyzer/older_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"

enum { SWEEPS_MAX = 8 };

/* Numbers, as bits. */
struct set {
    uint64_t *words;
    size_t n;
};

struct wanted {
    uint32_t most; /* no number is larger */
    struct set strings, descs, stacks;
    struct set met_strings, met_descs; /* definitions that the sweep has come by */
    int again;                         /* one was wanted that it had come by before */
    int failed;
    struct iot_names *names;
    struct iot_arena *arena;
    struct iot_definition found[IOT_HALF_ROWS]; /* of a block */
    size_t n_found;
};

static int has(const struct set *s, uint32_t number)
{
    return number / 64 < s->n && s->words[number / 64] >> number % 64 & 1;
}

static int put(struct set *s, uint32_t number)
{
    size_t word = number / 64;
    if (word >= s->n) {
        size_t before = s->n;
        if (IOT_ROOM(s->words, word + 1, s->n))
            return -1;
        memset(s->words + before, 0, (s->n - before) * sizeof *s->words);
    }
    s->words[word] |= UINT64_C(1) << number % 64;
    return 0;
}

static void want(struct wanted *w, struct set *set, const struct set *met, uint32_t number)
{
    if (!number || number > w->most || has(set, number))
        return;
    w->failed |= put(set, number);
    w->again |= has(met, number);
}

static void want_string(struct wanted *w, uint32_t number)
{
    want(w, &w->strings, &w->met_strings, number);
}

static void want_desc(struct wanted *w, uint32_t number)
{
    want(w, &w->descs, &w->met_descs, number);
}

/* A decimal number at `text`; 0: none. */
static uint32_t number_at(const char *text, const char *end)
{
    uint64_t n = 0;
    for (; text < end && *text >= '0' && *text <= '9' && n <= UINT32_MAX; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* What a string's text names: the folder that it is relative to, or the modules of a stack. */
static void want_in(struct wanted *w, uint32_t number, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    if (bytes && *text == 1)
        want_desc(w, number_at(text + 1, end));
    if (!has(&w->stacks, number))
        return;
    for (const char *line = text; line && line < end; line = line ? line + 1 : NULL) {
        want_string(w, number_at(line, end));
        line = memchr(line, '\n', (size_t)(end - line));
    }
}

static void want_of(struct wanted *w, const struct iot_definition *d)
{
    if (d->row.obj > w->most)
        return;
    if (d->row.op == IOT_DEF_STRING) {
        w->failed |= put(&w->met_strings, d->row.obj);
        if (has(&w->strings, d->row.obj))
            want_in(w, d->row.obj, d->text, (size_t)d->row.bytes);
    } else {
        w->failed |= put(&w->met_descs, d->row.obj);
        if (!has(&w->descs, d->row.obj))
            return;
        want_string(w, d->row.obj2);
        if (d->row.addr & IOT_DESC_DUP)
            want_desc(w, (uint32_t)d->row.offset);
    }
}

/* What the newest blocks use. A number may be either's: too much does no harm. */
static void want_of_events(struct wanted *w, const struct iot_reading *r, size_t index)
{
    const struct iot_trace *t = r->trace;
    const struct iot_events *e = &t->events;
    for (size_t k = 0; k < t->n_lanes; k++) {
        const struct iot_lane *lane = &t->lanes[k];
        if (r->lane_image[k] != index)
            continue;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            want_string(w, e->file[i]);
            want_string(w, e->file2[i]);
            want_string(w, e->stack[i]);
            want_desc(w, e->file[i]);
            want_desc(w, e->file2[i]);
            if (e->stack[i] && e->stack[i] <= w->most)
                w->failed |= put(&w->stacks, e->stack[i]);
        }
    }
}

/* What they define, for what that needs. */
static void want_of_names(struct wanted *w)
{
    for (size_t i = 0; i < w->names->n_strings; i++) {
        const struct iot_string *s = &w->names->strings[i];
        want_in(w, s->number, s->text, strlen(s->text));
    }
    for (size_t i = 0; i < w->names->n_descs; i++) {
        const struct iot_desc *d = &w->names->descs[i];
        want_string(w, d->name);
        if (d->addr & IOT_DESC_DUP)
            want_desc(w, (uint32_t)d->offset);
    }
}

static void on_event(void *user, const struct iot_row *row)
{
    (void)user;
    (void)row;
}

static void on_definition(void *user, const struct iot_definition *definition)
{
    struct wanted *w = user;
    if (w->n_found < IOT_HALF_ROWS)
        w->found[w->n_found++] = *definition;
}

static void define(struct wanted *w, const struct iot_definition *d)
{
    const struct set *set = d->row.op == IOT_DEF_STRING ? &w->strings : &w->descs;
    if (has(set, d->row.obj))
        w->failed |= iot_names_define(w->names, w->arena, d);
}

/* The definitions of a block, the last first: most need earlier ones. Only those that are wanted
 * are put into the names, in their order, at the end. */
static void sweep_block(struct wanted *w, struct iot_reading *r, struct iot_container *c,
                        const struct iot_piece *piece, int last)
{
    const struct iot_row_visitor visitor = {on_event, on_definition, w};
    if (piece->rows == piece->events)
        return;
    w->n_found = 0;
    iot_container_rows(c, r->readers[0], piece, &visitor);
    for (size_t k = w->n_found; k-- > 0;)
        want_of(w, &w->found[k]);
    for (size_t k = 0; k < w->n_found && last; k++)
        define(w, &w->found[k]);
}

static size_t definitions_in(const struct iot_piece *pieces, size_t n)
{
    size_t sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += pieces[k].rows - pieces[k].events;
    return sum;
}

/* Numbers are given one after the other, a few of them in vain; and of what an event names not all
 * are. */
static uint32_t largest(const struct iot_container *c)
{
    enum { IN_VAIN = 8, SPARE = 1 << 20 };
    uint64_t n = definitions_in(c->pieces, c->n_pieces) + definitions_in(c->older, c->n_older);
    return n < UINT32_MAX / IN_VAIN - SPARE ? (uint32_t)(n * IN_VAIN + SPARE) : UINT32_MAX - 1;
}

static void forget_met(struct wanted *w)
{
    free(w->met_strings.words);
    free(w->met_descs.words);
    w->met_strings = w->met_descs = (struct set){NULL, 0};
}

int iot_older_names(struct iot_reading *r, size_t index)
{
    struct iot_container *c = &r->images[index].file;
    struct wanted *w = calloc(1, sizeof *w);
    if (!w)
        return -1;
    w->names = &r->names[index];
    w->arena = r->arenas[0];
    w->most = largest(c);
    want_of_events(w, r, index);
    want_of_names(w);
    w->again = 1;
    for (int sweep = 0; sweep < SWEEPS_MAX && w->again && !w->failed; sweep++) {
        w->again = 0;
        forget_met(w);
        for (size_t k = c->n_older; k-- > 0 && !w->failed;)
            sweep_block(w, r, c, &c->older[k], 0);
    }
    for (size_t k = 0; k < c->n_older && !w->failed; k++)
        sweep_block(w, r, c, &c->older[k], 1);
    int failed = w->failed;
    forget_met(w);
    free(w->strings.words);
    free(w->descs.words);
    free(w->stacks.words);
    free(w);
    return failed ? -1 : 0;
}
