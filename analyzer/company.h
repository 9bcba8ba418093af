/* What the files beside a file say of it, where neither a sure rule nor its own use did. */
#ifndef IOT_ANALYZER_COMPANY_H
#define IOT_ANALYZER_COMPANY_H

#include "analyzer/classify.h"
#include "analyzer/siblings.h"
#include "analyzer/use.h"

/* Judges companions (companions.def), and small files that were read once, early, beside an
 * artifact: a model's configuration. After each file was judged alone. Returns 0, -1 without
 * memory. */
int iot_company_judge(struct iot_classes *classes, const struct iot_trace *trace,
                      const struct iot_uses *uses, const struct iot_groups *groups);

#endif
