/* How long the slowest of many calls takes:
 *
 *     longest CALLS FILE
 *
 * makes CALLS preads of FILE, each between readings of two clocks. One line:
 * `calls=… wall_us=… cpu_us=… over_500_us=…`: the longest by the wall, the longest by the thread's
 * own CPU time, which leaves out that somebody else had the processor, and how many took more than
 * 0.5 ms of that. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define HELD_UP_NS 500000

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "longest: %s: %s\n", what, why);
    exit(2);
}

static uint64_t cpu_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
    static char buffer[BENCH_BLOCK];
    uint64_t longest = 0, longest_cpu = 0, over = 0;

    if (argc != 3)
        fail("usage", "longest CALLS FILE");
    int fd = open(argv[2], O_RDONLY);
    if (fd < 0 || dup2(fd, BENCH_FD) < 0)
        fail(argv[2], strerror(errno));
    unsigned long calls = strtoul(argv[1], NULL, 10);
    for (unsigned long i = 0; i < calls; i++) {
        uint64_t cpu = cpu_now(), wall = bench_now();
        if (pread(BENCH_FD, buffer, BENCH_BLOCK, (off_t)(i % 64) * BENCH_BLOCK) != BENCH_BLOCK)
            fail(argv[2], "a pread failed or was short");
        wall = bench_now() - wall;
        cpu = cpu_now() - cpu;
        longest = wall > longest ? wall : longest;
        longest_cpu = cpu > longest_cpu ? cpu : longest_cpu;
        over += cpu > HELD_UP_NS;
    }
    printf("calls=%lu wall_us=%.1f cpu_us=%.1f over_500_us=%lu\n", calls, (double)longest / 1e3,
           (double)longest_cpu / 1e3, (unsigned long)over);
    return 0;
}
