/* sanitized FOLDER WAY: built by several compilers with each of their sanitizers. `calm`: threads,
 * messages, children, signals and streams with nothing to find in them; race, heap, overflow, leak,
 * unset: one thing that the sanitizer of that name finds, so that it ends the program in its own
 * way. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>

#include "tests/victims/hazard.h"

enum { THREADS = 4, ROUNDS = 500 };

extern char **environ;
static const char *folder;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, handler_fd;
static long sum, together;

static void *takes_turns(void *number)
{
    int me = (int)(intptr_t)number;
    char name[16], block[512], back[512];
    snprintf(name, sizeof name, "file%d", me);
    memset(block, me + 'a', sizeof block);
    int fd = open_in(folder, name);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(write(fd, block, sizeof block) == sizeof block);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pread(fd, back, sizeof back, (off_t)i * 512) == sizeof back);
        CHECK(memcmp(back, block, sizeof back) == 0);
    }
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        while (turn != me)
            CHECK(pthread_cond_wait(&changed, &mutex) == 0);
        sum += me;
        turn = (turn + 1) % THREADS;
        CHECK(pthread_cond_broadcast(&changed) == 0);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    CHECK(close(fd) == 0);
    return NULL;
}

static void handler(int number)
{
    (void)number;
    CHECK(write(handler_fd, "x", 1) == 1);
}

static void streams(void)
{
    char path[4096], line[64];
    snprintf(path, sizeof path, "%s/lines", folder);
    FILE *f = fopen(path, "w+");
    CHECK(f);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(fprintf(f, "line %d\n", i) > 0);
    rewind(f);
    for (int i = 0; i < ROUNDS; i++) {
        int found = -1;
        CHECK(fgets(line, sizeof line, f) && sscanf(line, "line %d", &found) == 1 && found == i);
    }
    CHECK(fclose(f) == 0);
}

static void children(void)
{
    int ends[2];
    char said[3], program[] = "/bin/true", *argv[] = {program, NULL};
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(write(ends[1], "abc", 3) != 3);
    CHECK(read(ends[0], said, 3) == 3 && said[2] == 'c');
    ended_well(pid);
    CHECK(posix_spawn(&pid, program, NULL, NULL, argv, environ) == 0);
    ended_well(pid);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void calm(void)
{
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, takes_turns, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
    CHECK(sum == 20 * (0 + 1 + 2 + 3));
    handler_fd = open_in(folder, "handler");
    CHECK(signal(SIGUSR1, handler) != SIG_ERR);
    for (int i = 0; i < 100; i++)
        CHECK(raise(SIGUSR1) == 0);
    streams();
    children();
    int fd = open_in(folder, "file0");
    char *map = mmap(NULL, ROUNDS * 512, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(map != MAP_FAILED && map[ROUNDS * 512 - 1] == 'a' && munmap(map, ROUNDS * 512) == 0);
    for (int i = 0; i < THREADS; i++) {
        char name[16];
        snprintf(name, sizeof name, "file%d", i);
        did("write", name, ROUNDS);
        did("pread", name, ROUNDS);
    }
    did("write", "handler", 100);
    did("mmap", "file0", 1);
    did("thread_exit", "*", THREADS);
}

/* --- what there is to find --- */

static void *races(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++)
        together++;
    return NULL;
}

static void race(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&t[i], NULL, races, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
}

static void heap(void)
{
    volatile char *p = malloc(10);
    CHECK(p);
    free((void *)p);
    p[3] = 'x';
}

static void overflow(void)
{
    volatile int most = __INT_MAX__;
    most = most + 1;
}

static void leak(void)
{
    static char *volatile kept;
    for (int i = 0; i < 100; i++)
        CHECK((kept = malloc(10)));
    kept = NULL;
}

static void unset(void)
{
    volatile char *p = malloc(10);
    CHECK(p);
    if (p[3])
        write_in(folder, "unset", 1);
}

static const struct {
    const char *name;
    void (*way)(void);
} ways[] = {{"calm", calm},         {"race", race}, {"heap", heap},
            {"overflow", overflow}, {"leak", leak}, {"unset", unset}};

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    folder = argv[1];
    write_in(folder, "data", 20);
    did("write", "data", 20);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[2], ways[i].name) == 0) {
            ways[i].way();
            return 0;
        }
    return 2;
}
