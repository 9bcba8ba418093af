/* iotrace top: the ledger of a run that is still going. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/live.h"
#include "analyzer/people.h"
#include "analyzer/report_text.h"
#include "analyzer/report_words.h"
#include "analyzer/reporting.h"
#include "analyzer/text.h"

enum { FILES_SHOWN = 8 };

struct options {
    size_t pid, rounds;
    int64_t interval_ns;
    const char *rules;
};

static const struct iot_option options[] = {
    {"pid", 'p', "PID", "the run of this process", IOT_OPTION_COUNT, offsetof(struct options, pid),
     NULL, NULL},
    {"interval", 'i', "TIME",
     "how often to look, with its unit (2s); less often where a look takes long", IOT_OPTION_TIME,
     offsetof(struct options, interval_ns), NULL, NULL},
    {"rounds", 'n', "N", "look so many times; without it, until the run has ended",
     IOT_OPTION_COUNT, offsetof(struct options, rounds), NULL, NULL},
    {"rules", 0, "FILE", "rules of objects, as of 'iotrace report'", IOT_OPTION_TEXT,
     offsetof(struct options, rules), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_top = {
    .command = "top",
    .summary = "the ledger of a run that is still going",
    .operands = "[DIR]",
    .about = "Shows the ledger of the run whose trace is in DIR, or of the run of a process,\n"
             "again and again while it goes on, and what was new since the look before.\n",
    .options = options,
};

/* What one look keeps for the next. */
struct file_seen {
    char *path;
    uint8_t object;
    int64_t service_ns, bytes, calls;
};

struct look {
    int64_t wall_ns;
    struct file_seen objects[IOT_OBJECTS], *files; /* files by path, then object */
    size_t n_files;
};

static int64_t calls_of(const struct iot_figures *f)
{
    return f->data_ops + f->metadata_ops + f->sync_ops;
}

static struct file_seen seen_of(const struct iot_figures *f, char *path, uint8_t object)
{
    return (struct file_seen){path, object, f->service_ns, f->bytes, calls_of(f)};
}

static int by_path(const void *a, const void *b)
{
    const struct file_seen *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : x->object - y->object;
}

static int by_service(const void *a, const void *b)
{
    const struct file_seen *x = a, *y = b;
    return (x->service_ns < y->service_ns) - (x->service_ns > y->service_ns);
}

static void look_free(struct look *look)
{
    for (size_t i = 0; i < look->n_files; i++)
        free(look->files[i].path);
    free(look->files);
    *look = (struct look){0};
}

static int look_make(struct look *look, const struct iot_report *r)
{
    *look = (struct look){.wall_ns = r->trace->wall_ns};
    look->files = calloc(r->n_files + 1, sizeof *look->files);
    for (int o = 0; o < IOT_OBJECTS; o++)
        look->objects[o] = seen_of(&r->objects[o].figures, NULL, (uint8_t)o);
    for (size_t i = 0; look->files && i < r->n_files; i++) {
        char *path = strdup(r->files[i].path);
        if (!path)
            return -1;
        look->files[look->n_files++] = seen_of(&r->files[i].figures, path, r->files[i].object);
    }
    if (!look->files)
        return -1;
    qsort(look->files, look->n_files, sizeof *look->files, by_path);
    return 0;
}

/* What is new. A file may get another object as more is known of it: then there is less than
 * before. */
static struct file_seen since(const struct file_seen *now, const struct file_seen *before)
{
    struct file_seen new = *now;
    if (before && before->calls <= now->calls) {
        new.service_ns =
            now->service_ns > before->service_ns ? now->service_ns - before->service_ns : 0;
        new.bytes = now->bytes > before->bytes ? now->bytes - before->bytes : 0;
        new.calls -= before->calls;
    }
    return new;
}

static void put_rates(const struct file_seen *new, int64_t wall_ns)
{
    double seconds = (double)wall_ns / 1e9;
    printf("%9s/s %9s/s %9s  ", iot_people_bytes(llround((double)new->bytes / seconds)).text,
           iot_people_count(llround((double)new->calls / seconds)).text,
           iot_people_time(new->service_ns).text);
}

static void put_objects(const struct look *now, const struct look *before, int64_t wall_ns)
{
    for (int o = 0; o < IOT_OBJECTS; o++) {
        struct file_seen new = since(&now->objects[o], &before->objects[o]);
        if (!new.calls)
            continue;
        put_rates(&new, wall_ns);
        printf("%s, all of it\n", iot_object_names[o]);
    }
}

/* Those whose new calls took longest. */
static int put_files(const struct iot_report *r, const struct look *now, const struct look *before,
                     int64_t wall_ns)
{
    struct file_seen *new = calloc(now->n_files + 1, sizeof *new);
    size_t n = 0;
    if (!new)
        return -1;
    for (size_t i = 0; i < now->n_files; i++) {
        const struct file_seen *was = before->n_files
                                          ? bsearch(&now->files[i], before->files, before->n_files,
                                                    sizeof *before->files, by_path)
                                          : NULL;
        new[n] = since(&now->files[i], was);
        n += new[n].calls > 0;
    }
    qsort(new, n, sizeof *new, by_service);
    if (n)
        printf("%35s  %-8s file\n", "", "object");
    for (size_t i = 0; i < n && i < FILES_SHOWN; i++) {
        const char *path = iot_words_from_here(r, new[i].path);
        put_rates(&new[i], wall_ns);
        printf("%-8s ", iot_object_names[new[i].object]);
        iot_write_shortened(stdout, path, strlen(path), IOT_TEXT_COLUMNS - 45);
        putchar('\n');
    }
    free(new);
    return 0;
}

static int put_look(const struct iot_report *r, const struct look *now, const struct look *before,
                    size_t live)
{
    struct iot_text_style style = {.colour = iot_text_wants_colour(stdout), .brief = true};
    int64_t wall_ns = now->wall_ns - before->wall_ns;

    if (isatty(STDOUT_FILENO))
        fputs("\033[H\033[J", stdout);
    printf("%s so far, %s, %zu of them going on\n\n", iot_people_time(now->wall_ns).text,
           iot_people_many((int64_t)r->run.processes, "process").text, live);
    iot_report_write_text(r, stdout, &style);
    if (wall_ns <= 0)
        return 0;
    printf("\n%11s %11s %9s  %s\n", "bytes", "calls", "service",
           before->wall_ns ? "since the last look" : "since the start");
    put_objects(now, before, wall_ns);
    putchar('\n');
    return put_files(r, now, before, wall_ns);
}

/* One look; how many processes are going on, or -1 with an error printed. */
static int look_at(const char *folder, const struct options *o, struct look *before)
{
    struct iot_reporting reporting;
    struct look now = {0};
    char error[512];
    int live = -1;

    const struct iot_reporting_how how = {.rules = o->rules, .top = SIZE_MAX};
    if (iot_reporting_make(&reporting, folder, &how, error)) {
        iot_error("%s", error);
    } else {
        live = (int)iot_live_processes(reporting.trace);
        if (look_make(&now, &reporting.report) ||
            put_look(&reporting.report, &now, before, (size_t)live)) {
            iot_error("top: out of memory");
            live = -1;
        }
    }
    iot_reporting_free(&reporting);
    look_free(before);
    *before = now;
    return live;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    nanosleep(&t, NULL);
}

static int top(const char *folder, const struct options *o)
{
    struct look before = {0};
    int status = IOT_EXIT_OK;

    for (size_t round = 1;; round++) {
        int64_t start_ns = now_ns();
        int live = look_at(folder, o, &before);
        if (live < 0)
            status = IOT_EXIT_USAGE;
        else
            status = iot_finish_stdout();
        if (status || !live || round == o->rounds)
            break;
        /* At most half of one processor, and however large the trace has grown. */
        int64_t took_ns = now_ns() - start_ns;
        rest(took_ns > o->interval_ns ? took_ns : o->interval_ns);
        if (!isatty(STDOUT_FILENO))
            putchar('\n');
    }
    look_free(&before);
    return status;
}

int iot_cmd_top(int argc, char **argv)
{
    struct options o = {.interval_ns = 2000000000};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_top, argc, argv, &o);
    char error[512];
    if (parsed.done)
        return parsed.status;
    if (parsed.n_operands + (o.pid != 0) != 1) {
        iot_error("top: give the folder of a trace, or --pid; see 'iotrace top --help'");
        return IOT_EXIT_USAGE;
    }
    if (!o.pid)
        return top(parsed.operands[0], &o);
    char *folder = iot_live_folder(o.pid, error);
    int status = folder ? top(folder, &o) : IOT_EXIT_USAGE;
    if (!folder)
        iot_error("%s", error);
    free(folder);
    return status;
}
