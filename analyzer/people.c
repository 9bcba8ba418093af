#include "analyzer/people.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Three digits that tell. */
static struct iot_words three(double value, const char *unit)
{
    struct iot_words words;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(words.text, sizeof words.text, "%.*f %s", decimals, value, unit);
    return words;
}

struct iot_words iot_people_time(int64_t ns)
{
    static const struct iot_words none = {"0"}, tiny = {"<0.01 ms"};
    if (!ns)
        return none;
    if (ns < 10000)
        return tiny;
    return ns < INT64_C(999500000) ? three((double)ns / 1e6, "ms") : three((double)ns / 1e9, "s");
}

static struct iot_words scaled(int64_t n, const char *const units[7])
{
    double value = (double)n;
    int unit = 0;
    struct iot_words words;
    if (n < 1000) {
        snprintf(words.text, sizeof words.text, "%" PRId64 "%s", n, units[0]);
        return words;
    }
    for (; value >= 999.5 && unit < 6; unit++)
        value /= 1000;
    return three(value, units[unit]);
}

struct iot_words iot_people_bytes(int64_t bytes)
{
    static const char *const units[7] = {" B", "kB", "MB", "GB", "TB", "PB", "EB"};
    return scaled(bytes, units);
}

struct iot_words iot_people_count(int64_t n)
{
    static const char *const units[7] = {"", "k", "M", "G", "T", "P", "E"};
    struct iot_words words;
    if (n >= 100000)
        return scaled(n, units);
    snprintf(words.text, sizeof words.text, "%" PRId64, n);
    return words;
}

struct iot_words iot_people_many(int64_t n, const char *noun)
{
    struct iot_words words;
    size_t length = strlen(noun);
    const char *ending = n == 1 ? "" : length && noun[length - 1] == 's' ? "es" : "s";
    snprintf(words.text, sizeof words.text, "%.12s %.24s%s", iot_people_count(n).text, noun,
             ending);
    return words;
}

struct iot_words iot_people_share(int64_t part, int64_t whole)
{
    struct iot_words words;
    double percent = whole > 0 ? 100 * (double)part / (double)whole : 0;
    if (percent > 0 && percent < 0.1)
        snprintf(words.text, sizeof words.text, "<0.1 %%");
    else
        snprintf(words.text, sizeof words.text, "%.*f %%", percent < 9.95 && percent > 0 ? 1 : 0,
                 percent);
    return words;
}
