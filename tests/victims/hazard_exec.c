/* exec FOLDER WAY [COUNT]: exec that succeeds, fails, comes from a thread, and comes again and
 * again. */
#include <pthread.h>
#include <sys/resource.h>

#include "tests/victims/hazard.h"

static const char *folder;
static char *self;

static void *execs(void *unused)
{
    write_in(folder, "data", 100);
    execl(self, self, folder, "end", (char *)NULL);
    dprintf(2, "exec returned: errno %d\n", errno);
    _exit(99);
    return unused;
}

static void *busy(void *unused)
{
    int fd = open_in(folder, "busy");
    for (;;)
        write_to(fd, 1);
    return unused;
}

static void from_thread(int others)
{
    pthread_t t;
    did("write", "data", 100);
    for (int i = 0; i < others; i++)
        CHECK(pthread_create(&t, NULL, busy, NULL) == 0);
    if (others)
        usleep(20000);
    CHECK(pthread_create(&t, NULL, execs, NULL) == 0);
    pthread_join(t, NULL);
}

static void failing(long rounds, long each)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/nothing", folder);
    for (long i = 0; i < rounds; i++) {
        CHECK(execl(path, path, (char *)NULL) == -1 && errno == ENOENT);
        CHECK(execlp("no-such-program-anywhere", "no", (char *)NULL) == -1 && errno == ENOENT);
        write_in(folder, "data", each);
    }
    did("write", "data", rounds * each);
}

/* Growing the trace again after a failed exec must not bring SIGXFSZ about. */
static void failing_within_limit(void)
{
    struct rlimit small = {1 << 20, 1 << 20};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    failing(20, 2000);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 3);
    self = argv[0];
    folder = argv[1];
    const char *way = argv[2];
    if (strcmp(way, "thread") == 0) {
        from_thread(0);
    } else if (strcmp(way, "race") == 0) {
        from_thread(4);
    } else if (strcmp(way, "failing") == 0) {
        failing(20, 2000);
    } else if (strcmp(way, "limit") == 0) {
        failing_within_limit();
    } else if (strcmp(way, "loop") == 0) {
        long left = atol(argv[3]);
        char next[32];
        write_in(folder, "data", 2);
        if (left == 0)
            return 0;
        if (left == 99)
            did("write", "data", 200);
        snprintf(next, sizeof next, "%ld", left - 1);
        execl(self, self, folder, "loop", next, (char *)NULL);
        return 1;
    } else {
        return strcmp(way, "end") != 0;
    }
    return 0;
}
