/* iotrace whatif: the run with some of its I/O taking another time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/find_file.h"
#include "analyzer/json_out.h"
#include "analyzer/out_file.h"
#include "analyzer/path_glob.h"
#include "analyzer/people.h"
#include "analyzer/report_text.h"
#include "analyzer/reporting.h"
#include "analyzer/text.h"
#include "analyzer/whatif.h"

#define IOT_WHATIF_SCHEMA "iotrace-whatif/1"

struct options {
    const char *out, *rules;
    size_t format;
    unsigned objects; /* bit o: object o */
    struct iot_texts globs;
    double scale; /* below 0: not given */
    bool overlap;
    struct iot_whatif_change change;
};

#define AT(member) offsetof(struct options, member)

static const struct iot_option options_of_whatif[] = {
    {"object", 0, "NAME", "input, artifact, state, output or other", IOT_OPTION_WORDS, AT(objects),
     (const char *const[]){"input", "artifact", "state", "output", "other", NULL},
     "Which I/O (all of it, if none is named):"},
    {"file", 0, "GLOB",
     "files; '*' also matches slashes, and a GLOB without a slash is matched with the last part of "
     "a path",
     IOT_OPTION_TEXTS, AT(globs), NULL, NULL},
    {"scale", 0, "X", "every service time times X; 0, the default, takes it away", IOT_OPTION_REAL,
     AT(scale), NULL, "The change, one of:"},
    {"bandwidth", 0, "GBPS",
     "data calls take their fixed latency + bytes / bandwidth (GB/s), but none is slower than it "
     "was",
     IOT_OPTION_POSITIVE, AT(change.bandwidth_gbps), NULL, NULL},
    {"latency", 0, "TIME",
     "(500ns, 80us, 2ms, 1s) in place of the fixed latency of data calls; may go with --bandwidth. "
     "Without it the fixed latency is fitted over the calls",
     IOT_OPTION_TIME, AT(change.latency_ns), NULL, NULL},
    {"overlap", 0, NULL,
     "as if asynchronous: beside what else its lane does up to the next meeting with another lane, "
     "where it must be done. The best that this can bring",
     IOT_OPTION_FLAG, AT(overlap), NULL, NULL},
    {"format", 0, "text|json", "for people (the default), or the schema iotrace-whatif/1",
     IOT_OPTION_WORD, AT(format), iot_text_or_json, "The answer:"},
    {"output", 'o', "FILE", "write there; FILE is there whole or not at all", IOT_OPTION_TEXT,
     AT(out), NULL, NULL},
    {"rules", 0, "FILE", "as for 'iotrace report'", IOT_OPTION_TEXT, AT(rules), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_whatif = {
    .command = "whatif",
    .summary = "the run with some of its I/O taking another time",
    .operands = "DIR",
    .about = "Replays a run with some of its I/O taking another time, and says how long it\n"
             "takes then, and what its critical path is made of. Order and contention stay as\n"
             "they were.\n",
    .options = options_of_whatif,
};

/* --- what is selected --- */

static int matches(const struct options *options, const struct iot_report_file *file)
{
    if (!options->objects && !options->globs.n)
        return 1;
    if (options->objects >> file->object & 1)
        return 1;
    for (size_t k = 0; k < options->globs.n; k++)
        if (iot_path_matches(file->path, options->globs.texts[k]))
            return 1;
    return 0;
}

static uint8_t *select_calls(const struct options *options, const struct iot_report *r)
{
    size_t n = r->trace->events.n;
    uint8_t *rows = malloc(r->n_files + 1), *selected = malloc(n + 1);
    for (size_t k = 0; rows && k < r->n_files; k++)
        rows[k] = (uint8_t)matches(options, &r->files[k]);
    for (size_t i = 0; rows && selected && i < n; i++)
        selected[i] = r->of_event[i] != IOT_NO_INDEX && rows[r->of_event[i]];
    if (!rows) {
        free(selected);
        selected = NULL;
    }
    free(rows);
    return selected;
}

/* --- what is printed --- */

struct part {
    const char *name, *key;
    int64_t before, then;
};

enum { PARTS_MAX = IOT_OBJECTS + 6 };

/* The critical path's parts, I/O object by object. */
static size_t list_parts(const struct iot_whatif *w, struct part parts[PARTS_MAX])
{
    const struct iot_path_parts *a = &w->path, *b = &w->new_path;
    size_t n = 0;
    parts[n++] = (struct part){"computing", "compute_ns", a->compute_ns, b->compute_ns};
    for (int o = 0; o < IOT_OBJECTS; o++)
        parts[n++] = (struct part){iot_object_names[o], NULL, w->io_ns[o], w->new_io_ns[o]};
    parts[n++] = (struct part){"GPU work", "gpu_ns", a->gpu_ns, b->gpu_ns};
    parts[n++] = (struct part){"sleep", "sleep_ns", a->sleep_ns, b->sleep_ns};
    parts[n++] = (struct part){"waking up", "wake_ns", a->wake_ns, b->wake_ns};
    parts[n++] = (struct part){"waiting for others", "external_ns", a->external_ns, b->external_ns};
    parts[n++] = (struct part){"unexplained waiting", "unexplained_ns", a->unexplained_ns,
                               b->unexplained_ns};
    return n;
}

static void write_text(FILE *out, const struct iot_whatif *w)
{
    struct part parts[PARTS_MAX];
    size_t n = list_parts(w, parts);
    int64_t gained = w->wall_ns - w->new_wall_ns;

    fprintf(out, "The run would take %s instead of %s", iot_people_time(w->new_wall_ns).text,
            iot_people_time(w->wall_ns).text);
    if (gained)
        fprintf(out, ": %s %s (%s).\n", iot_people_time(gained < 0 ? -gained : gained).text,
                gained < 0 ? "more" : "less",
                iot_people_share(gained < 0 ? -gained : gained, w->wall_ns).text);
    else
        fputs(": no difference.\n", out);
    fputs(iot_people_many(w->calls, "call").text, out);
    if (w->bytes)
        fprintf(out, " that move %s", iot_people_bytes(w->bytes).text);
    fprintf(out, " would take %s instead of %s.\n", iot_people_time(w->new_service_ns).text,
            iot_people_time(w->service_ns).text);
    if (w->fixed_ns != IOT_NOT_COMPUTED)
        fprintf(out, "The fixed latency of such a call, as fitted, is %s.\n",
                iot_people_time(w->fixed_ns).text);
    fprintf(out, "\n%-22s %9s %9s\n", "critical path", "recorded", "then");
    for (size_t k = 0; k < n; k++)
        if (parts[k].before || parts[k].then)
            fprintf(out, "%-22s %9s %9s\n", parts[k].name, iot_people_time(parts[k].before).text,
                    iot_people_time(parts[k].then).text);
    fputc('\n', out);
    iot_write_wrapped(out,
                      "The recorded path is the one that the run took. There may be more I/O on it "
                      "than the report calls exposed: where it is gone, other work takes the place "
                      "of some of it.",
                      0, 0, IOT_TEXT_COLUMNS);
}

static void write_path(struct iot_json *json, const char *key, const struct part *parts, size_t n,
                       int then)
{
    iot_json_put_object(json, key);
    for (size_t k = 0; k < n; k++)
        if (parts[k].key)
            iot_json_put_int(json, parts[k].key, then ? parts[k].then : parts[k].before);
    iot_json_put_object(json, "io_ns");
    for (size_t k = 0; k < n; k++)
        if (!parts[k].key)
            iot_json_put_int(json, parts[k].name, then ? parts[k].then : parts[k].before);
    iot_json_end_object(json);
    iot_json_end_object(json);
}

static void write_json(FILE *out, const struct iot_whatif *w)
{
    struct iot_json json;
    struct part parts[PARTS_MAX];
    size_t n = list_parts(w, parts);

    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", IOT_WHATIF_SCHEMA);
    iot_json_put_int(&json, "wall_ns", w->wall_ns);
    iot_json_put_int(&json, "new_wall_ns", w->new_wall_ns);
    iot_json_put_int(&json, "gained_ns", w->wall_ns - w->new_wall_ns);
    iot_json_put_int(&json, "calls", w->calls);
    iot_json_put_int(&json, "bytes", w->bytes);
    iot_json_put_int(&json, "service_ns", w->service_ns);
    iot_json_put_int(&json, "new_service_ns", w->new_service_ns);
    iot_json_key(&json, "fixed_latency_ns");
    if (w->fixed_ns == IOT_NOT_COMPUTED)
        iot_json_null(&json);
    else
        iot_json_int(&json, w->fixed_ns);
    write_path(&json, "path", parts, n, 0);
    write_path(&json, "new_path", parts, n, 1);
    iot_json_end_object(&json);
    iot_json_finish(&json);
}

/* --- from the folder to the page --- */

static int is_of_any(const struct iot_report *r, const char *glob)
{
    for (size_t k = 0; k < r->n_files; k++)
        if (iot_path_matches(r->files[k].path, glob))
            return 1;
    return 0;
}

/* A pattern that no file is like, mistyped most likely, would silently make the gain too small. */
static int all_found(const char *folder, const struct options *options,
                     const struct iot_report *r)
{
    char names[2048];
    for (size_t k = 0; k < options->globs.n; k++) {
        const char *glob = options->globs.texts[k];
        if (is_of_any(r, glob))
            continue;
        size_t near = iot_files_near(r->trace, glob, names, sizeof names);
        iot_error("whatif: %s: no file is like '%s'; %s%s", folder, glob,
                  near ? "near it are " : "'iotrace report' lists them", near ? names : "");
        return 0;
    }
    return 1;
}

static int answer(const char *folder, const struct options *options, const struct iot_report *r)
{
    if (!all_found(folder, options, r))
        return IOT_EXIT_USAGE;
    uint8_t *selected = select_calls(options, r);
    struct iot_whatif w;
    int error = selected ? iot_whatif_run(&w, r, selected, &options->change) : -ENOMEM;
    free(selected);
    switch (error) {
    case 0:
        break;
    case -EDOM:
        iot_error("whatif: %s: the sizes of these calls do not differ, so their fixed latency is "
                  "not known; give both --latency and --bandwidth",
                  folder);
        return IOT_EXIT_USAGE;
    case -ERANGE:
        iot_error("whatif: these services add up to more than 104 days; use a smaller --scale or "
                  "--latency");
        return IOT_EXIT_USAGE;
    default:
        iot_error("whatif: %s: out of memory", folder);
        return IOT_EXIT_USAGE;
    }
    if (!w.calls) {
        iot_error("whatif: %s: no I/O of this run is selected; 'iotrace report' lists its files",
                  folder);
        return IOT_EXIT_USAGE;
    }
    struct iot_out_file out;
    int status = iot_out_file_open(&out, options->out);
    if (status)
        return status;
    if (options->format == IOT_FORMAT_JSON)
        write_json(out.stream, &w);
    else
        write_text(out.stream, &w);
    return iot_out_file_close(&out);
}

static int whatif(const char *folder, const struct options *options)
{
    struct iot_reporting reporting;
    char error[512];
    int status = IOT_EXIT_USAGE;

    const struct iot_reporting_how how = {.rules = options->rules, .top = SIZE_MAX};
    if (iot_reporting_make(&reporting, folder, &how, error))
        iot_error("%s", error);
    else
        status = answer(folder, options, &reporting.report);
    iot_reporting_free(&reporting);
    return status;
}

/* --- options --- */

static int check_change(struct options *options)
{
    int scaled = options->scale >= 0;
    int transfer = options->change.bandwidth_gbps > 0 || options->change.latency_ns >= 0;
    if (scaled + transfer + options->overlap > 1) {
        iot_error("whatif: one change at a time: --scale, --bandwidth with --latency, or "
                  "--overlap");
        return -1;
    }
    options->change.scale = scaled ? options->scale : 0;
    options->change.kind = transfer           ? IOT_WHATIF_TRANSFER
                           : options->overlap ? IOT_WHATIF_OVERLAP
                                              : IOT_WHATIF_SCALE;
    return 0;
}

int iot_cmd_whatif(int argc, char **argv)
{
    struct options options = {.scale = -1, .change = {.latency_ns = -1}};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_whatif, argc, argv, &options);
    int status = parsed.done ? parsed.status : IOT_EXIT_USAGE;

    if (!parsed.done && parsed.n_operands != 1)
        iot_error("whatif: needs one folder of a trace, got %d; see 'iotrace whatif --help'",
                  parsed.n_operands);
    else if (!parsed.done && !check_change(&options))
        status = whatif(parsed.operands[0], &options);
    free(options.globs.texts);
    return status;
}
