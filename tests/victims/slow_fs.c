/* A file system of one file, of which every read takes a known time more than it would.
 *
 *     slow_fs FOLDER SOURCE DELAY_US       mounts SOURCE as FOLDER/<its name>; until SIGTERM
 *
 * The kernel asks for a page, or for up to 128 KiB where it reads ahead. What was read stays in the page
 * cache. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int source;
static const char *name;
static struct timespec delay;

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
    (void)info;
    if (strcmp(path, "/") == 0) {
        *st = (struct stat){.st_mode = S_IFDIR | 0755, .st_nlink = 2, .st_uid = getuid()};
        return 0;
    }
    return strcmp(path + 1, name) || fstat(source, st) ? -ENOENT : 0;
}

static int slow_open(const char *path, struct fuse_file_info *info)
{
    info->keep_cache = 1;
    return strcmp(path + 1, name) ? -ENOENT : 0;
}

static int slow_read(const char *path, char *to, size_t n, off_t at, struct fuse_file_info *info)
{
    (void)path;
    (void)info;
    nanosleep(&delay, NULL);
    ssize_t got = pread(source, to, n, at);
    return got < 0 ? -errno : (int)got;
}

int main(int argc, char **argv)
{
    static const struct fuse_operations operations = {
        .getattr = slow_getattr, .open = slow_open, .read = slow_read};
    if (argc != 4 || (source = open(argv[2], O_RDONLY)) < 0)
        return 2;
    const char *slash = strrchr(argv[2], '/');
    name = slash ? slash + 1 : argv[2];
    long us = atol(argv[3]);
    delay = (struct timespec){us / 1000000, us % 1000000 * 1000};
    char *arguments[] = {argv[0], (char *)"-f", argv[1], NULL};
    return fuse_main(3, arguments, &operations, NULL);
}
