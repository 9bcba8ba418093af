#include "analyzer/job_inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* The folders of ranks in the folder of a job. A rank that recorded nothing has one without files.
 */
static int add_ranks(struct iot_partial *partial, const char *folder,
                     const struct iot_partial_how *how, char error[512])
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_rank, alphasort), failed = 0, found = 0;
    for (int k = 0; k < n; k++) {
        char path[4352];
        snprintf(path, sizeof path, "%s/%s", folder, entries[k]->d_name);
        free(entries[k]);
        iot_progress("reading the traces of ranks", (size_t)k, (size_t)n);
        if (failed || !is_run(path))
            continue;
        failed = iot_partial_add_folder(partial, path, how, error);
        found++;
    }
    free(entries);
    if (!failed && !found)
        return iot_partial_add_folder(partial, folder, how, error); /* it says what is wrong */
    return failed;
}

int iot_job_read(struct iot_partial *partial, char *const *paths, int n,
                 const struct iot_partial_how *how, char error[512])
{
    int failed = 0;
    for (int k = 0; k < n && !failed; k++)
        if (is_run(paths[k]))
            failed = iot_partial_add_folder(partial, paths[k], how, error);
        else if (is_folder(paths[k]))
            failed = add_ranks(partial, paths[k], how, error);
        else
            failed = iot_partial_add_file(partial, paths[k], error);
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
