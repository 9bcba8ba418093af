/* What the victims of the hazards share. Each checks itself, so that its exit status tells, and
 * says on standard output which calls it made that the trace must show, no more and no fewer:
 *
 *     did OP NAME COUNT       COUNT calls of OP that succeeded on the file of that name
 *     did at_least:OP …       at least so many; likewise at_most
 *
 * All take a folder to work in, then what to do. */
#ifndef HAZARD_H
#define HAZARD_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            dprintf(2, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #what, errno);        \
            _exit(99);                                                                             \
        }                                                                                          \
    } while (0)

static inline void did(const char *op, const char *name, long count)
{
    dprintf(1, "did %s %s %ld\n", op, name, count);
}

/* The file `name` of the folder, made if need be, for appending and reading. */
static inline int open_in(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    return fd;
}

static inline void write_to(int fd, long count)
{
    for (long i = 0; i < count; i++)
        CHECK(write(fd, "x", 1) == 1);
}

/* Opens, writes, closes. */
static inline void write_in(const char *folder, const char *name, long count)
{
    int fd = open_in(folder, name);
    write_to(fd, count);
    CHECK(close(fd) == 0);
}

static inline void ended_well(pid_t pid)
{
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
