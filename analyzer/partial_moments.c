/* What of a unit has no sum: how long its artifacts took until they were ready, and when its steps
 * began. Both stay with the unit, so that a job can say which one is last. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/partial.h"
#include "analyzer/phases.h"
#include "analyzer/report.h"

int64_t iot_unit_start_step(size_t n)
{
    return n < 8 ? (int64_t)n : (int64_t)(4 + n % 4) << (n / 4 - 1);
}

int64_t iot_unit_ready_ns(const struct iot_unit_ready *ready)
{
    return iot_sum(iot_sum(ready->storage_ns, ready->decode_ns), ready->placement_ns);
}

static int longest_first(const void *a, const void *b)
{
    const struct iot_unit_ready *x = a, *y = b;
    int64_t more = iot_unit_ready_ns(y) - iot_unit_ready_ns(x);
    return more ? (more > 0) - (more < 0) : strcmp(x->path, y->path);
}

static int by_path(const void *a, const void *b)
{
    const struct iot_unit_ready *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static int set_ready(struct iot_partial *p, struct iot_unit *u, const struct iot_report *r,
                     const uint8_t *named)
{
    struct iot_unit_ready *found = malloc((r->n_files + 1) * sizeof *found);
    size_t n = 0;
    if (!found)
        return -1;
    for (size_t i = 0; i < r->n_files; i++) {
        const struct iot_ready *ready = &r->files[i].ready;
        if (named[i] && ready->known)
            found[n++] = (struct iot_unit_ready){r->files[i].path, ready->storage_ns,
                                                 ready->decode_ns, ready->placement_ns};
    }
    if (n)
        qsort(found, n, sizeof *found, longest_first);
    n = n < IOT_UNIT_READY ? n : IOT_UNIT_READY;
    if (n)
        qsort(found, n, sizeof *found, by_path);
    u->ready = iot_arena_take(p->arena, (n + 1) * sizeof *u->ready);
    for (size_t k = 0; k < n && u->ready; k++) {
        found[k].path = iot_arena_text(p->arena, found[k].path, strlen(found[k].path));
        u->ready[u->n_ready++] = found[k];
        if (!found[k].path)
            u->ready = NULL;
    }
    free(found);
    return u->ready ? 0 : -1;
}

static int set_starts(struct iot_partial *p, struct iot_unit *u, const struct iot_steps *steps)
{
    u->starts_ns = iot_arena_take(p->arena, IOT_UNIT_STARTS * sizeof *u->starts_ns);
    if (!u->starts_ns)
        return -1;
    for (size_t n = 0; n < IOT_UNIT_STARTS && iot_unit_start_step(n) < (int64_t)steps->n; n++) {
        int64_t ns = steps->starts_ns[iot_unit_start_step(n)];
        u->starts_ns[u->n_starts++] = ns > 0 ? ns : 0;
    }
    return 0;
}

int iot_partial_set_moments(struct iot_partial *p, struct iot_unit *u, const struct iot_report *r,
                            const uint8_t *named)
{
    return set_ready(p, u, r, named) || set_starts(p, u, r->phases->steps) ? -1 : 0;
}
