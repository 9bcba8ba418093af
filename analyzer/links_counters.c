/* eventfd: which write let a read or a poll go on. A read takes all that was written since the one
 * before; of one made as a semaphore, it takes the oldest. */
#include "analyzer/links.h"

#include <stdlib.h>
#include <string.h>

enum role { WRITES, LOOKS, READS };

struct touch {
    int64_t t_ns; /* entry of a write, return of the others */
    uint32_t file, event;
    uint8_t role;
};

static int is_counter(const struct iot_trace *trace, uint32_t file)
{
    static const char name[] = "anon:eventfd:";
    return file && trace->files[file].kind == IOT_FILE_ANON &&
           strncmp(trace->files[file].name, name, sizeof name - 1) == 0;
}

static int role_of(const struct iot_events *e, size_t i)
{
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    if (e->err[i])
        return -1;
    if (op->class_ == IOT_DATA)
        return op->moves == IOT_OUT ? WRITES : READS;
    return op->class_ == IOT_WAIT ? LOOKS : -1;
}

static int by_file_and_time(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->role != y->role ? x->role - y->role : x->event < y->event ? -1 : x->event > y->event;
}

/* How the counter was made: its flags and value; of one that came from outside neither is known. */
static void how_made(const struct iot_events *e, uint32_t file, int *semaphore, uint64_t *value)
{
    enum { EFD_SEMAPHORE_BIT = 1 };
    *semaphore = 0;
    *value = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->op[i] == IOT_OP_EVENTFD && e->file[i] == file) {
            *semaphore = (e->offset[i] & EFD_SEMAPHORE_BIT) != 0;
            *value = e->addr[i];
            return;
        }
}

static int link_counter(struct iot_links *links, const struct iot_events *e, struct touch *t,
                        size_t n)
{
    int semaphore;
    uint64_t value;
    how_made(e, t[0].file, &semaphore, &value);
    size_t oldest = 0; /* among the touches: the first write that nobody took */
    for (size_t k = 0; k < n; k++) {
        if (t[k].role == WRITES)
            continue;
        if (value) { /* it was there from the start */
            if (t[k].role == READS)
                value = semaphore ? value - 1 : 0;
            continue;
        }
        while (oldest < k && t[oldest].role != WRITES)
            oldest++;
        if (oldest == k)
            continue;
        if (iot_links_add(links, t[k].event, (struct iot_waker){t[oldest].event, IOT_WAKER_ENTRY}))
            return -1;
        if (t[k].role == READS)
            oldest = semaphore ? oldest + 1 : k;
    }
    return 0;
}

int iot_link_counters(struct iot_links *links, const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += is_counter(trace, e->file[i]) && role_of(e, i) >= 0;
    struct touch *all = malloc((n + 1) * sizeof *all);
    if (!all)
        return -1;
    n = 0;
    for (size_t i = 0; i < e->n; i++) {
        int role = is_counter(trace, e->file[i]) ? role_of(e, i) : -1;
        if (role >= 0)
            all[n++] = (struct touch){role == WRITES ? e->t0_ns[i] : e->t1_ns[i], e->file[i],
                                      (uint32_t)i, (uint8_t)role};
    }
    qsort(all, n, sizeof *all, by_file_and_time);
    int failed = 0;
    for (size_t first = 0, end; first < n && !failed; first = end) {
        for (end = first + 1; end < n && all[end].file == all[first].file;)
            end++;
        failed = link_counter(links, e, all + first, end - first);
    }
    free(all);
    return failed;
}
