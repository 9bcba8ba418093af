/* Another program in the same process: the trace of this one has to be whole before. */
#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/descriptors.h"
#include "preload/environment.h"
#include "preload/mappings.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/sys.h"
#include "preload/uring.h"
#include "preload/wrap.h"

struct attempt {
    struct iot_thread *t;
    uint64_t t0;
    uint32_t path;
    char *const *envp;
};

static struct attempt before_exec(uint32_t (*name)(struct iot_thread *, int, const char *), int dir,
                                  const char *path, char *const envp[])
{
    struct attempt a = {.t = iot_enter_always(), .envp = envp};
    if (!a.t)
        return a;
    a.envp = iot_environment_for_child(a.t, envp);
    a.path = iot_readable_name(path) ? name(a.t, dir, path) : 0;
    iot_mappings_end(a.t);
    if (!a.t->vfork_pid)
        iot_rings_settle(a.t);
    a.t0 = iot_now();
    iot_event(a.t, &(struct iot_row){.t0 = a.t0, .t1 = a.t0, .obj = a.path, .op = IOT_OP_EXEC});
    if (!a.t->vfork_pid)
        iot_process_end(a.t, IOT_END_EXEC);
    return a;
}

static int exec_failed(struct attempt a)
{
    if (!a.t)
        return -1;
    iot_environment_done(a.t);
    if (!a.t->vfork_pid)
        iot_process_goes_on();
    iot_event(a.t, &(struct iot_row){.t0 = a.t0,
                                     .t1 = iot_now(),
                                     .result = -1,
                                     .obj = a.path,
                                     .err = (uint16_t)errno,
                                     .op = IOT_OP_EXEC});
    return -1;
}

/* A name without a slash is looked for along PATH, as the call itself will. */
static uint32_t program_name(struct iot_thread *t, int dir, const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !*name)
        return iot_path(t, dir, name);
    char tried[PATH_MAX];
    size_t n = strlen(name);
    for (const char *p = path ? path : "/bin:/usr/bin"; *p;) {
        size_t folder = strcspn(p, ":");
        if (folder && folder + 1 + n < sizeof tried) {
            memcpy(tried, p, folder);
            tried[folder] = '/';
            memcpy(tried + folder + 1, name, n + 1);
            if (iot_sys(SYS_faccessat, AT_FDCWD, tried, X_OK) == 0)
                return iot_path(t, dir, tried);
        }
        p += folder + (p[folder] == ':');
    }
    return iot_path(t, dir, name);
}

static uint32_t descriptor_path(struct iot_thread *t, int fd, const char *path)
{
    return iot_path(t, fd, path);
}

/* `real`: what does the same with an environment given (a.envp). */
#define EXEC(sym, params, real, args, name, dir, path, envp)                                       \
    int sym params                                                                                 \
    {                                                                                              \
        struct attempt a = before_exec(name, dir, path, envp);                                     \
        iot_real.real args;                                                                        \
        return exec_failed(a);                                                                     \
    }

EXEC(execve, (const char *path, char *const argv[], char *const envp[]), execve,
     (path, argv, a.envp), iot_path, AT_FDCWD, path, envp)
EXEC(execv, (const char *path, char *const argv[]), execve, (path, argv, a.envp), iot_path,
     AT_FDCWD, path, environ)
EXEC(execvp, (const char *path, char *const argv[]), execvpe, (path, argv, a.envp), program_name,
     AT_FDCWD, path, environ)
EXEC(execvpe, (const char *path, char *const argv[], char *const envp[]), execvpe,
     (path, argv, a.envp), program_name, AT_FDCWD, path, envp)
EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), fexecve, (fd, argv, a.envp),
     descriptor_path, fd, "", envp)
EXEC(execveat, (int dir, const char *path, char *const argv[], char *const envp[], int flags),
     execveat, (dir, path, argv, a.envp, flags), iot_path, dir, path, envp)

/* Those with a list of arguments are the same with it as an array: on the stack, as libc has it. */
#define COLLECT(argv)                                                                              \
    va_list ap;                                                                                    \
    size_t count = 1;                                                                              \
    va_start(ap, arg);                                                                             \
    while (va_arg(ap, const char *))                                                               \
        count++;                                                                                   \
    va_end(ap);                                                                                    \
    const char **argv = alloca((count + 1) * sizeof *argv);                                        \
    argv[0] = arg;                                                                                 \
    va_start(ap, arg);                                                                             \
    for (size_t i = 1; i <= count; i++)                                                            \
        argv[i] = va_arg(ap, const char *);

int execl(const char *path, const char *arg, ...)
{
    COLLECT(argv)
    va_end(ap);
    return execv(path, (char *const *)argv);
}

int execlp(const char *path, const char *arg, ...)
{
    COLLECT(argv)
    va_end(ap);
    return execvp(path, (char *const *)argv);
}

int execle(const char *path, const char *arg, ...)
{
    COLLECT(argv)
    char *const *envp = va_arg(ap, char *const *);
    va_end(ap);
    return execve(path, (char *const *)argv, envp);
}
