/* Serialization of each row, and when artifacts were ready. */
#include <stdlib.h>

#include "analyzer/gpu.h"
#include "analyzer/report_parts.h"
#include "analyzer/serialization.h"

static void add(struct iot_figures *to, int64_t ns)
{
    to->serialization_ns += ns;
    to->coded = 1;
}

int iot_rows_coding(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    struct iot_phases *phases = r->phases;
    size_t n_files = r->trace->n_files;
    struct iot_coding *coding = malloc((n_files + 1) * sizeof *coding);
    r->gaps = calloc(1, sizeof *r->gaps);
    int failed = !coding || !r->gaps ||
                 iot_serialization_find(coding, r->gaps, r->model, rows->classes, phases);

    for (size_t f = 0; f < n_files && !failed; f++)
        for (size_t p = 0; p < phases->n; p++)
            for (int d = 0; d < IOT_DIRECTIONS; d++) {
                int64_t ns = coding[f].ns[p][d];
                if (ns == IOT_NO_CODING)
                    continue;
                struct iot_report_file *row = &r->files[rows->of_file[d][f]];
                add(&row->figures, ns);
                add(&phases->phases[p].objects[row->object].figures, ns);
            }
    free(coding);
    return failed ? -1 : 0;
}

/* --- ready --- */

static int by_t0(const void *a, const void *b, void *times)
{
    const int64_t *t0_ns = times;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (t0_ns[i] != t0_ns[j])
        return t0_ns[i] < t0_ns[j] ? -1 : 1;
    return (i > j) - (i < j);
}

static int is_read(const struct iot_events *e, size_t i)
{
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    return op->class_ == IOT_DATA && op->moves != IOT_OUT && e->bytes[i] > 0;
}

/* --- copies of what was read from a file --- */

/* By file; of those that are GPUs' copies to them, or what is left of one. */
struct placing {
    const struct iot_report *r;
    uint32_t *copies;
    size_t n;
};

static uint32_t carried_by(const struct iot_trace *t, size_t i)
{
    const struct iot_file *f = &t->files[t->events.file[i]];
    unsigned op = t->events.op[i];
    return (op == IOT_OP_GPU_MEMCPY || op == IOT_OP_GPU_MEMCPY_REST) && f->kind != IOT_FILE_GPU_OUT
               ? f->carried
               : 0;
}

static int by_carried(const void *a, const void *b, void *trace)
{
    const struct iot_trace *t = trace;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uint32_t x = carried_by(t, i), y = carried_by(t, j);
    const struct iot_events *e = &t->events;
    if (x != y)
        return x < y ? -1 : 1;
    if (e->t0_ns[i] != e->t0_ns[j])
        return e->t0_ns[i] < e->t0_ns[j] ? -1 : 1;
    return (i > j) - (i < j);
}

static int list_placing(struct placing *p)
{
    const struct iot_trace *t = p->r->trace;
    size_t n = 0;
    for (size_t i = 0; i < t->events.n; i++)
        n += carried_by(t, i) != 0;
    p->copies = n ? malloc(n * sizeof *p->copies) : NULL;
    if (n && !p->copies)
        return -1;
    for (size_t i = 0; i < t->events.n && n; i++)
        if (carried_by(t, i))
            p->copies[p->n++] = (uint32_t)i;
    if (p->n)
        qsort_r(p->copies, p->n, sizeof *p->copies, by_carried, (void *)t);
    return 0;
}

/* How much of a stretch no call on the file was under way; calls by t0, from *k on. */
static int64_t without_calls(const struct iot_report *r, const uint32_t *calls, size_t n, size_t *k,
                             int64_t t0, int64_t t1)
{
    const struct iot_events *e = &r->trace->events;
    int64_t rest = 0;
    while (*k < n && e->t1_ns[calls[*k]] <= t0)
        ++*k;
    for (size_t j = *k; j < n && t0 < t1; j++) {
        size_t i = calls[j];
        if (e->t0_ns[i] >= t1)
            break;
        if (!r->model->service_ns[i])
            continue;
        rest += e->t0_ns[i] > t0 ? e->t0_ns[i] - t0 : 0;
        t0 = e->t1_ns[i] > t0 ? e->t1_ns[i] : t0;
    }
    return rest + (t1 > t0 ? t1 - t0 : 0);
}

/* Until as many bytes were copied as the file has, or all that were. */
static void place(const struct placing *p, const struct iot_report_file *row, const uint32_t *calls,
                  size_t n, struct iot_ready *ready)
{
    const struct iot_trace *t = p->r->trace;
    int64_t size = t->files[row->file].size, bytes = 0, busy_to = 0;
    size_t low = 0, high = p->n, k = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (carried_by(t, p->copies[middle]) < row->file)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->n && carried_by(t, p->copies[low]) == row->file; low++) {
        size_t i = p->copies[low];
        if (size > 0 && bytes >= size && t->events.op[i] == IOT_OP_GPU_MEMCPY)
            return;
        int64_t t0 = t->events.t0_ns[i] > busy_to ? t->events.t0_ns[i] : busy_to;
        if (t->events.t1_ns[i] > t0) {
            ready->placement_ns += without_calls(p->r, calls, n, &k, t0, t->events.t1_ns[i]);
            busy_to = t->events.t1_ns[i];
        }
        bytes += t->events.bytes[i];
        ready->memory |= iot_gpu_host_memory(&t->events, i);
    }
}

/* --- all of it --- */

/* The first pass over the file: until as many bytes were read as it has, or all that were. Calls
 * are those of one row by t0. */
static struct iot_ready ready(const struct iot_report *r, const struct iot_report_file *row,
                              const uint32_t *calls, size_t n)
{
    const struct iot_events *e = &r->trace->events;
    int64_t size = row->file == IOT_NO_INDEX ? -1 : r->trace->files[row->file].size;
    int64_t bytes = 0, storage = 0, busy_to = 0, at_read = 0, end = 0;
    size_t k = 0;

    while (k < n && e->fd[calls[k]] < 0)
        k++; /* only asked about by name */
    if (k == n)
        return (struct iot_ready){0};
    int64_t from = busy_to = e->t0_ns[calls[k]];
    for (; k < n && (size <= 0 || bytes < size); k++) {
        size_t i = calls[k];
        int64_t t0 = e->t0_ns[i] > busy_to ? e->t0_ns[i] : busy_to;
        if (r->model->service_ns[i] && e->t1_ns[i] > t0) {
            storage += e->t1_ns[i] - t0;
            busy_to = e->t1_ns[i];
        }
        if (!is_read(e, i))
            continue;
        bytes += e->bytes[i];
        at_read = storage;
        end = e->t1_ns[i] > end ? e->t1_ns[i] : end;
    }
    if (!bytes) /* mapped, and read without a call */
        return (struct iot_ready){.known = 1, .storage_ns = storage};
    int64_t rest = end - from - at_read, decode = row->figures.serialization_ns;
    return (struct iot_ready){1, at_read, decode < rest ? decode : rest > 0 ? rest : 0, 0, 0};
}

int iot_rows_ready(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    struct placing placing = {.r = r};
    if (list_placing(&placing))
        return -1;
    for (size_t row = 0; row < r->n_files; row++) {
        struct iot_report_file *f = &r->files[row];
        uint32_t *calls = &rows->events[rows->first[row]];
        size_t n = rows->first[row + 1] - rows->first[row];
        if (f->object != IOT_ARTIFACT || f->rest || f->file == IOT_NO_INDEX ||
            r->trace->files[f->file].kind >= IOT_FILE_LOADER)
            continue;
        if (!f->figures.read_bytes && !f->figures.mapped)
            continue;
        qsort_r(calls, n, sizeof *calls, by_t0, r->trace->events.t0_ns);
        struct iot_ready made = ready(r, f, calls, n);
        if (made.known)
            place(&placing, f, calls, n, &made);
        if (f->figures.read_bytes || made.placement_ns)
            f->ready = made;
    }
    free(placing.copies);
    return 0;
}
