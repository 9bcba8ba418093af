/* late FOLDER: I/O in everything that runs at the end of a thread and of the process. */
#include <pthread.h>

#include "tests/victims/hazard.h"

enum { MANY = 3000 };

static const char *folder;
static pthread_key_t key;
int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *dso);
extern void *__dso_handle;

static void key_ends(void *unused)
{
    (void)unused;
    write_in(folder, "key", 4);
}

static void local_ends(void *unused)
{
    (void)unused;
    write_in(folder, "local", 5);
}

static void at_exit(void)
{
    write_in(folder, "atexit", 6);
}

__attribute__((destructor)) static void end(void)
{
    write_in(folder, "destructor", MANY);
}

static void *thread(void *unused)
{
    CHECK(pthread_setspecific(key, &key) == 0);
    CHECK(__cxa_thread_atexit_impl(local_ends, NULL, &__dso_handle) == 0);
    return unused;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    folder = argv[1];
    CHECK(pthread_key_create(&key, key_ends) == 0);
    CHECK(atexit(at_exit) == 0);
    pthread_t t;
    CHECK(pthread_create(&t, NULL, thread, NULL) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    did("write", "key", 4);
    did("write", "local", 5);
    did("write", "atexit", 6);
    did("write", "destructor", MANY);
    return 0;
}
