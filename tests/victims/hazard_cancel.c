/* cancel FOLDER WAY: threads that are cancelled in a blocking call (deferred), or anywhere at all
 * (asynchronous). */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/victims/hazard.h"

static const char *folder;
static atomic_int cleaned, ready;
static int ends[2];

static void cleans(void *unused)
{
    (void)unused;
    cleaned++;
}

static void *blocks(void *unused)
{
    char byte;
    write_in(folder, "before", 2);
    pthread_cleanup_push(cleans, NULL);
    ready++;
    CHECK(read(ends[0], &byte, 1) == 1);
    pthread_cleanup_pop(0);
    return unused;
}

static void *anywhere(void *made)
{
    int old;
    char byte;
    int fd = open_in(folder, "data");
    pthread_cleanup_push(cleans, NULL);
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
    for (;;) {
        ssize_t n = pread(fd, &byte, 1, 0);
        if (n == 1)
            ++*(atomic_long *)made;
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void ends_cancelled(pthread_t t)
{
    void *result;
    CHECK(pthread_cancel(t) == 0);
    CHECK(pthread_join(t, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    folder = argv[1];
    pthread_t t;
    CHECK(pipe(ends) == 0);
    write_in(folder, "data", 1);
    if (strcmp(argv[2], "deferred") == 0) {
        for (int i = 0; i < 50; i++) {
            CHECK(pthread_create(&t, NULL, blocks, NULL) == 0);
            while (ready <= i)
                usleep(100);
            usleep(2000);
            ends_cancelled(t);
        }
        CHECK(cleaned == 50);
        did("write", "before", 100);
    } else {
        atomic_long made = 0;
        for (int i = 0; i < 100; i++) {
            long before = made;
            CHECK(pthread_create(&t, NULL, anywhere, &made) == 0);
            while (made < before + 200 + i)
                ;
            ends_cancelled(t);
        }
        CHECK(cleaned == 100);
        /* One call of each may have returned without having been counted. */
        did("at_least:pread", "data", made);
        did("at_most:pread", "data", made + 100);
    }
    did("thread_exit", "*", argv[2][0] == 'd' ? 50 : 100);
    write_in(folder, "after", 5000);
    did("write", "after", 5000);
    return 0;
}
