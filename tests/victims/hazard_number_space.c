/* number_space FOLDER: a program of several threads says that its children live in a process number
 * space of their own, then reads a mapped file, and only then has a child: that is number 1 there,
 * and lives. Without the right to, it does the same in the space that it is in. */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "tests/victims/hazard.h"

enum { BYTES = 16 << 20, LOOKS = 1000 };

static void *waits(void *unused)
{
    for (;;)
        pause();
    return unused;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    int fd = open_in(argv[1], "data");
    CHECK(ftruncate(fd, BYTES) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    int own = unshare(CLONE_NEWPID) == 0;
    volatile char *file = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(file != MAP_FAILED);
    for (int i = 0; i < LOOKS; i++) {
        CHECK(file[i * 16384] == 0);
        usleep(300);
        CHECK(lseek(fd, 0, SEEK_SET) == 0);
    }
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK((getpid() == 1) == own);
        _exit(0);
    }
    ended_well(child);
    printf("its own: %d\n", own);
    return 0;
}
