/* Which files call sites are about: of each the row that its calls cost most on. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/report_parts.h"

struct cost {
    int64_t exposed_ns, service_ns;
    uint64_t calls;
};

static int is_dearer(const struct cost *a, const struct cost *b)
{
    if (a->exposed_ns != b->exposed_ns)
        return a->exposed_ns > b->exposed_ns;
    if (a->service_ns != b->service_ns)
        return a->service_ns > b->service_ns;
    return a->calls > b->calls;
}

static void find(const struct iot_report *r, struct iot_call_site *site, struct cost *costs)
{
    const struct iot_events *e = &r->trace->events;
    size_t best = 0;
    memset(costs, 0, r->n_files * sizeof *costs);
    for (size_t i = 0; i < e->n; i++) {
        if (e->stack[i] != site->stack || r->of_event[i] == IOT_NO_INDEX)
            continue;
        struct cost *cost = &costs[r->of_event[i]];
        cost->exposed_ns += r->model->exposed_ns[i];
        cost->service_ns += r->model->service_ns[i];
        cost->calls++;
    }
    for (size_t row = 1; row < r->n_files; row++)
        if (is_dearer(&costs[row], &costs[best]))
            best = row;
    if (r->n_files && costs[best].calls) {
        site->object = iot_object_names[r->files[best].object];
        site->path = r->files[best].path;
    }
}

int iot_report_site_files(struct iot_report *r)
{
    struct cost *costs = malloc((r->n_files + 1) * sizeof *costs);
    for (size_t k = 0; costs && k < r->n_sites; k++)
        find(r, &r->sites[k], costs);
    free(costs);
    return costs ? 0 : -1;
}
