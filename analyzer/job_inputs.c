#include "analyzer/job_inputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/arena.h"
#include "analyzer/progress.h"
#include "analyzer/room.h"
#include "analyzer/rules.h"
#include "analyzer/run_folder.h"
#include "format/checksum.h"
#include "format/file.h"

static bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_run(const char *path)
{
    return is_folder(path) && iot_run_folder_files(path) > 0;
}

/* Partial results may lie beside the folders, under their names with something behind. */
static int is_rank(const struct dirent *entry)
{
    return entry->d_type != DT_REG &&
           !strncmp(entry->d_name, IOT_RANK_FOLDER, sizeof IOT_RANK_FOLDER - 1);
}

static int is_trace_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), suffix = sizeof IOT_FILE_SUFFIX - 1;
    return n > suffix && !strcmp(entry->d_name + n - suffix, IOT_FILE_SUFFIX);
}

bool iot_job_is_job(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return false; /* whoever reads it says so */
    size_t n_path = strlen(path), suffix = sizeof IOT_FILE_SUFFIX - 1;
    if (!S_ISDIR(st.st_mode)) /* a file of a trace is neither: it is told so */
        return n_path < suffix || strcmp(path + n_path - suffix, IOT_FILE_SUFFIX) != 0;
    struct dirent **entries = NULL;
    int n = is_run(path) ? 0 : scandir(path, &entries, is_rank, NULL);
    for (int k = 0; k < n; k++)
        free(entries[k]);
    free(entries);
    return n > 0;
}

/* --- the list --- */

static int add_item(struct iot_job_items *items, const char *path, int operand)
{
    if (IOT_ROOM(items->items, items->n + 1, items->room))
        return -1;
    const char *kept = iot_arena_text(items->arena, path, strlen(path));
    items->items[items->n++] = (struct iot_job_item){kept, (uint32_t)operand};
    return kept ? 0 : -1;
}

/* The folders of ranks in the folder of a job; without any, the folder itself. */
static int add_ranks(struct iot_job_items *items, const char *folder, int operand)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_rank, alphasort), failed = 0;
    for (int k = 0; k < n; k++) {
        char path[4352];
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        free(entries[k]);
        failed = failed || add_item(items, path, operand);
    }
    free(entries);
    return n > 0 ? failed : add_item(items, folder, operand);
}

int iot_job_list(struct iot_job_items *items, char *const *paths, int n)
{
    *items = (struct iot_job_items){.arena = iot_arena_new()};
    int failed = !items->arena;
    for (int k = 0; k < n && !failed; k++)
        failed = is_folder(paths[k]) && !is_run(paths[k]) ? add_ranks(items, paths[k], k)
                                                          : add_item(items, paths[k], k);
    return failed ? -1 : 0;
}

void iot_job_items_free(struct iot_job_items *items)
{
    iot_arena_free(items->arena);
    free(items->items);
    *items = (struct iot_job_items){0};
}

/* --- what an item holds --- */

enum { HEAD_BYTES = 64 * 1024, SIZED_MAX = 32 };

/* Its first `most` bytes, and its size, into the hash. */
static int hash_head(int fd, size_t most, uint64_t *hash)
{
    unsigned char *head = malloc(most);
    ssize_t n = head ? pread(fd, head, most, 0) : -1;
    if (n > 0)
        *hash = XXH64(head, (size_t)n, *hash);
    free(head);
    return n > 0 ? 0 : -1;
}

static int hash_run(const char *folder, uint64_t *hash, uint64_t *bytes)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_trace_file, alphasort), failed = n <= 0;
    for (int k = 0; k < n; k++) {
        char path[4352];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        *hash = XXH64(entries[k]->d_name, strlen(entries[k]->d_name), *hash);
        free(entries[k]);
        if (k < SIZED_MAX && !stat(path, &st))
            *bytes += (uint64_t)st.st_blocks * 512; /* files of a trace are sparse */
        int fd = k ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        failed |=
            !k && (fd < 0 || hash_head(fd, offsetof(struct iot_file_header, next_segment), hash));
        if (fd >= 0)
            close(fd);
    }
    if (n > SIZED_MAX)
        *bytes = *bytes / SIZED_MAX * (uint64_t)n;
    free(entries);
    return failed ? -1 : 0;
}

uint64_t iot_job_item_identity(const char *path, uint64_t *bytes)
{
    uint64_t hash = 0;
    int failed;
    *bytes = 0;
    if (is_folder(path)) {
        failed = hash_run(path, &hash, bytes);
    } else {
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        failed = fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode);
        if (!failed) {
            hash = *bytes = (uint64_t)st.st_size;
            failed = hash_head(fd, HEAD_BYTES, &hash);
        }
        if (fd >= 0)
            close(fd);
    }
    return failed ? 0 : hash ? hash : 1;
}

/* --- reading --- */

int iot_job_check(const struct iot_partial_how *how, char error[512])
{
    struct iot_rules rules = {0};
    int failed = how->rules && iot_rules_read(&rules, how->rules, error);
    iot_rules_free(&rules);
    return failed ? -1 : 0;
}

int iot_job_add(struct iot_partial *partial, const char *path, const struct iot_partial_how *how,
                char error[512])
{
    enum iot_added added = is_folder(path) ? iot_partial_add_folder(partial, path, how, error)
                                           : iot_partial_add_file(partial, path, error);
    if (added != IOT_UNREAD)
        return added == IOT_ADDED ? 0 : -1;
    return iot_partial_unread(partial, error);
}

int iot_job_end(struct iot_partial *partial, char error[512])
{
    if (iot_partial_order(partial)) {
        snprintf(error, 512, "out of memory for %zu units", partial->n_units);
        return -1;
    }
    if (partial->n_units)
        return 0;
    snprintf(error, 512, "%s",
             partial->n_unread
                 ? partial->unread[0]
                 : "there is no unit in it; give partial results or folders of traces");
    return -1;
}

int iot_job_read(struct iot_partial *partial, char *const *paths, int n,
                 const struct iot_partial_how *how, char error[512])
{
    struct iot_job_items items;
    if (iot_job_check(how, error))
        return -1;
    int failed = iot_job_list(&items, paths, n);
    if (failed)
        snprintf(error, 512, "out of memory for %d paths", n);
    for (size_t k = 0; k < items.n && !failed; k++) {
        iot_progress("reading the traces of ranks", k, items.n);
        failed = iot_job_add(partial, items.items[k].path, how, error);
    }
    iot_job_items_free(&items);
    return failed || iot_job_end(partial, error) ? -1 : 0;
}
