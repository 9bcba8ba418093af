#include "analyzer/debug_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int iot_debug_files_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int in_folder(const struct iot_debug_files *f, const char *folder, size_t n)
{
    enum { FOLDER_BYTES = 400, ID_MAX = 100 };
    char path[FOLDER_BYTES + ID_MAX + 40];
    if (f->n_id <= 2 || f->n_id > ID_MAX || n > FOLDER_BYTES || *folder != '/')
        return -1;
    snprintf(path, sizeof path, "%.*s/.build-id/%.2s/%.*s.debug", (int)n, folder, f->id,
             (int)f->n_id - 2, f->id + 2);
    return iot_debug_files_open(path);
}

int iot_debug_files_next(struct iot_debug_files *f)
{
    enum { SYSTEM, NAMED, ITSELF };
    static const char system[] = "/usr/lib/debug";
    int fd = -1;
    if (f->at == SYSTEM) {
        f->at = NAMED;
        f->folders = getenv("DEBUGINFO_PATH");
        fd = in_folder(f, system, sizeof system - 1);
    }
    while (fd < 0 && f->at == NAMED && f->folders && *f->folders) {
        size_t n = strcspn(f->folders, ":");
        fd = in_folder(f, f->folders, n);
        f->folders += n + (f->folders[n] == ':');
    }
    if (fd < 0 && f->at <= NAMED) {
        f->at = ITSELF;
        fd = *f->path == '/' ? iot_debug_files_open(f->path) : -1;
    }
    return fd;
}
