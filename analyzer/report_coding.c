/* Serialization of each row, and when artifacts were ready. */
#include <stdlib.h>

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

static const struct iot_events *sorting;

static int by_t0(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (sorting->t0_ns[i] != sorting->t0_ns[j])
        return sorting->t0_ns[i] < sorting->t0_ns[j] ? -1 : 1;
    return (i > j) - (i < j);
}

static int is_read(const struct iot_events *e, size_t i)
{
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    return op->class_ == IOT_DATA && op->moves != IOT_OUT && e->bytes[i] > 0;
}

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
    int64_t rest = end - from - at_read, decode = row->figures.serialization_ns;
    return (struct iot_ready){1, at_read, decode < rest ? decode : rest > 0 ? rest : 0, 0};
}

void iot_rows_ready(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    sorting = &r->trace->events;
    for (size_t row = 0; row < r->n_files; row++) {
        struct iot_report_file *f = &r->files[row];
        uint32_t *calls = &rows->events[rows->first[row]];
        size_t n = rows->first[row + 1] - rows->first[row];
        if (f->object != IOT_ARTIFACT || f->rest || !f->figures.read_bytes)
            continue;
        qsort(calls, n, sizeof *calls, by_t0);
        f->ready = ready(r, f, calls, n);
    }
}
