/* Rules that ask from where in the program calls are made (site=), seen by the stacks of a run. */
#ifndef IOT_ANALYZER_RULE_SITES_H
#define IOT_ANALYZER_RULE_SITES_H

#include "analyzer/rules.h"
#include "analyzer/trace.h"

struct iot_rule_sites {
    /* by rule, then file: bit d, a call in that direction was made from there; NULL: all are */
    uint8_t **of_rule;
    size_t n;
};

/* Only calls that move data are looked at. Returns 0, -1 without memory. Free in either case. */
int iot_rule_sites_gather(struct iot_rule_sites *sites, const struct iot_rules *rules,
                          const struct iot_trace *trace);
void iot_rule_sites_free(struct iot_rule_sites *sites);

#endif
