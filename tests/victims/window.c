/* A program of which a part is to be recorded: window MODE [ARGUMENT]... in a folder of its own.
 *
 *   steps N        N steps, step k reads k bytes, as its only read
 *   pause          what changes between a pause and a resume: descriptors, processes, bytes in a
 * pipe child          the child pauses, and the parent reads on; the child resumes pipe messages
 * through a pipe before, in and after a pause load N T F     T threads read N times each, one and
 * the same file, and every F-th time a new one grow N T F     the same, after files were allowed to
 * be as large as they may
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/iotrace.h"

static char buffer[4096];

static int make(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, buffer, sizeof buffer) != sizeof buffer)
        exit(3);
    return fd;
}

static void take(int fd, size_t n)
{
    if (pread(fd, buffer, n, 0) != (ssize_t)n)
        exit(4);
}

static void join(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
}

static int steps(int n)
{
    int fd = make("data");
    for (int k = 1; k <= n; k++) {
        iot_step();
        take(fd, (size_t)k);
        usleep(5000);
    }
    return 0;
}

static int pauses(void)
{
    int stays = make("stays"), goes = make("goes");
    take(stays, 1);
    take(goes, 2);
    iot_pause();
    close(goes);
    int comes = make("comes"); /* with the number of the one that went */
    take(comes, 3);
    pid_t child = fork();
    if (child == 0) {
        for (int k = 0; k < 100; k++)
            take(stays, 4);
        _exit(0);
    }
    join(child);
    iot_resume();
    take(stays, 5);
    take(comes, 6);
    child = fork();
    if (child == 0) {
        take(comes, 7);
        _exit(0);
    }
    join(child);
    return comes == goes ? 0 : 6;
}

/* The pause of one is the pause of all, and so is its resume. */
static int by_child(void)
{
    int fd = make("data"), to_child[2], to_parent[2];
    char c = 0;
    if (pipe(to_child) || pipe(to_parent))
        return 7;
    pid_t child = fork();
    if (child == 0) {
        iot_pause();
        int bad = write(to_parent[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1;
        iot_resume();
        bad |= write(to_parent[1], &c, 1) != 1;
        _exit(bad);
    }
    if (read(to_parent[0], &c, 1) != 1)
        return 8;
    take(fd, 11);
    if (write(to_child[1], &c, 1) != 1 || read(to_parent[0], &c, 1) != 1)
        return 9;
    take(fd, 12);
    join(child);
    return 0;
}

static void message(int fd, size_t n)
{
    if (write(fd, buffer, n) != (ssize_t)n)
        exit(10);
}

/* The consumer gets messages of 100 bytes. Of those that were sent in the pause two are still in
 * the pipe at its end, and each one after it is waited for. */
static int through_pipe(void)
{
    int fds[2], go[2];
    char c = 0;
    if (pipe(fds) || pipe(go))
        return 11;
    pid_t child = fork();
    if (child == 0) {
        close(fds[1]);
        close(go[1]);
        for (int k = 0; k < 20; k++)
            if (read(fds[0], buffer, 100) != 100 || (k == 14 && read(go[0], &c, 1) != 1))
                _exit(1);
        _exit(0);
    }
    close(fds[0]);
    for (int k = 0; k < 5; k++)
        message(fds[1], 100);
    usleep(20000);
    iot_pause();
    for (int k = 0; k < 12; k++)
        message(fds[1], 100);
    usleep(20000);
    iot_resume();
    message(go[1], 1);
    for (int k = 0; k < 3; k++) {
        usleep(30000);
        message(fds[1], 100);
    }
    join(child);
    return 0;
}

static struct {
    long calls, each;
    int fd;
} load;

static void *loads(void *user)
{
    char name[64], here[64];
    uint32_t random = (uint32_t)(size_t)user;
    for (long i = 0; i < load.calls; i++) {
        random = random * 1103515245 + 12345;
        if (load.each && i % load.each == 0) {
            snprintf(name, sizeof name, "file-%zu-%ld", (size_t)user, i);
            int fd = open(name, O_RDWR | O_CREAT, 0600);
            if (fd < 0 || pread(fd, here, 1, 0) != 0 || close(fd) || unlink(name))
                exit(12);
        } else if (pread(load.fd, here, 1 + (random >> 16 & 31), random >> 8 & 0x7ff) < 1) {
            exit(13);
        }
    }
    return NULL;
}

static int under_load(long calls, size_t n_threads, long each)
{
    pthread_t threads[64];
    load.calls = calls;
    load.each = each;
    load.fd = make("data");
    for (size_t k = 0; k < n_threads && k < 64; k++)
        pthread_create(&threads[k], NULL, loads, (void *)(k + 1));
    for (size_t k = 0; k < n_threads && k < 64; k++)
        pthread_join(threads[k], NULL);
    take(load.fd, 99);
    return 0;
}

static int grow(void)
{
    struct rlimit size;
    if (getrlimit(RLIMIT_FSIZE, &size))
        return -1;
    size.rlim_cur = size.rlim_max;
    return setrlimit(RLIMIT_FSIZE, &size);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "steps") && argc > 2)
        return steps(atoi(argv[2]));
    if (!strcmp(mode, "pause"))
        return pauses();
    if (!strcmp(mode, "child"))
        return by_child();
    if (!strcmp(mode, "pipe"))
        return through_pipe();
    if (!strcmp(mode, "grow") && grow())
        return 2;
    if ((!strcmp(mode, "load") || !strcmp(mode, "grow")) && argc > 4)
        return under_load(atol(argv[2]), (size_t)atol(argv[3]), atol(argv[4]));
    return 2;
}
