#include "analyzer/report.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/advice.h"
#include "analyzer/arena.h"
#include "analyzer/phases.h"
#include "analyzer/report_gpu.h"
#include "analyzer/report_parts.h"
#include "analyzer/serialization.h"

int iot_report_make(struct iot_report *report, const struct iot_trace *trace,
                    const struct iot_model *model, const struct iot_classes *classes,
                    const struct iot_steps *steps, size_t top)
{
    struct iot_rows rows = {.report = report, .classes = classes};

    *report = (struct iot_report){.trace = trace, .model = model, .arena = iot_arena_new()};
    int failed = !report->arena || iot_rows_sum(&rows);
    if (!failed)
        iot_rows_cache(&rows);
    failed = failed || iot_rows_reads(&rows) || iot_rows_phases(&rows, steps) ||
             iot_rows_coding(&rows) || iot_rows_order(&rows, top) || iot_rows_group(&rows) ||
             iot_rows_latency(&rows) || iot_rows_fit(&rows) || iot_rows_recoverable(&rows) ||
             iot_report_run(report) || iot_report_ranks(report) ||
             iot_report_untraced(report) || iot_report_uncalled(report) ||
             iot_report_not_seen(report) ||
             iot_call_sites_find(&report->sites, &report->n_sites, IOT_REPORT_SITES, trace, model,
                                 IOT_NO_INDEX, &report->changed, report->arena) ||
             iot_report_evidence(report);
    failed = failed || iot_rows_ready(&rows);
    report->of_event = rows.of_event;
    rows.of_event = NULL;
    iot_rows_free(&rows);
    failed = failed || iot_report_site_files(report) || iot_report_queues(report) ||
             iot_report_waits(report) || iot_report_ranges(report) ||
             iot_report_gpu_make(report, classes) || iot_report_advise(report);
    return failed ? -1 : 0;
}

void iot_report_free(struct iot_report *report)
{
    free(report->files);
    free(report->evidence);
    free(report->queues);
    free(report->waits);
    free(report->sites);
    free(report->ranges);
    free(report->marks);
    free(report->of_event);
    iot_report_gpu_free(report->gpu);
    if (report->gaps)
        free(report->gaps->gaps);
    free(report->gaps);
    free(report->phases);
    iot_advice_free(report->advice);
    free(report->run.untraced);
    free(report->run.uncalled);
    free(report->run.ranks);
    free(report->run.not_seen);
    free(report->run.filesystems);
    iot_arena_free(report->arena);
    *report = (struct iot_report){0};
}
