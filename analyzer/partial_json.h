/* How the parts of partial.c, partial_write.c and job.c work together. */
#ifndef IOT_ANALYZER_PARTIAL_JSON_H
#define IOT_ANALYZER_PARTIAL_JSON_H

#include "analyzer/partial.h"

/* Members of an object: who it is, and its numbers. */
struct iot_json;
void iot_unit_put_head(struct iot_json *json, const struct iot_unit *unit);

/* A unit as it is written; NULL without memory. Free it. */
char *iot_partial_unit_text(const struct iot_unit *unit);

/* Whether both rows are of the same process tree. */
int iot_units_are_one(const struct iot_unit *x, const struct iot_unit *y);

#endif
