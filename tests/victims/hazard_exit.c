/* exit FOLDER WAY: how a process with threads ends. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/victims/hazard.h"

static const char *folder;
static atomic_int going;

static void *outlives(void *unused)
{
    usleep(20000);
    write_in(folder, "thread", 2000);
    return unused;
}

static void *busy(void *unused)
{
    int fd = open_in(folder, "busy");
    for (;;) {
        write_to(fd, 1);
        going++;
    }
    return unused;
}

static void at_quick_end(void)
{
    write_in(folder, "quick", 4);
}

static void begin_busy(int count)
{
    pthread_t t;
    for (int i = 0; i < count; i++) {
        CHECK(pthread_create(&t, NULL, busy, NULL) == 0);
        CHECK(pthread_detach(t) == 0);
    }
    while (going < 100 * count)
        usleep(1000);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    folder = argv[1];
    const char *way = argv[2];
    pthread_t t;
    write_in(folder, "data", 10);
    did("write", "data", 10);
    if (strcmp(way, "pthread_exit") == 0) {
        did("write", "thread", 6000);
        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&t, NULL, outlives, NULL) == 0);
        pthread_exit(NULL);
    } else if (strcmp(way, "detached") == 0) {
        begin_busy(4);
        exit(5);
    } else if (strcmp(way, "detached_quick") == 0) {
        begin_busy(4);
        _exit(5);
    } else if (strcmp(way, "quick_exit") == 0) {
        did("write", "quick", 4);
        CHECK(at_quick_exit(at_quick_end) == 0);
        quick_exit(6);
    }
    return 2;
}
