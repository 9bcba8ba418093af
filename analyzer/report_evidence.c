/* What a report does not prove, in words: sentences without their full stop. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/live.h"
#include "analyzer/people.h"
#include "analyzer/report_parts.h"

/* Storage and calls are compared where at least so much was moved. */
enum { COMPARED_BYTES = 1000 * 1000 };

__attribute__((format(printf, 2, 3))) static int say(struct iot_report *r, const char *format, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n < 0 || r->n_evidence == IOT_EVIDENCE_MAX)
        return -1;
    size_t bytes = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    const char *sentence = iot_arena_text(r->arena, text, bytes);
    r->evidence[r->n_evidence] = sentence;
    r->n_evidence += sentence != NULL;
    return sentence ? 0 : -1;
}

/* Recordings of several processes that do not all name their host. */
static int of_imports(struct iot_report *r)
{
    const struct iot_trace *t = r->trace;
    int several = 0, nameless = 0;
    for (size_t p = 0; p < t->n_processes; p++) {
        several |= strcmp(t->processes[p].imported, t->processes[0].imported) != 0;
        nameless |= *t->processes[p].imported && !*t->processes[p].host;
    }
    return several && nameless
               ? say(r,
                     "That the recordings imported are of one host and have one clock is taken for "
                     "granted: they do not all say so")
               : 0;
}

/* Which objects have that scope, as "input and state"; "" if none has. */
static const char *having(const struct iot_report *r, const char *scope, char text[64])
{
    size_t n = 0, left = 0;
    for (int o = 0; o < IOT_OTHER; o++)
        left += !strcmp(iot_cache_scope(&r->objects[o].figures), scope);
    text[0] = 0;
    for (int o = 0; o < IOT_OTHER; o++) {
        if (strcmp(iot_cache_scope(&r->objects[o].figures), scope))
            continue;
        n += (size_t)snprintf(text + n, 64 - n, "%s%s",
                              !n         ? ""
                              : left > 1 ? ", "
                                         : " and ",
                              iot_object_names[o]);
        left--;
    }
    return text;
}

static int of_cache(struct iot_report *r)
{
    static const struct {
        const char *scope, *then;
    } scopes[] = {
        {"warm", "were in the page cache when they were opened: a cold start takes longer"},
        {"cold", "were not in the page cache when they were opened: a run soon after finds them "
                 "warm and takes less"},
        {"mixed", "were in the page cache in part when they were opened: another run may find "
                  "them cold, or warm"},
    };
    char names[64];
    int said = 0;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (!*having(r, scopes[i].scope, names))
            continue;
        said = 1;
        if (say(r, "The files read as %s %s", names, scopes[i].then))
            return -1;
    }
    return said
               ? 0
               : say(r, "Whether files came from the page cache is not known: another run may find "
                        "them cold, or warm");
}

/* What the kernel counted for the processes beside what their calls moved. */
static int of_storage(struct iot_report *r)
{
    const struct iot_report_run *run = &r->run;
    int64_t calls = run->file_read_bytes;
    int64_t storage = run->storage_read_bytes < INT64_MAX ? (int64_t)run->storage_read_bytes : 0;

    if (calls < COMPARED_BYTES || (!run->storage_read_bytes && !run->storage_write_bytes))
        return 0;
    struct iot_words asked = iot_people_bytes(calls), came = iot_people_bytes(storage);
    if (storage > calls / 2 * 3)
        return say(r,
                   "Storage delivered %s, though calls read only %s from files: the rest went "
                   "to mappings, to read-ahead or to programs",
                   came.text, asked.text);
    return say(r,
               "Of the %s that calls read from files, storage delivered %s: %s of it came from "
               "the page cache",
               asked.text, came.text,
               storage > calls / 10 * 9 ? "hardly any"
               : storage < calls / 10   ? "most"
                                        : "a part");
}

/* What there was no memory for. */
static int of_whole(struct iot_report *r)
{
    const struct iot_whole *w = &r->trace->whole;
    if (!w->events)
        return 0;
    struct iot_words in = iot_people_bytes((int64_t)w->read_bytes),
                     out = iot_people_bytes((int64_t)w->write_bytes),
                     calls = iot_people_time((int64_t)w->call_ns);
    return say(r,
               "Of %llu events in the trace the newest %zu were analysed (report --events): all of "
               "them read %s and wrote %s in %llu calls, and spent %s in these and in %llu others",
               (unsigned long long)w->events, r->trace->events.n, in.text, out.text,
               (unsigned long long)w->data_ops, calls.text,
               (unsigned long long)(w->metadata_ops + w->sync_ops));
}

/* A part of the run is not the run. */
static int of_window(struct iot_report *r)
{
    const struct iot_seen *seen = &r->trace->seen;
    const struct iot_words run = iot_people_time(seen->run_ns);
    if (!seen->spans)
        return 0;
    if (!seen->n)
        return say(
            r,
            "Nothing was recorded of the %s that the run took: the part of it that was asked "
            "for never came",
            run.text);
    struct iot_words part = iot_people_time(r->model->wall_ns),
                     from = iot_people_time(seen->spans[0].begin_ns),
                     to = iot_people_time(seen->spans[seen->n - 1].end_ns);
    char parts[48] = "";
    if (seen->n > 1)
        snprintf(parts, sizeof parts, " in %zu parts", seen->n);
    if (say(r,
            "Of the %s that the run took %s were %s%s, from %s to %s after its start: all figures "
            "are of "
            "these alone",
            run.text, part.text, r->trace->whole.events ? "analysed" : "recorded", parts, from.text,
            to.text))
        return -1;
    if (seen->older_events &&
        say(r, "%llu older events made room for newer ones in the trace (--max-size)",
            (unsigned long long)seen->older_events))
        return -1;
    if (of_whole(r))
        return -1;
    return say(r,
               "What storage delivered, and how long processes waited for a CPU, is not known of "
               "a part of a run");
}

/* Page faults make no call. */
static int of_faults(struct iot_report *r)
{
    int64_t ns = 0, bytes = 0;
    for (int o = 0; o < IOT_OBJECTS; o++) {
        ns += r->objects[o].figures.fault_ns;
        bytes += r->objects[o].figures.mapped_bytes;
    }
    if (!ns && !bytes)
        return 0;
    return say(r,
               "What mapped files cost is estimated: ~%s lost to page faults is when threads "
               "neither ran nor waited for a CPU outside calls, ~%s brought in is what the page "
               "cache held more of them when they were unmapped",
               iot_people_time(ns).text, iot_people_bytes(bytes).text);
}

/* Completions have no time: they lie between a look that did not find them and one that did. */
static int of_requests(struct iot_report *r)
{
    const struct iot_trace *t = r->trace;
    int64_t least = 0, most = 0;
    size_t n = 0;
    for (size_t k = 0; k < t->n_requests; k++) {
        const struct iot_request *q = &t->requests[k];
        if (!q->found || !r->model->service_ns[q->event])
            continue;
        n++;
        least += q->not_before_ns - t->events.t0_ns[q->event];
        most += r->model->service_ns[q->event];
    }
    return n ? say(r,
                   "The service of %s asynchronous requests is an upper bound, to when the program "
                   "found them done: between %s and %s",
                   iot_people_count((int64_t)n).text, iot_people_time(least).text,
                   iot_people_time(most).text)
             : 0;
}

/* The same figure as in the advice. What is waited for within a call counts as its service. */
static int of_contention(struct iot_report *r)
{
    int64_t all = r->run.runqueue_ns < INT64_MAX ? (int64_t)r->run.runqueue_ns : INT64_MAX;
    if (all <= r->model->wall_ns / 100)
        return 0;
    return say(
        r,
        "Processes were ready to run and waited %s for a CPU, the run's main thread %s of it: "
        "within a call this counts as service, so on a machine of its own the run may look "
        "different",
        iot_people_time(all).text, iot_people_time(r->run.carrier_runqueue_ns).text);
}

static int of_life(struct iot_report *r)
{
    size_t live = iot_live_processes(r->trace);
    return live ? say(r,
                      "The run was still going on when its trace was read (%s of it): what came "
                      "later is not in these figures",
                      iot_people_many((int64_t)live, "process").text)
                : 0;
}

static int of_changed(struct iot_report *r)
{
    char more[32] = "";
    if (!r->changed.n)
        return 0;
    if (r->changed.n > 1)
        snprintf(more, sizeof more, " and %zu more", r->changed.n - 1);
    return say(r,
               "Of %s%s another build is there now than was run: call sites in it have neither "
               "functions nor lines",
               r->changed.first, more);
}

int iot_report_evidence(struct iot_report *r)
{
    const struct iot_model *model = r->model;

    if (!(r->evidence = calloc(IOT_EVIDENCE_MAX, sizeof *r->evidence)) || of_life(r) ||
        of_window(r) || of_cache(r) || of_storage(r) || of_requests(r))
        return -1;
    if (say(r, "Replays keep the order and the contention of this run: what is recoverable is an "
               "estimate, and does not add up over objects"))
        return -1;
    if (of_imports(r) || of_faults(r) || of_contention(r) || of_changed(r))
        return -1;
    return model->exposed_error_ns ? say(r, "Which calls are exposed is uncertain by at most %s",
                                         iot_people_time(model->exposed_error_ns).text)
                                   : 0;
}
