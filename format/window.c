#include "format/window.h"

/* A decimal number with up to nine places, times `unit`. Returns where it ends; NULL: there is
 * none, or it is beyond 2^63. */
static const char *number(const char *p, uint64_t *whole, uint64_t *billionths)
{
    if (*p < '0' || *p > '9')
        return 0;
    *whole = *billionths = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (*whole > INT64_MAX / 10 - 1)
            return 0;
        *whole = *whole * 10 + (uint64_t)(*p - '0');
    }
    if (*p != '.')
        return p;
    uint64_t place = 100000000;
    for (p++; *p >= '0' && *p <= '9'; p++, place /= 10)
        *billionths += place * (uint64_t)(*p - '0');
    return p;
}

struct unit {
    const char *name;
    uint64_t size;
};

static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int quantity(const char *text, const struct unit *units, uint64_t *to)
{
    uint64_t whole, billionths;
    const char *p = text ? number(text, &whole, &billionths) : 0;
    for (; p && units->name; units++) {
        if (!same(p, units->name))
            continue;
        if (whole > (uint64_t)INT64_MAX / units->size - 1)
            return -1;
        *to = whole * units->size +
              (uint64_t)((double)billionths / 1e9 * (double)units->size + 0.5);
        return 0;
    }
    return -1;
}

int iot_window_time(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"", 1000000000},
                                        {"s", 1000000000},
                                        {"ms", 1000000},
                                        {"us", 1000},
                                        {"ns", 1},
                                        {"m", UINT64_C(60) * 1000000000},
                                        {"min", UINT64_C(60) * 1000000000},
                                        {"h", UINT64_C(3600) * 1000000000},
                                        {0, 0}};
    return quantity(text, units, ns);
}

int iot_window_size(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {0, 0}};
    return quantity(text, units, bytes);
}

int iot_window_steps(const char *text, uint32_t *first, uint32_t *last)
{
    uint64_t a, b, rest;
    const char *p = text ? number(text, &a, &rest) : 0;
    if (!p || rest || a < 1 || a >= UINT32_MAX)
        return -1;
    b = a;
    if (*p == '-') {
        b = UINT32_MAX;
        if (p[1] && (!(p = number(p + 1, &b, &rest)) || rest || b < a || b >= UINT32_MAX))
            return -1;
        if (b == UINT32_MAX)
            p++;
    }
    if (*p)
        return -1;
    *first = (uint32_t)a;
    *last = (uint32_t)b;
    return 0;
}
