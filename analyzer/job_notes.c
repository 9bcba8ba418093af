/* What of a job is missing, there twice, damaged or uncertain. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/job.h"
#include "analyzer/partial_json.h"
#include "analyzer/people.h"

enum { SENTENCE_BYTES = 1200, NAMED_MAX = 8 };

/* Ranks of one job start within this; otherwise clocks differ, or they did not run together. */
#define TOGETHER_NS INT64_C(60000000000)
/* On one boot CLOCK_REALTIME goes along with CLOCK_MONOTONIC, but for what it is slewed. */
#define SLEWED_NS INT64_C(1000000000)

int iot_job_say(struct iot_job *job, struct iot_job_lines *to, const char *format, ...)
{
    char text[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char **more = realloc(to->lines, (to->n + 1) * sizeof *more);
    if (!more || n < 0)
        return -1;
    to->lines = more;
    to->lines[to->n] = iot_arena_text(job->arena, text, strnlen(text, sizeof text));
    return to->lines[to->n++] ? 0 : -1;
}

/* A list of at most NAMED_MAX things. */
struct list {
    char text[640];
    size_t n, used;
};

static void add(struct list *list, const char *text)
{
    size_t left = sizeof list->text - list->used;
    if (list->n == NAMED_MAX)
        text = "...";
    if (list->n++ > NAMED_MAX || left < 80)
        return;
    int n = snprintf(list->text + list->used, left, "%s%.60s", list->used ? ", " : "", text);
    list->used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
}

static void add_range(struct list *list, int64_t from, int64_t to)
{
    char text[60];
    if (from == to)
        snprintf(text, sizeof text, "%" PRId64, from);
    else
        snprintf(text, sizeof text, "%" PRId64 " to %" PRId64, from, to);
    add(list, text);
}

/* --- ranks --- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Units [from, to) are of one job; in `ranks` there is room for theirs. */
static int note_ranks(struct iot_job *job, size_t from, size_t to, int64_t *ranks)
{
    const struct iot_unit *units = job->partial->units;
    int64_t world = -1, least = INT64_MAX;
    size_t n = 0;
    char name[IOT_LABEL_BYTES] = "the job";
    if (*units[from].identity.job)
        snprintf(name, sizeof name, "job %.140s", units[from].identity.job);
    for (size_t k = from; k < to; k++) {
        const struct iot_unit *u = &units[k];
        if (u->identity.world_size > world)
            world = u->identity.world_size;
        if (u->identity.world_size >= 0 && u->identity.world_size < least)
            least = u->identity.world_size;
        if (u->identity.rank >= 0)
            ranks[n++] = u->identity.rank;
        for (size_t r = 0; r < u->n_ranks; r++)
            ranks[n++] = u->ranks[r];
    }
    if (n)
        qsort(ranks, n, sizeof *ranks, by_number);
    if (world >= 0 && least != world &&
        iot_job_say(job, &job->notes,
                    "Units of %s do not agree on its ranks: from %" PRId64 " to %" PRId64 ".", name,
                    least, world))
        return -1;
    if (world < 0 || !n)
        return 0;
    struct list missing = {0};
    int64_t next = 0, absent = 0;
    for (size_t k = 0; k < n && ranks[k] < world; k++) {
        if (ranks[k] > next) {
            add_range(&missing, next, ranks[k] - 1);
            absent += ranks[k] - next;
        }
        next = ranks[k] + 1;
    }
    if (next < world) {
        add_range(&missing, next, world - 1);
        absent += world - next;
    }
    if (absent && iot_job_say(job, &job->notes,
                              "Of the %" PRId64 " ranks of %s, %" PRId64 " %s missing here: %s. No "
                              "figure has them in it.",
                              world, name, absent, absent == 1 ? "is" : "are", missing.text))
        return -1;
    return ranks[n - 1] >= world
               ? iot_job_say(job, &job->notes,
                             "A unit of %s says it is rank %" PRId64 " of %" PRId64 ".", name,
                             ranks[n - 1], world)
               : 0;
}

/* Units are ordered by job and rank. */
static int note_twins(struct iot_job *job)
{
    const struct iot_unit *units = job->partial->units;
    char label[IOT_LABEL_BYTES];
    struct list same = {0}, rivals = {0};
    for (size_t k = 1; k < job->partial->n_units; k++) {
        const struct iot_unit *x = &units[k - 1], *y = &units[k];
        if (iot_units_are_one(x, y))
            add(&same, iot_unit_label(y, label));
        else if (x->identity.rank >= 0 && x->identity.rank == y->identity.rank &&
                 !strcmp(x->identity.job, y->identity.job))
            add(&rivals, iot_unit_label(y, label));
    }
    if (same.n &&
        iot_job_say(job, &job->notes,
                    "The same run is in here more than once, and counts as often: %s. Give each "
                    "result once.",
                    same.text))
        return -1;
    return rivals.n
               ? iot_job_say(job, &job->notes,
                             "Different runs say that they are the same rank of the same job: %s. "
                             "All of them count.",
                             rivals.text)
               : 0;
}

static int note_jobs(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    size_t jobs = 0, nameless = 0, n_ranks = 0;
    for (size_t k = 0; k < p->n_units; k++) {
        n_ranks += p->units[k].n_ranks + 1;
        nameless += p->units[k].identity.rank < 0 && !p->units[k].n_ranks;
    }
    int64_t *ranks = malloc((n_ranks + 1) * sizeof *ranks);
    int failed = !ranks;
    for (size_t from = 0, to; from < p->n_units && !failed; from = to) {
        for (to = from + 1;
             to < p->n_units && !strcmp(p->units[from].identity.job, p->units[to].identity.job);)
            to++;
        jobs++;
        failed = note_ranks(job, from, to, ranks);
    }
    free(ranks);
    if (!failed && jobs > 1)
        failed = iot_job_say(job, &job->notes,
                             "The units are of %zu jobs: their figures are summed up all the same.",
                             jobs);
    if (!failed && nameless && p->n_units > 1)
        failed = iot_job_say(
            job, &job->notes,
            "%zu of %zu units do not say which rank they are: whether one is missing is "
            "not known.",
            nameless, p->n_units);
    return failed ? -1 : note_twins(job);
}

/* --- damage --- */

static int note_damage(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    struct list damaged = {0}, dropped = {0}, untraced = {0}, parts = {0};
    const char *first = "";
    char label[IOT_LABEL_BYTES];
    for (size_t k = 0; k < p->n_units; k++) {
        const struct iot_unit *u = &p->units[k];
        iot_unit_label(u, label);
        if (u->numbers[IOT_UNIT_salvaged_processes] || *u->damage) {
            add(&damaged, label);
            first = *first ? first : u->damage;
        }
        if (u->numbers[IOT_UNIT_dropped_events])
            add(&dropped, label);
        if (u->numbers[IOT_UNIT_untraced])
            add(&untraced, label);
        if (u->numbers[IOT_UNIT_part_of_ns])
            add(&parts, label);
    }
    if (parts.n &&
        iot_job_say(job, &job->notes,
                    "Of %zu of %zu units only a part of the run is in these figures: %s.", parts.n,
                    p->n_units, parts.text))
        return -1;
    if (damaged.n &&
        iot_job_say(job, &job->notes,
                    "The traces of %zu of %zu units are damaged, and only part of them was "
                    "read: %s (%.300s).",
                    damaged.n, p->n_units, damaged.text, first))
        return -1;
    if (dropped.n &&
        iot_job_say(job, &job->notes, "%zu of %zu units have calls that could not be recorded: %s.",
                    dropped.n, p->n_units, dropped.text))
        return -1;
    return untraced.n ? iot_job_say(job, &job->notes,
                                    "%zu of %zu units have processes that were not traced: %s.",
                                    untraced.n, p->n_units, untraced.text)
                      : 0;
}

/* --- clocks --- */

static int by_boot(const void *a, const void *b)
{
    const struct iot_unit *x = *(const struct iot_unit *const *)a;
    const struct iot_unit *y = *(const struct iot_unit *const *)b;
    int boots = strcmp(x->boot_id, y->boot_id);
    return boots ? boots : strcmp(x->host, y->host);
}

/* Of CLOCK_REALTIME over CLOCK_MONOTONIC. Neither is below 0. */
static int64_t offset_of(const struct iot_unit *u)
{
    return u->numbers[IOT_UNIT_start_realtime_ns] - u->numbers[IOT_UNIT_start_mono_ns];
}

static int note_set_clocks(struct iot_job *job, const struct iot_unit **units, size_t n)
{
    struct list set = {0};
    for (size_t from = 0, to; from < n; from = to) {
        int64_t least = offset_of(units[from]), most = least;
        for (to = from + 1; to < n && !by_boot(&units[from], &units[to]); to++) {
            int64_t offset = offset_of(units[to]);
            least = offset < least ? offset : least;
            most = offset > most ? offset : most;
        }
        job->n_boots++;
        if ((__int128)most - least > SLEWED_NS)
            add(&set, units[from]->host);
    }
    return set.n ? iot_job_say(job, &job->notes, "The clock was set while the job ran on: %s.",
                               set.text)
                 : 0;
}

static int note_clocks(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    const struct iot_unit **units = malloc((p->n_units + 1) * sizeof *units);
    int64_t first = INT64_MAX, last = 0;
    size_t first_unit = 0, last_unit = 0;
    if (!units)
        return -1;
    for (size_t k = 0; k < p->n_units; k++) {
        int64_t start = p->units[k].numbers[IOT_UNIT_start_realtime_ns];
        units[k] = &p->units[k];
        if (start < first) {
            first = start;
            first_unit = k;
        }
        if (start > last) {
            last = start;
            last_unit = k;
        }
    }
    qsort(units, p->n_units, sizeof *units, by_boot);
    int failed = note_set_clocks(job, units, p->n_units);
    free(units);
    job->start_spread_ns = last - first;
    if (failed || job->start_spread_ns <= TOGETHER_NS)
        return failed;
    char label[IOT_LABEL_BYTES], other[IOT_LABEL_BYTES];
    return iot_job_say(job, &job->notes,
                       "By their hosts' clocks, units started up to %s apart (%s, then %s): %s. No "
                       "figure compares "
                       "times of two hosts.",
                       iot_people_time(job->start_spread_ns).text,
                       iot_unit_label(&p->units[first_unit], label),
                       iot_unit_label(&p->units[last_unit], other),
                       job->n_boots > 1 ? "clocks differ, or they did not run together"
                                        : "they did not run together");
}

static int note_unread(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    for (size_t k = 0; k < p->n_unread; k++)
        if (k == NAMED_MAX)
            return iot_job_say(job, &job->notes, "%s more could not be read and are left out.",
                               iot_people_count((int64_t)(p->n_unread - k)).text);
        else if (iot_job_say(job, &job->notes, "Left out: %.500s.", p->unread[k]))
            return -1;
    return 0;
}

int iot_job_notes(struct iot_job *job)
{
    return note_unread(job) || note_jobs(job) || note_damage(job) || note_clocks(job) ? -1 : 0;
}
