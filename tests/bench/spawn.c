/* Starts a program again and again and prints how long one start to end took:
 *
 *     spawn COUNT PROGRAM
 *
 * One line: `count=… us_median=… us_min=… us_max=…`. The preload library that is measured is in
 * LD_PRELOAD of this program, so that each PROGRAM is, as in real runs, a child of a traced one. */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define MAX_COUNT 100000

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t spawn_once(char *program)
{
    char *argv[] = {program, NULL};
    uint64_t start = bench_now();
    pid_t pid;
    int status;
    int error = posix_spawn(&pid, program, NULL, NULL, argv, environ);

    if (error != 0) {
        fprintf(stderr, "spawn: %s: %s\n", program, strerror(error));
        exit(2);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "spawn: %s: did not end with status 0\n", program);
        exit(2);
    }
    return bench_now() - start;
}

int main(int argc, char **argv)
{
    static uint64_t ns[MAX_COUNT];
    int count = argc == 3 ? atoi(argv[1]) : 0;

    if (count < 1 || count > MAX_COUNT) {
        fprintf(stderr, "spawn: usage: spawn COUNT PROGRAM, COUNT at most %d\n", MAX_COUNT);
        return 2;
    }
    for (int i = 0; i < count; i++)
        ns[i] = spawn_once(argv[2]);
    qsort(ns, (size_t)count, sizeof(ns[0]), by_value);
    printf("count=%d us_median=%.1f us_min=%.1f us_max=%.1f\n", count, (double)ns[count / 2] / 1e3,
           (double)ns[0] / 1e3, (double)ns[count - 1] / 1e3);
    return 0;
}
