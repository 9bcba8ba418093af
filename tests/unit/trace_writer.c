#include "tests/unit/trace_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "trace_writer: %s\n", what);
    abort();
}

void iot_bytes_save(const void *bytes, size_t n, const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    need(fd >= 0, "cannot make a file");
    need(write(fd, bytes, n) == (ssize_t)n, "cannot write a file");
    close(fd);
}

void iot_written_save(struct iot_written *file, const char *folder, const char *name)
{
    iot_written_seal(file, 0);
    iot_bytes_save(file->bytes, file->n, folder, name);
}

char *iot_folder_new(void)
{
    const char *base = getenv("TMPDIR");
    char *folder;
    need(asprintf(&folder, "%s/iotrace-test-XXXXXX", base ? base : "/tmp") > 0, "out of memory");
    need(mkdtemp(folder) != NULL, "cannot make a folder");
    return folder;
}

void iot_folder_remove(char *folder)
{
    char path[1024];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); /* "." and ".." refuse */
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
    free(folder);
}
