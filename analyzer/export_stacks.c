/* Collapsed stacks, as flame graphs are drawn from: a line for each place in the program, or where
 * no stacks were recorded for each file and object, with the exposed nanoseconds of its calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export.h"
#include "analyzer/room.h"
#include "analyzer/table.h"
#include "analyzer/text.h"

struct place {
    uint32_t lane, stack, row;
    unsigned op;
};

struct pile {
    struct place place;
    int64_t exposed_ns;
};

struct piles {
    struct pile *list;
    size_t n, room;
    struct iot_table table;
};

struct wanted {
    const struct piles *piles;
    const struct place *place;
};

static int same_place(const void *user, uint32_t index)
{
    const struct wanted *w = user;
    return !memcmp(&w->piles->list[index].place, w->place, sizeof *w->place);
}

static struct pile *pile_of(struct piles *p, const struct place *place)
{
    uint64_t hash = iot_table_hash(place, sizeof *place);
    uint32_t k = iot_table_find(&p->table, hash, same_place, &(struct wanted){p, place});
    if (k != UINT32_MAX)
        return &p->list[k];
    if (IOT_ROOM(p->list, p->n + 1, p->room))
        return NULL;
    if (iot_table_add(&p->table, hash, (uint32_t)p->n))
        return NULL;
    p->list[p->n] = (struct pile){.place = *place};
    return &p->list[p->n++];
}

static int add(struct piles *p, const struct iot_exported *x, size_t i)
{
    struct place place;
    memset(&place, 0, sizeof place); /* its bytes are compared */
    place.lane = x->links.lane_of[i];
    place.stack = x->trace->events.stack[i];
    place.row = place.stack ? 0 : x->report->of_event[i];
    place.op = x->trace->events.op[i];
    struct pile *pile = pile_of(p, &place);
    if (!pile)
        return -1;
    pile->exposed_ns += x->model->exposed_ns[i];
    return 0;
}

/* A frame: one line, and none of the separator. */
static void put_frame(FILE *out, const char *text)
{
    for (const char *end; *text; text = end) {
        end = text + strcspn(text, ";");
        iot_write_printable(out, text, (size_t)(end - text));
        if (*end) {
            putc(':', out);
            end++;
        }
    }
}

static void put_pile(FILE *out, const struct iot_exported *x, const struct pile *pile)
{
    const struct iot_trace *t = x->trace;
    const struct place *p = &pile->place;
    char words[400];

    put_frame(out, x->lane_names[p->lane]);
    if (p->stack) {
        const struct iot_stack *stack = &t->stacks.list[p->stack];
        for (uint32_t k = stack->n; k > 0; k--) {
            iot_symbols_name(x->symbols, &t->stacks.frames[stack->first + k - 1], words,
                             sizeof words);
            putc(';', out);
            put_frame(out, words);
        }
    } else if (p->row != IOT_NO_INDEX) {
        fprintf(out, ";%s;", iot_object_names[x->report->files[p->row].object]);
        put_frame(out, x->report->files[p->row].path);
    }
    fprintf(out, ";%s %" PRId64 "\n", iot_op_info(p->op)->name, pile->exposed_ns);
}

int iot_export_stacks(const struct iot_exported *x, FILE *out)
{
    struct piles piles = {0};
    int failed = 0;

    for (size_t i = 0; i < x->trace->events.n && !failed; i++)
        if (x->model->exposed_ns[i])
            failed = add(&piles, x, i);
    for (size_t k = 0; k < piles.n && !failed; k++)
        put_pile(out, x, &piles.list[k]);
    iot_table_free(&piles.table);
    free(piles.list);
    return failed ? -1 : 0;
}
