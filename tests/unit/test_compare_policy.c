/* What a policy may say, whom it is for, and where it is wrong. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "analyzer/compare_policy.h"
#include "analyzer/objects.h"

static struct iot_compare_policy policy_of(const char *text)
{
    struct iot_compare_policy policy;
    char error[512] = "";
    cr_assert_eq(iot_compare_policy_init(&policy), 0);
    cr_assert_eq(iot_compare_policy_parse(&policy, "p", text, strlen(text), error), 0, "%s", error);
    return policy;
}

static struct iot_metric metric_of(int object, const char *figure)
{
    struct iot_metric metric = {.object = object};
    while (strcmp(iot_metric_figures[metric.figure].name, figure))
        metric.figure++;
    return metric;
}

static const struct iot_compare_rule *rule_of(const struct iot_compare_policy *policy, int object,
                                              const char *figure)
{
    struct iot_metric metric = metric_of(object, figure);
    return iot_compare_policy_find(policy, &metric);
}

Test(compare_policy, terms)
{
    struct iot_compare_policy p = policy_of("# all of them\n"
                                            "artifact.exposed soft 5% floor 20ms fail # here\n"
                                            "\toutput.sync_ops  hard 100 warn\r\n"
                                            "input.bytes floor 2MiB fail\n"
                                            "input.bandwidth floor 0.5GB/s off\n"
                                            "file:\"my # *.bin\".service soft 10% warn\n"
                                            "alpha 1%\n");
    const struct iot_compare_rule *rule = rule_of(&p, IOT_ARTIFACT, "exposed");
    cr_assert(rule->line == 2 && rule->soft == 0.05 && rule->floor == 20e6 && isnan(rule->hard));
    cr_assert_eq(rule->level, IOT_LEVEL_FAIL);
    rule = rule_of(&p, IOT_OUTPUT, "sync_ops");
    cr_assert(rule->hard == 100 && rule->level == IOT_LEVEL_WARN && isnan(rule->soft));
    cr_assert_eq(rule_of(&p, IOT_INPUT, "bytes")->floor, 2097152);
    cr_assert_eq(rule_of(&p, IOT_INPUT, "bandwidth")->level, IOT_LEVEL_OFF);
    cr_assert_str_eq(p.rules[p.n - 1].metric.glob, "my # *.bin");
    cr_assert_eq(p.alpha, 0.01);
    iot_compare_policy_free(&p);
}

Test(compare_policy, without_a_file)
{
    struct iot_compare_policy p = policy_of("");
    cr_assert_eq(p.alpha, 0.015);
    cr_assert_eq(rule_of(&p, IOT_OUTPUT, "sync_ops")->level, IOT_LEVEL_FAIL);
    cr_assert_null(rule_of(&p, IOT_OUTPUT, "service"));
    cr_assert_null(rule_of(&p, IOT_OTHER, "exposed"));
    iot_compare_policy_free(&p);
}

/* The most specific one, wherever it stands; of equals the last. A kind gates nothing new. */
Test(compare_policy, most_specific_first)
{
    struct iot_compare_policy p = policy_of("artifact.exposed soft 1% fail\n"
                                            "artifact.exposed soft 2% fail\n"
                                            "*.exposed soft 3% warn\n"
                                            "@time soft 4% warn\n"
                                            "@count off\n");
    cr_assert_eq(rule_of(&p, IOT_ARTIFACT, "exposed")->line, 2);
    cr_assert_eq(rule_of(&p, IOT_OTHER, "exposed")->line, 3);
    cr_assert_eq(rule_of(&p, IOT_METRIC_TOTAL, "exposed")->line, 4);
    cr_assert_null(rule_of(&p, IOT_INPUT, "service"));
    cr_assert_eq(rule_of(&p, IOT_INPUT, "opens")->level, IOT_LEVEL_OFF);
    cr_assert_eq(rule_of(&p, IOT_INPUT, "bytes")->line, 0);
    iot_compare_policy_free(&p);
}

Test(compare_policy, what_is_wrong_with_its_line)
{
    static const struct {
        const char *text, *word;
    } wrong[] = {
        {"artefact.exposed fail", "'artefact.exposed'"},
        {"artifact.exposure fail", "'artifact.exposure'"},
        {"total.opens fail", "'total.opens'"},
        {"@times fail", "'@times'"},
        {"wall", "''"},
        {"wall soft 5%", "''"},
        {"wall soft 5 fail", "'5'"},
        {"wall soft fail", "'fail'"},
        {"wall soft 5% soft 6% fail", "'soft'"},
        {"wall soft -5% fail", "'-5%'"},
        {"wall floor 20 fail", "'20'"},
        {"wall floor 20MB fail", "'20MB'"},
        {"wall floor nanms fail", "'nanms'"},
        {"wall hard infs fail", "'infs'"},
        {"input.opens floor 3ms fail", "'3ms'"},
        {"input.bytes floor 3 fail", "'3'"},
        {"wall fail now", "'now'"},
        {"wall fails", "'fails'"},
        {"alpha 60%", "'60%'"},
        {"alpha 0%", "'0%'"},
        {"alpha 2% 3%", "'3%'"},
        {"file:\"*.bin.service fail", "'file:\"*.bin.service fail'"},
        {"file:\"\".service fail", "'file:\"\".service'"},
        {"input.read_amplification floor 3ms fail", "'3ms'"},
        {"total.read_amplification fail", "'total.read_amplification'"},
        {"file:\"*\".bandwidth fail", "'file:\"*\".bandwidth'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct iot_compare_policy p;
        char text[200], error[512] = "";
        snprintf(text, sizeof text, "# first\n%s\n", wrong[i].text);
        cr_assert_eq(iot_compare_policy_init(&p), 0);
        cr_assert_eq(iot_compare_policy_parse(&p, "ci.policy", text, strlen(text), error), -1, "%s",
                     wrong[i].text);
        cr_assert_eq(strncmp(error, "ci.policy:2: ", 13), 0, "%s", error);
        cr_assert_not_null(strstr(error, wrong[i].word), "%s: %s", wrong[i].text, error);
        iot_compare_policy_free(&p);
    }
}

Test(compare_policy, names_are_what_a_policy_says)
{
    struct iot_metric metric = {.object = IOT_METRIC_WHOLE, .figure = IOT_METRIC_P95};
    char name[64];
    iot_metric_name(&metric, name, sizeof name);
    cr_assert_str_eq(name, "step.p95");
    for (int o = 0; o <= IOT_METRIC_TOTAL; o++)
        for (metric.object = o, metric.figure = 0; metric.figure < iot_metric_n_figures;
             metric.figure++) {
            char line[96];
            if (o == IOT_METRIC_TOTAL && !iot_metric_figures[metric.figure].in_total)
                continue;
            iot_metric_name(&metric, name, sizeof name);
            snprintf(line, sizeof line, "%s soft 1%% warn", name);
            struct iot_compare_policy p = policy_of(line);
            cr_assert_eq(iot_compare_policy_find(&p, &metric)->line, 1, "%s", name);
            iot_compare_policy_free(&p);
        }
}
