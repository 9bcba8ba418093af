/* What can be found in a run, and what to do about it: one row of the table at the end each. */
#include "analyzer/advice_finds.h"

#include <string.h>

#include "analyzer/events.h"

enum {
    MERGED_BYTES = 64 * 1024, /* small calls become calls of about this size */
    SMALL_MIN = 100,          /* fewer small calls are no habit */
    SYNCS_MIN = 10,           /* likewise */
    SYNCS_MERGED = 10,        /* one sync instead of so many */
    NAMES_MIN = 100,
    OPENS_MIN = 10, /* of one file */
};

bool iot_scene_has(const struct iot_scene *s, size_t i)
{
    uint32_t row = s->row_of[i];
    return row != IOT_NO_INDEX && s->report->files[row].object == s->object &&
           s->report->model->part[i] == IOT_PART_IO;
}

static unsigned class_of(const struct iot_scene *s, size_t i)
{
    return iot_op_info(s->report->trace->events.op[i])->class_;
}

void iot_scene_change(struct iot_scene *s, struct iot_tally *t, size_t i, int64_t service_ns)
{
    const struct iot_report *r = s->report;
    t->calls += r->trace->events.op[i] != IOT_OP_GPU_MEMCPY_REST;
    t->bytes +=
        class_of(s, i) == IOT_DATA && r->trace->events.bytes[i] > 0 ? r->trace->events.bytes[i] : 0;
    t->service_ns += r->model->service_ns[i];
    t->exposed_ns += r->model->exposed_ns[i];
    s->service_ns[i] = service_ns > 0 ? service_ns : 0;
}

/* --- the dependency --- */

static void find_by_lane(struct iot_scene *s, struct iot_tally *t, int waited)
{
    for (size_t i = 0; i < s->report->trace->events.n; i++)
        if (iot_scene_has(s, i) && s->report->model->waited[i] == waited)
            iot_scene_change(s, t, i, 0);
}

static void find_blocking(struct iot_scene *s, struct iot_tally *t)
{
    find_by_lane(s, t, 0);
}

static void find_waited(struct iot_scene *s, struct iot_tally *t)
{
    find_by_lane(s, t, 1);
}

/* --- small calls --- */

/* Calls that a buffer could gather: messages in pipes and sockets are small for a reason. */
static int is_small(const struct iot_scene *s, size_t i)
{
    const struct iot_trace *t = s->report->trace;
    const struct iot_file *file = &t->files[t->events.file[i]];
    return iot_scene_has(s, i) && class_of(s, i) == IOT_DATA && t->events.bytes[i] > 0 &&
           t->events.bytes[i] < IOT_SMALL_BYTES &&
           (file->kind == IOT_FILE_REGULAR || file->standard & (2 | 4));
}

/* What such a call costs whatever it moves: their median, since below a page the bytes tell little.
 */
static int64_t small_cost(const struct iot_scene *s, uint64_t *n)
{
    static uint64_t counts[IOT_LATENCY_BUCKETS];
    memset(counts, 0, sizeof counts);
    *n = 0;
    for (size_t i = 0; i < s->report->trace->events.n; i++)
        if (is_small(s, i)) {
            counts[iot_latency_bucket(s->report->model->service_ns[i])]++;
            ++*n;
        }
    return *n ? iot_latency_of_counts(counts, *n, INT64_MAX).p50_ns : 0;
}

/* Whether a call that names its place in the file goes on where the last one ended. */
static int follows(const struct iot_events *e, size_t i)
{
    int64_t offset = iot_event_offset(e, i);
    return offset < 0 || (i && e->file[i - 1] == e->file[i] &&
                          iot_event_offset(e, i - 1) + e->bytes[i - 1] == offset);
}

/* The first call of each piece keeps its time, the others lose their fixed cost. A seek and a sync
 * end a piece, and so does a call elsewhere in the file. */
static void find_small(struct iot_scene *s, struct iot_tally *t)
{
    const struct iot_events *e = &s->report->trace->events;
    uint64_t n;
    int64_t cost = small_cost(s, &n);
    if (n < SMALL_MIN)
        return;
    for (size_t l = 0; l < s->report->trace->n_lanes; l++) {
        const struct iot_lane *lane = &s->report->trace->lanes[l];
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            uint32_t file = e->file[i];
            if (!is_small(s, i)) {
                if (e->op[i] == IOT_OP_LSEEK || e->op[i] == IOT_OP_FSEEK ||
                    class_of(s, i) == IOT_SYNC)
                    s->by_file[file] = 0;
                continue;
            }
            /* by_file: 1 + the lane of a piece that has begun, bytes_by_file: what is in it */
            int goes_on = s->by_file[file] == l + 1 &&
                          s->bytes_by_file[file] + e->bytes[i] <= MERGED_BYTES && follows(e, i);
            s->bytes_by_file[file] = (goes_on ? s->bytes_by_file[file] : 0) + e->bytes[i];
            s->by_file[file] = (uint32_t)l + 1;
            iot_scene_change(s, t, i, s->service_ns[i] - (goes_on ? cost : 0));
        }
    }
}

/* --- syncs, names, opens --- */

static void find_syncs(struct iot_scene *s, struct iot_tally *t)
{
    size_t n = 0;
    for (size_t i = 0; i < s->report->trace->events.n; i++)
        n += iot_scene_has(s, i) && class_of(s, i) == IOT_SYNC;
    if (n < SYNCS_MIN)
        return;
    n = 0;
    for (size_t i = 0; i < s->report->trace->events.n; i++)
        if (iot_scene_has(s, i) && class_of(s, i) == IOT_SYNC)
            iot_scene_change(s, t, i, ++n % SYNCS_MERGED ? 0 : s->service_ns[i]);
}

/* What fewer files would save: not what is done with a file's pages, room or locks. */
static int is_names(const struct iot_scene *s, size_t i)
{
    switch (s->report->trace->events.op[i]) {
    case IOT_OP_FADVISE:
    case IOT_OP_READAHEAD:
    case IOT_OP_MADVISE:
    case IOT_OP_MLOCK:
    case IOT_OP_MMAP:
    case IOT_OP_MREMAP:
    case IOT_OP_MUNMAP:
    case IOT_OP_FALLOCATE:
    case IOT_OP_TRUNCATE:
    case IOT_OP_FTRUNCATE:
    case IOT_OP_FCNTL:
    case IOT_OP_FLOCK:
    case IOT_OP_LOCKF:
    case IOT_OP_LSEEK:
    case IOT_OP_FSEEK:
        return 0;
    default:
        return iot_scene_has(s, i) && class_of(s, i) == IOT_META;
    }
}

static void find_names(struct iot_scene *s, struct iot_tally *t)
{
    size_t n = 0;
    for (size_t i = 0; i < s->report->trace->events.n; i++)
        n += (size_t)is_names(s, i);
    for (size_t i = 0; i < s->report->trace->events.n && n >= NAMES_MIN; i++)
        if (is_names(s, i))
            iot_scene_change(s, t, i, 0);
}

static int is_open(unsigned op)
{
    return op == IOT_OP_OPEN || op == IOT_OP_OPENAT || op == IOT_OP_FOPEN;
}

static int comes_with_open(unsigned op)
{
    return is_open(op) || op == IOT_OP_CLOSE || op == IOT_OP_FCLOSE || op == IOT_OP_FSTAT;
}

/* All that comes with opening and closing but for the first open. */
static void find_reopened(struct iot_scene *s, struct iot_tally *t)
{
    const struct iot_events *e = &s->report->trace->events;
    for (size_t i = 0; i < e->n; i++)
        if (iot_scene_has(s, i) && is_open(e->op[i]))
            s->by_file[e->file[i]]++;
    uint64_t opens = 0;
    for (size_t i = 0; i < e->n; i++) {
        uint32_t file = e->file[i];
        if (!iot_scene_has(s, i) || !comes_with_open(e->op[i]) || s->by_file[file] < OPENS_MIN)
            continue;
        int64_t seen = s->bytes_by_file[file]++;
        t->files += !seen;
        opens += (uint64_t)is_open(e->op[i]);
        iot_scene_change(s, t, i, seen ? 0 : s->service_ns[i]);
    }
    t->calls = opens;
}

const struct iot_finding iot_findings[] = {
    {find_blocking,
     "the run waits for its own {calls} on {object}: {exposed} of their {service}",
     {
         [IOT_INPUT] = "read ahead in another thread or process, read less, or from a faster path",
         [IOT_ARTIFACT] = "make it smaller, load it from a faster path, or beside other work",
         [IOT_STATE] = "move less of it, over a faster path, or beside other work",
         [IOT_OUTPUT] =
             "write less, to a faster path, or hand it to a thread that nothing waits for",
         [IOT_OTHER] =
             "start fewer programs, load fewer modules, look at fewer files, on a local path",
     }},
    {find_waited,
     "{object} is moved beside other work, but too slowly: the run waits {exposed} for {calls}",
     {
         [IOT_INPUT] = "widen the window: more workers, or a deeper prefetch",
         [IOT_ARTIFACT] =
             "start loading earlier, with more readers, or load less before work begins",
         [IOT_STATE] = "hand on more at a time and earlier, or make the slower side faster",
         [IOT_OUTPUT] = "let more be under way before the run waits for it, or speed up the writer",
         [IOT_OTHER] = "start the workers once and keep them",
     }},
    {iot_find_tail,
     "the slowest {calls} on {object}, beyond P95 of their size, take {service}",
     {
         [IOT_INPUT] =
             "cut the tail to the median: a steadier path, or the same request sent twice",
         [IOT_ARTIFACT] =
             "cut the tail to the median: a steadier path, or smaller pieces at a time",
         [IOT_STATE] = "cut the tail to the median: a steadier path, or more of them under way",
         [IOT_OUTPUT] = "cut the tail to the median: a steadier path, or steady flushing in small "
                        "pieces",
     }},
    {find_small,
     "{calls} on {object} move less than 4 KiB each ({bytes} in all): a fixed cost each time",
     {
         [IOT_INPUT] = "read fewer, larger pieces: a larger buffer, or many samples in one file",
         [IOT_ARTIFACT] = "read it in fewer, larger pieces, or map it",
         [IOT_STATE] = "move it in fewer, larger pieces",
         [IOT_OUTPUT] = "gather what is written in a buffer, and write it in fewer, larger pieces",
         [IOT_OTHER] = "read files whole",
     }},
    {find_syncs,
     "{syncs} of {object} take {service}, {exposed} of it exposed",
     {
         [IOT_STATE] = "sync every tenth time, or not at all: what is state is not kept",
         [IOT_OUTPUT] = "sync every tenth time, or in a thread that nothing waits for",
     }},
    {find_names,
     "{calls} open, close, look up or rename {object} and move no bytes: {service}",
     {
         [IOT_INPUT] = "pack many samples in one file, and list folders once",
         [IOT_ARTIFACT] = "pack it in one file",
         [IOT_STATE] = "keep files open",
         [IOT_OUTPUT] = "write to fewer files",
         [IOT_OTHER] = "search fewer folders, import less, or start fewer programs",
     }},
    {find_reopened,
     "{opens} of {files} of {object}",
     {
         [IOT_INPUT] = "keep them open",
         [IOT_ARTIFACT] = "keep them open, or what they hold in memory",
         [IOT_STATE] = "keep them open",
         [IOT_OUTPUT] = "keep them open",
         [IOT_OTHER] = "read them once and keep what they say",
     }},
};

const size_t iot_n_findings = sizeof iot_findings / sizeof *iot_findings;
