/* children FOLDER WAY: every way to come by a child. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/victims/hazard.h"

static const char *folder;
static char *self;
static volatile pid_t forked = -1;
static int limited;

static void child_writes(void)
{
    write_in(folder, "child", 3);
}

static void *forks(void *unused)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        child_writes();
        _exit(0);
    }
    ended_well(pid);
    write_in(folder, "parent", 2);
    return unused;
}

static void in_thread(void)
{
    pthread_t t;
    for (int i = 0; i < 5; i++) {
        CHECK(pthread_create(&t, NULL, forks, NULL) == 0);
        CHECK(pthread_join(t, NULL) == 0);
    }
    did("write", "child", 15);
    did("write", "parent", 10);
}

static void bare(pid_t pid)
{
    CHECK(pid >= 0);
    if (pid == 0) {
        child_writes();
        _exit(0);
    }
    ended_well(pid);
    write_in(folder, "parent", 2);
    did("write", "child", 3);
    did("write", "parent", 2);
}

static void by_fork_of_libc(void)
{
    bare(_Fork());
}

static void by_raw_clone(void)
{
    bare((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int shares_memory(void *unused)
{
    (void)unused;
    child_writes();
    execl("/bin/true", "true", (char *)NULL);
    _exit(98);
}

/* As posix_spawn does it, but from outside libc. */
static void by_clone_vfork(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    for (int i = 0; i < 10; i++) {
        pid_t pid =
            clone(shares_memory, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
        CHECK(pid > 0);
        ended_well(pid);
        write_in(folder, "parent", 500);
    }
    did("write", "child", 30);
    did("write", "parent", 5000);
}

/* As Python's subprocess does it. */
static void by_vfork(void)
{
    int kept = open_in(folder, "parent");
    for (volatile int i = 0; i < 20; i++) {
        pid_t pid = vfork();
        CHECK(pid >= 0);
        if (pid == 0) {
            if (i % 4 == 3)
                _exit(0);
            close_range(3, ~0u, 0);
            if (i % 4 == 2)
                execl("/nowhere/at/all", "no", (char *)NULL);
            else if (i % 4 == 1)
                execl(self, self, folder, "writes", (char *)NULL);
            else
                execl("/bin/true", "true", (char *)NULL);
            _exit(0);
        }
        ended_well(pid);
        write_to(kept, 100);
    }
    did("vfork", "*", 20);
    did("write", "parent", 2000);
    did("write", "child", 15);
}

/* The child's working directory is not its parent's. */
static void by_vfork_elsewhere(void)
{
    CHECK(chdir(folder) == 0);
    pid_t pid = vfork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (chdir("/") || access("etc", F_OK))
            _exit(1);
        execl("bin/true", "true", (char *)NULL);
        _exit(1);
    }
    ended_well(pid);
    CHECK(access("here", F_OK) == -1);
    int fd = open("here", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    write_to(fd, 2);
    char here[4096];
    snprintf(here, sizeof here, "%s/here", folder);
    did("write", here, 2);
    did("access", "/etc", 1);
}

static void by_vfork_twice(void)
{
    for (volatile int i = 0; i < 5; i++) {
        pid_t pid = vfork();
        CHECK(pid >= 0);
        if (pid == 0) {
            pid_t inner = vfork();
            if (inner == 0)
                _exit(0);
            waitpid(inner, NULL, 0);
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        ended_well(pid);
        write_in(folder, "parent", 1500);
    }
    did("write", "parent", 7500);
}

static void by_spawn(void)
{
    extern char **environ;
    char *child[] = {self, (char *)(uintptr_t)folder, "writes", NULL};
    pid_t pid;
    for (int i = 0; i < 5; i++) {
        CHECK(posix_spawn(&pid, self, NULL, NULL, child, environ) == 0);
        ended_well(pid);
    }
    CHECK(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, child, environ) == ENOENT);
    CHECK(posix_spawnp(&pid, "true", NULL, NULL, child, environ) == 0);
    ended_well(pid);
    did("write", "child", 15);
    did("spawn", "*", 6);
}

static void wait_for_file(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    while (access(path, F_OK))
        usleep(1000);
}

static void double_fork(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(setsid() >= 0);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            child_writes();
            write_in(folder, "done", 1);
        }
        _exit(0);
    }
    ended_well(pid);
    wait_for_file("done");
    did("write", "child", 3);
    did("write", "done", 1);
}

/* libc's daemon forks inside libc, and ends the parent there. */
static void daemonized(void)
{
    did("write", "child", 3);
    did("write", "parent", 2);
    write_in(folder, "parent", 2);
    CHECK(daemon(1, 1) == 0);
    child_writes();
}

static void orphan(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        usleep(100000);
        child_writes();
        _exit(0);
    }
    /* Not waited for here: whoever reads the trace does. */
    did("write", "child", 3);
}

static void generations(void)
{
    for (int i = 0; i < 10; i++) {
        write_in(folder, "child", 3);
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid) {
            ended_well(pid);
            if (i == 0)
                did("write", "child", 30);
            _exit(0);
        }
    }
    _exit(0);
}

static void handler_forks(int unused)
{
    (void)unused;
    int before = errno;
    pid_t pid = fork();
    if (pid == 0)
        child_writes();
    forked = pid;
    errno = before;
}

/* Until it sleeps: on a busy machine that takes any time. */
static void wait_for_sleep(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    while (state != 'S') {
        usleep(5000);
        FILE *f = fopen(path, "r");
        CHECK(f);
        CHECK(fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
        fclose(f);
    }
}

/* The child comes back out of the handler, into a call that its parent began. */
static void from_handler(void)
{
    struct sigaction action = {.sa_handler = handler_forks};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    for (int i = 0; i < 10; i++) {
        forked = -1;
        pid_t main_pid = getpid(), killer = fork();
        CHECK(killer >= 0);
        if (killer == 0) {
            wait_for_sleep(main_pid);
            kill(main_pid, SIGUSR1);
            _exit(0);
        }
        CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
        if (forked == 0) {
            write_in(folder, "child", 2);
            _exit(0);
        }
        ended_well(killer);
        ended_well(forked);
        write_in(folder, "parent", 1);
    }
    did(limited ? "at_most:write" : "write", "child", 50);
    did("write", "parent", 10);
}

/* The same where no file can be made for the child. */
static void from_handler_limited(void)
{
    struct rlimit small = {64 << 10, 64 << 10};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    limited = 1;
    from_handler();
}

/* From a timer's handler that comes in anywhere, in the middle of a record too. */
static void from_timer(void)
{
    /* Under valgrind a write to a file can be interrupted. */
    struct sigaction action = {.sa_handler = handler_forks, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    int fd = open_in(folder, "parent");
    for (int i = 0; i < 200; i++) {
        forked = -1;
        ualarm((useconds_t)(500 + i), 0);
        while (forked == -1)
            write_to(fd, 1);
        if (forked == 0) {
            write_in(folder, "child", 2);
            _exit(0);
        }
        ended_well(forked);
    }
    did("write", "child", 1000);
}

static const struct {
    const char *name;
    void (*way)(void);
} ways[] = {
    {"thread", in_thread},
    {"_Fork", by_fork_of_libc},
    {"clone", by_raw_clone},
    {"clone_vfork", by_clone_vfork},
    {"vfork", by_vfork},
    {"vfork_elsewhere", by_vfork_elsewhere},
    {"vfork_twice", by_vfork_twice},
    {"spawn", by_spawn},
    {"double", double_fork},
    {"daemon", daemonized},
    {"orphan", orphan},
    {"generations", generations},
    {"handler", from_handler},
    {"handler_limit", from_handler_limited},
    {"timer", from_timer},
    {"writes", child_writes},
};

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    self = argv[0];
    folder = argv[1];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[2], ways[i].name) == 0) {
            ways[i].way();
            return 0;
        }
    return 2;
}
