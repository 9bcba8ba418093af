/* How long a process takes to end after many events, as its parent sees it:
 *
 *     exit CALLS FILE PRELOAD
 *
 * starts itself with LD_PRELOAD=PRELOAD. The child makes CALLS preads of FILE, tells the time of
 * the last one and returns from main. One line: `calls=… exit_us=…`. The parent is not traced: the
 * child is the root of its run, and ends as one. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define CHILD "--child"

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "exit: %s: %s\n", what, why);
    exit(2);
}

static int child(unsigned long calls, const char *path)
{
    static char buffer[BENCH_BLOCK];
    int fd = open(path, O_RDONLY);

    if (fd < 0 || dup2(fd, BENCH_FD) < 0)
        fail(path, strerror(errno));
    for (unsigned long i = 0; i < calls; i++)
        if (pread(BENCH_FD, buffer, BENCH_BLOCK, 0) != BENCH_BLOCK)
            fail(path, "a pread failed or was short");

    uint64_t end = bench_now();
    if (write(STDOUT_FILENO, &end, sizeof(end)) != (ssize_t)sizeof(end))
        fail("pipe", strerror(errno));
    return 0;
}

static int parent(char **argv)
{
    char *args[] = {argv[0], (char *)CHILD, argv[1], argv[2], NULL};
    posix_spawn_file_actions_t actions;
    uint64_t last, end;
    pid_t pid;
    int status, ends[2];

    setenv("LD_PRELOAD", argv[3], 1);
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail("pipe", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int error = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, args, environ);
    if (error != 0)
        fail(argv[0], strerror(error));

    /* Wait first and read after: a reader that wakes up would take CPU from the end it measures. */
    if (waitpid(pid, &status, 0) != pid || status != 0)
        fail(argv[0], "the child did not end with status 0");
    end = bench_now();
    if (read(ends[0], &last, sizeof(last)) != (ssize_t)sizeof(last))
        fail("pipe", "the child told no time");
    printf("calls=%s exit_us=%.1f\n", argv[1], (double)(end - last) / 1e3);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        fail("usage", "exit CALLS FILE PRELOAD");
    if (strcmp(argv[1], CHILD) == 0)
        return child(strtoul(argv[2], NULL, 10), argv[3]);
    return parent(argv);
}
