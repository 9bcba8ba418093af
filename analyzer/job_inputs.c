#include "analyzer/job_inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/arena.h"
#include "analyzer/progress.h"
#include "analyzer/run_folder.h"
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

static int is_rank(const struct dirent *entry)
{
    return !strncmp(entry->d_name, IOT_RANK_FOLDER, sizeof IOT_RANK_FOLDER - 1);
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
    if (items->n == items->room) {
        size_t room = items->room ? 2 * items->room : 64;
        struct iot_job_item *more = realloc(items->items, room * sizeof *more);
        if (!more)
            return -1;
        items->items = more;
        items->room = room;
    }
    const char *kept = iot_arena_text(items->arena, path, strlen(path));
    items->items[items->n++] = (struct iot_job_item){kept, (uint32_t)operand};
    return kept ? 0 : -1;
}

/* The folders of ranks in the folder of a job; without any, the folder itself. A rank that recorded
 * nothing has one without files. */
static int add_ranks(struct iot_job_items *items, const char *folder, int operand)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_rank, alphasort), failed = 0, found = 0;
    for (int k = 0; k < n; k++) {
        char path[4352];
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        free(entries[k]);
        if (failed || !is_run(path))
            continue;
        failed = add_item(items, path, operand);
        found++;
    }
    free(entries);
    return failed || found ? failed : add_item(items, folder, operand);
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

/* --- all of it --- */

int iot_job_read(struct iot_partial *partial, char *const *paths, int n,
                 const struct iot_partial_how *how, char error[512])
{
    struct iot_job_items items;
    int failed = iot_job_list(&items, paths, n);
    for (size_t k = 0; k < items.n && !failed; k++) {
        iot_progress("reading the traces of ranks", k, items.n);
        failed = is_folder(items.items[k].path)
                     ? iot_partial_add_folder(partial, items.items[k].path, how, error)
                     : iot_partial_add_file(partial, items.items[k].path, error);
    }
    iot_job_items_free(&items);
    if (failed)
        return -1;
    if (!partial->n_units) {
        snprintf(error, 512, "%.300s: holds no unit; give partial results or folders of traces",
                 paths[0]);
        return -1;
    }
    if (iot_partial_order(partial)) {
        snprintf(error, 512, "out of memory for %zu units", partial->n_units);
        return -1;
    }
    return 0;
}
