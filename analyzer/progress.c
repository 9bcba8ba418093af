#include "analyzer/progress.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN_FROM_MS = 1000, EVERY_MS = 200 };

static struct {
    int on, shown;
    int64_t start_ms, last_ms;
} progress;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void iot_progress_start(void)
{
    progress.on = isatty(STDERR_FILENO);
    progress.start_ms = progress.last_ms = now_ms();
}

void iot_progress(const char *what, size_t done, size_t all)
{
    if (!progress.on)
        return;
    int64_t now = now_ms();
    if (now - progress.start_ms < SHOWN_FROM_MS ||
        (progress.shown && all && now - progress.last_ms < EVERY_MS))
        return;
    progress.shown = 1;
    progress.last_ms = now;
    fprintf(stderr, "\r\033[K%s", what);
    if (all)
        fprintf(stderr, " (%zu of %zu)", done, all);
    fflush(stderr);
}

void iot_progress_end(void)
{
    if (progress.shown)
        fputs("\r\033[K", stderr);
    progress.on = progress.shown = 0;
}
