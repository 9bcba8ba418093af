#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/explain.h"
#include "analyzer/people.h"
#include "analyzer/text.h"

enum { COLUMNS = 80, WORDS_AT = 10, LANES_SHOWN = 8, BAR_COLUMNS = 30, NAMES_SHOWN = 4 };

/* A heading, and words behind it on as many lines as they need. */
static void say(FILE *out, const char *heading, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(FILE *out, const char *heading, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    fprintf(out, "%-*s", WORDS_AT, heading);
    if (n >= 0) {
        iot_write_wrapped(out, text, WORDS_AT, WORDS_AT, COLUMNS);
        free(text);
    } else {
        fputs("(out of memory)\n", out);
    }
}

/* --- why --- */

static void put_class(const struct iot_explained *x, FILE *out)
{
    static const char *const verbs[IOT_DIRECTIONS] = {
        [IOT_READING] = "What is read of it", [IOT_WRITING] = "What is written to it"};
    const struct iot_file_class *c = &x->explainer->classes->files[x->file];
    if (c->object[IOT_READING] == c->object[IOT_WRITING] &&
        !strcmp(c->why[IOT_READING], c->why[IOT_WRITING])) {
        say(out, "object", "%s, decided by %s: %s.", iot_object_names[c->object[c->main]],
            iot_by_words(c->by[c->main]), c->why[c->main]);
        return;
    }
    for (int d = 0; d < IOT_DIRECTIONS; d++)
        say(out, d ? "" : "object", "%s is %s, decided by %s: %s.", verbs[d],
            iot_object_names[c->object[d]], iot_by_words(c->by[d]), c->why[d]);
}

static struct iot_words share_of_run(const struct iot_explained *x, int64_t t)
{
    int64_t wall = x->explainer->trace->wall_ns;
    return iot_people_share(t < wall ? t : wall, wall);
}

/* What decides where no rule does. */
static void put_use(const struct iot_explained *x, FILE *out)
{
    const struct iot_explainer *all = x->explainer;
    const struct iot_use *use = &all->uses.files[x->file];
    uint32_t group = all->groups.of_file[x->file];
    const struct iot_group *g = &all->groups.groups[group];
    uint32_t steps = all->step_use.read_steps && group ? all->step_use.read_steps[group] : 0;
    const char *heading = "use";

    if (use->reads) {
        say(out, heading, "%s read in %s, the first at %s and the last at %s of the run.",
            iot_people_bytes(use->read_bytes).text, iot_people_many(use->reads, "call").text,
            share_of_run(x, use->first_read_ns).text, share_of_run(x, use->last_read_ns).text);
        heading = "";
    }
    if (steps) {
        say(out, heading, "%s in %" PRIu32 " of %zu steps.",
            g->n_read + g->mapped > 1 ? "Such files read or mapped" : "Read or mapped", steps,
            all->step_use.steps->n);
        heading = "";
    }
    if (use->maps) {
        say(out, heading,
            "Mapped %s. Estimates: ~%s of it brought in meanwhile, ~%s lost to page "
            "faults.",
            iot_people_many(use->maps, "time").text, iot_people_bytes(x->mapped_bytes).text,
            iot_people_time(x->fault_ns).text);
        heading = "";
    }
    if (use->writes) {
        say(out, heading,
            "%s written in %s, the first at %s of the run%s; %s of it "
            "read back.",
            iot_people_bytes(use->written_bytes).text, iot_people_many(use->writes, "call").text,
            share_of_run(x, use->first_write_ns).text,
            use->flags & IOT_USE_SYNCED ? ", and synced" : ", not synced",
            use->read_back_bytes ? iot_people_bytes(use->read_back_bytes).text : "none");
        heading = "";
    }
    if (group && (g->n_read > 1 || g->n_written > 1))
        say(out, heading,
            "Judged together with the files beside it whose names differ in numbers "
            "alone: of them, %" PRIu32 " read, %" PRIu32 " written, %" PRIu32 " read back.",
            g->n_read, g->n_written, g->n_back);
}

static void put_renames(const struct iot_explained *x, FILE *out)
{
    for (size_t k = 0; k < x->n_renames && k < NAMES_SHOWN; k++)
        say(out, k ? "" : "renamed", "%s %s",
            x->explainer->uses.files[x->file].renamed_to == x->renames[k] ? "to" : "from",
            x->explainer->trace->files[x->renames[k]].name);
    if (x->n_renames > NAMES_SHOWN)
        say(out, "", "and %s",
            iot_people_many((int64_t)(x->n_renames - NAMES_SHOWN), "more name").text);
}

/* --- cost and opens --- */

static void put_cost(const struct iot_explained *x, FILE *out)
{
    say(out, "cost", "%s service, of which %s exposed: %s blocking, %s waited for by another lane.",
        iot_people_time(x->service_ns).text, iot_people_time(x->exposed_ns).text,
        iot_people_time(x->exposed_ns - x->waited_ns).text, iot_people_time(x->waited_ns).text);
}

static void put_cache(const struct iot_explained *x, FILE *out)
{
    const struct iot_file *file = &x->explainer->trace->files[x->file];
    if (file->opened_bytes > 0)
        say(out, "cache", "%s: %s of it in the page cache when it was opened to be read.",
            iot_explain_cache_scope(x),
            iot_people_share(file->resident_bytes, file->opened_bytes).text);
}

static void put_opens(const struct iot_explained *x, FILE *out)
{
    char failed[64] = "", again[96] = "";
    int64_t reopened = x->opens - x->failed_opens - (int64_t)x->opening_processes;
    if (x->failed_opens)
        snprintf(failed, sizeof failed, "; %" PRId64 " of them failed", x->failed_opens);
    if (reopened > 0)
        snprintf(again, sizeof again, ", %" PRId64 " of them by one that had opened it before",
                 reopened);
    if (x->opens)
        say(out, "opened", "%s by %s%s%s.", iot_people_many(x->opens, "time").text,
            iot_people_many(x->opening_processes, "process").text, again, failed);
    say(out, "calls", "%" PRId64 " data, %" PRId64 " metadata, %" PRId64 " sync.",
        x->ways[0].calls + x->ways[1].calls, x->metadata_ops, x->sync_ops);
}

static void put_ranges(const struct iot_explained *x, FILE *out)
{
    say(out, "ranges", "%s; what bytes they moved is not known.",
        iot_people_many(x->ways[IOT_READING].calls, "time").text);
}

/* --- sizes and order --- */

static void put_order(const struct iot_explained_way *way, const char *name, FILE *out)
{
    int64_t moved = way->calls - way->empty, placed = moved - way->orders[IOT_ORDER_FIRST];
    say(out, name, "%s, %s; %" PRId64 " small (below 4096 bytes), %" PRId64 " moved nothing.",
        iot_people_many(way->calls, "call").text, iot_people_bytes(way->bytes).text, way->small,
        way->empty);
    if (placed > 0)
        say(out, "",
            "%s sequential, %s strided, %s random, of the %" PRId64 " with a call before them.",
            iot_people_share(way->orders[IOT_ORDER_SEQUENTIAL], placed).text,
            iot_people_share(way->orders[IOT_ORDER_STRIDED], placed).text,
            iot_people_share(way->orders[IOT_ORDER_RANDOM], placed).text, placed);
}

static void put_size_name(FILE *out, int k)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    fprintf(out, "  from %4d %-3s", 1 << k % 10, units[k / 10]);
}

static void put_sizes(const struct iot_explained *x, FILE *out)
{
    const struct iot_explained_way *r = &x->ways[IOT_READING], *w = &x->ways[IOT_WRITING];
    int64_t most = 0;
    for (int k = 0; k < IOT_EXPLAIN_SIZES; k++)
        most = r->sizes[k] + w->sizes[k] > most ? r->sizes[k] + w->sizes[k] : most;
    if (!most)
        return;
    fprintf(out, "\n%-15s %9s %9s\n", "calls by size", "reads", "writes");
    for (int k = 0; k < IOT_EXPLAIN_SIZES; k++) {
        int64_t calls = r->sizes[k] + w->sizes[k];
        if (!calls)
            continue;
        put_size_name(out, k);
        fprintf(out, " %9s %9s  ", iot_people_count(r->sizes[k]).text,
                iot_people_count(w->sizes[k]).text);
        for (int64_t bar = 1 + (calls - 1) * BAR_COLUMNS / most; bar > 0; bar--)
            fputc('#', out);
        fputc('\n', out);
    }
}

/* --- when, and by whom --- */

static void put_times(const struct iot_explained *x, FILE *out)
{
    int64_t most = 0;
    int first = 0,
        last = IOT_EXPLAIN_PARTS - 1; /* with any service: what is outside says nothing */
    for (int k = 0; k < IOT_EXPLAIN_PARTS; k++)
        most = x->exposed_in[k] > most ? x->exposed_in[k] : most;
    while (last >= 0 && !x->service_in[last])
        last--;
    while (first < last && !x->service_in[first])
        first++;
    if (!x->service_ns)
        return;
    fprintf(out, "\n%-15s %9s %9s\n", "when in the run", "service", "exposed");
    for (int k = first; k <= last; k++) {
        fprintf(out, "%5d to %3d %% %10s %9s", 10 * k, 10 * k + 10,
                iot_people_time(x->service_in[k]).text, iot_people_time(x->exposed_in[k]).text);
        if (x->exposed_in[k])
            fputs("  ", out);
        for (int64_t bar = x->exposed_in[k] ? 1 + (int64_t)((__int128)x->exposed_in[k] *
                                                            (BAR_COLUMNS - 1) / most)
                                            : 0;
             bar > 0; bar--)
            fputc('#', out);
        fputc('\n', out);
    }
    if (x->outlived_service_ns)
        fprintf(out, "%-14s %10s %9s\n", "after its end",
                iot_people_time(x->outlived_service_ns).text,
                iot_people_time(x->outlived_exposed_ns).text);
}

static void put_lane(const struct iot_explained *x, const struct iot_explained_lane *l, FILE *out)
{
    const struct iot_trace *t = x->explainer->trace;
    const struct iot_lane *lane = &t->lanes[l->lane];
    const struct iot_process *p = &t->processes[lane->process];
    const char *exe = basename(p->exe);
    fprintf(out, "%9s %9s %9s %9s %7" PRIu32 " %7" PRIu32 "  ", iot_people_time(l->exposed_ns).text,
            iot_people_time(l->service_ns).text, iot_people_count(l->calls).text,
            iot_people_bytes(l->bytes).text, p->pid, lane->tid);
    iot_write_shortened(out, exe, strlen(exe), 13);
    static const char *const kinds[IOT_LANE_KINDS] = {
        [IOT_LANE_THREAD] = ", thread\n",         [IOT_LANE_AIO] = ", POSIX aio request\n",
        [IOT_LANE_LIBAIO] = ", libaio request\n", [IOT_LANE_RING] = ", io_uring request\n",
        [IOT_LANE_CUFILE] = ", cuFile request\n", [IOT_LANE_STREAM] = ", GPU stream\n",
    };
    fputs(lane->number ? kinds[lane->kind] : ", main\n", out);
}

static void put_lanes(const struct iot_explained *x, FILE *out)
{
    if (!x->n_lanes)
        return;
    fprintf(out, "\n%9s %9s %9s %9s %7s %7s  %s\n", "exposed", "service", "calls", "bytes", "pid",
            "tid", "by");
    for (size_t k = 0; k < x->n_lanes && k < LANES_SHOWN; k++)
        put_lane(x, &x->lanes[k], out);
    if (x->n_lanes > LANES_SHOWN) {
        struct iot_explained_lane rest = {0};
        for (size_t k = LANES_SHOWN; k < x->n_lanes; k++) {
            rest.exposed_ns += x->lanes[k].exposed_ns;
            rest.service_ns += x->lanes[k].service_ns;
            rest.calls += x->lanes[k].calls;
            rest.bytes += x->lanes[k].bytes;
        }
        fprintf(out, "%9s %9s %9s %9s  in %s\n", iot_people_time(rest.exposed_ns).text,
                iot_people_time(rest.service_ns).text, iot_people_count(rest.calls).text,
                iot_people_bytes(rest.bytes).text,
                iot_people_many((int64_t)(x->n_lanes - LANES_SHOWN), "more lane").text);
    }
}

/* Where the frames of a call site stand, behind its figures. */
enum { FRAMES_AT = 41 };

static void put_sites(const struct iot_explained *x, FILE *out)
{
    if (x->n_sites)
        fprintf(out, "\n%9s %9s %9s %9s  from\n", "exposed", "service", "calls", "bytes");
    for (size_t k = 0; k < x->n_sites; k++) {
        const struct iot_call_site *s = &x->sites[k];
        fprintf(out, "%9s %9s %9s %9s  ", iot_people_time(s->exposed_ns).text,
                iot_people_time(s->service_ns).text, iot_people_count((int64_t)s->calls).text,
                iot_people_bytes(s->bytes).text);
        for (uint32_t f = 0; f < s->n_frames; f++) {
            /* On two lines rather than cut: what matters may stand in the middle. */
            size_t column = f ? FRAMES_AT + 3 : FRAMES_AT;
            if (f)
                fprintf(out, "%*s", (int)column, "by ");
            iot_write_wrapped(out, s->frames[f].words, column, FRAMES_AT + 5, COLUMNS);
        }
    }
}

/* --- several of one name --- */

static void put_sum(FILE *out, int64_t exposed, int64_t service, int64_t calls, int64_t bytes)
{
    fprintf(out, "%9s %9s %9s %9s  ", iot_people_time(exposed).text, iot_people_time(service).text,
            iot_people_count(calls).text, iot_people_bytes(bytes).text);
}

void iot_explain_write_sum(const struct iot_explained *explained, size_t n, FILE *out)
{
    enum { WHY_AT = 41 };
    int64_t exposed = 0, service = 0, calls = 0, bytes = 0;
    const char *name = explained->explainer->trace->files[explained->file].name;
    iot_write_shortened(out, name, strlen(name), COLUMNS - 40);
    fprintf(out, ", %zu rows of the ledger: together, then each by itself\n\n", n);
    fprintf(out, "%9s %9s %9s %9s  object, and why\n", "exposed", "service", "calls", "bytes");
    for (size_t k = 0; k < n; k++) {
        const struct iot_explained *x = &explained[k];
        const struct iot_file_class *c = &x->explainer->classes->files[x->file];
        int64_t its_calls = x->ways[0].calls + x->ways[1].calls + x->metadata_ops + x->sync_ops;
        int64_t its_bytes = x->ways[0].bytes + x->ways[1].bytes;
        char why[512];
        snprintf(why, sizeof why, "%s: %s", iot_object_names[c->object[c->main]], c->why[c->main]);
        put_sum(out, x->exposed_ns, x->service_ns, its_calls, its_bytes);
        iot_write_wrapped(out, why, WHY_AT, WHY_AT, COLUMNS);
        exposed += x->exposed_ns;
        service += x->service_ns;
        calls += its_calls;
        bytes += its_bytes;
    }
    put_sum(out, exposed, service, calls, bytes);
    fputs("together\n", out);
}

void iot_explain_write_text(const struct iot_explained *x, FILE *out)
{
    static const char *const kinds[] = {
        [IOT_FILE_UNKNOWN] = "never open",
        [IOT_FILE_REGULAR] = "regular file",
        [IOT_FILE_DIRECTORY] = "folder",
        [IOT_FILE_PIPE] = "pipe",
        [IOT_FILE_SOCKET] = "socket",
        [IOT_FILE_CHARACTER] = "character device",
        [IOT_FILE_BLOCK] = "block device",
        [IOT_FILE_ANON] = "without a file",
        [IOT_FILE_LOADER] = "a loader",
        [IOT_FILE_GPU_EARLY] = "copies to a GPU",
        [IOT_FILE_GPU_IN] = "copies to a GPU",
        [IOT_FILE_GPU_OUT] = "copies from a GPU",
        [IOT_FILE_GPU_STATE] = "transfers of GPUs",
    };
    const struct iot_file *file = &x->explainer->trace->files[x->file];

    iot_write_shortened(out, file->name, strlen(file->name), COLUMNS);
    fputc('\n', out);
    if (file->kind == IOT_FILE_REGULAR && file->size >= 0)
        say(out, "kind", "%s, %s when it was opened", kinds[file->kind],
            iot_people_bytes(file->size).text);
    else
        say(out, "kind", "%s", kinds[file->kind]);
    put_class(x, out);
    put_use(x, out);
    put_renames(x, out);
    if (file->kind == IOT_FILE_LOADER) {
        put_ranges(x, out);
    } else {
        put_opens(x, out);
        put_cache(x, out);
        for (int d = 0; d < IOT_DIRECTIONS; d++)
            if (x->ways[d].calls || x->ways[d].bytes)
                put_order(&x->ways[d], d == IOT_READING ? "reads" : "writes", out);
    }
    put_cost(x, out);
    put_sizes(x, out);
    put_times(x, out);
    put_lanes(x, out);
    put_sites(x, out);
}
