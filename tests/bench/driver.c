/* Makes calls of one kind in several threads and prints what one of them costs:
 *
 *     driver [-o] [-t THREADS] [-n CALLS] [-r ROUNDS] empty|lock|open|pread|write FILE
 *
 * One line: `kind=pread threads=1 … total_calls=… ns_median=… ns_min=… ns_max=… kops_median=…`.
 * A round is CALLS calls in each thread; one round more, the first, is not counted, but its calls
 * are in total_calls. -o: calls go to the descriptor that open gave, for tracers that lose a file
 * at dup2; the stub does not know it. ns is CPU time of one call: the round's wall time, times the
 * CPUs at work, over all its calls. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define MAX_THREADS 256
#define MAX_ROUNDS 1000

typedef ssize_t (*empty_fn)(int fd, void *buf, size_t count, off_t offset);

struct thread {
    pthread_t id;
    uint64_t start_ns, end_ns; /* of the last round */
    uint64_t bytes;            /* moved in the last round */
    pthread_mutex_t mutex;
    _Alignas(BENCH_BLOCK) char buffer[BENCH_BLOCK];
};

struct kind {
    const char *name;
    void (*loop)(struct thread *t);
};

static const struct kind *kind;
static uint64_t calls = 500000;
static const char *path;
static int file = BENCH_FD;
static off_t blocks; /* whole blocks in FILE */
static unsigned rounds = 5;
static pthread_barrier_t barrier;

static ssize_t empty(int fd, void *buf, size_t count, off_t offset)
{
    (void)fd;
    (void)buf;
    (void)offset;
    return (ssize_t)count;
}

/* Volatile: the compiler may not look through the pointer. */
static empty_fn volatile empty_call = empty;

static void loop_empty(struct thread *t)
{
    for (uint64_t i = 0; i < calls; i++)
        t->bytes += (uint64_t)empty_call(BENCH_FD, t->buffer, BENCH_BLOCK, 0);
}

static void loop_pread(struct thread *t)
{
    off_t block = 0;

    for (uint64_t i = 0; i < calls; i++) {
        t->bytes += (uint64_t)pread(file, t->buffer, BENCH_BLOCK, block * BENCH_BLOCK);
        if (++block == blocks)
            block = 0;
    }
}

static void loop_write(struct thread *t)
{
    for (uint64_t i = 0; i < calls; i++)
        t->bytes += (uint64_t)write(file, t->buffer, BENCH_BLOCK);
}

/* A lock that is free, and its release: one call. Each thread has its own. */
static void loop_lock(struct thread *t)
{
    for (uint64_t i = 0; i < calls; i++) {
        pthread_mutex_lock(&t->mutex);
        t->bytes += BENCH_BLOCK;
        pthread_mutex_unlock(&t->mutex);
    }
}

/* FILE opened and closed again: one call. */
static void loop_open(struct thread *t)
{
    for (uint64_t i = 0; i < calls; i++) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0 && close(fd) == 0)
            t->bytes += BENCH_BLOCK;
    }
}

static const struct kind kinds[] = {
    {"empty", loop_empty},
    {"lock", loop_lock},
    {"open", loop_open},
    {"pread", loop_pread},
    {"write", loop_write},
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "driver: %s: %s\n", what, why);
    exit(2);
}

static void *run(void *argument)
{
    struct thread *t = argument;

    for (unsigned r = 0; r < rounds + 1; r++) {
        pthread_barrier_wait(&barrier);
        t->bytes = 0;
        t->start_ns = bench_now();
        kind->loop(t);
        t->end_ns = bench_now();
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* The wall time of the round that just ended, in ns. */
static uint64_t round_ns(const struct thread *threads, unsigned n)
{
    uint64_t start = UINT64_MAX, end = 0;

    for (unsigned i = 0; i < n; i++) {
        if (threads[i].bytes != calls * BENCH_BLOCK)
            fail(kind->name, "a call failed or was short");
        start = threads[i].start_ns < start ? threads[i].start_ns : start;
        end = threads[i].end_ns > end ? threads[i].end_ns : end;
    }
    return end - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static unsigned cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

static unsigned long number(const char *text, unsigned long max)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end != '\0' || value == 0 || value > max)
        fail(text, "not a number in range");
    return value;
}

static void open_file(int as_opened)
{
    struct stat st;
    int fd = open(path, O_RDWR);

    if (fd < 0 || fstat(fd, &st) != 0 || (!as_opened && dup2(fd, BENCH_FD) < 0))
        fail(path, strerror(errno));
    if (as_opened)
        file = fd;
    else
        close(fd);
    blocks = st.st_size / BENCH_BLOCK;
    if (blocks == 0)
        fail(path, "shorter than one block");
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fail(name, "unknown kind of call");
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned n = 1;
    int option, as_opened = 0;

    while ((option = getopt(argc, argv, "ot:n:r:")) != -1) {
        if (option == 'o')
            as_opened = 1;
        else if (option == 't')
            n = (unsigned)number(optarg, MAX_THREADS);
        else if (option == 'n')
            calls = number(optarg, 1000000000);
        else if (option == 'r')
            rounds = (unsigned)number(optarg, MAX_ROUNDS);
        else
            return 2;
    }
    if (argc - optind != 2)
        fail("usage",
             "driver [-o] [-t THREADS] [-n CALLS] [-r ROUNDS] empty|lock|open|pread|write FILE");
    kind = find_kind(argv[optind]);
    path = argv[optind + 1];
    open_file(as_opened);

    struct thread *threads = aligned_alloc(BENCH_BLOCK, n * sizeof(*threads));
    if (threads == NULL)
        fail("threads", strerror(ENOMEM));
    memset(threads, 0, n * sizeof(*threads));
    pthread_barrier_init(&barrier, NULL, n + 1);
    for (unsigned i = 0; i < n; i++)
        pthread_mutex_init(&threads[i].mutex, NULL);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0)
            fail("pthread_create", "no more threads");

    double ns[MAX_ROUNDS];
    double at_work = n < cpus() ? n : cpus();
    double in_round = (double)calls * n;
    for (unsigned r = 0; r < rounds + 1; r++) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        if (r > 0)
            ns[r - 1] = (double)round_ns(threads, n) * at_work / in_round;
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i].id, NULL);
    qsort(ns, rounds, sizeof(ns[0]), by_value);
    printf("kind=%s threads=%u calls=%lu rounds=%u total_calls=%lu ns_median=%.2f ns_min=%.2f "
           "ns_max=%.2f kops_median=%.1f\n",
           kind->name, n, calls, rounds, calls * n * (rounds + 1), ns[rounds / 2], ns[0],
           ns[rounds - 1], 1e6 * at_work / ns[rounds / 2]);
    free(threads);
    return 0;
}
