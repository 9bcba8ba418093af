/* What the GPUs of a job did: sums of what its units say, and who idled and waited most. */
#include <stdlib.h>

#include "analyzer/job.h"
#include "analyzer/people.h"
#include "analyzer/report_gpu.h"

int iot_job_gpu(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    struct iot_job_value *idle = malloc((p->n_units + 1) * sizeof *idle);
    struct iot_job_value *waited = malloc((p->n_units + 1) * sizeof *waited);
    int failed = !idle || !waited;
    for (size_t k = 0; k < p->n_units && !failed; k++) {
        const int64_t *at = p->units[k].numbers;
        if (!at[IOT_UNIT_gpus])
            continue;
        if (at[IOT_UNIT_gpus_known])
            idle[job->known_units++] = (struct iot_job_value){at[IOT_UNIT_gpu_idle_ns], k};
        waited[job->gpu_units++] = (struct iot_job_value){
            iot_sum(at[IOT_UNIT_collectives_waited_ns], at[IOT_UNIT_collectives_transfer_ns]), k};
    }
    if (job->known_units && !failed)
        job->gpu_idle = iot_job_spread(idle, job->known_units);
    if (job->gpu_units && !failed)
        job->collectives = iot_job_spread(waited, job->gpu_units);
    free(idle);
    free(waited);
    return failed ? -1 : 0;
}

/* --- words --- */

static int say(struct iot_job *job, const char *text)
{
    return iot_job_say(job, &job->sections[IOT_JOB_GPUS], "%s", text);
}

static int say_copies(struct iot_job *job)
{
    const struct iot_named_rows *rows = &job->partial->named[IOT_ROWS_gpu_copies];
    struct iot_report_gpu gpu = {.copies = calloc(rows->n + 1, sizeof *gpu.copies)};
    char text[IOT_SENTENCE_BYTES];
    int failed = !gpu.copies;
    for (size_t k = 0; k < rows->n && !failed; k++) {
        const struct iot_named_row *row = &rows->rows[k];
        gpu.copies[gpu.n_copies++] = (struct iot_gpu_copies){
            .direction = iot_copy_direction(row->texts[IOT_ROW_TEXT_gpu_copies_direction]),
            .rule = iot_copy_rule(row->texts[IOT_ROW_TEXT_gpu_copies_decided_by]),
            .object = row->object < IOT_OBJECTS ? row->object : IOT_OTHER,
            .memory = iot_host_memory(row->texts[IOT_ROW_TEXT_gpu_copies_memory]),
            .copies = row->numbers[IOT_ROW_gpu_copies_copies],
            .bytes = row->numbers[IOT_ROW_gpu_copies_bytes],
            .service_ns = row->numbers[IOT_ROW_gpu_copies_service_ns]};
    }
    for (size_t d = 0; d < IOT_COPY_DIRECTIONS && !failed; d++)
        failed = iot_words_copies(&gpu, d, text) && say(job, text);
    free(gpu.copies);
    return failed;
}

enum { DEVICES_SHOWN = 16 };

static int say_devices(struct iot_job *job)
{
    const struct iot_named_rows *rows = &job->partial->named[IOT_ROWS_gpu_devices];
    char text[IOT_SENTENCE_BYTES], who[96];
    int failed = 0, n;
    for (size_t k = 0; k < rows->n && k < DEVICES_SHOWN && !failed; k++) {
        const int64_t *at = rows->rows[k].numbers;
        struct iot_gpu_device d = {.device = (uint32_t)strtoul(rows->rows[k].texts[0], NULL, 10),
                                   .kernels = at[IOT_ROW_gpu_devices_unknown] <
                                              at[IOT_ROW_gpu_devices_units],
                                   .busy_ns = at[IOT_ROW_gpu_devices_busy_ns],
                                   .idle_ns = at[IOT_ROW_gpu_devices_idle_ns]};
        for (int o = 0; o < IOT_OBJECTS; o++)
            d.idle_of_ns[o] = at[IOT_ROW_gpu_devices_input_ns + o];
        n = snprintf(who, sizeof who, " of %s",
                     iot_people_many(at[IOT_ROW_gpu_devices_units], "unit").text);
        if (d.kernels && at[IOT_ROW_gpu_devices_unknown])
            snprintf(who + n, sizeof who - (size_t)n, ", of %s not known",
                     iot_people_count(at[IOT_ROW_gpu_devices_unknown]).text);
        iot_words_device(&d, who, text);
        failed = say(job, text);
    }
    return failed;
}

/* Over so many units. */
static int say_spread(struct iot_job *job, const char *what, const struct iot_spread *s,
                      size_t units)
{
    char most[IOT_LABEL_BYTES];
    if (units < 2 || s->max - s->min < iot_job_weight(job))
        return 0;
    return iot_job_say(job, &job->sections[IOT_JOB_GPUS],
                       "%s between %s and %s in a unit, median %s; the most in %s.", what,
                       iot_people_time(s->min).text, iot_people_time(s->max).text,
                       iot_people_time(s->median).text,
                       iot_unit_label(&job->partial->units[s->max_unit], most));
}

/* Where others of a collective are in traces of their own, what they were waited for is not told
 * from what moved. */
static int say_collectives(struct iot_job *job)
{
    const struct iot_words n =
        iot_people_many(iot_job_sum(job, IOT_UNIT_collectives), "collective");
    int64_t waited_ns = iot_job_sum(job, IOT_UNIT_collectives_waited_ns);
    int64_t transfer_ns = iot_job_sum(job, IOT_UNIT_collectives_transfer_ns);
    struct iot_job_lines *to = &job->sections[IOT_JOB_GPUS];
    if (!iot_job_sum(job, IOT_UNIT_collectives))
        return 0;
    int failed = waited_ns
                     ? iot_job_say(job, to,
                                   "In %s: %s waiting for ranks of the same unit, %s moving bytes "
                                   "or waiting for ranks of others.",
                                   n.text, iot_people_time(waited_ns).text,
                                   iot_people_time(transfer_ns).text)
                     : iot_job_say(job, to, "In %s: %s, waiting for other ranks included.", n.text,
                                   iot_people_time(transfer_ns).text);
    return failed || say_spread(job, "In collectives", &job->collectives, job->gpu_units);
}

static int say_path(struct iot_job *job)
{
    const struct iot_path_parts parts = {.gpu_ns = iot_job_sum(job, IOT_UNIT_gpu_ns),
                                         .gpu_launch_ns = iot_job_sum(job, IOT_UNIT_gpu_launch_ns),
                                         .gpu_gap_ns = iot_job_sum(job, IOT_UNIT_gpu_gap_ns)};
    char text[IOT_SENTENCE_BYTES];
    if (!parts.gpu_ns)
        return 0;
    iot_words_gpu_path(&parts, "all units together", text);
    return say(job, text);
}

int iot_job_gpu_words(struct iot_job *job)
{
    return say_copies(job) || say_devices(job) ||
                   say_spread(job, "GPUs idle", &job->gpu_idle, job->known_units) ||
                   say_collectives(job) || say_path(job)
               ? -1
               : 0;
}
