#include "analyzer/reporting.h"

#include <stdio.h>

int iot_reporting_make(struct iot_reporting *w, const char *folder,
                       const struct iot_reporting_how *how, char error[512])
{
    *w = (struct iot_reporting){0};
    if (how->rules && iot_rules_read(&w->rules, how->rules, error))
        return -1;
    if (!(w->trace = iot_trace_read_newest(folder, how->events, error)))
        return -1;
    if (!iot_seen_narrow(w->trace) && (w->model = iot_model_build(w->trace)) &&
        !iot_steps_find(&w->steps, w->trace, w->model) &&
        !iot_classify(&w->classes, w->trace, how->rules ? &w->rules : NULL, &w->steps) &&
        !iot_report_make(&w->report, w->trace, w->model, &w->classes, &w->steps, how->top))
        return 0;
    snprintf(error, 512, "%s: out of memory for a run of %zu events", folder, w->trace->events.n);
    return -1;
}

void iot_reporting_free(struct iot_reporting *w)
{
    iot_report_free(&w->report);
    iot_classes_free(&w->classes);
    iot_steps_free(&w->steps);
    if (w->model)
        iot_model_free(w->model);
    if (w->trace)
        iot_trace_free(w->trace);
    iot_rules_free(&w->rules);
    *w = (struct iot_reporting){0};
}
