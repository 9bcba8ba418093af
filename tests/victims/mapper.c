/* Maps a file and touches its pages; between mmap and the end it makes no call that is recorded,
 * but for what a way names.
 *
 *     victim_mapper WAY FILE PAGES
 *
 * once     PAGES pages here and there, each fetched by itself (MADV_RANDOM)
 * unmap    the same, then munmap
 * forward  all pages in order, with read-ahead
 * threads  two threads, PAGES / 2 each
 * pool     a thread that waited before the file was mapped
 * silent   a thread that was there before the file was mapped, and never makes a call
 * child    a forked child
 * hidden   a thread touches half of them, while the main one computes for longer
 * calls    a short call behind each page
 * busy     computing behind each page, as long as fetching it takes
 * raw      waits in a call that nobody sees, as long as fetching all would take, and touches
 * nothing
 *
 * Says on standard output how many ns went by while it, or the thread of `hidden`, touched; with
 * `busy` without the computing. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, STEP = 37, RAW_MS = 300, AFTER_MS = 100 };

static const volatile char *map;
static size_t map_bytes;
static int pages, behind_ms, calls;
static int64_t touched_ns; /* in the ways busy and hidden */

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void spin_ms(int ms)
{
    int64_t until = now() + (int64_t)ms * 1000000;
    while (now() < until)
        ;
}

/* Page number k, far from number k - 1. */
static void touch(int k)
{
    size_t n = map_bytes / PAGE;
    int64_t from = now();
    (void)map[(size_t)k * STEP % n * PAGE];
    if (behind_ms) {
        touched_ns += now() - from;
        spin_ms(behind_ms);
    }
    if (calls && access("/", F_OK))
        abort();
}

static void *first_half(void *unused)
{
    for (int k = 0; k < pages / 2; k++)
        touch(k);
    return unused;
}

static void *second_half(void *unused)
{
    for (int k = pages / 2; k < pages; k++)
        touch(k);
    return unused;
}

static void *hidden_half(void *unused)
{
    int64_t start = now();
    first_half(NULL);
    __atomic_store_n(&touched_ns, now() - start, __ATOMIC_RELEASE);
    return unused;
}

static void touch_all(void)
{
    first_half(NULL);
    second_half(NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int wanted, done;

static void *pool_thread(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!wanted)
        pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
    touch_all();
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *silent_thread(void *unused)
{
    while (!__atomic_load_n(&wanted, __ATOMIC_ACQUIRE))
        sched_yield();
    touch_all();
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    for (;;)
        sched_yield();
    return unused;
}

static void open_map(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st)) {
        perror(path);
        exit(99);
    }
    map_bytes = (size_t)st.st_size;
    map = mmap(NULL, map_bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(99);
    }
}

static void at_random(void)
{
    madvise((void *)(uintptr_t)map, map_bytes, MADV_RANDOM);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const char *way = argv[1];
    pages = atoi(argv[3]);
    pthread_t a, b;
    if (!strcmp(way, "silent"))
        pthread_create(&a, NULL, silent_thread, NULL);
    if (!strcmp(way, "pool"))
        pthread_create(&a, NULL, pool_thread, NULL);
    open_map(argv[2]);
    if (strcmp(way, "forward"))
        at_random();
    int64_t start = now();
    if (!strcmp(way, "forward")) {
        for (size_t k = 0; k < map_bytes / PAGE; k++)
            (void)map[k * PAGE];
    } else if (!strcmp(way, "threads")) {
        pthread_create(&a, NULL, first_half, NULL);
        pthread_create(&b, NULL, second_half, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
    } else if (!strcmp(way, "pool")) {
        pthread_mutex_lock(&lock);
        wanted = 1;
        pthread_cond_signal(&change);
        while (!done)
            pthread_cond_wait(&change, &lock);
        pthread_mutex_unlock(&lock);
    } else if (!strcmp(way, "silent")) {
        __atomic_store_n(&wanted, 1, __ATOMIC_RELEASE);
        while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
            sched_yield();
    } else if (!strcmp(way, "child")) {
        pid_t child = fork();
        if (!child) {
            touch_all();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(way, "hidden")) {
        pthread_create(&a, NULL, hidden_half, NULL);
        while (!__atomic_load_n(&touched_ns, __ATOMIC_ACQUIRE))
            ;
        spin_ms(AFTER_MS);
        pthread_join(a, NULL);
    } else if (!strcmp(way, "raw")) {
        /* A minor fault beside it, as programs have them. */
        volatile char *memory = malloc(1 << 20);
        memory[1 << 19] = 1;
        struct timespec t = {0, RAW_MS * 1000000L};
        long result;
        register long r10 __asm__("r10") = 0;
        __asm__ volatile("syscall" /* clock_nanosleep */
                         : "=a"(result)
                         : "a"(230L), "D"(1L), "S"(0L), "d"(&t), "r"(r10)
                         : "rcx", "r11", "memory");
        free((void *)(uintptr_t)memory);
    } else {
        behind_ms = strcmp(way, "busy") ? 0 : 10;
        calls = !strcmp(way, "calls");
        touch_all();
    }
    int64_t took = touched_ns ? touched_ns : now() - start;
    if (!strcmp(way, "unmap"))
        munmap((void *)(uintptr_t)map, map_bytes);
    printf("%lld\n", (long long)took);
    return 0;
}
