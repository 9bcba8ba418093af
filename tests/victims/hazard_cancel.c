/* cancel FOLDER WAY: threads that are cancelled in a blocking call (deferred), in a wait for a
 * condition (condition), or anywhere at all (asynchronous). */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

#include "tests/victims/hazard.h"

enum { CALLS_MAX = 1000 }; /* before it lets others go first */

static const char *folder;
static atomic_int cleaned, ready;
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sigjmp_buf out;

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

static void ends_cancelled(pthread_t t)
{
    void *result;
    CHECK(pthread_cancel(t) == 0);
    CHECK(pthread_join(t, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
}

/* It has the mutex while it is cleaned up. */
static void lets_go(void *unused)
{
    cleans(unused);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void *waits(void *unused)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    pthread_cleanup_push(lets_go, NULL);
    ready++;
    for (;;)
        CHECK(pthread_cond_wait(&condition, &mutex) == 0);
    pthread_cleanup_pop(0);
    return unused;
}

/* The one that waits there, and nobody else, is where this gets the mutex. */
static void waiting(int n)
{
    while (ready < n)
        usleep(100);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void jumps(int number)
{
    siglongjmp(out, number);
}

/* Out of such a wait by a handler: libc takes the mutex again, and later threads end as ever. */
static void *jumps_out(void *unused)
{
    struct sigaction action = {.sa_handler = jumps};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    if (!sigsetjmp(out, 1)) {
        ready++;
        pthread_cond_wait(&condition, &mutex);
    }
    write_in(folder, "jumped", 1);
    pthread_mutex_unlock(&mutex);
    pthread_exit(unused);
}

static void in_conditions(void)
{
    pthread_t t;
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_create(&t, NULL, waits, NULL) == 0);
        waiting(i + 1);
        ends_cancelled(t);
    }
    CHECK(cleaned == 50);
    CHECK(pthread_create(&t, NULL, jumps_out, NULL) == 0);
    waiting(51);
    CHECK(pthread_kill(t, SIGUSR1) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    did("write", "jumped", 1);
}

static void *anywhere(void *made)
{
    int old;
    char byte;
    int fd = open_in(folder, "data");
    pthread_cleanup_push(cleans, NULL);
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
    /* On a busy machine it may be long until it is cancelled. */
    for (int calls = 0;; calls++) {
        if (calls >= CALLS_MAX)
            sched_yield();
        if (pread(fd, &byte, 1, 0) == 1)
            ++*(atomic_long *)made;
    }
    pthread_cleanup_pop(0);
    return NULL;
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
    } else if (strcmp(argv[2], "condition") == 0) {
        in_conditions();
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
    did("thread_exit", "*", argv[2][0] == 'd' ? 50 : argv[2][0] == 'c' ? 51 : 100);
    write_in(folder, "after", 5000);
    did("write", "after", 5000);
    return 0;
}
