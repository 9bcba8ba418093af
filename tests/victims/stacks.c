/* Reads from functions with known names: by a plain call, in a thread with as little stack as can
 * be, in a handler of a signal on a small stack of its own, behind malloc, in children by fork and
 * vfork, and in code that is in no file (with a perf map that names it). stacks FILE */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__ /* it makes no clones, and does not know the word */
#define VISIBLE __attribute__((noinline))
#else
#define VISIBLE __attribute__((noinline, noclone))
#endif

ssize_t reads_innermost(size_t n);
ssize_t reads_between(size_t n);
void in_handler(int number);
void *in_thread(void *user);

static int fd;
static volatile ssize_t kept; /* no call is a tail call */

VISIBLE ssize_t reads_innermost(size_t n)
{
    char buffer[16];
    kept = pread(fd, buffer, n, 0);
    return kept;
}

VISIBLE ssize_t reads_between(size_t n)
{
    kept = reads_innermost(n);
    return kept;
}

VISIBLE void in_handler(int number)
{
    (void)number;
    kept = reads_between(3);
}

VISIBLE void *in_thread(void *user)
{
    kept = reads_between(2);
    return user;
}

static int by_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) ||
        pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) ||
        pthread_create(&thread, &attributes, in_thread, NULL))
        return -1;
    return pthread_join(thread, NULL);
}

static int by_signal(void)
{
    static char memory[16384];
    stack_t small = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&small, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
        return -1;
    return 0;
}

static int by_children(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(reads_between(4) != 4);
    if (waitpid(child, &status, 0) != child || status)
        return -1;
    child = vfork();
    if (child == 0) {
        reads_between(5);
        _exit(0);
    }
    return waitpid(child, &status, 0) != child || status;
}

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char calls_back[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static VISIBLE void from_nowhere(void)
{
    kept = reads_between(6);
}

static int by_nowhere(void)
{
    void *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*call)(void (*)(void));
    char path[64];
    if (code == MAP_FAILED)
        return 0;
    memcpy(code, calls_back, sizeof calls_back);
    *(void **)&call = code;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (map) {
        fprintf(map, "%lx %zx made_at_run_time\n", (unsigned long)code, sizeof calls_back);
        fclose(map);
    }
    call(from_nowhere);
    return 0;
}
#else
static int by_nowhere(void)
{
    return 0;
}
#endif

int main(int argc, char **argv)
{
    if (argc < 2 || (fd = open(argv[1], O_RDONLY)) < 0)
        return 2;
    for (int k = 0; k < 20; k++)
        if (reads_between(1) != 1)
            return 3;
    if (by_thread() || by_signal() || by_children() || by_nowhere())
        return 4;
    return 0;
}
