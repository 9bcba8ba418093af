#include "analyzer/rule_sites.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/places.h"

static int is_name(const char *glob, const char *name, char separator)
{
    const char *last = name ? strrchr(name, separator) : NULL;
    return name && (!fnmatch(glob, name, 0) || (last && !fnmatch(glob, last + 1, 0)));
}

/* By function (also the last part of its name in Python and C++), file of the source, program or
 * library. */
static int is_in(const char *glob, const struct iot_frame *frame, struct iot_symbols *symbols,
                 struct iot_arena *arena)
{
    struct iot_place places[IOT_PLACES_MAX];
    const char *space = strchr(frame->module, ' ');
    if (!iot_frame_is_python(frame) && space && is_name(glob, space + 1, '/'))
        return 1;
    unsigned n = iot_places_of(symbols, frame, places, arena);
    for (unsigned i = 0; i < n; i++)
        if (is_name(glob, places[i].function, '.') || is_name(glob, places[i].function, ':') ||
            is_name(glob, places[i].file, '/'))
            return 1;
    return 0;
}

/* Which stacks have such a frame. */
static uint8_t *stacks_in(const char *glob, const struct iot_trace *trace,
                          struct iot_symbols *symbols, struct iot_arena *arena)
{
    const struct iot_stacks *all = &trace->stacks;
    uint8_t *in = calloc(all->n + 1, 1);
    for (size_t s = 1; s < all->n && in; s++)
        for (uint32_t k = 0; k < all->list[s].n && !in[s]; k++)
            in[s] = (uint8_t)is_in(glob, &all->frames[all->list[s].first + k], symbols, arena);
    return in;
}

static void mark(uint8_t *files, const uint8_t *stacks, const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    for (size_t i = 0; i < e->n; i++) {
        const struct iot_op_info *op = iot_op_info(e->op[i]);
        if (op->class_ != IOT_DATA || !e->stack[i] || !stacks[e->stack[i]] ||
            e->file[i] >= trace->n_files)
            continue;
        if (op->moves != IOT_OUT)
            files[e->file[i]] |= 1u << IOT_READING;
        if (op->moves != IOT_IN)
            files[e->file[i]] |= 1u << IOT_WRITING;
    }
}

int iot_rule_sites_gather(struct iot_rule_sites *sites, const struct iot_rules *rules,
                          const struct iot_trace *trace)
{
    struct iot_symbols symbols = {0};
    struct iot_arena *arena = iot_arena_new();
    *sites = (struct iot_rule_sites){calloc(rules->n + 1, sizeof *sites->of_rule), rules->n};
    int failed = !arena || !sites->of_rule;
    for (size_t r = 0; r < rules->n && !failed; r++) {
        if (!rules->rules[r].site)
            continue;
        uint8_t *stacks = stacks_in(rules->rules[r].site, trace, &symbols, arena);
        sites->of_rule[r] = calloc(trace->n_files + 1, 1);
        failed = !stacks || !sites->of_rule[r];
        if (!failed)
            mark(sites->of_rule[r], stacks, trace);
        free(stacks);
    }
    iot_symbols_free_all(&symbols);
    iot_arena_free(arena);
    return failed ? -1 : 0;
}

void iot_rule_sites_free(struct iot_rule_sites *sites)
{
    for (size_t r = 0; sites->of_rule && r < sites->n; r++)
        free(sites->of_rule[r]);
    free(sites->of_rule);
    *sites = (struct iot_rule_sites){0};
}
