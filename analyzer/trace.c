#include "analyzer/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/events.h"
#include "analyzer/loader_workers.h"
#include "analyzer/progress.h"
#include "analyzer/mapped.h"
#include "analyzer/newest.h"
#include "analyzer/trace_reading.h"

enum { ERROR_BYTES = 512 };

static int is_trace_file(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), suffix = strlen(IOT_FILE_SUFFIX);
    return n > suffix && !strcmp(entry->d_name + n - suffix, IOT_FILE_SUFFIX);
}

static int is_rank_folder(const struct dirent *entry)
{
    return entry->d_type != DT_REG &&
           !strncmp(entry->d_name, IOT_RANK_FOLDER, sizeof IOT_RANK_FOLDER - 1);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct fact_reader {
    struct iot_process *process;
    struct iot_arena *arena;
    int failed;
};

static const char *const *split_command(struct iot_arena *arena, const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += !text[i];
    n += bytes && text[bytes - 1]; /* the last one was cut */
    const char **command = iot_arena_take(arena, (n + 1) * sizeof *command);
    if (!command)
        return NULL;
    for (size_t k = 0; k < n; k++, text += strlen(text) + 1)
        command[k] = text;
    command[n] = NULL;
    return command;
}

static void on_fact(void *user, uint32_t tag, const char *value, size_t bytes)
{
    struct fact_reader *reader = user;
    struct iot_process *p = reader->process;
    const char **const texts[] = {
        [IOT_FACT_EXE] = &p->exe,       [IOT_FACT_CWD] = &p->cwd, [IOT_FACT_HOST] = &p->host,
        [IOT_FACT_KERNEL] = &p->kernel, [IOT_FACT_CPU] = &p->cpu, [IOT_FACT_MOUNTS] = &p->mounts,
        [IOT_FACT_SOURCE] = &p->imported,
    };
    char *text = iot_arena_text(reader->arena, value, bytes);
    if (!text) {
        reader->failed = 1;
    } else if (tag == IOT_FACT_IDENTITY) {
        iot_identity_read(&p->identity, text);
    } else if (tag == IOT_FACT_COMMAND) {
        const char *const *command = split_command(reader->arena, text, bytes);
        if (command)
            p->command = command;
        else
            reader->failed = 1;
    } else if (tag < sizeof texts / sizeof *texts && texts[tag]) {
        *texts[tag] = text;
    }
}

/* What header and facts say of the process. */
static int describe(struct iot_reading *r, struct iot_image *image, const char *name,
                    unsigned worker)
{
    static const char *const nothing[] = {NULL};
    const struct iot_file_header *h = &image->file.header;
    struct iot_process *p = &image->process;
    *p = (struct iot_process){
        .pid = h->pid,
        .ppid = h->ppid,
        .end = (uint8_t)h->end,
        .tsc = h->clock == IOT_CLOCK_TSC,
        .start_mono_ns = h->start.mono_ns,
        .start_realtime_ns = h->start_realtime_ns,
        .parent_lane_number = h->parent_lane,
        .dropped_events = h->dropped_events,
        .older_events = h->older_events,
        .usage_start = h->usage_start,
        .usage_end = h->usage_end,
        .called_start = h->called_start,
        .called_end = h->called_end,
        .own_read_bytes = h->own_read_bytes,
        .exe = "",
        .cwd = "",
        .host = "",
        .kernel = "",
        .cpu = "",
        .mounts = "",
        .imported = "",
        .command = nothing,
        .identity = IOT_NO_IDENTITY,
        .source = iot_arena_text(r->arenas[worker], name, strlen(name)),
    };
    memcpy(p->boot_id, h->boot_id, sizeof p->boot_id);
    struct fact_reader reader = {p, r->arenas[worker], !p->source};
    iot_container_facts(&image->file, r->readers[worker], on_fact, &reader);
    return reader.failed ? -1 : 0;
}

/* All anchors of the file: its start, its blocks, and its end if that can be. */
static int start_clock(struct iot_image *image)
{
    struct iot_container *c = &image->file;
    const struct iot_file_header *h = &c->header;
    size_t n = 0;

    image->anchors = malloc((c->n_pieces + 2) * sizeof *image->anchors);
    if (!image->anchors)
        return -1;
    image->anchors[n++] = h->start;
    for (size_t i = 0; i < c->n_pieces; i++)
        if (c->pieces[i].anchor.ticks > h->start.ticks)
            image->anchors[n++] = c->pieces[i].anchor;
    if (h->last.ticks > h->start.ticks)
        image->anchors[n++] = h->last;
    else if (h->last.ticks && h->last.ticks != h->start.ticks)
        iot_container_damage(c, offsetof(struct iot_file_header, last),
                             "an anchor from before the start");
    if (iot_clock_init(&image->clock, h->clock, image->anchors, n))
        iot_container_damage(c, offsetof(struct iot_file_header, last),
                             "anchors of the clock contradict each other");
    return 0;
}

static void free_image(struct iot_image *image)
{
    iot_container_free(&image->file);
    free(image->anchors);
}

/* A finding in the words of trace->damage; the first one stays. */
static int note_damage(struct iot_trace *trace, const char *name, const char *damage)
{
    if (*trace->damage)
        return 0;
    char text[ERROR_BYTES];
    int n = snprintf(text, sizeof text, "%s: %s", name, damage);
    const char *kept = iot_arena_text(trace->arena, text, strnlen(text, (size_t)(n > 0 ? n : 0)));
    if (kept)
        trace->damage = kept;
    return kept ? 0 : -1;
}

int iot_reading_room_of(struct iot_reading *r, unsigned worker)
{
    if (!r->readers[worker])
        r->readers[worker] = iot_reader_new();
    if (!r->arenas[worker])
        r->arenas[worker] = iot_arena_new();
    return r->readers[worker] && r->arenas[worker] ? 0 : -1;
}

struct opening {
    struct iot_reading *r;
    struct dirent **entries;
};

static int open_image(void *user, size_t i, unsigned worker)
{
    struct opening *o = user;
    const char *name = o->entries[i]->d_name;
    struct iot_image *image = &o->r->images[i];
    if (!worker)
        iot_progress("looking through the trace files", i, o->r->n_images);
    if (iot_container_open(&image->file, o->r->folder, name)) {
        image->unusable = 1;
        return 0;
    }
    if (iot_reading_room_of(o->r, worker) ||
        iot_container_scan(&image->file, o->r->readers[worker]) ||
        describe(o->r, image, name, worker) || start_clock(image))
        return -1;
    iot_container_close(&image->file);
    return 0;
}

/* Returns -1 with `error` set if there is no going on. */
static int open_images(struct iot_reading *r, struct dirent **entries, int n, char *error)
{
    struct iot_trace *trace = r->trace;
    r->images = calloc((size_t)n, sizeof *r->images);
    if (!r->images)
        return -1;
    r->n_images = (size_t)n;
    for (int i = 0; i < n; i++)
        r->images[i].file.fd = -1;
    if (iot_workers_run((size_t)n, open_image, &(struct opening){r, entries}))
        return -1;
    int failed = 0;
    r->n_images = 0;
    for (int i = 0; i < n; i++) { /* to the end, for all that is kept has to be given back */
        struct iot_image *image = &r->images[i];
        if (!image->unusable) {
            r->images[r->n_images++] = *image;
        } else if (image->file.newer) {
            if (!failed)
                snprintf(error, ERROR_BYTES, "%s/%s: %s; a newer iotrace reads it", trace->folder,
                         entries[i]->d_name, image->file.damage);
            failed = -1;
        } else {
            trace->salvaged_processes++;
            failed |= note_damage(trace, entries[i]->d_name, image->file.damage);
        }
    }
    if (failed || r->n_images)
        return failed;
    snprintf(error, ERROR_BYTES, "%s/%s; give the folder of another run, or trace this one again",
             trace->folder, trace->damage);
    return -1;
}

static int by_start(const void *a, const void *b)
{
    const struct iot_process *x = &((const struct iot_image *)a)->process;
    const struct iot_process *y = &((const struct iot_image *)b)->process;
    if (x->root != y->root)
        return x->root ? -1 : 1;
    if (x->start_mono_ns != y->start_mono_ns)
        return x->start_mono_ns < y->start_mono_ns ? -1 : 1;
    return strcmp(x->source, y->source);
}

/* The root to the front, and the clock of the run. */
static void order_images(struct iot_reading *r)
{
    struct iot_image *root = NULL;
    struct iot_rate longest = {0, 0};

    for (size_t i = 0; i < r->n_images; i++) {
        struct iot_image *image = &r->images[i];
        int better = !root || (image->file.header.root == 1) > (root->file.header.root == 1);
        int equal = root && (image->file.header.root == 1) == (root->file.header.root == 1);
        if (better || (equal && image->process.start_mono_ns < root->process.start_mono_ns))
            root = image;
        struct iot_rate rate = iot_clock_rate(&image->clock);
        if (rate.ns > longest.ns)
            longest = rate;
    }
    root->process.root = 1;
    if (root->file.header.root != 1)
        iot_container_damage(&root->file, offsetof(struct iot_file_header, root),
                             "the file of the run's first process is missing");
    r->start_mono = root->process.start_mono_ns;
    for (size_t i = 0; i < r->n_images; i++) {
        struct iot_image *image = &r->images[i];
        image->clock.beyond = longest;
        if (image->process.tsc && !longest.ticks)
            iot_container_damage(&image->file, offsetof(struct iot_file_header, start),
                                 "how fast the clock ran is not known; a tick is taken for 1 ns");
    }
    qsort(r->images, r->n_images, sizeof *r->images, by_start);
}

static int has_events(const struct iot_trace *trace, uint32_t process)
{
    for (size_t l = 0; l < trace->n_lanes; l++)
        if (trace->lanes[l].process == process && trace->lanes[l].n_events)
            return 1;
    return 0;
}

static int is_copy(const struct iot_image *a, const struct iot_image *b)
{
    const struct iot_file_header *x = &a->file.header, *y = &b->file.header;
    return x->pid == y->pid && x->start.ticks == y->start.ticks &&
           x->start.mono_ns == y->start.mono_ns;
}

/* A process has one file. A second one is a copy, and would count everything twice. */
static int drop_copies(struct iot_reading *r)
{
    size_t kept = 1;
    for (size_t i = 1; i < r->n_images; i++) {
        struct iot_image *image = &r->images[i];
        size_t k = kept - 1;
        while (k > 0 && !is_copy(&r->images[k], image) &&
               r->images[k].process.start_mono_ns == image->process.start_mono_ns)
            k--;
        if (!is_copy(&r->images[k], image) && !is_copy(&r->images[0], image)) {
            r->images[kept++] = *image;
            continue;
        }
        r->trace->salvaged_processes++;
        iot_container_damage(&image->file, offsetof(struct iot_file_header, pid),
                             "a second file of a process");
        if (note_damage(r->trace, image->process.source, image->file.damage))
            return -1;
        free_image(image);
    }
    r->n_images = kept;
    return 0;
}

static int read_all(struct iot_reading *r, struct dirent **entries, int n, size_t most, char *error)
{
    struct iot_trace *trace = r->trace;
    size_t rows = 0;

    if (open_images(r, entries, n, error))
        return -1;
    order_images(r);
    if (drop_copies(r) || iot_newest_choose(r, most ? most : iot_newest_that_fit()))
        return -1;
    for (size_t i = 0; i < r->n_images; i++)
        for (size_t k = 0; k < r->images[i].file.n_pieces; k++)
            rows += r->images[i].file.pieces[k].events;
    r->names = calloc(r->n_images, sizeof *r->names);
    if (!r->names || iot_events_init(&trace->events, rows) ||
        iot_files_init(&r->files, trace->arena) || iot_reading_rows(r) ||
        iot_newest_read_older(r) || iot_reading_requests(r))
        return -1;
    iot_reading_bound_bytes(r);
    if (!has_events(trace, 0))
        iot_container_damage(&r->images[0].file, IOT_HEADER_BYTES,
                             "nothing was recorded of the run's first process");
    for (size_t i = 0; i < r->n_images; i++)
        if (r->images[i].file.damages) {
            trace->processes[i].salvaged = 1;
            trace->salvaged_processes++;
            if (note_damage(trace, trace->processes[i].source, r->images[i].file.damage))
                return -1;
        }
    if (iot_names_bind(r->names, r->n_images, &r->files) || iot_reading_resolve(r) ||
        iot_reading_finish(r))
        return -1;
    trace->files = r->files.files;
    trace->n_files = r->files.n;
    r->files.files = NULL;
    return iot_mapped_resolve(trace) || iot_loader_workers_find(trace) ? -1 : 0;
}

static void free_reading(struct iot_reading *r)
{
    for (size_t i = 0; i < r->n_images; i++) {
        free_image(&r->images[i]);
        if (r->names)
            iot_names_free(&r->names[i]);
    }
    free(r->images);
    free(r->names);
    free(r->lane_image);
    iot_files_free(&r->files);
    for (unsigned k = 0; k < IOT_WORKERS_MAX; k++) {
        iot_reader_free(r->readers[k]);
        if (k && r->arenas[k])
            iot_arena_adopt(r->arenas[0], r->arenas[k]);
    }
}

static int holds_trace(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int found = 0;
    while (dir && !found && (entry = readdir(dir)))
        found = is_trace_file(entry);
    if (dir)
        closedir(dir);
    return found;
}

/* Who is where `iotrace run` was started means the folder that it made there: the newest. Writes
 * nothing where no folder in this one has a trace. */
static void name_trace_in(const char *folder, char text[ERROR_BYTES])
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat st;
    time_t newest = 0;
    char path[4096];
    *text = 0;
    while (dir && (entry = readdir(dir))) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || n >= (int)sizeof path || stat(path, &st) ||
            !S_ISDIR(st.st_mode) || (*text && st.st_mtime <= newest) || !holds_trace(path))
            continue;
        newest = st.st_mtime;
        snprintf(text, ERROR_BYTES, ", as %.200s", path);
    }
    if (dir)
        closedir(dir);
}

/* A job has its traces one folder below. */
static void say_no_trace(const char *folder, char error[512])
{
    struct dirent **ranks = NULL;
    char one[ERROR_BYTES];
    int n = scandir(folder, &ranks, is_rank_folder, by_name);
    if (n <= 0)
        name_trace_in(folder, one);
    if (n > 0)
        snprintf(error, ERROR_BYTES,
                 "%.160s: no trace in this folder, but a job's: give the folder of one rank, as "
                 "%.160s/%.100s",
                 folder, folder, ranks[0]->d_name);
    else
        snprintf(error, ERROR_BYTES,
                 "%.160s: no trace in this folder (no *" IOT_FILE_SUFFIX
                 " file); give the folder that a traced run made%s",
                 folder, one);
    for (int k = 0; k < n; k++)
        free(ranks[k]);
    free(ranks);
}

struct iot_trace *iot_trace_read(const char *folder, char error[512])
{
    return iot_trace_read_newest(folder, 0, error);
}

struct iot_trace *iot_trace_read_newest(const char *folder, size_t most, char error[512])
{
    struct iot_reading r = {.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    struct dirent **entries = NULL;
    int n = r.folder < 0 ? -1 : scandir(folder, &entries, is_trace_file, by_name);
    int failed = 1;

    if (n < 0) {
        snprintf(error, ERROR_BYTES,
                 "%s: cannot be read: %s; give the folder that a traced run made", folder,
                 strerror(errno));
    } else if (!n) {
        say_no_trace(folder, error);
    } else {
        snprintf(error, ERROR_BYTES, "%s: out of memory; read it on a machine with more", folder);
        r.trace = calloc(1, sizeof *r.trace);
        if (r.trace && (r.trace->arena = r.arenas[0] = iot_arena_new())) {
            r.trace->damage = "";
            r.trace->folder = iot_arena_text(r.trace->arena, folder, strlen(folder));
            failed = !r.trace->folder || read_all(&r, entries, n, most, error);
        }
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    if (r.folder >= 0)
        close(r.folder);
    free_reading(&r);
    if (!failed)
        return r.trace;
    iot_trace_free(r.trace);
    return NULL;
}

void iot_trace_free(struct iot_trace *trace)
{
    if (!trace)
        return;
    free(trace->processes);
    free(trace->lanes);
    free(trace->files);
    iot_seen_free(&trace->seen);
    iot_stacks_free(&trace->stacks);
    free(trace->requests);
    iot_events_free(&trace->events);
    iot_arena_free(trace->arena);
    free(trace);
}
