/* calls_exec FOLDER: every way to another program, and every way to wait for it. */
#include <sched.h>
#include <sys/resource.h>

#include "tests/victims/calls.h"

static char *const arguments[] = {"true", NULL};
static char *const nothing[] = {"PATH=/usr/bin:/bin", NULL};

static void by_list(void)
{
    execle("/bin/true", "true", (char *)NULL, nothing);
}
static void by_vector(void)
{
    execv("/bin/true", arguments);
}
static void by_path(void)
{
    execvp("true", arguments);
}
static void by_path_with(void)
{
    execvpe("true", arguments, nothing);
}
static void by_descriptor(void)
{
    fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), arguments, nothing);
}
static void at(void)
{
    execveat(AT_FDCWD, "/bin/true", arguments, nothing, 0);
}

static void (*const ways[])(void) = {by_list, by_vector, by_path, by_path_with, by_descriptor, at};
enum { WAYS = sizeof ways / sizeof *ways };

static pid_t started(int way)
{
    pid_t child = way % 2 ? fork() : CALL(pid_t, __fork, (void), ());
    CHECK(child >= 0);
    if (child == 0) {
        ways[way]();
        _exit(98);
    }
    return child;
}

static int cloned(void *argument)
{
    _exit(argument ? 0 : 1);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && argv[1]);
    static char stack[65536] __attribute__((aligned(16)));
    int status = -1;
    struct rusage usage;
    siginfo_t info = {0};
    for (int way = 0; way < WAYS; way++) {
        pid_t child = started(way);
        say("fork", 0);
        say("exec", 0);
        switch (way) {
        case 0:
            DO("wait", CALL(pid_t, __wait, (int *), (&status)) == child);
            break;
        case 1:
            DO("waitpid",
               CALL(pid_t, __waitpid, (pid_t, int *, int), (child, &status, 0)) == child);
            break;
        case 2:
            DO("wait", wait3(&status, 0, &usage) == child);
            break;
        case 3:
            DO("waitpid", wait4(child, &status, 0, &usage) == child);
            break;
        default:
            DO("waitid", waitid(P_PID, (id_t)child, &info, WEXITED) == 0);
            status = info.si_code == CLD_EXITED && info.si_status == 0 ? 0 : -1;
        }
        CHECK(status == 0);
    }
    pid_t child = CALL(int, __clone, (int (*)(void *), void *, int, void *, ...),
                       (cloned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, stack));
    DO("vfork", child > 0);
    DO("waitpid", waitpid(child, &status, 0) == child && status == 0);
    DO("system", system("exit 3") == 3 << 8);
    say_all();
    return 0;
}
