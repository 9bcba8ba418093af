/* First a line by medians, which bears with a quarter of outliers: the median slope of pairs of a
 * small and a large call, and the median of what is left at no bytes. Then least squares over the
 * calls that are near it, by their relative distance, since the slower a call the more it varies.
 */
#include "analyzer/fit.h"

#include <math.h>
#include <string.h>

enum { POINTS_MAX = IOT_FIT_CLASSES * IOT_FIT_CALLS, SUPPORT = 3 };

void iot_fit_begin(struct iot_fit_sample *s)
{
    memset(s->seen, 0, sizeof s->seen);
    s->chance = 1;
}

void iot_fit_add(struct iot_fit_sample *s, int64_t bytes, int64_t service_ns)
{
    if (bytes <= 0)
        return;
    unsigned class_ = 63 - (unsigned)__builtin_clzll((unsigned long long)bytes);
    uint64_t place = s->seen[class_]++;
    if (place >= IOT_FIT_CALLS) {
        s->chance = s->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        place = (s->chance >> 32) % s->seen[class_];
        if (place >= IOT_FIT_CALLS)
            return;
    }
    s->calls[class_][place] = (struct iot_fit_call){(double)bytes, (double)service_ns};
}

/* Few, and often of one size. */
static void sort_by_size(struct iot_fit_call *calls, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct iot_fit_call call = calls[i];
        size_t k = i;
        for (; k && calls[k - 1].bytes > call.bytes; k--)
            calls[k] = calls[k - 1];
        calls[k] = call;
    }
}

/* All calls of the sample, by size: the classes are in that order already. */
static size_t collect(const struct iot_fit_sample *s, struct iot_fit_call *calls)
{
    size_t n = 0;
    for (int c = 0; c < IOT_FIT_CLASSES; c++) {
        size_t kept = s->seen[c] < IOT_FIT_CALLS ? (size_t)s->seen[c] : IOT_FIT_CALLS;
        memcpy(&calls[n], s->calls[c], kept * sizeof *calls);
        sort_by_size(&calls[n], kept);
        n += kept;
    }
    return n;
}

/* The element of rank k, by partition; their order is lost. n is not 0. */
static double ranked(double *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            double t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return v[k];
}

static double median(double *v, size_t n)
{
    double upper = ranked(v, n, n / 2);
    return n % 2 ? upper : (ranked(v, n, n / 2 - 1) + upper) / 2;
}

static struct iot_fit line_by_medians(const struct iot_fit_call *c, size_t n, double *room)
{
    struct iot_fit fit = {.known = 1};
    size_t half = n / 2, slopes = 0;

    for (size_t i = 0; i + half < n; i++)
        if (c[i + half].bytes > c[i].bytes)
            room[slopes++] =
                (c[i + half].service_ns - c[i].service_ns) / (c[i + half].bytes - c[i].bytes);
    fit.ns_per_byte = slopes ? median(room, slopes) : 0;
    if (fit.ns_per_byte < 0)
        fit.ns_per_byte = 0;
    for (size_t i = 0; i < n; i++)
        room[i] = c[i].service_ns - fit.ns_per_byte * c[i].bytes;
    fit.latency_ns = median(room, n);
    if (fit.latency_ns >= 0)
        return fit;
    for (size_t i = 0; i < n; i++)
        room[i] = c[i].service_ns / c[i].bytes;
    return (struct iot_fit){1, 0, median(room, n)};
}

static double at(const struct iot_fit *fit, double bytes)
{
    return fit->latency_ns + fit->ns_per_byte * bytes;
}

/* What of the service a line leaves, relative to it. */
static double off(const struct iot_fit *fit, const struct iot_fit_call *c)
{
    double line = at(fit, c->bytes);
    return line > 0 ? c->service_ns / line - 1 : 0;
}

struct sums {
    double n, w, b, s, bb, bs;
};

/* Sums with the weights 1 / line^2 over what is within three deviations of it. */
static struct sums sum_near(const struct iot_fit *fit, const struct iot_fit_call *c, size_t n,
                            double near)
{
    struct sums t = {0};
    for (size_t i = 0; i < n; i++) {
        double line = at(fit, c[i].bytes);
        if (line <= 0 || fabs(off(fit, &c[i])) > near)
            continue;
        double w = 1 / (line * line);
        t.n++;
        t.w += w;
        t.b += w * c[i].bytes;
        t.s += w * c[i].service_ns;
        t.bb += w * c[i].bytes * c[i].bytes;
        t.bs += w * c[i].bytes * c[i].service_ns;
    }
    return t;
}

/* Whether a slope is told from none: twice its standard error. */
static int has_slope(const struct iot_fit *first, const struct iot_fit *fit, const struct sums *t,
                     const struct iot_fit_call *c, size_t n, double near)
{
    double left = 0, spread = t->bb - t->b * t->b / t->w;
    for (size_t i = 0; i < n; i++) {
        double line = at(first, c[i].bytes), d = c[i].service_ns - at(fit, c[i].bytes);
        if (line > 0 && fabs(off(first, &c[i])) <= near)
            left += d * d / (line * line);
    }
    return fit->ns_per_byte > 0 &&
           fit->ns_per_byte * fit->ns_per_byte * spread * (t->n - 2) > 4 * left;
}

static struct iot_fit refine(struct iot_fit first, const struct iot_fit_call *c, size_t n,
                             double *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(off(&first, &c[i]));
    const double deviation = 1.4826 * median(room, n), least = 1e-6;
    double near = 3 * deviation > least ? 3 * deviation : least;
    struct sums t = sum_near(&first, c, n, near);
    double spread = t.w > 0 ? t.bb - t.b * t.b / t.w : 0;
    if (t.n <= 2 || spread <= t.bb * 1e-9)
        return first;

    struct iot_fit fit = {.known = 1, .ns_per_byte = (t.bs - t.b * t.s / t.w) / spread};
    fit.latency_ns = (t.s - fit.ns_per_byte * t.b) / t.w;
    if (!has_slope(&first, &fit, &t, c, n, near))
        return (struct iot_fit){1, t.s / t.w, 0};
    if (fit.latency_ns < 0)
        return (struct iot_fit){1, 0, t.bs / t.bb};
    return fit;
}

struct iot_fit iot_fit_line(const struct iot_fit_sample *sample)
{
    struct iot_fit_call calls[POINTS_MAX];
    double room[POINTS_MAX];
    size_t n = collect(sample, calls);

    if (n < 2 * SUPPORT || calls[n - SUPPORT].bytes < 1.25 * calls[SUPPORT - 1].bytes)
        return (struct iot_fit){0};
    return refine(line_by_medians(calls, n, room), calls, n, room);
}
