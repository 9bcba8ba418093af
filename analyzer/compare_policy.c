#include "analyzer/compare_policy.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/objects.h"
#include "analyzer/room.h"

const char *const iot_compare_levels[] = {"off", "warn", "fail", NULL};

/* The times: six, so that six runs a side can decide at this alpha. Of counts what a program
 * determines: how a pipe cuts what it carries, and what start-up looks for, is chance. */
static const char built_in[] = "alpha 1.5%\n"
                               "wall fail\n"
                               "total.exposed fail\n"
                               "input.exposed fail\n"
                               "artifact.exposed fail\n"
                               "state.exposed fail\n"
                               "output.exposed fail\n"
                               "input.data_ops fail\n"
                               "input.small_ops fail\n"
                               "input.opens fail\n"
                               "input.sync_ops fail\n"
                               "input.bytes fail\n"
                               "input.read_amplification fail\n"
                               "artifact.data_ops fail\n"
                               "artifact.small_ops fail\n"
                               "artifact.opens fail\n"
                               "artifact.sync_ops fail\n"
                               "artifact.bytes fail\n"
                               "artifact.read_amplification fail\n"
                               "state.bytes fail\n"
                               "state.sync_ops fail\n"
                               "output.data_ops fail\n"
                               "output.small_ops fail\n"
                               "output.opens fail\n"
                               "output.sync_ops fail\n"
                               "output.bytes fail\n";

static const struct {
    const char *name;
    enum iot_metric_kind kind;
} kinds[] = {{"@time", IOT_METRIC_TIME},
             {"@rate", IOT_METRIC_RATE},
             {"@count", IOT_METRIC_COUNT},
             {"@bytes", IOT_METRIC_BYTES},
             {"@ratio", IOT_METRIC_RATIO}};

/* Of a value, by what it is of; "" is a plain number. */
static const struct {
    const char *unit;
    double factor;
    unsigned kinds;
} units[] = {
    {"ns", 1, 1 << IOT_METRIC_TIME},
    {"us", 1e3, 1 << IOT_METRIC_TIME},
    {"ms", 1e6, 1 << IOT_METRIC_TIME},
    {"s", 1e9, 1 << IOT_METRIC_TIME},
    {"", 1, 1 << IOT_METRIC_COUNT | 1 << IOT_METRIC_RATIO},
    {"GB/s", 1, 1 << IOT_METRIC_RATE},
    {"B", 1, 1 << IOT_METRIC_BYTES},
    {"kB", 1e3, 1 << IOT_METRIC_BYTES},
    {"MB", 1e6, 1 << IOT_METRIC_BYTES},
    {"GB", 1e9, 1 << IOT_METRIC_BYTES},
    {"KiB", 1024, 1 << IOT_METRIC_BYTES},
    {"MiB", 1048576, 1 << IOT_METRIC_BYTES},
    {"GiB", 1073741824, 1 << IOT_METRIC_BYTES},
};
static const char *const examples[] = {[IOT_METRIC_TIME] = "a time with its unit, as in 20ms",
                                       [IOT_METRIC_RATE] = "a rate, as in 1.5GB/s",
                                       [IOT_METRIC_COUNT] = "a number",
                                       [IOT_METRIC_BYTES] = "a size with its unit, as in 64KiB",
                                       [IOT_METRIC_RATIO] = "a number, as in 1.5"};

enum { WORD_BYTES = 256 };

/* One line as it is read. */
struct line {
    const char *at, *end;
    char word[WORD_BYTES]; /* the last one taken; "" at the end of the line */
    char wrong[64];        /* with it, where that takes words of its own */
};

/* Blanks part words, except between quotes. Returns 0, -1: it is too long, or a quote is open. */
static int next_word(struct line *line)
{
    size_t n = 0;
    int quoted = 0;
    while (line->at < line->end && strchr(" \t\r", *line->at))
        line->at++;
    if (line->at < line->end && *line->at == '#')
        line->at = line->end;
    for (; line->at < line->end && (quoted || !strchr(" \t\r", *line->at)); line->at++) {
        if (!*line->at || n + 1 == WORD_BYTES)
            break;
        quoted ^= *line->at == '"';
        line->word[n++] = *line->at;
    }
    line->word[n] = '\0';
    return quoted || (line->at < line->end && !strchr(" \t\r", *line->at)) ? -1 : 0;
}

/* --- selectors --- */

static int find_figure(const char *name, size_t *figure)
{
    for (*figure = 0; *figure < iot_metric_n_figures; ++*figure)
        if (!strcmp(iot_metric_figures[*figure].name, name))
            return 0;
    return -1;
}

/* file:"GLOB".FIGURE */
static int select_file(struct iot_compare_policy *policy, struct iot_compare_rule *rule,
                       const char *word)
{
    const char *end = strrchr(word, '"');
    if (!end || end <= word + 1 || end[1] != '.' || find_figure(end + 2, &rule->metric.figure) ||
        !iot_metric_figures[rule->metric.figure].in_files)
        return -1;
    rule->metric.object = IOT_METRIC_FILES;
    rule->metric.glob = iot_arena_text(policy->arena, word + 1, (size_t)(end - word) - 1);
    return rule->metric.glob ? 0 : -1;
}

static int select_object(struct iot_compare_rule *rule, const char *word)
{
    const char *dot = strchr(word, '.');
    size_t n = dot ? (size_t)(dot - word) : 0;
    if (!n || find_figure(dot + 1, &rule->metric.figure))
        return -1;
    if (n == 1 && *word == '*') {
        rule->selector = IOT_SELECT_FIGURE;
        return 0;
    }
    if (n == 5 && !strncmp(word, "total", n)) {
        rule->metric.object = IOT_METRIC_TOTAL;
        return iot_metric_figures[rule->metric.figure].in_total ? 0 : -1;
    }
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (strlen(iot_object_names[o]) == n && !strncmp(word, iot_object_names[o], n)) {
            rule->metric.object = o;
            return 0;
        }
    return -1;
}

static int select_what(struct iot_compare_policy *policy, struct iot_compare_rule *rule,
                       const char *word)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(word, kinds[k].name)) {
            rule->selector = IOT_SELECT_KIND;
            rule->kind = kinds[k].kind;
            return 0;
        }
    rule->selector = IOT_SELECT_METRIC;
    for (size_t k = 0; k < IOT_METRIC_RUN; k++)
        if (!strcmp(word, iot_metric_runs[k].name)) {
            rule->metric = (struct iot_metric){.object = IOT_METRIC_WHOLE, .figure = k};
            rule->kind = iot_metric_runs[k].kind;
            return 0;
        }
    int failed = strncmp(word, "file:\"", 6) ? select_object(rule, word)
                                             : select_file(policy, rule, word + 5);
    if (!failed)
        rule->kind = iot_metric_figures[rule->metric.figure].kind;
    return failed;
}

/* --- values --- */

static int read_share(const char *text, double *share)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || strcmp(end, "%") || !isfinite(value) || value < 0 || value > 1e6)
        return -1;
    *share = value / 100;
    return 0;
}

static int read_value(enum iot_metric_kind kind, const char *text, double *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0)
        return -1;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (units[k].kinds >> kind & 1 && !strcmp(end, units[k].unit)) {
            *value = number * units[k].factor;
            return *value < 1e18 ? 0 : -1;
        }
    return -1;
}

/* --- lines --- */

/* What is wrong in words, with the place in front. */
static int complain(char error[512], const char *name, size_t number, const char *word,
                    const char *what)
{
    snprintf(error, 512, "%.200s:%zu: '%.100s' %.180s", name, number, word, what);
    return -1;
}

/* What belongs behind a selector. Returns NULL, or what is wrong with line->word. */
static const char *read_terms(struct iot_compare_rule *rule, struct line *line)
{
    bool level = false;
    while (!next_word(line) && *line->word) {
        double *value = !strcmp(line->word, "floor")  ? &rule->floor
                        : !strcmp(line->word, "hard") ? &rule->hard
                                                      : NULL;
        bool soft = !strcmp(line->word, "soft");
        if (level)
            return "comes after fail, warn or off, which ends a rule";
        for (int k = 0; iot_compare_levels[k]; k++)
            if (!strcmp(line->word, iot_compare_levels[k])) {
                rule->level = (enum iot_compare_level)k;
                level = true;
            }
        if (level)
            continue;
        if (!value && !soft)
            return "is not soft, floor, hard, fail, warn or off";
        if (!isnan(soft ? rule->soft : *value))
            return "is there twice";
        if (next_word(line))
            break;
        snprintf(line->wrong, sizeof line->wrong, "is not %s",
                 soft ? "a share, as in 5%" : examples[rule->kind]);
        if (soft ? read_share(line->word, &rule->soft) : read_value(rule->kind, line->word, value))
            return line->wrong;
    }
    if (*line->word)
        return "has a quote that does not end, or is too long";
    return level ? NULL : "ends here: fail, warn or off is missing";
}

static int add_rule(struct iot_compare_policy *policy, const struct iot_compare_rule *rule)
{
    if (IOT_ROOM(policy->rules, policy->n + 1, policy->room))
        return -1;
    policy->rules[policy->n++] = *rule;
    return 0;
}

static const char *read_alpha(struct iot_compare_policy *policy, struct line *line)
{
    double alpha;
    if (next_word(line) || read_share(line->word, &alpha) || alpha <= 0 || alpha >= 0.5)
        return "is not a share above 0 and below 50%, as in 2%";
    policy->alpha = alpha;
    return next_word(line) || *line->word ? "comes after a rule's end" : NULL;
}

static int read_line(struct iot_compare_policy *policy, const char *name, size_t number,
                     struct line *line, char error[512])
{
    struct iot_compare_rule rule = {
        .soft = (double)NAN, .floor = (double)NAN, .hard = (double)NAN, .line = number};
    const char *wrong;
    if (next_word(line))
        return complain(error, name, number, line->word,
                        "has a quote that does not end, or is too long");
    if (!*line->word)
        return 0;
    if (!strcmp(line->word, "alpha")) {
        wrong = read_alpha(policy, line);
        return wrong ? complain(error, name, number, line->word, wrong) : 0;
    }
    if (select_what(policy, &rule, line->word))
        return complain(error, name, number, line->word,
                        "is no metric; 'man iotrace' lists them under POLICY");
    if ((wrong = read_terms(&rule, line)))
        return complain(error, name, number, line->word, wrong);
    if (add_rule(policy, &rule)) {
        snprintf(error, 512, "%.200s: out of memory", name);
        return -1;
    }
    return 0;
}

static int read_lines(struct iot_compare_policy *policy, const char *name, const char *text,
                      size_t n, char error[512], bool numbered)
{
    const char *end = text + n;
    for (size_t number = 1; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct line line = {.at = text, .end = stop ? stop : end};
        if (read_line(policy, name, numbered ? number : 0, &line, error))
            return -1;
        text = line.end + 1;
    }
    return 0;
}

int iot_compare_policy_parse(struct iot_compare_policy *policy, const char *name, const char *text,
                             size_t n, char error[512])
{
    return read_lines(policy, name, text, n, error, true);
}

int iot_compare_policy_read(struct iot_compare_policy *policy, const char *path, char error[512])
{
    FILE *in = fopen(path, "re");
    char *text = in ? malloc(IOT_POLICY_MAX + 1) : NULL;
    int status = -1;

    errno = in && !text ? ENOMEM : errno;
    size_t n = text ? fread(text, 1, IOT_POLICY_MAX + 1, in) : 0;
    if (!text || ferror(in))
        snprintf(error, 512, "%.300s: cannot be read: %s", path, strerror(errno));
    else if (n > IOT_POLICY_MAX)
        snprintf(error, 512, "%.300s: more than %u bytes: is it a policy?", path, IOT_POLICY_MAX);
    else
        status = iot_compare_policy_parse(policy, path, text, n, error);
    free(text);
    if (in)
        fclose(in);
    return status;
}

int iot_compare_policy_init(struct iot_compare_policy *policy)
{
    char error[512];
    *policy = (struct iot_compare_policy){.arena = iot_arena_new()};
    if (!policy->arena)
        return -1;
    return read_lines(policy, "built-in policy", built_in, sizeof built_in - 1, error, false);
}

void iot_compare_policy_free(struct iot_compare_policy *policy)
{
    free(policy->rules);
    if (policy->arena)
        iot_arena_free(policy->arena);
    *policy = (struct iot_compare_policy){0};
}

/* --- use --- */

static bool selects(const struct iot_compare_rule *rule, const struct iot_metric *m)
{
    const struct iot_metric *of = &rule->metric;
    switch (rule->selector) {
    case IOT_SELECT_KIND:
        return rule->kind == iot_metric_kind(m);
    case IOT_SELECT_FIGURE:
        return m->object < IOT_OBJECTS && m->figure == of->figure;
    default:
        return m->object == of->object && m->figure == of->figure &&
               (m->object != IOT_METRIC_FILES || !strcmp(m->glob, of->glob));
    }
}

const struct iot_compare_rule *iot_compare_policy_find(const struct iot_compare_policy *policy,
                                                       const struct iot_metric *metric)
{
    const struct iot_compare_rule *built = NULL, *found = NULL;
    for (size_t i = 0; i < policy->n; i++) {
        const struct iot_compare_rule *rule = &policy->rules[i];
        if (!selects(rule, metric))
            continue;
        if (!rule->line)
            built = rule;
        else if (!found || rule->selector >= found->selector)
            found = rule;
    }
    /* A kind says how what is gated is judged; it gates nothing by itself. */
    return found && (built || found->selector != IOT_SELECT_KIND) ? found : built;
}
