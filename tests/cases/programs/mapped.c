/* A file that is mapped and read through the mapping: mapped WHICH FILE ITEMS MS
 *
 *     loader   a thread touches one page an item, which is fetched by itself, and hands it over by
 * a queue of one; the main thread works MS on each alone    the main thread does both
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/cases/programs/measure.h"

enum { PAGE = 4096, APART = 7 };

static const volatile char *map;
static int items, ms;
static struct spans io, waits;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int full;

/* What the thread waited for a CPU when the page was there is not the file's. */
static void fetch(int k)
{
    ns_t queued = waited_for_cpu(), from = now();
    (void)map[(size_t)k * APART * PAGE];
    ns_t to = now();
    queued = waited_for_cpu() - queued;
    span(&io, from, to - from > queued ? to - queued : from);
}

static void *loader(void *unused)
{
    for (int k = 0; k < items; k++) {
        fetch(k);
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&emptied, &lock);
        full = 1;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    note_queued();
    return unused;
}

static void take(void)
{
    pthread_mutex_lock(&lock);
    ns_t from = now();
    while (!full)
        pthread_cond_wait(&filled, &lock);
    span(&waits, from, now());
    full = 0;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    need(argc == 5, "mapped WHICH FILE ITEMS MS");
    items = atoi(argv[3]);
    ms = atoi(argv[4]);
    struct stat st;
    int fd = open(argv[2], O_RDONLY);
    need(fd >= 0 && fstat(fd, &st) == 0, argv[2]);
    need(st.st_size >= (off_t)items * APART * PAGE, "a bigger file");
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    need(at != MAP_FAILED && madvise(at, (size_t)st.st_size, MADV_RANDOM) == 0, "mmap");
    map = at;
    close(fd);
    if (strcmp(argv[1], "alone") == 0) {
        for (int k = 0; k < items; k++) {
            fetch(k);
            work_ms(ms);
        }
        truth("artifact", total(&io), total(&io), 0);
        return 0;
    }
    pthread_t thread;
    need(pthread_create(&thread, NULL, loader, NULL) == 0, "pthread_create");
    for (int k = 0; k < items; k++) {
        take();
        work_ms(ms);
    }
    pthread_join(thread, NULL);
    truth("artifact", total(&io), shared(&io, &waits), shared(&io, &waits));
    return 0;
}
