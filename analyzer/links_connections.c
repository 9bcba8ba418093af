/* Which sockets are the two ends of one connection, and which connect() an accept() waited for. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/links.h"

/* One end: FORMAT.md says what key and pid are. */
struct end {
    uint64_t key;
    int64_t pid, t_ns;
    uint32_t event;
    uint8_t accepted;
};

static int by_connection(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->accepted != y->accepted)
        return x->accepted - y->accepted;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int is_end(const struct iot_events *e, size_t i)
{
    switch (e->op[i]) {
    case IOT_OP_CONNECT:
        return e->addr[i] && e->file[i] && (!e->err[i] || e->err[i] == EINPROGRESS);
    case IOT_OP_ACCEPT:
    case IOT_OP_ACCEPT4:
        return e->addr[i] && e->file2[i] && !e->err[i];
    default:
        return 0;
    }
}

/* Connections of one key are accepted in the order in which they were asked for. */
static int join(struct iot_links *links, const struct iot_trace *trace, const struct end *ends,
                size_t n, uint32_t *peer)
{
    const struct iot_events *e = &trace->events;
    size_t connects = 0;
    while (connects < n && !ends[connects].accepted)
        connects++;
    for (size_t k = 0; k < connects && connects + k < n; k++) {
        uint32_t from = ends[k].event, to = ends[connects + k].event;
        peer[e->file[from]] = e->file2[to];
        peer[e->file2[to]] = e->file[from];
        if (e->t0_ns[from] <= e->t1_ns[to] &&
            iot_links_add(links, to, (struct iot_waker){from, IOT_WAKER_ENTRY}))
            return -1;
    }
    return 0;
}

int iot_link_connections(struct iot_links *links, const struct iot_trace *trace, uint32_t *peer)
{
    const struct iot_events *e = &trace->events;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += (size_t)is_end(e, i);
    struct end *ends = malloc((n + 1) * sizeof *ends);
    if (!ends)
        return -1;
    n = 0;
    for (size_t i = 0; i < e->n; i++)
        if (is_end(e, i))
            ends[n++] = (struct end){e->addr[i], e->offset[i], e->t0_ns[i], (uint32_t)i,
                                     e->op[i] != IOT_OP_CONNECT};
    qsort(ends, n, sizeof *ends, by_connection);
    int failed = 0;
    for (size_t first = 0, end; first < n && !failed; first = end) {
        for (end = first + 1; end < n; end++)
            if (ends[end].key != ends[first].key || ends[end].pid != ends[first].pid)
                break;
        failed = join(links, trace, &ends[first], end - first, peer);
    }
    free(ends);
    return failed ? -1 : 0;
}
