/* iotrace import: what a profiler recorded, as a trace. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/import.h"
#include "analyzer/import_together.h"
#include "analyzer/people.h"
#include "analyzer/progress.h"
#include "analyzer/run_folder.h"
#include "analyzer/text.h"
#include "format/file.h"

struct options {
    const char *out;
};

static const struct iot_option options_of_import[] = {
    {"output", 'o', "DIR", "the folder of the trace; if it holds one, a numbered sibling is used",
     IOT_OPTION_TEXT, offsetof(struct options, out), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_import = {
    .command = "import",
    .summary = "a profiler's recording (PyTorch, Chrome trace) as a trace",
    .operands = "FILE... -o DIR",
    .about = "Makes the folder of a trace out of what the PyTorch profiler recorded, or of any\n"
             "other Chrome trace: FILE is JSON, also compressed (.json.gz), one for each\n"
             "rank, or a folder of such files. Every other command reads the trace.\n",
    .notes = "Known of such a recording are the GPU's copies, kernels and waits, the ranges of\n"
             "data loaders, and steps; files are not.\n",
    .options = options_of_import,
};

/* --- which files --- */

struct inputs {
    char **paths;
    size_t n;
};

static int ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && !strcmp(name + n - m, suffix);
}

static int is_profile(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (ends_with(entry->d_name, ".json") || ends_with(entry->d_name, ".json.gz"));
}

static int add_path(struct inputs *in, char *path)
{
    char **more = path ? realloc(in->paths, (in->n + 1) * sizeof *more) : NULL;
    if (!more) {
        free(path);
        return -ENOMEM;
    }
    in->paths = more;
    more[in->n++] = path;
    return 0;
}

static int add_folder(struct inputs *in, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_profile, alphasort), result = n < 0 ? -errno : 0;
    for (int k = 0; k < n; k++) {
        char *path;
        if (!result)
            result = asprintf(&path, "%s/%s", folder, entries[k]->d_name) < 0 ? -ENOMEM
                                                                              : add_path(in, path);
        free(entries[k]);
    }
    if (n >= 0)
        free(entries);
    return result ? result : n ? 0 : -ENODATA;
}

static int list_inputs(struct inputs *in, char **operands)
{
    for (; *operands; operands++) {
        struct stat st;
        int result = stat(*operands, &st)  ? -errno
                     : S_ISDIR(st.st_mode) ? add_folder(in, *operands)
                                           : add_path(in, strdup(*operands));
        if (result == -ENODATA)
            iot_error("import: %s: no *.json and no *.json.gz is in this folder; give the files",
                      *operands);
        else if (result)
            iot_error("import: %s: %s; give files that a profiler wrote", *operands,
                      strerror(-result));
        if (result)
            return -1;
    }
    return 0;
}

/* --- one file --- */

static int read_profile(struct iot_profile *profile, const char *path)
{
    struct iot_json_in *in = malloc(sizeof *in);
    int error = in ? iot_json_in_open(in, path) : -ENOMEM;
    *profile = (struct iot_profile){0};
    if (error) {
        iot_error("import: %s: %s; give files that a profiler wrote", path, strerror(-error));
        free(in);
        return -1;
    }
    iot_progress_start();
    int failed = iot_profile_read(profile, in);
    iot_progress_end();
    if (failed && in->error)
        iot_error("import: %s: byte %" PRIu64 ": %s; export it again, or give another file", path,
                  in->at, in->error);
    else if (failed)
        iot_error("import: %s: out of memory; import it on a machine with more", path);
    iot_json_in_close(in);
    free(in);
    return failed;
}

/* The trace's processes so far. */
struct written {
    int folder;
    uint32_t *pids;
    size_t n;
    struct iot_together together;
};

/* The process number of the recording, if it tells one that is not taken yet. */
static uint32_t pid_of(int64_t told, const struct written *w)
{
    int64_t pid = told > 0 && told < UINT32_MAX ? told : 1;
    for (size_t k = 0; k < w->n; k++)
        if (w->pids[k] == (uint32_t)pid) {
            pid = pid == UINT32_MAX - 1 ? 1 : pid + 1;
            k = SIZE_MAX; /* look again at all */
        }
    return (uint32_t)pid;
}

enum { LINE_BYTES = 512, COLUMNS = 80 };

/* Behind what is there; what there is none of is not said. */
static void add(char line[LINE_BYTES], uint64_t n, const char *noun)
{
    size_t at = strlen(line);
    if (n)
        snprintf(line + at, LINE_BYTES - at, "%s%s", at ? ", " : "",
                 iot_people_many((int64_t)n, noun).text);
}

static void put(char line[LINE_BYTES])
{
    if (*line) {
        fputs("  ", stdout);
        iot_write_wrapped(stdout, line, 2, 2, COLUMNS);
    }
    *line = '\0';
}

static void tell(const char *path, size_t processes, const struct iot_imported *done)
{
    char line[LINE_BYTES] = "";
    iot_write_printable(stdout, path, strlen(path));
    add(line, processes > 1 ? processes : 0, "process");
    add(line, done->threads, "thread");
    add(line, done->streams, "GPU stream");
    add(line, done->steps, "step");
    printf(": %s%s%s\n", iot_people_time(done->span_ns).text, *line ? "; " : "", line);
    *line = '\0';
    if (done->copies)
        snprintf(line, sizeof line, "%s GPU %s of %s", iot_people_count((int64_t)done->copies).text,
                 done->copies == 1 ? "copy" : "copies",
                 iot_people_bytes((int64_t)done->copied_bytes).text);
    add(line, done->kernels, "kernel");
    add(line, done->memsets, "memset");
    add(line, done->calls, "CUDA call");
    put(line);
    add(line, done->loads, "loader range");
    add(line, done->ranges, "other range");
    put(line);
    if (done->hand_offs) {
        add(line, done->hand_offs, "hand-off");
        strcat(line, " between threads, inferred");
        put(line);
    }
    if (done->syncs)
        printf("  of %s it says what they waited for\n",
               iot_people_many((int64_t)done->syncs, "call").text);
    if (done->unplaced) {
        add(line, done->unplaced, "cuda_sync record");
        strcat(line, " without the call: not used");
        put(line);
    }
}

static const char *fault_of(const struct iot_profile *p)
{
    static const int64_t LONGEST_NS = INT64_C(1) << 53;
    if (p->end_ns - p->start_ns >= LONGEST_NS)
        return "it is longer than 104 days";
    if (p->base_ns < 0)
        return "its base time is before 1970";
    int64_t end;
    return __builtin_add_overflow(p->end_ns, p->base_ns, &end) ? "its times are beyond all bounds"
                                                               : NULL;
}

/* A file for each process. The root is the main one of the recording that began first. */
static int write_process(struct iot_profile *p, size_t process, const char *path, struct written *w,
                         struct iot_imported *done)
{
    char name[32];
    uint32_t *more = realloc(w->pids, (w->n + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    w->pids = more;
    more[w->n] = pid_of(p->n_processes ? p->processes[process].pid : 0, w);
    snprintf(name, sizeof name, "rank-%zu" IOT_FILE_SUFFIX, w->n);
    uint32_t pid = more[w->n++];
    return iot_import_write(p, process, w->folder, name, path, pid, process == p->main_process,
                            done);
}

static int import_file(const char *path, struct written *w)
{
    struct iot_profile profile;
    struct iot_imported done = {0};
    int failed = read_profile(&profile, path);
    const char *fault = failed ? NULL : fault_of(&profile);
    char reason[1024];
    if (fault)
        iot_error("import: %s: %s; export it again, or give another file", path, fault);
    failed = failed || fault;
    if (!failed && iot_together_add(&w->together, path, &profile, reason)) {
        iot_error("import: %s", reason);
        failed = 1;
    }
    if (!failed) {
        int error = iot_profile_divide(&profile) ? -ENOMEM : 0;
        size_t n = profile.n_processes ? profile.n_processes : 1;
        for (size_t k = 0; k < n && !error; k++)
            error = write_process(&profile, k, path, w, &done);
        if (error)
            iot_error("import: %s: the trace cannot be written: %s; look at the disk's free space",
                      path, strerror(-error));
        failed = error != 0;
        if (!failed)
            tell(path, n, &done);
    }
    iot_profile_free(&profile);
    return failed;
}

/* What is written of a trace that did not become whole is taken away. */
static void take_away(const char *path, bool made, const struct written *w)
{
    for (size_t k = 0; k <= w->n; k++) {
        char name[32];
        snprintf(name, sizeof name, "rank-%zu" IOT_FILE_SUFFIX, k);
        unlinkat(w->folder, name, 0);
    }
    iot_run_folder_drop(path, made);
}

static void tell_notes(const struct iot_together *together)
{
    char text[1024];
    for (size_t k = 0; iot_together_note(together, k, text); k++)
        printf("note: %s\n", text);
}

static int import(const struct inputs *in, const char *wanted)
{
    char path[4096], error[512];
    bool made;
    struct written w = {.folder = -1};
    if (iot_run_folder_take(path, &made, wanted, error)) {
        iot_error("import: %s", error);
        return IOT_EXIT_USAGE;
    }
    w.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = w.folder < 0;
    if (failed)
        iot_error("import: %s: %s", path, strerror(errno));
    for (size_t k = 0; k < in->n && !failed; k++)
        failed = import_file(in->paths[k], &w);
    if (failed && w.folder >= 0)
        take_away(path, made, &w);
    if (w.folder >= 0)
        close(w.folder);
    free(w.pids);
    if (!failed)
        tell_notes(&w.together);
    iot_together_free(&w.together);
    if (failed)
        return IOT_EXIT_USAGE;
    printf("the trace is in ");
    iot_write_printable(stdout, path, strlen(path));
    putchar('\n');
    return iot_finish_stdout();
}

int iot_cmd_import(int argc, char **argv)
{
    struct options o = {0};
    struct inputs in = {NULL, 0};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_import, argc, argv, &o);
    int status = parsed.done ? parsed.status : IOT_EXIT_USAGE;
    if (!parsed.done && !parsed.n_operands)
        iot_error("import: which files? see 'iotrace import --help'");
    else if (!parsed.done && !o.out)
        iot_error("import: into which folder? give -o DIR");
    else if (!parsed.done && !list_inputs(&in, parsed.operands))
        status = import(&in, o.out);
    for (size_t k = 0; k < in.n; k++)
        free(in.paths[k]);
    free(in.paths);
    return status;
}
