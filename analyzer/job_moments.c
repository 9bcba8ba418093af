/* What of units has no sum: when files were ready and when steps began, from the first unit to the
 * last. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/job.h"
#include "analyzer/people.h"

/* --- files --- */

struct ready {
    const struct iot_unit_ready *of;
    size_t unit;
};

static int by_path(const void *a, const void *b)
{
    const struct ready *x = a, *y = b;
    int paths = strcmp(x->of->path, y->of->path);
    return paths ? paths : (x->unit > y->unit) - (x->unit < y->unit);
}

/* The readings [0, n) are of one file, in room for as many values. */
static void set_ready(struct iot_job_file *f, const struct ready *readings, size_t n,
                      struct iot_job_value *values)
{
    for (size_t k = 0; k < n; k++)
        values[k] = (struct iot_job_value){iot_unit_ready_ns(readings[k].of), readings[k].unit};
    f->ready_units = n;
    f->ready = iot_job_spread(values, n);
    for (size_t k = 0; k < n; k++)
        if (readings[k].unit == f->ready.max_unit &&
            iot_unit_ready_ns(readings[k].of) == f->ready.max)
            f->longest = readings[k].of;
}

/* Both are by path. What no file is named for is passed over. */
static int find_ready(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    size_t n = 0, at = 0;
    for (size_t k = 0; k < p->n_units; k++)
        n += p->units[k].n_ready;
    struct ready *readings = malloc((n + 1) * sizeof *readings);
    struct iot_job_value *values = malloc((n + 1) * sizeof *values);
    int failed = !readings || !values;
    for (size_t k = 0; k < p->n_units && !failed; k++)
        for (size_t i = 0; i < p->units[k].n_ready; i++)
            readings[at++] = (struct ready){&p->units[k].ready[i], k};
    if (n && !failed)
        qsort(readings, n, sizeof *readings, by_path);
    for (size_t i = 0, from = 0; i < job->n_files && !failed; i++) {
        struct iot_job_file *f = &job->files[i];
        int order = -1;
        while (from < n && (order = strcmp(readings[from].of->path, f->file->path)) < 0)
            from++;
        if (from == n || order || f->file->object != IOT_ARTIFACT)
            continue;
        size_t to = from;
        while (to < n && !strcmp(readings[to].of->path, f->file->path))
            to++;
        set_ready(f, readings + from, to - from, values);
    }
    free(readings);
    free(values);
    return failed ? -1 : 0;
}

/* --- steps --- */

static int find_starts(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    size_t most = 0;
    for (size_t k = 0; k < p->n_units; k++)
        most = p->units[k].n_starts > most ? p->units[k].n_starts : most;
    struct iot_job_value *values = malloc((p->n_units + 1) * sizeof *values);
    job->starts = malloc((most + 1) * sizeof *job->starts);
    int failed = !values || !job->starts;
    for (size_t s = 0; s < most && !failed; s++) {
        size_t n = 0;
        for (size_t k = 0; k < p->n_units; k++)
            if (s < p->units[k].n_starts)
                values[n++] = (struct iot_job_value){p->units[k].starts_ns[s], k};
        job->starts[job->n_starts++] =
            (struct iot_job_start){iot_unit_start_step(s), n, iot_job_spread(values, n)};
    }
    free(values);
    return failed ? -1 : 0;
}

int iot_job_moments(struct iot_job *job)
{
    return find_ready(job) || find_starts(job) ? -1 : 0;
}

/* --- words --- */

enum { READY_SHOWN = 5 };

static int say_ready(struct iot_job *job, const struct iot_job_file *f)
{
    const char *slash = strrchr(f->file->path, '/');
    char most[IOT_LABEL_BYTES];
    iot_unit_label(&job->partial->units[f->ready.max_unit], most);
    return iot_job_say(
        job, &job->sections[IOT_JOB_READY],
        "%.255s: ready after %s in the median of %s, %s at least, %s in %s: %s storage, %s decode, "
        "%s placement.",
        slash && slash[1] ? slash + 1 : f->file->path, iot_people_time(f->ready.median).text,
        iot_people_many((int64_t)f->ready_units, "unit").text, iot_people_time(f->ready.min).text,
        iot_people_time(f->ready.max).text, most, iot_people_time(f->longest->storage_ns).text,
        iot_people_time(f->longest->decode_ns).text,
        iot_people_time(f->longest->placement_ns).text);
}

static int say_start(struct iot_job *job, const struct iot_job_start *start)
{
    char least[IOT_LABEL_BYTES], most[IOT_LABEL_BYTES];
    const struct iot_spread *s = &start->begins;
    return iot_job_say(job, &job->sections[IOT_JOB_STEPS],
                       "Step %lld begins %s after the start of its unit in the first (%s), %s in "
                       "the median, %s in the last (%s).",
                       (long long)start->step + 1, iot_people_time(s->min).text,
                       iot_unit_label(&job->partial->units[s->min_unit], least),
                       iot_people_time(s->median).text, iot_people_time(s->max).text,
                       iot_unit_label(&job->partial->units[s->max_unit], most));
}

/* Those of weight: the artifacts that were ready last, and the first and the last step that most
 * units have, where units differ. */
int iot_job_moments_words(struct iot_job *job)
{
    const struct iot_job_start *shown[2] = {0};
    size_t said = 0;
    for (size_t i = 0; i < job->n_files && said < READY_SHOWN; i++) {
        const struct iot_job_file *f = &job->files[i];
        if (!f->ready_units || f->ready.max < iot_job_weight(job))
            continue;
        said++;
        if (say_ready(job, f))
            return -1;
    }
    for (size_t k = 0; k < job->n_starts; k++)
        if (job->starts[k].units == job->starts[0].units && job->starts[k].units > 1 &&
            job->starts[k].begins.max - job->starts[k].begins.min >= iot_job_weight(job))
            shown[shown[0] != NULL] = &job->starts[k];
    for (size_t k = 0; k < 2; k++)
        if (shown[k] && say_start(job, shown[k]))
            return -1;
    return 0;
}
