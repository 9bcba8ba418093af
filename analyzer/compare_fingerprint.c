/* Were both sides made alike? What differs, and what that forbids. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare.h"

const char *const iot_fingerprint_parts[] = {[IOT_PART_CPU] = "cpu",
                                             [IOT_PART_KERNEL] = "kernel",
                                             [IOT_PART_FILESYSTEMS] = "filesystems",
                                             [IOT_PART_CACHE] = "cache",
                                             NULL};

/* A word for each run; what differs between any two runs differs between the sides. */
struct part {
    const char *name; /* in words */
    void (*word)(const json_t *report, char text[200]);
    enum iot_fingerprint_part part; /* IOT_PARTS: only worth a note */
};

static const json_t *of_run(const json_t *report, const char *key)
{
    return json_object_get(json_object_get(report, "run"), key);
}

static void put_text(char text[200], const json_t *value)
{
    snprintf(text, 200, "%.199s", json_is_string(value) ? json_string_value(value) : "unknown");
}

static void word_cpu(const json_t *report, char text[200])
{
    put_text(text, json_object_get(of_run(report, "fingerprint"), "cpu"));
}

static void word_kernel(const json_t *report, char text[200])
{
    put_text(text, json_object_get(of_run(report, "fingerprint"), "kernel"));
}

static void word_host(const json_t *report, char text[200])
{
    put_text(text, of_run(report, "host"));
}

static void word_clock(const json_t *report, char text[200])
{
    put_text(text, of_run(report, "clock"));
}

/* Not where they are mounted: that is another folder in every job. */
static void word_filesystems(const json_t *report, char text[200])
{
    size_t i, n = 0;
    const json_t *row;
    text[0] = '\0';
    json_array_foreach(json_object_get(of_run(report, "fingerprint"), "filesystems"), i, row)
    {
        const char *mounted = json_string_value(row),
                   *type = mounted ? strrchr(mounted, ' ') : NULL;
        if (type && n + strlen(type) < 199 && !strstr(text, type + 1))
            n += (size_t)snprintf(text + n, 200 - n, "%s%s", n ? "," : "", type + 1);
    }
}

/* Arguments without folders. */
static void word_command(const json_t *report, char text[200])
{
    size_t i, n = 0;
    const json_t *argument;
    text[0] = '\0';
    json_array_foreach(of_run(report, "command"), i, argument)
    {
        const char *whole = json_string_value(argument);
        if (whole && n < 160)
            n += (size_t)snprintf(text + n, 200 - n, "%s%.30s", n ? " " : "", basename(whole));
    }
}

static void word_version(const json_t *report, char text[200])
{
    put_text(text, of_run(report, "version"));
}

/* What they did is not counted. */
static void word_untraced(const json_t *report, char text[200])
{
    snprintf(text, 200, "%zu", json_array_size(of_run(report, "untraced")));
}

static const struct part parts[] = {
    {"processor", word_cpu, IOT_PART_CPU},
    {"kernel", word_kernel, IOT_PART_KERNEL},
    {"file systems", word_filesystems, IOT_PART_FILESYSTEMS},
    {"host", word_host, IOT_PARTS},
    {"clock", word_clock, IOT_PARTS},
    {"command", word_command, IOT_PARTS},
    {"version of iotrace", word_version, IOT_PARTS},
    {"number of processes without a trace", word_untraced, IOT_PARTS},
};

static void note(struct iot_fingerprint *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct iot_fingerprint *f, const char *format, ...)
{
    va_list arguments;
    if (f->n_notes == IOT_NOTES_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(f->notes[f->n_notes++], IOT_NOTE_BYTES, format, arguments);
    va_end(arguments);
}

static void compare_part(struct iot_comparison *c, const struct part *part, unsigned allowed)
{
    char first[200], other[200];
    struct iot_fingerprint *f = &c->fingerprint;

    part->word(c->sides[IOT_BASE].runs[0].report, first);
    for (int s = 0; s < IOT_SIDES; s++)
        for (size_t i = 0; i < c->sides[s].n; i++) {
            part->word(c->sides[s].runs[i].report, other);
            if (!strcmp(first, other))
                continue;
            if (part->part < IOT_PARTS && !(allowed >> part->part & 1) && !*f->times)
                snprintf(f->times, sizeof f->times, "another %s: %.80s, not %.80s (--allow %s)",
                         part->name, other, first, iot_fingerprint_parts[part->part]);
            else
                note(f, "Another %s: %.110s, not %.110s", part->name, other, first);
            return;
        }
}

/* --- the page cache --- */

enum { COLD, MIXED, WARM, UNKNOWN, SCOPES };
static const char *const scopes[SCOPES] = {"cold", "mixed", "warm", "unknown"};

static const json_t *object_row(const json_t *report, int object)
{
    return json_array_get(json_object_get(report, "objects"), (size_t)object);
}

/* What more than half of a side's runs say. */
static int side_scope(const struct iot_compare_side *side, int object)
{
    size_t votes[SCOPES] = {0};
    for (size_t i = 0; i < side->n; i++) {
        const char *scope = json_string_value(
            json_object_get(object_row(side->runs[i].report, object), "cache_scope"));
        for (int k = 0; scope && k < SCOPES; k++)
            votes[k] += !strcmp(scope, scopes[k]);
    }
    for (int k = 0; k < SCOPES; k++)
        if (2 * votes[k] > side->n)
            return k;
    return MIXED;
}

/* Below, it cannot matter whether it came from a disk. */
static bool reads_much(const struct iot_compare_side *side, int object)
{
    enum { MUCH = 1 << 20 };
    for (size_t i = 0; i < side->n; i++)
        if (json_number_value(
                json_object_get(object_row(side->runs[i].report, object), "read_bytes")) >= MUCH)
            return true;
    return false;
}

static void compare_cache(struct iot_comparison *c, unsigned allowed)
{
    struct iot_fingerprint *f = &c->fingerprint;
    for (int o = 0; o < IOT_OTHER; o++) {
        int base = side_scope(&c->sides[IOT_BASE], o),
            other = side_scope(&c->sides[IOT_CANDIDATE], o);
        if (base == other || !reads_much(&c->sides[IOT_BASE], o) ||
            !reads_much(&c->sides[IOT_CANDIDATE], o))
            continue;
        if (base == UNKNOWN || other == UNKNOWN || allowed >> IOT_PART_CACHE & 1)
            note(f, "The page cache of %s: %s, then %s", iot_object_names[o], scopes[base],
                 scopes[other]);
        else
            snprintf(f->objects[o], IOT_NOTE_BYTES,
                     "the page cache was %s for the base's %s, and %s for the candidate's",
                     scopes[base], iot_object_names[o], scopes[other]);
    }
}

/* --- what was lost --- */

static void compare_losses(struct iot_comparison *c)
{
    struct iot_fingerprint *f = &c->fingerprint;
    for (int s = 0; s < IOT_SIDES; s++)
        for (size_t i = 0; i < c->sides[s].n && !*f->counts; i++) {
            const struct iot_compare_run *run = &c->sides[s].runs[i];
            json_int_t lost = json_integer_value(of_run(run->report, "dropped_events")),
                       damaged = json_integer_value(of_run(run->report, "salvaged_processes"));
            if (lost > 0)
                snprintf(f->counts, sizeof f->counts, "%.150s lost %lld events", run->name,
                         (long long)lost);
            else if (damaged > 0)
                snprintf(f->counts, sizeof f->counts,
                         "%.150s is damaged: only part of it could be read", run->name);
        }
    if (*f->counts && !*f->times)
        memcpy(f->times, f->counts, sizeof f->times);
}

void iot_compare_fingerprint(struct iot_comparison *c, unsigned allowed)
{
    c->fingerprint = (struct iot_fingerprint){0};
    compare_losses(c);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        compare_part(c, &parts[k], allowed);
    compare_cache(c, allowed);
}
