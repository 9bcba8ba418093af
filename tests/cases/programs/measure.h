/* Programs that say themselves what their I/O cost them: a clock, spans of time, and the truth,
 * which goes to $TRUTH as JSON. C and C++. Where others take its CPUs, a program does not know what
 * it would have waited for without: the time its threads waited for a CPU is the error of what it
 * says. */
#ifndef IOT_CASES_MEASURE_H
#define IOT_CASES_MEASURE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int64_t ns_t;

enum { SPANS_MAX = 4096 };

struct spans {
    int n;
    ns_t from[SPANS_MAX], to[SPANS_MAX];
};

static inline ns_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (ns_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void need(int holds, const char *what);

/* The calling thread, since it began. */
static inline ns_t waited_for_cpu(void)
{
    char text[128] = "";
    long long ran, waited = 0;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    need(fd >= 0 && read(fd, text, sizeof text - 1) > 0, "schedstat");
    close(fd);
    need(sscanf(text, "%lld %lld", &ran, &waited) == 2, text);
    return waited;
}

/* What the threads that said so have waited for a CPU. */
static ns_t queued_ns;

static inline void note_queued(void)
{
    __atomic_fetch_add(&queued_ns, waited_for_cpu(), __ATOMIC_RELAXED);
}

static inline void need(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(99);
    }
}

static inline void span(struct spans *s, ns_t from, ns_t to)
{
    need(s->n < SPANS_MAX, "too many spans");
    s->from[s->n] = from;
    s->to[s->n++] = to;
}

/* How much of the spans lies between two moments. */
static inline ns_t within(const struct spans *s, ns_t from, ns_t to)
{
    ns_t sum = 0;
    for (int k = 0; k < s->n; k++) {
        ns_t a = s->from[k] > from ? s->from[k] : from, b = s->to[k] < to ? s->to[k] : to;
        sum += b > a ? b - a : 0;
    }
    return sum;
}

static inline ns_t total(const struct spans *s)
{
    return within(s, INT64_MIN, INT64_MAX);
}

/* How much of one's spans lies in the other's. */
static inline ns_t shared(const struct spans *io, const struct spans *waits)
{
    ns_t sum = 0;
    for (int k = 0; k < waits->n; k++)
        sum += within(io, waits->from[k], waits->to[k]);
    return sum;
}

/* Work that needs no CPU, which others on the machine may want. */
static inline void work_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static inline void spin_ms(int ms)
{
    ns_t until = now() + (ns_t)ms * 1000000;
    while (now() < until)
        ;
}

/* Reads file number k of a folder whole, in one call; the spans get its time. */
static inline void read_file(struct spans *io, const char *folder, int k)
{
    static __thread char data[1 << 16];
    char path[4096];
    snprintf(path, sizeof path, "%s/part%03d.bin", folder, k);
    ns_t from = now();
    int fd = open(path, O_RDONLY);
    need(fd >= 0, path);
    need(read(fd, data, sizeof data) > 0, path);
    close(fd);
    span(io, from, now());
}

static inline void truth(const char *object, ns_t service, ns_t exposed, ns_t waited)
{
    note_queued();
    FILE *out = fopen(getenv("TRUTH") ? getenv("TRUTH") : "/dev/stdout", "w");
    need(out != NULL, "TRUTH");
    fprintf(out,
            "{\"object\": \"%s\", \"service_ns\": %lld, \"exposed_ns\": %lld, "
            "\"waited_ns\": %lld, \"queued_ns\": %lld}\n",
            object, (long long)service, (long long)exposed, (long long)waited,
            (long long)queued_ns);
    fclose(out);
}

#endif
