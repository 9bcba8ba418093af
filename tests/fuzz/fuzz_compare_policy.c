/* Any text is a policy whose figures can be reckoned with, or one line that says what is wrong. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare_policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_rule(const struct iot_compare_policy *policy, const struct iot_compare_rule *rule)
{
    char name[64];
    require(isnan(rule->soft) || (rule->soft >= 0 && isfinite(rule->soft)));
    require(isnan(rule->floor) || (rule->floor >= 0 && isfinite(rule->floor)));
    require(isnan(rule->hard) || (rule->hard >= 0 && isfinite(rule->hard)));
    if (rule->selector != IOT_SELECT_METRIC)
        return;
    iot_metric_name(&rule->metric, name, sizeof name);
    require(*name && iot_compare_policy_find(policy, &rule->metric));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iot_compare_policy policy;
    char error[512] = "";

    require(!iot_compare_policy_init(&policy));
    if (iot_compare_policy_parse(&policy, "policy", (const char *)data, size, error)) {
        require(!strncmp(error, "policy:", 7) && !strchr(error, '\n'));
    } else {
        require(policy.alpha > 0 && policy.alpha < 0.5);
        for (size_t i = 0; i < policy.n; i++)
            check_rule(&policy, &policy.rules[i]);
    }
    iot_compare_policy_free(&policy);
    return 0;
}
