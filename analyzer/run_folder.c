#include "analyzer/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/file.h"

enum { PATH_BYTES = 4096, ERROR_BYTES = 512, SIBLINGS_MAX = 10000 };

/* Room behind the folder for a number, and for the names of its files. */
enum { SPARE_BYTES = 64 };

/* Sets `made` if the last one was not there. */
static int make_folders(char *path, bool *made)
{
    if ((*made = !mkdir(path, 0755)) || errno != ENOENT)
        return *made || errno == EEXIST ? 0 : -1;
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, 0755); /* the last one tells */
        *p = '/';
    }
    *made = !mkdir(path, 0755);
    return *made || errno == EEXIST ? 0 : -1;
}

/* Puts the marker into the folder. Returns 0 if it was not there. */
static int mark(const char *folder)
{
    char marker[PATH_BYTES];
    snprintf(marker, sizeof marker, "%s/" IOT_RUN_MARKER, folder);
    int fd = open(marker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : -1;
}

static int make_absolute(char folder[PATH_BYTES], const char *wanted, char *error)
{
    char cwd[PATH_BYTES] = "";
    if (wanted[0] != '/' && !getcwd(cwd, sizeof cwd)) {
        snprintf(error, ERROR_BYTES, "run: the working directory: %s", strerror(errno));
        return -1;
    }
    size_t n_cwd = strlen(cwd), n = strlen(wanted);
    if (n_cwd + 1 + n + SPARE_BYTES > PATH_BYTES) {
        snprintf(error, ERROR_BYTES, "run: %.200s…: the path is too long", wanted);
        return -1;
    }
    memcpy(folder, cwd, n_cwd);
    folder[n_cwd] = '/';
    n_cwd += wanted[0] != '/' && n_cwd > 1;
    memcpy(folder + n_cwd, wanted, n + 1);
    for (n += n_cwd; n > 1 && folder[n - 1] == '/';)
        folder[--n] = '\0';
    return 0;
}

int iot_run_folder_take(char folder[4096], bool *made, const char *wanted, char error[512])
{
    if (make_absolute(folder, wanted, error))
        return -1;
    size_t n = strlen(folder);
    for (unsigned sibling = 0; sibling < SIBLINGS_MAX; sibling++) {
        if (sibling)
            snprintf(folder + n, SPARE_BYTES, ".%u", sibling);
        if (make_folders(folder, made)) {
            snprintf(error, ERROR_BYTES, "run: %s: the folder cannot be made: %s", folder,
                     strerror(errno));
            return -1;
        }
        if (!mark(folder))
            return 0;
        if (errno != EEXIST) {
            snprintf(error, ERROR_BYTES, "run: %s: cannot be written to: %s", folder,
                     strerror(errno));
            return -1;
        }
    }
    snprintf(error, ERROR_BYTES, "run: %s and all numbered folders beside it hold runs", wanted);
    return -1;
}

/* --- afterwards --- */

static int is_trace_file(const char *name)
{
    size_t n = strlen(name), suffix = strlen(IOT_FILE_SUFFIX);
    return n > suffix && !strcmp(name + n - suffix, IOT_FILE_SUFFIX);
}

/* Below the end of the segments that were handed out nothing is lost. */
static void trim_file(int dir, const char *name)
{
    struct iot_file_header h;
    struct stat st;
    int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && !fstat(fd, &st) &&
        !memcmp(h.magic, IOT_FILE_MAGIC, sizeof h.magic) && h.end == IOT_END_OPEN &&
        h.segment_bytes == IOT_SEGMENT_BYTES && h.next_segment && h.pid <= INT32_MAX && h.pid &&
        kill((pid_t)h.pid, 0) && errno == ESRCH) {
        off_t held = (off_t)h.next_segment * IOT_SEGMENT_BYTES;
        if (held < st.st_size && ftruncate(fd, held))
            errno = 0; /* it stays large, and readable */
    }
    close(fd);
}

void iot_run_folder_trim(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (is_trace_file(entry->d_name))
            trim_file(dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
}

size_t iot_run_folder_files(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t n = 0;
    while (dir && (entry = readdir(dir)))
        n += (size_t)is_trace_file(entry->d_name);
    if (dir)
        closedir(dir);
    return n;
}

int iot_run_folder_drop(const char *folder, bool made)
{
    char marker[PATH_BYTES + SPARE_BYTES];
    snprintf(marker, sizeof marker, "%s/" IOT_RUN_MARKER, folder);
    return unlink(marker) || !made || rmdir(folder) ? -1 : 0;
}
