#include "tests/fuzz/check_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report_gpu.h"
#include "analyzer/reporting.h"
#include "tests/unit/trace_writer.h"

static char *folder;

static void remove_folder(void)
{
    iot_folder_remove(folder);
}

const char *fuzz_folder(void)
{
    if (!folder) {
        folder = iot_folder_new();
        atexit(remove_folder);
    }
    return folder;
}

void fuzz_times(struct iot_row *row, uint64_t *now, int out_of_order, uint8_t before, uint8_t took)
{
    if (out_of_order) {
        row->t0 = before * UINT64_C(1000);
        row->t1 = row->t0 + (uint64_t)took * 10 - 100;
        return;
    }
    row->t0 = *now += before;
    row->t1 = *now += took;
}

#define NEED(holds) need(holds, #holds)

static void need(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "a report is wrong: not so: %s\n", what);
    abort();
}

static void check(const struct iot_report *r)
{
    const struct iot_model *m = r->model;
    const struct iot_path_parts *p = &m->path;
    struct iot_figures sum = {0};
    NEED(p->compute_ns >= 0 && p->io_ns >= 0 && p->sleep_ns >= 0 && p->wake_ns >= 0 &&
         p->external_ns >= 0 && p->unexplained_ns >= 0);
    NEED(p->gpu_launch_ns >= 0 && p->gpu_gap_ns >= 0 &&
         p->gpu_launch_ns + p->gpu_gap_ns <= p->gpu_ns);
    NEED(p->compute_ns + p->io_ns + p->gpu_ns + p->sleep_ns + p->wake_ns + p->external_ns +
             p->unexplained_ns ==
         m->wall_ns);
    NEED(r->total.exposed_ns == p->io_ns && r->total.exposed_ns <= r->total.service_ns);
    for (size_t i = 0; i < r->n_files; i++) {
        const struct iot_figures *f = &r->files[i].figures;
        NEED(f->exposed_ns >= 0 && f->exposed_ns <= f->service_ns && f->waited_ns >= 0 &&
             f->waited_ns <= f->exposed_ns && f->recoverable_ns <= f->service_ns);
        sum.exposed_ns += f->exposed_ns;
        sum.service_ns += f->service_ns;
    }
    NEED(sum.exposed_ns == r->total.exposed_ns && sum.service_ns == r->total.service_ns);
    for (size_t k = 0; r->gpu && k < r->gpu->n_copies; k++)
        NEED(r->gpu->copies[k].bytes >= 0 && r->gpu->copies[k].service_ns >= 0);
    for (size_t k = 1; k < m->n_curve; k++)
        NEED(m->curve[k].time_ns <= m->curve[k - 1].time_ns);
}

void fuzz_report(void)
{
    char error[512];
    struct iot_reporting reporting;
    if (iot_reporting_make(&reporting, fuzz_folder(),
                           &(struct iot_reporting_how){.top = SIZE_MAX}, error))
        abort();
    check(&reporting.report);
    iot_reporting_free(&reporting);
}
