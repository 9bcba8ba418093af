/* A program that does a known number of calls on files and then ends in a known way.
 *
 *   ends HOW N SHAPE FILE
 *
 * HOW    how it ends: kill (SIGKILL to itself), _exit, abort, exec (of /bin/true), exit
 * SHAPE  single   N calls on FILE.0
 *        threads  four threads, N calls each on FILE.0 to FILE.3; then the main thread ends it all
 *        forks    three children that do N calls each on FILE.1 to FILE.3 and end in that way;
 *                 when they are waited for, the parent does the same on FILE.0
 *        endless  four threads that go on until killed from outside, and after each call that
 *                 returned count it in the file FILE.counts (four 64-bit numbers)
 *
 * Call i, from 0, is a write where i is even and a pread where it is odd, and moves
 * 1 + i % 61 bytes; the files must hold enough to read. So a trace shows which calls it has.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SIZES = 61 };

static const char *file;
static long calls;
static volatile long *counts; /* of `endless`, else NULL */

static void die(const char *what)
{
    perror(what);
    _exit(99);
}

static int open_file(long number)
{
    char path[4096];

    snprintf(path, sizeof path, "%s.%ld", file, number);
    int fd = open(path, O_RDWR | O_APPEND);
    if (fd < 0)
        die(path);
    return fd;
}

static void one_call(int fd, long i)
{
    char buffer[SIZES];
    size_t size = 1 + (size_t)(i % SIZES);

    memset(buffer, 'x', sizeof buffer);
    ssize_t done = i % 2 ? pread(fd, buffer, size, i % SIZES) : write(fd, buffer, size);
    if (done != (ssize_t)size)
        die("call");
}

static void *do_calls(void *number)
{
    long mine = (long)number;
    int fd = open_file(mine);

    for (long i = 0; counts || i < calls; i++) {
        one_call(fd, i);
        if (counts)
            counts[mine] = i + 1;
    }
    return NULL;
}

static void end(const char *how)
{
    if (!strcmp(how, "kill")) {
        raise(SIGKILL);
    } else if (!strcmp(how, "_exit")) {
        _exit(3);
    } else if (!strcmp(how, "abort")) {
        abort();
    } else if (!strcmp(how, "exec")) {
        execl("/bin/true", "true", (char *)NULL);
    } else if (!strcmp(how, "exit")) {
        exit(3);
    }
    die(how);
}

static void run_threads(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, do_calls, (void *)i))
            die("pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void run_forks(const char *how)
{
    for (long i = 1; i < THREADS; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0) {
            do_calls((void *)i);
            end(how);
        }
    }
    while (wait(NULL) > 0)
        ;
    do_calls((void *)0L);
}

static void share_counts(void)
{
    char path[4096];

    snprintf(path, sizeof path, "%s.counts", file);
    int fd = open(path, O_RDWR);
    if (fd < 0)
        die(path);
    void *map = mmap(NULL, THREADS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        die("mmap");
    counts = map;
}

int main(int argc, char **argv)
{
    struct rlimit no_core = {0, 0};

    if (argc != 5) {
        fprintf(stderr, "usage: ends HOW N SHAPE FILE\n");
        return 2;
    }
    setrlimit(RLIMIT_CORE, &no_core);
    calls = atol(argv[2]);
    file = argv[4];
    if (!strcmp(argv[3], "threads")) {
        run_threads();
    } else if (!strcmp(argv[3], "forks")) {
        run_forks(argv[1]);
    } else if (!strcmp(argv[3], "endless")) {
        share_counts();
        run_threads();
    } else {
        do_calls((void *)0L);
    }
    end(argv[1]);
}
