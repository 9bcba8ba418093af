#include "analyzer/call_sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/symbols.h"

struct sum {
    int64_t exposed_ns, service_ns, bytes;
    uint64_t calls;
    uint32_t stack;
};

static int by_cost(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns)
        return x->exposed_ns > y->exposed_ns ? -1 : 1;
    if (x->service_ns != y->service_ns)
        return x->service_ns > y->service_ns ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int describe(struct iot_call_site *site, const struct sum *sum,
                    const struct iot_trace *trace, struct iot_symbols *symbols,
                    struct iot_arena *arena)
{
    const struct iot_stack *stack = &trace->stacks.list[sum->stack];
    uint32_t n_inner = iot_places_inner(symbols, &trace->stacks.frames[stack->first], stack->n);
    int importing = 0;
    *site = (struct iot_call_site){.exposed_ns = sum->exposed_ns,
                                   .service_ns = sum->service_ns,
                                   .bytes = sum->bytes,
                                   .calls = sum->calls,
                                   .stack = sum->stack};
    for (uint32_t k = 0; k < n_inner && site->n_frames < IOT_SITE_FRAMES; k++) {
        const struct iot_frame *frame = &trace->stacks.frames[stack->first + k];
        struct iot_place places[IOT_PLACES_MAX];
        int again = importing && iot_place_is_import(frame);
        importing = iot_place_is_import(frame);
        if (again) /* an import is one thing */
            continue;
        unsigned n = iot_places_of(symbols, frame, places, arena);
        if (!n)
            return -1;
        for (unsigned i = 0; i < n && site->n_frames < IOT_SITE_FRAMES; i++)
            site->frames[site->n_frames++] = places[i];
    }
    return 0;
}

int iot_call_sites_find(struct iot_call_site **sites, size_t *n, size_t most,
                        const struct iot_trace *trace, const struct iot_model *model, uint32_t file,
                        struct iot_changed *changed, struct iot_arena *arena)
{
    const struct iot_events *e = &trace->events;
    size_t n_stacks = trace->stacks.n;
    *sites = NULL;
    *n = 0;
    if (!n_stacks)
        return 0;
    struct sum *sums = calloc(n_stacks, sizeof *sums);
    if (!sums)
        return -1;
    for (size_t s = 0; s < n_stacks; s++)
        sums[s].stack = (uint32_t)s;
    for (size_t i = 0; i < e->n; i++) {
        unsigned class_ = iot_op_info(e->op[i])->class_;
        if (!e->stack[i] || (file != IOT_NO_INDEX && e->file[i] != file) ||
            (class_ != IOT_DATA && class_ != IOT_META && class_ != IOT_SYNC))
            continue;
        struct sum *sum = &sums[e->stack[i]];
        sum->exposed_ns += model->exposed_ns[i];
        sum->service_ns += model->service_ns[i];
        sum->bytes += class_ == IOT_DATA && e->bytes[i] > 0 ? e->bytes[i] : 0;
        sum->calls++;
    }
    qsort(sums, n_stacks, sizeof *sums, by_cost);
    struct iot_symbols symbols = {0};
    int failed = !(*sites = calloc(most, sizeof **sites));
    for (size_t s = 0; s < n_stacks && *n < most && sums[s].calls && !failed; s++)
        failed = describe(&(*sites)[(*n)++], &sums[s], trace, &symbols, arena);
    if (changed && symbols.changed)
        *changed = (struct iot_changed){strchr(symbols.changed, ' ') + 1, symbols.n_changed};
    iot_symbols_free_all(&symbols);
    free(sums);
    return failed ? -1 : 0;
}

/* So many of the outermost frames stay where not all fit: they tell which part of the program it
 * is. */
enum { OUTERMOST = 2 };

void iot_call_site_words(const struct iot_call_site *site, char *to, size_t bytes)
{
    static const char left_out[] = "... > ";
    const struct iot_place *shown[IOT_SITE_FRAMES];
    uint32_t n_shown = 0, any_python = 0;
    size_t all = 0, n = 0;
    for (uint32_t k = 0; k < site->n_frames; k++)
        any_python |= site->frames[k].is_python;
    for (uint32_t k = 0; k < site->n_frames; k++) {
        const struct iot_place *place = &site->frames[k];
        if (k && any_python && !place->is_python)
            continue;
        all += strlen(place->words) + 3;
        shown[n_shown++] = place;
    }

    uint32_t inner = n_shown, outer = n_shown;
    if (all > bytes) {
        outer = n_shown > OUTERMOST ? n_shown - OUTERMOST : n_shown;
        all = sizeof left_out;
        for (uint32_t k = outer; k < n_shown; k++)
            all += strlen(shown[k]->words) + 3;
        for (inner = 0; inner < outer && (!inner || all <= bytes); inner++)
            all += strlen(shown[inner]->words) + 3;
        inner -= all > bytes && inner > 1;
    }
    to[0] = '\0';
    for (uint32_t k = n_shown; k-- > 0 && n < bytes;) {
        if (k >= inner && k < outer) {
            if (k == inner)
                n += (size_t)snprintf(to + n, bytes - n, "%s", left_out);
            continue;
        }
        n += (size_t)snprintf(to + n, bytes - n, "%s%s", shown[k]->words, k ? " > " : "");
    }
}
