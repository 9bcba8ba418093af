/* fork_threads FOLDER FORKS: forks while four threads are at I/O. The children do I/O
 * too, and end by _exit or by exec in turn. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/victims/hazard.h"

enum { THREADS = 4, CHILD_WRITES = 3, BURST = 50 };

static const char *folder;
static atomic_int stop;

static void *busy(void *count)
{
    int fd = open_in(folder, "parent");
    while (!stop) {
        write_to(fd, BURST);
        *(long *)count += BURST;
        usleep(500);
    }
    CHECK(close(fd) == 0);
    return NULL;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    long forks = atol(argv[2]), counts[THREADS] = {0}, all = 0;
    pthread_t threads[THREADS];
    folder = argv[1];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, busy, &counts[i]) == 0);
    for (long i = 0; i < forks; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            write_in(folder, "child", CHILD_WRITES);
            if (i % 8 == 0)
                execl("/bin/true", "true", (char *)NULL);
            _exit(0);
        }
        ended_well(pid);
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        all += counts[i];
    }
    did("fork", "*", forks);
    did("write", "child", forks * CHILD_WRITES);
    did("write", "parent", all);
    return 0;
}
