/* From a trace folder to the partial result of its unit. */
#include <stdint.h>
#include <stdio.h>

#include "analyzer/partial.h"
#include "analyzer/reporting.h"

enum iot_added iot_partial_add_folder(struct iot_partial *partial, const char *folder,
                                      const struct iot_partial_how *how, char error[512])
{
    struct iot_reporting reporting;
    const struct iot_reporting_how whole = {how->rules, SIZE_MAX, how->events};
    enum iot_added added =
        iot_reporting_make(&reporting, folder, &whole, error) ? IOT_UNREAD : IOT_ADDED;
    if (added == IOT_ADDED && iot_partial_add_report(partial, &reporting.report, how->top)) {
        snprintf(error, 512, "%.300s: out of memory", folder);
        added = IOT_ADD_FAILED;
    }
    iot_reporting_free(&reporting);
    return added;
}
