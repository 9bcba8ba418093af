/* The rows with names of a job's report: their order, and what is said of them. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/job.h"
#include "analyzer/people.h"

/* By which number the rows of a kind are ordered, the most first; -1: phases, as they follow each
 * other. */
static const int ordered_by[IOT_ROW_KINDS] = {
    [IOT_ROWS_phases] = -1,
    [IOT_ROWS_phase_objects] = -1,
    [IOT_ROWS_queues] = IOT_ROW_queues_max_length,
    [IOT_ROWS_ranges] = IOT_ROW_ranges_exposed_ns,
    [IOT_ROWS_marks] = IOT_ROW_marks_marks,
    [IOT_ROWS_waits] = IOT_ROW_waits_waited_ns,
    [IOT_ROWS_advice] = IOT_ROW_advice_most_ns,
    [IOT_ROWS_sites] = IOT_ROW_sites_exposed_ns,
    [IOT_ROWS_not_seen] = IOT_ROW_not_seen_units,
    [IOT_ROWS_evidence] = IOT_ROW_evidence_units,
    [IOT_ROWS_uncalled] = IOT_ROW_uncalled_read_bytes,
    [IOT_ROWS_gpu_copies] = IOT_ROW_gpu_copies_bytes,
    [IOT_ROWS_gpu_devices] = IOT_ROW_gpu_devices_units,
};

enum { LINES_SHOWN = 5 };

struct keyed {
    int64_t key;
    const struct iot_named_row *row;
};

static int64_t place_of_phase(const char *name)
{
    static const char *const names[] = {"cold_start", "steady", "shutdown", "run"};
    int64_t k = 0;
    while (k < (int64_t)(sizeof names / sizeof *names) && strcmp(names[k], name) != 0)
        k++;
    return -k;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

int iot_job_named(struct iot_job *job)
{
    for (int kind = 0; kind < IOT_ROW_KINDS; kind++) {
        const struct iot_named_rows *rows = &job->partial->named[kind];
        struct keyed *keyed = malloc((rows->n + 1) * sizeof *keyed);
        job->named[kind] = malloc((rows->n + 1) * sizeof *job->named[kind]);
        if (!keyed || !job->named[kind]) {
            free(keyed);
            return -1;
        }
        for (size_t k = 0; k < rows->n; k++) {
            const struct iot_named_row *row = &rows->rows[k];
            keyed[k] = (struct keyed){ordered_by[kind] < 0 ? place_of_phase(row->texts[0])
                                                           : row->numbers[ordered_by[kind]],
                                      row};
        }
        if (rows->n)
            qsort(keyed, rows->n, sizeof *keyed, by_key);
        for (size_t k = 0; k < rows->n; k++)
            job->named[kind][k] = keyed[k].row;
        free(keyed);
    }
    return 0;
}

/* --- words --- */

static struct iot_latency times_of(const struct iot_named_row *row)
{
    return iot_histogram_latency(&row->times, INT64_MAX);
}

struct where {
    char text[100];
};

/* "in 3 of 4 units" */
static struct where where(const struct iot_job *job, const struct iot_named_row *row)
{
    struct where where = {"in all units"};
    if (row->numbers[0] < (int64_t)job->partial->n_units)
        snprintf(where.text, sizeof where.text, "in %s of %s",
                 iot_people_count(row->numbers[0]).text,
                 iot_people_many((int64_t)job->partial->n_units, "unit").text);
    return where;
}

static int say_steps(struct iot_job *job, const struct iot_named_row *row)
{
    struct iot_latency length = times_of(row);
    if (!row->numbers[IOT_ROW_phases_steps])
        return 0;
    return iot_job_say(
        job, &job->sections[IOT_JOB_STEPS], "%s %s: a step takes %s (median), %s (P95).",
        iot_people_many(row->numbers[IOT_ROW_phases_steps], "step").text, where(job, row).text,
        iot_people_time(length.p50_ns).text, iot_people_time(length.p95_ns).text);
}

static int say_step_exposed(struct iot_job *job, const struct iot_named_row *row)
{
    struct iot_latency exposed = times_of(row);
    if (!row->times.n || !row->numbers[IOT_ROW_phase_objects_exposed_ns])
        return 0;
    return iot_job_say(job, &job->sections[IOT_JOB_STEPS],
                       "Of that, %s exposed: %s (median), %s (P95).",
                       row->object == IOT_OBJECTS ? "all I/O" : iot_object_names[row->object],
                       iot_people_time(exposed.p50_ns).text, iot_people_time(exposed.p95_ns).text);
}

static int say_range(struct iot_job *job, const struct iot_named_row *row)
{
    struct iot_latency length = times_of(row);
    return iot_job_say(
        job, &job->sections[IOT_JOB_MARKED],
        "%.300s: %s %s, %s (median), %s (P95); I/O in them %s, exposed %s.", row->texts[0],
        iot_people_many(row->numbers[IOT_ROW_ranges_ranges], "range").text, where(job, row).text,
        iot_people_time(length.p50_ns).text, iot_people_time(length.p95_ns).text,
        iot_people_time(row->numbers[IOT_ROW_ranges_service_ns]).text,
        iot_people_time(row->numbers[IOT_ROW_ranges_exposed_ns]).text);
}

static int say_mark(struct iot_job *job, const struct iot_named_row *row)
{
    return iot_job_say(
        job, &job->sections[IOT_JOB_MARKED], "%.300s: %s %s, %s to %s after the start.",
        row->texts[0], iot_people_many(row->numbers[IOT_ROW_marks_marks], "mark").text,
        where(job, row).text, iot_people_time(row->numbers[IOT_ROW_marks_first_ns]).text,
        iot_people_time(row->numbers[IOT_ROW_marks_last_ns]).text);
}

static int say_site(struct iot_job *job, const struct iot_named_row *row)
{
    return iot_job_say(
        job, &job->sections[IOT_JOB_SITES], "%.600s: %s %s, %s, exposed %s.", row->texts[0],
        iot_people_many(row->numbers[IOT_ROW_sites_calls], "call").text, where(job, row).text,
        iot_people_time(row->numbers[IOT_ROW_sites_service_ns]).text,
        iot_people_time(row->numbers[IOT_ROW_sites_exposed_ns]).text);
}

static int say_wait(struct iot_job *job, const struct iot_named_row *row)
{
    return iot_job_say(job, &job->sections[IOT_JOB_WAITS],
                       "%.80s waited %s for %.80s %.20s %.300s (%s): %s, at most %s.",
                       row->texts[IOT_ROW_TEXT_waits_waiter],
                       iot_people_time(row->numbers[IOT_ROW_waits_waited_ns]).text,
                       row->texts[IOT_ROW_TEXT_waits_waited_for],
                       row->texts[IOT_ROW_TEXT_waits_doing], row->texts[IOT_ROW_TEXT_waits_path],
                       iot_object_names[row->object], where(job, row).text,
                       iot_people_time(row->numbers[IOT_ROW_waits_most_ns]).text);
}

static int say_queue(struct iot_job *job, const struct iot_named_row *row)
{
    const int64_t *at = row->numbers;
    double mean = (double)at[IOT_ROW_queues_mean_thousandths] / 1000 / (double)at[0];
    char grows[80] = "";
    if (at[IOT_ROW_queues_growing])
        snprintf(grows, sizeof grows, "; it grows in %s",
                 iot_people_count(at[IOT_ROW_queues_growing]).text);
    return iot_job_say(
        job, &job->sections[IOT_JOB_QUEUES],
        "%.120s (%s), from %.80s to %.80s: %s long on average, %s at most, %s%s.",
        row->texts[IOT_ROW_TEXT_queues_name], iot_object_names[row->object],
        row->texts[IOT_ROW_TEXT_queues_producer], row->texts[IOT_ROW_TEXT_queues_consumer],
        iot_people_count((int64_t)(mean + 0.5)).text,
        iot_people_count(at[IOT_ROW_queues_max_length]).text, where(job, row).text, grows);
}

/* Gains of units do not add up: a job takes as long as the slowest. */
static int say_advice(struct iot_job *job, const struct iot_named_row *row)
{
    return iot_job_say(
        job, &job->sections[IOT_JOB_ADVICE], "%c%.400s: %.400s (%s, wins up to %s in one).",
        row->shown[0] >= 'a' && row->shown[0] <= 'z' ? row->shown[0] - 32 : row->shown[0],
        *row->shown ? row->shown + 1 : "", row->texts[0], where(job, row).text,
        iot_people_time(row->numbers[IOT_ROW_advice_most_ns]).text);
}

static int say_sentence(struct iot_job *job, enum iot_job_section section,
                        const struct iot_named_row *row)
{
    char *text = iot_named_row_span(row);
    if (!text)
        return -1;
    const bool all = row->numbers[0] == (int64_t)job->partial->n_units;
    int failed =
        all ? iot_job_say(job, &job->sections[section], "%.800s.", text)
            : iot_job_say(job, &job->sections[section], "%.800s (%s).", text, where(job, row).text);
    free(text);
    return failed;
}

static int say_not_seen(struct iot_job *job, const struct iot_named_row *row)
{
    return say_sentence(job, IOT_JOB_NOT_SEEN, row);
}

static int say_evidence(struct iot_job *job, const struct iot_named_row *row)
{
    return say_sentence(job, IOT_JOB_EVIDENCE, row);
}

static const struct {
    enum iot_row_kind kind;
    size_t shown;
    int (*say)(struct iot_job *, const struct iot_named_row *);
} sayings[] = {
    {IOT_ROWS_phases, SIZE_MAX, say_steps},
    {IOT_ROWS_phase_objects, SIZE_MAX, say_step_exposed},
    {IOT_ROWS_ranges, LINES_SHOWN, say_range},
    {IOT_ROWS_marks, LINES_SHOWN, say_mark},
    {IOT_ROWS_sites, LINES_SHOWN, say_site},
    {IOT_ROWS_waits, LINES_SHOWN, say_wait},
    {IOT_ROWS_queues, LINES_SHOWN, say_queue},
    {IOT_ROWS_advice, LINES_SHOWN, say_advice},
    {IOT_ROWS_not_seen, SIZE_MAX, say_not_seen},
    {IOT_ROWS_evidence, SIZE_MAX, say_evidence},
};

int iot_job_named_words(struct iot_job *job)
{
    for (size_t s = 0; s < sizeof sayings / sizeof *sayings; s++)
        for (size_t k = 0; k < job->partial->named[sayings[s].kind].n && k < sayings[s].shown; k++)
            if (sayings[s].say(job, job->named[sayings[s].kind][k]))
                return -1;
    return 0;
}
