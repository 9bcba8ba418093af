/* The table of findings behind advice.h. */
#ifndef IOT_ANALYZER_ADVICE_FINDS_H
#define IOT_ANALYZER_ADVICE_FINDS_H

#include <stdbool.h>

#include "analyzer/report_parts.h"

/* What a finding is about, for its words. */
struct iot_tally {
    uint64_t calls, files;
    int64_t bytes, service_ns, exposed_ns;
};

/* The calls of one object, to be changed. */
struct iot_scene {
    const struct iot_report *report;
    const uint32_t *row_of; /* by event: of report->files; IOT_NO_INDEX none */
    int object;
    int64_t *service_ns; /* by event: as recorded; a finding changes them to what they would be */
    uint32_t *by_file;   /* by file of the trace, all 0: for a finding's own use */
    int64_t *bytes_by_file; /* likewise */
};

/* Changes the services and says of what. Leaves `tally` empty where it finds nothing. */
typedef void iot_find(struct iot_scene *scene, struct iot_tally *tally);

/* In texts, {calls} {files} {bytes} {service} {exposed} {object} stand for what was found. */
struct iot_finding {
    iot_find *find;
    const char *finding;
    const char *action[IOT_OBJECTS]; /* NULL: it is not looked for in that object */
};

/* Whether an event is I/O of the object. */
bool iot_scene_has(const struct iot_scene *scene, size_t event);
/* The call takes so long from now on, and is counted. */
void iot_scene_change(struct iot_scene *scene, struct iot_tally *tally, size_t event,
                      int64_t service_ns);

/* Data calls that are slower than P95 of those of their size take their median. */
iot_find iot_find_tail;

extern const struct iot_finding iot_findings[];
extern const size_t iot_n_findings;

#endif
