/* From a trace folder to the partial result of its unit. */
#include <stdint.h>
#include <stdio.h>

#include "analyzer/partial.h"
#include "analyzer/reporting.h"

int iot_partial_add_folder(struct iot_partial *partial, const char *folder, const char *rules,
                           size_t top, char error[512])
{
    struct iot_reporting reporting;
    int failed = iot_reporting_make(&reporting, folder, rules, SIZE_MAX, error);
    if (!failed && iot_partial_add_report(partial, &reporting.report, top)) {
        snprintf(error, 512, "%.300s: out of memory", folder);
        failed = -1;
    }
    iot_reporting_free(&reporting);
    return failed;
}
