/* small_stacks FOLDER: threads with the smallest stack that there is, until their buffers are full.
 */
#include <limits.h>
#include <pthread.h>

#include "tests/victims/hazard.h"

enum { THREADS = 8, CALLS = 5000 };

static const char *folder;

static void *thread(void *unused)
{
    char byte;
    char path[256];
    snprintf(path, sizeof path, "%s/data", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0644);
    CHECK(fd >= 0);
    for (int i = 0; i < CALLS; i++) {
        CHECK(write(fd, "x", 1) == 1);
        CHECK(pread(fd, &byte, 1, i) == 1);
    }
    CHECK(access("/nowhere", F_OK) == -1);
    CHECK(close(fd) == 0);
    return unused;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    folder = argv[1];
    pthread_attr_t small;
    CHECK(pthread_attr_init(&small) == 0);
    CHECK(pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN) == 0);
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], &small, thread, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
    did("write", "data", THREADS * CALLS);
    did("pread", "data", THREADS * CALLS);
    return 0;
}
