/* What the run would gain if calls took other times: a what-if by replay. */
#ifndef IOT_ANALYZER_GAIN_H
#define IOT_ANALYZER_GAIN_H

#include "analyzer/model.h"

/* Wall time of the run minus that of its replay with these services, one an event, ns >= 0.
 * Negative if they are so much longer that the run is. */
int64_t iot_gain(const struct iot_model *model, const int64_t *service_ns);

#endif
