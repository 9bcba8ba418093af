#include "analyzer/repeat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/reporting.h"

enum { COMMANDS = 2, PATH_BYTES = 4096 };

/* Hidden, so that a comparison does not take them for runs. */
static const char warm_up[] = ".warm-up", put_aside[] = ".failed";

/* What a command reads, from the run before. */
struct files {
    char **paths;
    size_t n;
};

/* --- the page cache --- */

static void free_files(struct files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct files){0};
}

/* Programs and libraries are everybody's, and stay. */
static bool is_own(const struct iot_report_file *f)
{
    return f->path[0] == '/' && f->object != IOT_OTHER && f->figures.opens > 0;
}

static void find_files(const char *folder, struct files *files)
{
    struct iot_reporting reporting;
    char error[512];
    free_files(files);
    if (!iot_reporting_make(&reporting, folder, &(struct iot_reporting_how){.top = SIZE_MAX},
                            error)) {
        const struct iot_report *r = &reporting.report;
        files->paths = calloc(r->n_files + 1, sizeof *files->paths);
        for (size_t i = 0; files->paths && i < r->n_files; i++)
            if (is_own(&r->files[i]) && (files->paths[files->n] = strdup(r->files[i].path)))
                files->n++;
    } else {
        iot_error("run: --drop-caches: %s", error);
    }
    iot_reporting_free(&reporting);
}

/* Whether more than a twentieth of it is in the page cache. */
static bool is_resident(int fd, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page, held = 0;
    unsigned char *seen = malloc(pages);
    void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (seen && at != MAP_FAILED && !mincore(at, size, seen))
        for (size_t i = 0; i < pages; i++)
            held += seen[i] & 1;
    if (at != MAP_FAILED)
        munmap(at, size);
    free(seen);
    return 20 * held > pages;
}

/* Whether it is gone from there. What is no file, or is not there any more, is. */
static bool drop(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool gone = true;
    if (fd < 0)
        return errno == ENOENT;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
        fdatasync(fd);
        gone =
            !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) && !is_resident(fd, (size_t)st.st_size);
    }
    close(fd);
    return gone;
}

static void drop_all(const struct files *files)
{
    const char *first = NULL;
    size_t stay = 0;
    for (size_t i = 0; i < files->n; i++)
        if (!drop(files->paths[i])) {
            first = first ? first : files->paths[i];
            stay++;
        }
    if (stay)
        iot_error(
            "run: %zu of %zu files stay in the page cache, such as %s: this run is no cold one",
            stay, files->n, first);
}

/* --- folders --- */

static int make_empty(const char *folder)
{
    if (!mkdir(folder, 0755))
        return 0;
    DIR *dir = errno == EEXIST ? opendir(folder) : NULL;
    const struct dirent *entry;
    int failed = !dir;
    while (dir && (entry = readdir(dir)))
        failed |= strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    if (dir)
        closedir(dir);
    if (failed)
        iot_error("run: --repeat: %s cannot be made, or holds something; give a new folder with -o",
                  folder);
    return failed ? -1 : 0;
}

/* A trace holds files alone. */
static void remove_trace(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* --- runs --- */

/* Why no more runs are made; what that one left is no run to be compared. Where it left nothing,
 * that has been told. */
static void tell_end(const struct iot_repeat *how, size_t number, const char *place,
                     const char *folder, int status)
{
    char which[64] = "a warm-up", aside[PATH_BYTES];
    if (access(folder, F_OK))
        return;
    if (number)
        snprintf(which, sizeof which, "run %zu of %zu", number, how->runs);
    bool kept = number &&
                snprintf(aside, sizeof aside, "%s/%s-%02zu", place, put_aside, number) <
                    (int)sizeof aside &&
                !rename(folder, aside);
    iot_error("run: --repeat: %s in %s ended with status %d, so that no more are made%s%s", which,
              place, status, kept ? "; its trace is " : "", kept ? aside : "");
}

/* Run number `number` of a command; 0: a warm-up. */
static int make_run(const struct iot_repeat *how, size_t number, char **command, const char *place,
                    struct files *files, iot_run_once *once, void *user)
{
    char folder[PATH_BYTES];
    int n = number ? snprintf(folder, sizeof folder, "%s/%02zu", place, number)
                   : snprintf(folder, sizeof folder, "%s/%s", place, warm_up);
    if (n >= (int)sizeof folder) {
        iot_error("run: %.200s...: the path is too long", place);
        return IOT_EXIT_USAGE;
    }
    if (how->drop_caches && number)
        drop_all(files);
    int status = once(user, command, folder);
    if (status) {
        tell_end(how, number, place, folder, status);
    } else if (access(folder, F_OK)) {
        iot_error("run: --repeat: a run in %s left no trace, so that no more are made", place);
        status = IOT_EXIT_USAGE;
    }
    if (how->drop_caches && !status)
        find_files(folder, files);
    if (!number)
        remove_trace(folder);
    return status;
}

int iot_repeat(const struct iot_repeat *how, char **command, const char *folder, iot_run_once *once,
               void *user)
{
    char *second[] = {"/bin/sh", "-c", (char *)how->other, NULL};
    char **commands[COMMANDS] = {command, second};
    size_t n = how->other ? COMMANDS : 1;
    /* What to drop is known from a run. */
    size_t warmup = how->drop_caches && !how->warmup ? 1 : how->warmup;
    struct files files[COMMANDS] = {{0}};
    char places[COMMANDS][PATH_BYTES];
    int status = 0;

    if (make_empty(folder))
        return IOT_EXIT_USAGE;
    for (size_t c = 0; c < n && !status; c++) {
        snprintf(places[c], PATH_BYTES, n > 1 ? "%s/%c" : "%s", folder, (char)('a' + c));
        status = n > 1 && make_empty(places[c]) ? IOT_EXIT_USAGE : 0;
    }
    for (size_t i = 0; i < warmup + how->runs && !status; i++)
        for (size_t c = 0; c < n && !status; c++)
            status = make_run(how, i < warmup ? 0 : i - warmup + 1, commands[c], places[c],
                              &files[c], once, user);
    for (size_t c = 0; c < n; c++)
        free_files(&files[c]);
    return status;
}
