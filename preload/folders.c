/* Folders: the working one, and reading them. */
#include "preload/descriptors.h"
#include "preload/real.h"
#include "preload/wrap.h"

int chdir(const char *path)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return iot_real.chdir(path);
    IOT_TIMED(int, chdir, (path))
    uint32_t name = iot_path_of(t, call, AT_FDCWD, path);
    if (result == 0 && !t->vfork_pid)
        iot_cwd_changed();
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = result, .obj = name, .op = IOT_OP_CHDIR});
}

int fchdir(int fd)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return iot_real.fchdir(fd);
    uint32_t obj = iot_descriptor(t, fd);
    IOT_TIMED(int, fchdir, (fd))
    if (result == 0 && !t->vfork_pid)
        iot_cwd_changed();
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = result, .obj = obj, .op = IOT_OP_FCHDIR});
}

/* Calls that give a pointer, NULL if they failed: timed into `result` and `call`. */
#define TIMED_POINTER(type, sym, args)                                                             \
    int before = errno; /* readdir tells its end from a failure by errno alone */                  \
    struct iot_timed call = {.t0 = iot_now()};                                                     \
    type *result = iot_real.sym args;                                                              \
    call.t1 = iot_now();                                                                           \
    call.err = !result && errno != before ? errno : 0;

DIR *opendir(const char *path)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.opendir(path);
    TIMED_POINTER(DIR, opendir, (path))
    uint32_t name = iot_path_of(t, call, AT_FDCWD, path);
    uint32_t obj = result ? iot_descriptor_opened(t, dirfd(result), name, O_DIRECTORY, 0) : 0;
    iot_timed_event(t, call,
                    &(struct iot_row){
                        .result = result != NULL, .obj = obj, .obj2 = name, .op = IOT_OP_OPENDIR});
    return result;
}

DIR *fdopendir(int fd)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.fdopendir(fd);
    uint32_t obj = iot_descriptor(t, fd);
    TIMED_POINTER(DIR, fdopendir, (fd))
    iot_timed_event(t, call,
                    &(struct iot_row){.result = result != NULL, .obj = obj, .op = IOT_OP_OPENDIR});
    return result;
}

#define READDIR(sym, type)                                                                         \
    type *sym(DIR *dir)                                                                            \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(dir);                                                              \
        uint32_t obj = iot_descriptor(t, dirfd(dir));                                              \
        TIMED_POINTER(type, sym, (dir))                                                            \
        iot_timed_event(                                                                           \
            t, call,                                                                               \
            &(struct iot_row){.result = result != NULL, .obj = obj, .op = IOT_OP_READDIR});        \
        return result;                                                                             \
    }

READDIR(readdir, struct dirent)
READDIR(readdir64, struct dirent64)

/* These give an error number, and the entry by a pointer. */
#define READDIR_R(sym, type)                                                                       \
    int sym(DIR *restrict dir, type *restrict entry, type **restrict found)                        \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(dir, entry, found);                                                \
        uint32_t obj = iot_descriptor(t, dirfd(dir));                                              \
        struct iot_timed call = {.t0 = iot_now()};                                                 \
        int failed = iot_real.sym(dir, entry, found);                                              \
        call.t1 = iot_now();                                                                       \
        call.err = failed;                                                                         \
        iot_timed_event(                                                                           \
            t, call,                                                                               \
            &(struct iot_row){.result = !failed && *found, .obj = obj, .op = IOT_OP_READDIR});     \
        return failed;                                                                             \
    }

READDIR_R(readdir_r, struct dirent)
READDIR_R(readdir64_r, struct dirent64)

/* Of none at all libc says EINVAL. */
int closedir(DIR *dir)
{
    __asm__("" : "+r"(dir)); /* libc's headers promise the compiler that it is not NULL */
    struct iot_thread *t = iot_enter();
    if (!t || !dir)
        return iot_real.closedir(dir);
    int fd = dirfd(dir);
    uint32_t obj = iot_descriptor_known(t, fd);
    iot_descriptor_closing(t, fd);
    IOT_TIMED(int, closedir, (dir))
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = result, .obj = obj, .op = IOT_OP_CLOSEDIR});
}

void sync(void)
{
    struct iot_thread *t = iot_enter();
    struct iot_timed call = {.t0 = t ? iot_now() : 0};
    iot_real.sync();
    if (!t)
        return;
    call.t1 = iot_now();
    iot_timed_event(t, call, &(struct iot_row){.op = IOT_OP_SYNC});
}
