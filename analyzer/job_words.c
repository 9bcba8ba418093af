/* The sentences of a job's report, for text and Markdown alike. */
#include <string.h>

#include "analyzer/job.h"
#include "analyzer/people.h"

enum { SHARED_SHOWN = 5 };

int64_t iot_job_weight(const struct iot_job *job)
{
    return job->wall_ns / 100;
}

static const char *label(const struct iot_job *job, size_t unit, char text[IOT_LABEL_BYTES])
{
    return iot_unit_label(&job->partial->units[unit], text);
}

void iot_job_verdict(const struct iot_job *job, char text[IOT_LABEL_BYTES * 4])
{
    int64_t without = job->curve[IOT_UNIT_CURVE - 1], adds = job->wall_ns - without;
    snprintf(text, IOT_LABEL_BYTES * 4,
             "%s on %s took %s; with no I/O in any of them, the slowest would take %s (%s less)",
             iot_people_many((int64_t)job->partial->n_units, "unit").text,
             iot_people_many((int64_t)job->n_hosts, "host").text,
             iot_people_time(job->wall_ns).text, iot_people_time(without).text,
             iot_people_share(adds, job->wall_ns).text);
}

static int say_straggler(struct iot_job *job)
{
    const struct iot_unit *u = &job->partial->units[job->straggler];
    char most[IOT_LABEL_BYTES], least[IOT_LABEL_BYTES];
    if (job->partial->n_units < 2)
        return 0;
    if (iot_job_say(job, &job->ranks,
                    "The longest took %s (%s), the median %s, the shortest %s (%s).",
                    iot_people_time(job->wall.max).text, label(job, job->wall.max_unit, most),
                    iot_people_time(job->wall.median).text, iot_people_time(job->wall.min).text,
                    label(job, job->wall.min_unit, least)))
        return -1;
    int64_t exposed = 0;
    int most_of = 0;
    for (int o = 0; o < IOT_OBJECTS; o++) {
        exposed = iot_sum(exposed, u->objects[o].at[IOT_COLUMN_exposed_ns]);
        if (u->objects[o].at[IOT_COLUMN_exposed_ns] > u->objects[most_of].at[IOT_COLUMN_exposed_ns])
            most_of = o;
    }
    /* With exposed I/O and computing the whole of its time, but for what nothing explains. */
    const struct {
        const char *words;
        int64_t ns;
    } parts[] = {{"GPU work", u->numbers[IOT_UNIT_gpu_ns]},
                 {"waking up", u->numbers[IOT_UNIT_wake_ns]},
                 {"waiting for others", u->numbers[IOT_UNIT_external_ns]}};
    char more[192] = "";
    for (size_t k = 0, n = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].ns)
            n += (size_t)snprintf(more + n, sizeof more - n, ", %s %s",
                                  iot_people_time(parts[k].ns).text, parts[k].words);
    if (iot_job_say(job, &job->ranks,
                    "Of the longest, %s is exposed I/O (most of it %s), %s computing%s and %s "
                    "sleep.",
                    iot_people_time(exposed).text, iot_object_names[most_of],
                    iot_people_time(u->numbers[IOT_UNIT_compute_ns]).text, more,
                    iot_people_time(u->numbers[IOT_UNIT_sleep_ns]).text))
        return -1;
    for (size_t k = 0; k < u->n_waits && u->waits[k].waited_ns >= iot_job_weight(job); k++) {
        const struct iot_waited *w = &u->waits[k];
        if (iot_job_say(job, &job->ranks, "In it, %.80s waited %s for %.80s %.20s %.300s (%s).",
                        w->waiter, iot_people_time(w->waited_ns).text, w->other, w->doing, w->path,
                        iot_object_names[w->object]))
            return -1;
    }
    return 0;
}

static int say_spread(struct iot_job *job)
{
    char most[IOT_LABEL_BYTES];
    for (int o = 0; o < IOT_OBJECTS && job->partial->n_units > 1; o++) {
        const struct iot_spread *exposed = &job->spread[o][IOT_SPREAD_EXPOSED];
        const struct iot_spread *bytes = &job->spread[o][IOT_SPREAD_BYTES];
        if (exposed->max - exposed->min >= iot_job_weight(job) &&
            iot_job_say(job, &job->ranks,
                        "Exposed time of %s lies between %s and %s, median %s; the most has %s.",
                        iot_object_names[o], iot_people_time(exposed->min).text,
                        iot_people_time(exposed->max).text, iot_people_time(exposed->median).text,
                        label(job, exposed->max_unit, most)))
            return -1;
        if (o == IOT_OUTPUT && bytes->max / 2 > bytes->median &&
            iot_job_say(job, &job->ranks, "Output is uneven: %s writes %s, the median unit %s.",
                        label(job, bytes->max_unit, most), iot_people_bytes(bytes->max).text,
                        iot_people_bytes(bytes->median).text))
            return -1;
    }
    return 0;
}

static int say_shared(struct iot_job *job)
{
    for (size_t k = 0; k < job->n_shared && k < SHARED_SHOWN; k++) {
        const struct iot_job_file *f = &job->files[job->shared[k]];
        int64_t largest = f->file->sums.at[IOT_COLUMN_largest_read_bytes];
        if (iot_job_say(
                job, &job->shared_words,
                "%.400s: read by %s, %s together, %s by the one that reads most (%.1f times).",
                f->file->path, iot_people_many(f->file->sums.at[IOT_COLUMN_units], "unit").text,
                iot_people_bytes(f->figures.read_bytes).text, iot_people_bytes(largest).text,
                largest ? (double)f->figures.read_bytes / (double)largest : 0.0))
            return -1;
    }
    return 0;
}

static int say_slow(struct iot_job *job)
{
    for (size_t h = 0; h < job->n_hosts; h++) {
        const struct iot_job_host *host = &job->hosts[h];
        if (host->slow_object >= 0 &&
            iot_job_say(
                job, &job->slow,
                "On %.100s calls of %s take %.1f times as long as calls of that size on the median "
                "host; at that pace each of its units would spend %s less in them.",
                host->host, iot_object_names[host->slow_object], host->times,
                iot_people_time(host->excess_ns).text))
            return -1;
    }
    return 0;
}

int iot_job_words(struct iot_job *job)
{
    return say_straggler(job) || say_spread(job) || say_shared(job) || say_slow(job) ? -1 : 0;
}
