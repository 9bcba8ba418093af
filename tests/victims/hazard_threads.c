/* threads FOLDER WAY COUNT: churn (that many threads that come and go), crowd (that many at once).
 */
#include <pthread.h>

#include "tests/victims/hazard.h"

static const char *folder;
static pthread_barrier_t all_here;

static void *short_life(void *fd)
{
    write_to((int)(intptr_t)fd, 2);
    return NULL;
}

static void *member(void *fd)
{
    write_to((int)(intptr_t)fd, 2);
    pthread_barrier_wait(&all_here);
    write_to((int)(intptr_t)fd, 3);
    return NULL;
}

static void churn(long count)
{
    int fd = open_in(folder, "data");
    pthread_t t[8];
    for (long i = 0; i < count; i += 8) {
        for (int k = 0; k < 8; k++)
            CHECK(pthread_create(&t[k], NULL, short_life, (void *)(intptr_t)fd) == 0);
        for (int k = 0; k < 8; k++)
            CHECK(pthread_join(t[k], NULL) == 0);
    }
    did("write", "data", 2 * count);
    did("thread_start", "*", count);
    did("thread_exit", "*", count);
    did("join", "*", count);
}

static void crowd(long count)
{
    int fd = open_in(folder, "data");
    pthread_t *t = calloc((size_t)count, sizeof *t);
    pthread_attr_t small;
    CHECK(t && pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 65536) == 0);
    CHECK(pthread_barrier_init(&all_here, NULL, (unsigned)count) == 0);
    for (long i = 0; i < count; i++)
        CHECK(pthread_create(&t[i], &small, member, (void *)(intptr_t)fd) == 0);
    for (long i = 0; i < count; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
    did("write", "data", 5 * count);
    did("thread_exit", "*", count);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4);
    folder = argv[1];
    if (strcmp(argv[2], "churn") == 0)
        churn(atol(argv[3]));
    else
        crowd(atol(argv[3]));
    return 0;
}
