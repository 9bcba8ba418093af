/* Latency and bandwidth of each row and object. */
#include <stdlib.h>

#include "analyzer/report_parts.h"

int iot_rows_group(struct iot_rows *rows)
{
    const struct iot_report *r = rows->report;
    size_t n = r->trace->events.n;
    rows->events = malloc((n + 1) * sizeof *rows->events);
    rows->first = calloc(r->n_files + 2, sizeof *rows->first);
    if (!rows->events || !rows->first)
        return -1;
    size_t *next = rows->first + 1; /* where the next event of a row goes, and at last its end */
    for (size_t i = 0; i < n; i++)
        if (rows->of_event[i] != IOT_NO_INDEX)
            next[rows->of_event[i] + 1]++;
    for (size_t row = 1; row <= r->n_files; row++)
        next[row] += next[row - 1];
    for (size_t i = 0; i < n; i++)
        if (rows->of_event[i] != IOT_NO_INDEX)
            rows->events[next[rows->of_event[i]]++] = (uint32_t)i;
    return 0;
}

int iot_rows_fit(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    const struct iot_model *model = r->model;
    const struct iot_events *e = &r->trace->events;
    struct iot_fit_sample *samples = malloc((IOT_OBJECTS + 1) * sizeof *samples);
    if (!samples)
        return -1;
    struct iot_fit_sample *of_row = &samples[IOT_OBJECTS];
    for (int o = 0; o < IOT_OBJECTS; o++)
        iot_fit_begin(&samples[o]);
    for (size_t row = 0; row < r->n_files; row++) {
        struct iot_report_file *f = &r->files[row];
        iot_fit_begin(of_row);
        for (size_t k = rows->first[row]; k < rows->first[row + 1]; k++) {
            uint32_t i = rows->events[k];
            if (model->part[i] != IOT_PART_IO || iot_op_info(e->op[i])->class_ != IOT_DATA)
                continue;
            iot_fit_add(of_row, e->bytes[i], model->service_ns[i]);
            iot_fit_add(&samples[f->object], e->bytes[i], model->service_ns[i]);
        }
        f->figures.fit = iot_fit_line(of_row);
    }
    for (int o = 0; o < IOT_OBJECTS; o++)
        r->objects[o].figures.fit = iot_fit_line(&samples[o]);
    free(samples);
    return 0;
}
