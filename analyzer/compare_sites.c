/* The call site that makes most of a regression, of runs with stacks (iotrace run --stacks).
 *
 * Sites of different runs are the same if their innermost functions are: where in them a call is
 * made is another place in each build.
 */
#include <math.h>
#include <string.h>

#include "analyzer/compare_words.h"
#include "analyzer/path_glob.h"

enum { FRAMES = 4, NAME = 60, SITE_BYTES = 160 };

/* Of a frame, "load+0x10 (app)", how many bytes are the function's name; a function's is all of it.
 */
static size_t name_length(const char *frame)
{
    const char *place = strstr(frame, "+0x"), *end = strstr(frame, " (");
    return place ? (size_t)(place - frame) : end ? (size_t)(end - frame) : strlen(frame);
}

/* "main > load > read_part", the caller first. What calls main is the same everywhere. */
static void make_words(const json_t *site, char text[SITE_BYTES])
{
    const char *names[FRAMES];
    size_t n = 0, shown = 0, k;
    const json_t *frame, *places = json_object_get(site, "places");
    json_array_foreach(json_object_get(site, "frames"), k, frame)
    {
        if (shown == FRAMES || !json_is_string(frame))
            break;
        const char *function =
            json_string_value(json_object_get(json_array_get(places, k), "function"));
        names[shown++] = function ? function : json_string_value(frame);
        if (name_length(names[k]) == 4 && !strncmp(names[k], "main", 4))
            break;
    }
    text[0] = '\0';
    while (shown-- > 0 && n < SITE_BYTES)
        n += (size_t)snprintf(text + n, SITE_BYTES - n, "%.*s%s",
                              (int)fmin(NAME, (double)name_length(names[shown])), names[shown],
                              shown ? " > " : "");
}

static double member(const json_t *site, const char *key)
{
    return json_number_value(json_object_get(site, key));
}

static bool concerns(const struct iot_compared *m, const json_t *site)
{
    const char *object = json_string_value(json_object_get(site, "object"));
    const char *path = json_string_value(json_object_get(site, "path"));
    if (m->metric.object == IOT_METRIC_FILES)
        return path && iot_path_matches(path, m->metric.glob);
    return m->metric.object >= IOT_METRIC_TOTAL ||
           (object && !strcmp(object, iot_object_names[m->metric.object]));
}

/* A run's, on average, of the sites in those words that speak of the metric. */
static double sum(const struct iot_compared *m, const struct iot_compare_side *side,
                  const char *words, const char *key)
{
    char own[SITE_BYTES];
    double sum = 0;
    size_t k;
    const json_t *site;
    for (size_t i = 0; i < side->n; i++)
        json_array_foreach(json_object_get(side->runs[i].report, "sites"), k, site)
        {
            make_words(site, own);
            if (concerns(m, site) && !strcmp(own, words))
                sum += member(site, key);
        }
    return sum / (double)side->n;
}

/* What of a site's figures speaks of the metric. */
static const char *key_for(const struct iot_compared *m)
{
    switch (iot_metric_kind(&m->metric)) {
    case IOT_METRIC_COUNT:
        return "calls";
    case IOT_METRIC_BYTES:
    case IOT_METRIC_RATIO:
        return "bytes";
    default:
        return m->metric.object < IOT_OBJECTS &&
                       !strcmp(iot_metric_figures[m->metric.figure].name, "service")
                   ? "service_ns"
                   : "exposed_ns";
    }
}

/* Where a side has runs without stacks, the other's sites only look new. */
static bool has_sites(const struct iot_compare_side *side)
{
    for (size_t i = 0; i < side->n; i++)
        if (!json_array_size(json_object_get(side->runs[i].report, "sites")))
            return false;
    return true;
}

void iot_compare_add_site(const struct iot_comparison *c, struct iot_compared *m)
{
    const struct iot_compare_side *base = &c->sides[IOT_BASE], *now = &c->sides[IOT_CANDIDATE];
    const char *key = key_for(m);
    double by = 0;
    char words[SITE_BYTES], best[SITE_BYTES] = "";
    size_t k;
    const json_t *site;

    if (!has_sites(base) || !has_sites(now) || m->n_why == IOT_WHY_LINES)
        return;
    json_array_foreach(json_object_get(now->runs[0].report, "sites"), k, site)
    {
        make_words(site, words);
        double grown = concerns(m, site) ? sum(m, now, words, key) - sum(m, base, words, key) : 0;
        if (grown > by) {
            memcpy(best, words, sizeof best);
            by = grown;
        }
    }
    if (!*best)
        return;
    snprintf(m->why[m->n_why++], IOT_NOTE_BYTES, "called from %s: %s → %s calls; exposed %s → %s",
             best, iot_compare_value(IOT_METRIC_COUNT, sum(m, base, best, "calls")).text,
             iot_compare_value(IOT_METRIC_COUNT, sum(m, now, best, "calls")).text,
             iot_compare_value(IOT_METRIC_TIME, sum(m, base, best, "exposed_ns")).text,
             iot_compare_value(IOT_METRIC_TIME, sum(m, now, best, "exposed_ns")).text);
}
