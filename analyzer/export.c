#include "analyzer/export.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/lane_names.h"

/* What is written to several files of a GPU is one row; no other end is such. */
static void find_written_rows(struct iot_exported *x)
{
    for (size_t f = 0; f < x->trace->n_files; f++)
        x->written_row[f] = IOT_NO_INDEX;
    for (size_t row = 0; row < x->report->n_files; row++) {
        const struct iot_report_file *r = &x->report->files[row];
        uint32_t file = r->file == IOT_NO_INDEX ? 0 : r->file;
        if ((file || !strcmp(r->path, IOT_NO_FILE)) &&
            r->object == x->classes->files[file].object[IOT_WRITING])
            x->written_row[file] = (uint32_t)row;
    }
}

int iot_exported_make(struct iot_exported *x, const struct iot_reporting *reporting)
{
    const struct iot_trace *trace = reporting->trace;

    *x = (struct iot_exported){.report = &reporting->report,
                               .trace = trace,
                               .model = reporting->model,
                               .classes = &reporting->classes,
                               .steps = &reporting->steps};
    x->arena = iot_arena_new();
    x->lane_names = calloc(trace->n_lanes + 1, sizeof *x->lane_names);
    x->written_row = malloc((trace->n_files + 1) * sizeof *x->written_row);
    x->stack_of = calloc(trace->stacks.n_frames + 1, sizeof *x->stack_of);
    x->symbols = calloc(1, sizeof *x->symbols);
    if (!x->arena || !x->lane_names || !x->written_row || !x->stack_of || !x->symbols ||
        iot_exported_name_unit(x) || iot_links_find(&x->links, trace))
        return -1;
    find_written_rows(x);
    for (size_t s = 0; s < trace->stacks.n; s++)
        for (uint32_t k = 0; k < trace->stacks.list[s].n; k++)
            x->stack_of[trace->stacks.list[s].first + k] = (uint32_t)s;
    for (size_t i = 0; i < trace->n_lanes; i++)
        if (!(x->lane_names[i] = iot_lane_name(trace, (uint32_t)i, x->arena)))
            return -1;
    return 0;
}

void iot_exported_free(struct iot_exported *x)
{
    iot_links_free(&x->links);
    free(x->lane_names);
    free(x->written_row);
    free(x->stack_of);
    if (x->symbols)
        iot_symbols_free_all(x->symbols);
    free(x->symbols);
    if (x->arena)
        iot_arena_free(x->arena);
    *x = (struct iot_exported){0};
}

unsigned iot_exported_object(const struct iot_exported *x, size_t event)
{
    uint32_t row = x->report->of_event[event];
    return row == IOT_NO_INDEX ? IOT_OBJECTS : x->report->files[row].object;
}

static int has_other_end(const struct iot_events *e, size_t event)
{
    return iot_op_info(e->op[event])->moves == IOT_BOTH && e->bytes[event] > 0;
}

unsigned iot_exported_object2(const struct iot_exported *x, size_t event)
{
    const struct iot_events *e = &x->trace->events;
    return has_other_end(e, event) ? x->classes->files[e->file2[event]].object[IOT_WRITING]
                                   : IOT_OBJECTS;
}

uint32_t iot_exported_row2(const struct iot_exported *x, size_t event)
{
    const struct iot_events *e = &x->trace->events;
    return has_other_end(e, event) ? x->written_row[e->file2[event]] : IOT_NO_INDEX;
}
