/* truth.py for C programs. */
#ifndef IOT_TEST_STEPS_TRUTH_H
#define IOT_TEST_STEPS_TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_MAX = 4096 };

static int64_t starts[STEPS_MAX];
static int n_starts;

static inline int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void compute_ms(double ms)
{
    int64_t end = now_ns() + (int64_t)(ms * 1e6);
    while (now_ns() < end)
        ;
}

static inline void truth_start(void)
{
    char name[64];
    snprintf(name, sizeof name, "/clock/%lld", (long long)now_ns());
    access(name, F_OK);
}

static inline void truth_step(void)
{
    starts[n_starts++] = now_ns();
}

static inline int truth_write(void)
{
    FILE *out = fopen(getenv("STEPS_TRUTH"), "w");
    for (int i = 0; i < n_starts && out; i++)
        fprintf(out, "%lld\n", (long long)starts[i]);
    return out ? fclose(out) : 1;
}

#endif
