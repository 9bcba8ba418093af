#include "analyzer/mapped.h"

#include <stdlib.h>

/* What is mapped at an address is looked for among so many mappings before, and so many parents. */
enum { LOOK_BACK = 4096, PARENTS_MAX = 64, SAME_FILE_MAX = 64 };

static int is_mapping(const struct iot_events *e, size_t i)
{
    return (e->op[i] == IOT_OP_MMAP || e->op[i] == IOT_OP_MREMAP) && !e->err[i];
}

static int names_an_address(unsigned op)
{
    return op == IOT_OP_MSYNC || op == IOT_OP_MUNMAP || op == IOT_OP_MREMAP ||
           op == IOT_OP_MADVISE || op == IOT_OP_MLOCK || op == IOT_OP_RESIDENT;
}

uint32_t iot_mapped_parent(const struct iot_trace *t, uint32_t process)
{
    const struct iot_process *p = &t->processes[process];
    if (p->parent_lane_number == UINT32_MAX)
        return IOT_NO_INDEX;
    for (uint32_t k = process; k-- > 0;)
        if (t->processes[k].pid == p->ppid)
            return k;
    return IOT_NO_INDEX;
}

/* Among those made before, the latest that holds the address; NULL: none. */
static struct iot_mapping *find_in(const struct iot_mapped *mapped, uint32_t process, int64_t t0_ns,
                                   uint64_t address)
{
    size_t first = mapped->first[process], low = first, high = mapped->first[process + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (mapped->maps[middle].t0_ns <= t0_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t k = low; k-- > first && low - k <= LOOK_BACK;)
        if (address - mapped->maps[k].address < mapped->maps[k].bytes)
            return &mapped->maps[k];
    return NULL;
}

static struct iot_mapping *find(const struct iot_mapped *mapped, const struct iot_trace *t,
                                uint32_t process, int64_t t0_ns, uint64_t address)
{
    for (int k = 0; k < PARENTS_MAX && process != IOT_NO_INDEX; k++) {
        struct iot_mapping *found = find_in(mapped, process, t0_ns, address);
        if (found)
            return found->end_ns >= t0_ns ? found : NULL;
        if (t->processes[process].start_ns < t0_ns)
            t0_ns = t->processes[process].start_ns;
        process = iot_mapped_parent(t, process);
    }
    return NULL;
}

static int by_time(const void *a, const void *b)
{
    const struct iot_mapping *x = a, *y = b;
    return (x->t0_ns > y->t0_ns) - (x->t0_ns < y->t0_ns);
}

/* An event of a process, in order of time over its lanes. */
struct moment {
    int64_t t0_ns;
    size_t event;
};

static int by_moment(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static void resolve(const struct iot_mapped *mapped, const struct iot_trace *t, uint32_t process,
                    size_t i)
{
    const struct iot_events *e = &t->events;
    struct iot_mapping *m = find(mapped, t, process, e->t0_ns[i], e->addr[i]);
    if (!m)
        return;
    e->file[i] = m->file;
    if (e->op[i] == IOT_OP_RESIDENT) {
        m->told = i;
        m->whole = e->result[i] >= e->offset[i];
        if (e->result[i] >= 0)
            m->brought = e->bytes[i] > 0 ? e->bytes[i] : 0;
    } else if (!e->err[i] &&
               (e->op[i] == IOT_OP_MREMAP ||
                (e->op[i] == IOT_OP_MUNMAP && (uint64_t)e->offset[i] >= m->bytes))) {
        m->end_ns = e->t0_ns[i];
    }
}

/* The mapping that an mremap makes begins behind it, and before its file is known. */
static void inherit(struct iot_mapped *mapped, const struct iot_trace *t, uint32_t process,
                    size_t i)
{
    const struct iot_events *e = &t->events;
    int64_t at = e->t1_ns[i] + 1;
    struct iot_mapping *made = find_in(mapped, process, at, (uint64_t)e->result[i]);
    if (made && made->t0_ns == at)
        made->file = e->file[i];
}

static void of_process(struct iot_mapped *mapped, const struct iot_trace *t, uint32_t process,
                      struct moment *moments)
{
    const struct iot_events *e = &t->events;
    const struct iot_process *p = &t->processes[process];
    const struct iot_lane *lanes = &t->lanes[p->first_lane];
    size_t n = mapped->first[process], first = n, n_moments = 0;

    for (uint32_t k = 0; k < p->n_lanes; k++)
        for (size_t i = lanes[k].first_event; i < lanes[k].first_event + lanes[k].n_events; i++) {
            int moved = e->op[i] == IOT_OP_MREMAP;
            if (is_mapping(e, i))
                mapped->maps[n++] = (struct iot_mapping){
                    .t0_ns = moved ? e->t1_ns[i] + 1 : e->t0_ns[i],
                    .end_ns = INT64_MAX,
                    .address = (uint64_t)e->result[i],
                    .bytes = moved ? (uint64_t)e->offset[i] : e->addr[i],
                    .offset = moved ? 0 : e->offset[i],
                    .brought = -1,
                    .file = e->file[i]};
            if (names_an_address(e->op[i]))
                moments[n_moments++] = (struct moment){e->t0_ns[i], i};
        }
    mapped->first[process + 1] = (uint32_t)n;
    if (n > first)
        qsort(&mapped->maps[first], n - first, sizeof *mapped->maps, by_time);
    if (n_moments)
        qsort(moments, n_moments, sizeof *moments, by_moment);
    for (size_t k = 0; k < n_moments; k++) {
        resolve(mapped, t, process, moments[k].event);
        if (e->op[moments[k].event] == IOT_OP_MREMAP && !e->err[moments[k].event])
            inherit(mapped, t, process, moments[k].event);
    }
}

/* --- what is told twice --- */

static int by_file(const void *a, const void *b, void *all)
{
    const struct iot_mapping *maps = all, *x = &maps[*(const uint32_t *)a],
                             *y = &maps[*(const uint32_t *)b];
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static int lies_in(const struct iot_mapping *x, const struct iot_mapping *y)
{
    return x->file == y->file && x->end_ns <= y->end_ns && x->offset >= y->offset &&
           (uint64_t)(x->offset - y->offset) + x->bytes <= y->bytes;
}

/* What a mapping brought in within the life of another of the same bytes is part of what that did.
 */
static int count_once(const struct iot_mapped *mapped, const struct iot_trace *t)
{
    uint32_t n = mapped->first[t->n_processes];
    uint32_t *order = malloc((n + 1) * sizeof *order);
    if (!order)
        return -1;
    for (uint32_t k = 0; k < n; k++)
        order[k] = k;
    if (n)
        qsort_r(order, n, sizeof *order, by_file, mapped->maps);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = k; j-- > 0 && k - j <= SAME_FILE_MAX;)
            if (mapped->maps[order[j]].brought >= 0 &&
                lies_in(&mapped->maps[order[k]], &mapped->maps[order[j]])) {
                mapped->maps[order[k]].brought = 0;
                break;
            }
    free(order);
    for (uint32_t p = 0; p < t->n_processes; p++)
        for (uint32_t l = 0; l < t->processes[p].n_lanes; l++) {
            const struct iot_lane *lane = &t->lanes[t->processes[p].first_lane + l];
            const struct iot_events *e = &t->events;
            for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
                if (e->op[i] != IOT_OP_RESIDENT)
                    continue;
                const struct iot_mapping *m = find(mapped, t, p, e->t0_ns[i], e->addr[i]);
                e->bytes[i] = m && m->brought > 0 ? m->brought : 0;
            }
        }
    return 0;
}

int iot_mapped_resolve(struct iot_trace *t)
{
    const struct iot_events *e = &t->events;
    struct iot_mapped mapped = {NULL, calloc(t->n_processes + 1, sizeof *mapped.first)};
    size_t n_maps = 0, n_moments = 0, n_faults = 0;

    for (size_t i = 0; i < e->n; i++) {
        n_maps += (size_t)is_mapping(e, i);
        n_moments += (size_t)names_an_address(e->op[i]);
        n_faults += e->op[i] == IOT_OP_FAULTS;
    }
    mapped.maps = malloc((n_maps + 1) * sizeof *mapped.maps);
    struct moment *moments = malloc((n_moments + 1) * sizeof *moments);
    int failed = !mapped.first || !mapped.maps || !moments;
    for (uint32_t p = 0; p < t->n_processes && !failed; p++)
        of_process(&mapped, t, p, moments);
    failed = failed || (n_moments && count_once(&mapped, t)) ||
             (n_faults && iot_mapped_place_faults(t, &mapped));
    free(mapped.maps);
    free(mapped.first);
    free(moments);
    return failed ? -1 : 0;
}
