/* Slow storage that the kernel itself believes in, until SIGTERM:
 *
 *     slow_fs SOURCE MOUNT US [cached]
 *
 * serves a file, or the files of a folder, read only, each read taking that many microseconds. A
 * read is the program's, past the page cache; with "cached" the kernel's, which asks for a page, or
 * for up to 128 KiB where it reads ahead, and keeps them. "ready" on standard output says that it
 * is mounted. Several reads at a time. It speaks the kernel's FUSE protocol itself, so that no
 * library is needed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 256, SERVERS = 8, BUFFER = 1 << 18, FIRST = 2 };

static struct {
    char name[64];
    int fd;
    struct stat st;
} files[FILES_MAX]; /* node k + FIRST; node 1 is the folder */
static int n_files, device, cached;
static long us;

static void need(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static void add(int below, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (name[0] == '.' || strlen(name) >= sizeof files[0].name)
        return;
    strcpy(files[n_files].name, name);
    files[n_files].fd = openat(below, path, O_RDONLY);
    need(files[n_files].fd >= 0 && fstat(files[n_files].fd, &files[n_files].st) == 0, path);
    n_files++;
}

static void list(const char *source)
{
    DIR *dir = opendir(source);
    if (!dir) {
        need(errno == ENOTDIR, source);
        add(AT_FDCWD, source);
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) && n_files < FILES_MAX;)
        add(dirfd(dir), e->d_name);
    closedir(dir);
}

static void reply(uint64_t unique, int error, const void *data, size_t n)
{
    struct fuse_out_header head = {(uint32_t)(sizeof head + n), -error, unique};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)(uintptr_t)data, n}};
    need(writev(device, parts, n ? 2 : 1) >= 0 || errno == ENOENT, "reply");
}

static struct fuse_attr attributes(uint64_t node)
{
    if (node == 1)
        return (struct fuse_attr){.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2};
    const struct stat *st = &files[node - FIRST].st;
    return (struct fuse_attr){.ino = node,
                              .size = (uint64_t)st->st_size,
                              .blocks = (uint64_t)st->st_blocks,
                              .mode = S_IFREG | 0444,
                              .nlink = 1,
                              .blksize = 4096};
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
    for (int k = 0; k < n_files; k++)
        if (!strcmp(files[k].name, name)) {
            struct fuse_entry_out out = {.nodeid = (uint64_t)k + FIRST,
                                         .entry_valid = 1000,
                                         .attr_valid = 1000,
                                         .attr = attributes((uint64_t)k + FIRST)};
            reply(in->unique, 0, &out, sizeof out);
            return;
        }
    reply(in->unique, ENOENT, NULL, 0);
}

static void slow_read(const struct fuse_in_header *in, const struct fuse_read_in *read)
{
    static __thread char data[BUFFER];
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += us % 1000000 * 1000;
    until.tv_sec += us / 1000000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    ssize_t n = pread(files[in->nodeid - FIRST].fd, data, read->size < BUFFER ? read->size : BUFFER,
                      (off_t)read->offset);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
    reply(in->unique, n < 0 ? EIO : 0, data, n < 0 ? 0 : (size_t)n);
}

static void answer(const struct fuse_in_header *in, const void *body)
{
    const struct fuse_init_in *wanted = body;
    struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
                                 .minor = 31,
                                 .flags = FUSE_ASYNC_READ | FUSE_ASYNC_DIO,
                                 .max_background = 64,
                                 .congestion_threshold = 48,
                                 .max_write = 1 << 17};
    struct fuse_attr_out attr = {.attr_valid = 1000};
    struct fuse_statfs_out size = {.st = {.bsize = 4096, .namelen = sizeof files[0].name - 1}};
    struct fuse_open_out open = {.open_flags = cached ? FOPEN_KEEP_CACHE : FOPEN_DIRECT_IO};
    switch (in->opcode) {
    case FUSE_INIT:
        init.max_readahead = cached ? wanted->max_readahead : 0;
        reply(in->unique, 0, &init, sizeof init);
        break;
    case FUSE_LOOKUP:
        look_up(in, body);
        break;
    case FUSE_GETATTR:
        attr.attr = attributes(in->nodeid);
        reply(in->unique, 0, &attr, sizeof attr);
        break;
    case FUSE_STATFS:
        reply(in->unique, 0, &size, sizeof size);
        break;
    case FUSE_OPEN:
        reply(in->unique, 0, &open, sizeof open);
        break;
    case FUSE_READ:
        slow_read(in, body);
        break;
    case FUSE_RELEASE:
    case FUSE_FLUSH:
        reply(in->unique, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        reply(in->unique, ENOSYS, NULL, 0);
    }
}

static void *serve(void *unused)
{
    static __thread char buffer[BUFFER] __attribute__((aligned(8)));
    for (;;) {
        ssize_t n = read(device, buffer, sizeof buffer);
        if (n < 0 && errno == ENODEV) /* unmounted */
            exit(0);
        if (n < (ssize_t)sizeof(struct fuse_in_header))
            continue;
        answer((const struct fuse_in_header *)buffer, buffer + sizeof(struct fuse_in_header));
    }
    return unused;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    char options[128];
    pthread_t thread;
    sigset_t ends;
    int number;
    list(argv[1]);
    us = atol(argv[3]);
    cached = argc > 4;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    device = open("/dev/fuse", O_RDWR);
    need(device >= 0, "/dev/fuse");
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device,
             getuid(), getgid());
    need(mount("slow_fs", argv[2], "fuse", MS_RDONLY | MS_NOSUID | MS_NODEV, options) == 0,
         argv[2]);
    for (int k = 0; k < SERVERS; k++)
        need(pthread_create(&thread, NULL, serve, NULL) == 0, "pthread_create");
    puts("ready");
    fflush(stdout);
    sigwait(&ends, &number);
    return umount2(argv[2], MNT_DETACH) != 0;
}
