#include "preload/descriptors.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/kernel_names.h"
#include "preload/residency.h"
#include "preload/sys.h"
#include "preload/text.h"

enum { PATH_BYTES = 4096 };

struct cwd {
    size_t bytes; /* ends in '/' */
    char path[PATH_BYTES + 1];
};
/* Two, so that who is reading one is not overtaken by the next change. */
static struct cwd cwds[2];
static struct cwd *cwd = &cwds[0];

static void ask(struct cwd *next)
{
    long n = iot_sys(SYS_getcwd, next->path, PATH_BYTES);
    next->bytes = n > 1 ? (size_t)n - 1 : 0;
    if (next->bytes && next->path[next->bytes - 1] != '/')
        next->path[next->bytes++] = '/';
}

void iot_cwd_changed(void)
{
    struct cwd *next = cwd == &cwds[0] ? &cwds[1] : &cwds[0];
    ask(next);
    __atomic_store_n(&cwd, next, __ATOMIC_RELEASE);
}

void iot_descriptors_start(void)
{
    iot_cwd_changed();
}

/* "<before><number><after>"; returns its length. */
static size_t numbered(char *to, const char *before, uint64_t number, const char *after)
{
    char *p = iot_text_put(iot_text_number(iot_text_put(to, before), number), after);
    *p = '\0';
    return (size_t)(p - to);
}

static uint32_t define(struct iot_thread *t, int fd, const struct stat *st, uint32_t name,
                       uint64_t flags, int64_t offset, uint16_t resident)
{
    int ours = (unsigned)fd < IOT_DESCRIPTORS_MAX && !t->vfork_pid;
    struct iot_row *row = iot_reserve(t, 1);
    if (!row) {
        if (ours)
            iot_process->descriptors[fd] = 0; /* no longer what it was */
        return 0;
    }
    uint32_t number = __atomic_add_fetch(&iot_process->last_descriptor, 1, __ATOMIC_RELAXED);
    row->obj = number;
    row->obj2 = name;
    row->result = (int64_t)st->st_dev;
    row->bytes = (int64_t)st->st_ino;
    row->offset = offset;
    row->addr = (uint64_t)st->st_mode << 32 | flags;
    row->site = (uint32_t)fd + 1;
    row->err = resident;
    iot_commit(t, row, IOT_DEF_DESC);
    if ((unsigned)fd < IOT_DESCRIPTORS_MAX && !t->vfork_pid && iot_is_here(t)) {
        iot_process->descriptors[fd] = number;
        if ((unsigned)fd >= iot_process->descriptors_top)
            iot_process->descriptors_top = (unsigned)fd + 1;
    }
    return number;
}

static int look(int fd, struct stat *st)
{
    return iot_sys(SYS_fstat, fd, st) == 0 ? 0 : -1;
}

static int64_t size_of(int fd, const struct stat *st)
{
    if (S_ISFIFO(st->st_mode)) {
        long bytes = iot_sys(SYS_fcntl, fd, F_GETPIPE_SZ);
        return bytes > 0 ? bytes : 0;
    }
    return st->st_size;
}

uint64_t iot_descriptor_inode(int fd)
{
    struct stat st;
    return look(fd, &st) ? 0 : st.st_ino;
}

static uint32_t adopt(struct iot_thread *t, int fd, const char *name, size_t bytes)
{
    struct stat st;
    if (look(fd, &st))
        return 0;
    long flags = iot_sys(SYS_fcntl, fd, F_GETFL);
    return define(t, fd, &st, iot_string(t, "", 0, name, bytes),
                  IOT_DESC_ADOPTED | (flags > 0 ? (uint64_t)flags & 0xffffff : 0),
                  size_of(fd, &st), 0);
}

static __attribute__((noinline)) uint32_t adopt_long(struct iot_thread *t, int fd, const char *link)
{
    char name[PATH_BYTES];
    long n = iot_sys(SYS_readlinkat, AT_FDCWD, link, name, sizeof name);
    return n > 0 ? adopt(t, fd, name, (size_t)n) : 0;
}

uint32_t iot_descriptor_adopt(struct iot_thread *t, int fd)
{
    char link[48], name[320]; /* we may be on a small stack */
    if (fd < 0)
        return 0;
    numbered(link, "/proc/self/fd/", (uint64_t)fd, "");
    long n = iot_sys(SYS_readlinkat, AT_FDCWD, link, name, sizeof name);
    if (n == sizeof name)
        return adopt_long(t, fd, link);
    return n > 0 ? adopt(t, fd, name, iot_kernel_name(fd, name, (size_t)n, sizeof name)) : 0;
}

void iot_descriptors_adopt(struct iot_thread *t)
{
    enum { TRIED = 1024 };
    for (int fd = 0; fd < TRIED; fd++)
        iot_descriptor(t, fd);
}

uint32_t iot_descriptor_opened(struct iot_thread *t, int fd, uint32_t name, int flags,
                               uint64_t peer_ino)
{
    struct stat st = {0};
    /* What was opened is a folder, but what came of it is a file without a name in there. */
    uint32_t unnamed = (flags & O_TMPFILE) == O_TMPFILE ? iot_descriptor_adopt(t, fd) : 0;
    if (unnamed)
        return unnamed;
    if (look(fd, &st) && !(name && iot_confined)) /* a name is enough, where no more can be had */
        return 0;
    if (!name) {
        char text[64 + IOT_ADDRESS_BYTES];
        const char *kind = S_ISSOCK(st.st_mode) ? "socket:[" : "pipe:[";
        size_t bytes = numbered(text, kind, st.st_ino, "]");
        name = iot_string(t, "", 0, text, iot_kernel_name(fd, text, bytes, sizeof text));
    }
    uint64_t bits = (uint64_t)flags & 0xffffff;
    if (peer_ino)
        return define(t, fd, &st, name, bits | IOT_DESC_PEER, (int64_t)peer_ino, 0);
    return define(t, fd, &st, name, bits, size_of(fd, &st), iot_residency(fd, &st, flags));
}

uint32_t iot_descriptor_address(struct iot_thread *t, int fd, const struct sockaddr *to,
                                socklen_t n)
{
    char text[IOT_ADDRESS_BYTES];
    size_t bytes = iot_kernel_address(fd, to, n, text);
    return bytes > 1 ? iot_string(t, "", 0, text + 1, bytes - 1) : 0;
}

uint32_t iot_descriptor_dup(struct iot_thread *t, int fd, uint32_t of)
{
    static const struct stat nothing; /* the definition it shares has the facts */
    if (!of)
        return iot_descriptor_adopt(t, fd);
    return define(t, fd, &nothing, 0, IOT_DESC_DUP, of, 0);
}

void iot_descriptor_closing(struct iot_thread *t, int fd)
{
    if ((unsigned)fd < IOT_DESCRIPTORS_MAX && !t->vfork_pid && iot_process->descriptors[fd])
        iot_process->descriptors[fd] = 0;
}

void iot_descriptor_closing_range(struct iot_thread *t, unsigned first, unsigned last)
{
    if (t->vfork_pid)
        return;
    for (uint64_t fd = first; fd <= last && fd < iot_process->descriptors_top; fd++)
        if (iot_process->descriptors[fd])
            iot_process->descriptors[fd] = 0;
}

/* A child in our memory has a working directory of its own. */
static __attribute__((noinline)) uint32_t path_in_child(struct iot_thread *t, const char *path,
                                                       size_t bytes)
{
    struct cwd here;
    ask(&here);
    return iot_string(t, here.path, here.bytes, path, bytes);
}

void iot_descriptors_forget(void)
{
    for (uint32_t fd = 0; fd < iot_process->descriptors_top; fd++)
        if (iot_process->descriptors[fd])
            iot_process->descriptors[fd] = 0;
}

uint32_t iot_path(struct iot_thread *t, int dirfd, const char *path)
{
    size_t bytes = strnlen(path, PATH_BYTES);
    if (path[0] == '/')
        return iot_string(t, "", 0, path, bytes);
    if (dirfd == AT_FDCWD && t->vfork_pid)
        return path_in_child(t, path, bytes);
    if (dirfd == AT_FDCWD) {
        const struct cwd *here = __atomic_load_n(&cwd, __ATOMIC_ACQUIRE);
        return iot_string(t, here->path, here->bytes, path, bytes);
    }
    uint32_t below = iot_descriptor(t, dirfd);
    if (!below)
        return 0;
    char base[32];
    return iot_string(t, base, numbered(base, "\1", below, "/"), path, bytes);
}
