#include "analyzer/report_words.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/people.h"
#include "analyzer/verdict.h"

enum {
    SIZE = IOT_SENTENCE_BYTES,
    QUEUES_AT_MOST = 5,
    WAITS_AT_MOST = 5,
    SITES_AT_MOST = 5,
    SITES_FROM_PER_MILLE = 5, /* of all exposed time */
};

const char *iot_words_from_here(const struct iot_report *r, const char *path)
{
    const char *cwd = r->trace->processes[0].cwd;
    size_t n = strlen(cwd);
    return n > 1 && !strncmp(path, cwd, n) && path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

/* --- the whole --- */

/* The parts are of the run as it would be without I/O: what takes as long then is not what takes
 * long now. */
void iot_words_composition(const struct iot_report *r, char text[SIZE])
{
    const struct iot_model *model = r->model;
    const struct iot_path_parts *p = &model->path;
    const struct {
        const char *name;
        int64_t ns;
    } parts[] = {
        {iot_was_busy(r) ? "of computing and of waiting for a CPU" : "of computing", p->compute_ns},
        {"of GPU work", p->gpu_ns},
        {"of sleep", p->sleep_ns},
        {"of waking up", p->wake_ns},
        {"of waiting for others", p->external_ns},
        {"of unexplained waiting", p->unexplained_ns},
    };
    int64_t rest_ns = model->wall_ns - p->io_ns;
    size_t n = 0;

    if (p->io_ns)
        n += (size_t)snprintf(text, SIZE, "With I/O twice as fast it would take %s. ",
                              iot_people_time(iot_curve_at(model, 0.5)).text);
    n += (size_t)snprintf(text + n, SIZE - n, "%s %s",
                          p->io_ns ? "Without any I/O it would take" : "The run takes",
                          iot_people_time(rest_ns).text);
    for (size_t i = 0, said = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].ns)
            n += (size_t)snprintf(text + n, SIZE - n, "%s %s %s (%s)", said++ ? "," : ":",
                                  iot_people_time(parts[i].ns).text, parts[i].name,
                                  iot_people_share(parts[i].ns, rest_ns).text);
    snprintf(text + n, SIZE - n, ".");
}

bool iot_words_serialization(const struct iot_report *r, char text[SIZE])
{
    size_t n = 0;
    for (int o = 0; o < IOT_OTHER; o++) {
        const struct iot_figures *f = &r->objects[o].figures;
        if (f->coded && f->serialization_ns > r->model->wall_ns / 200)
            n += (size_t)snprintf(text + n, SIZE - n, "%s%s %s",
                                  n ? ", " : "Encoding and decoding, beside this: ",
                                  iot_object_names[o], iot_people_time(f->serialization_ns).text);
    }
    if (n)
        snprintf(text + n, SIZE - n, ".");
    return n != 0;
}

bool iot_words_faults(const struct iot_report *r, char text[SIZE])
{
    size_t n = 0;
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &r->objects[o].figures;
        if (f->fault_ns > r->model->wall_ns / 200)
            n += (size_t)snprintf(text + n, SIZE - n, "%s%s ~%s for ~%s",
                                  n ? ", " : "Of service, lost to page faults on mapped files: ",
                                  iot_object_names[o], iot_people_time(f->fault_ns).text,
                                  iot_people_bytes(f->mapped_bytes).text);
    }
    if (n)
        snprintf(text + n, SIZE - n, " brought in (estimates).");
    return n != 0;
}

/* --- steps --- */

const struct iot_phase *iot_words_steady(const struct iot_report *r)
{
    const struct iot_phase *steady = NULL;
    for (size_t p = 0; p < r->phases->n; p++)
        if (r->phases->phases[p].steps)
            steady = &r->phases->phases[p];
    return steady;
}

void iot_words_steps(const struct iot_report *r, const struct iot_phase *steady, char text[SIZE])
{
    const struct iot_steps *s = r->phases->steps;
    const struct iot_events *e = &r->trace->events;
    const char *path = iot_words_from_here(r, r->trace->files[e->file[s->anchor]].name);
    size_t n = (size_t)snprintf(text, SIZE, "%s", iot_people_many((int64_t)s->n, "step").text);

    if (s->source == IOT_STEPS_MARKS)
        n += (size_t)snprintf(text + n, SIZE - n, ", as the program marks them");
    else
        n += (size_t)snprintf(text + n, SIZE - n, ", found by the period of %s%s%.3000s",
                              iot_op_info(e->op[s->anchor])->name, *path ? " on " : "", path);
    if (s->n > 1)
        n += (size_t)snprintf(text + n, SIZE - n, ": a median of %s each (P95 %s)",
                              iot_people_time(steady->length.p50_ns).text,
                              iot_people_time(steady->length.p95_ns).text);
    n += (size_t)snprintf(text + n, SIZE - n, ", %s of it exposed I/O",
                          iot_people_time(steady->exposed.p50_ns).text);
    if (s->n > 1)
        n += (size_t)snprintf(text + n, SIZE - n, " (P95 %s)",
                              iot_people_time(steady->exposed.p95_ns).text);
    snprintf(text + n, SIZE - n, ".");
}

bool iot_words_per_step(const struct iot_phase *steady, int object, char text[SIZE])
{
    const struct iot_figures *f = &steady->objects[object].figures;
    double calls = (double)(f->data_ops + f->metadata_ops + f->sync_ops);
    int64_t n = (int64_t)steady->steps;
    if (f->service_ns < steady->end_ns / 1000)
        return false;
    size_t at = (size_t)snprintf(
        text, SIZE, "On average: %s %.3g calls, %s, %s service, %s exposed",
        iot_object_names[object], calls / (double)n, iot_people_bytes(f->bytes / n).text,
        iot_people_time(f->service_ns / n).text, iot_people_time(f->exposed_ns / n).text);
    if (n > 1 && f->exposed_ns)
        snprintf(text + at, SIZE - at, " (P95 %s)",
                 iot_people_time(steady->objects[object].exposed.p95_ns).text);
    return true;
}

/* --- waits and queues --- */

bool iot_words_waited(const struct iot_report *r, size_t line, char text[SIZE])
{
    const struct iot_waited *w = &r->waits[line];
    if (line >= r->n_waits || line >= WAITS_AT_MOST || w->waited_ns < r->model->wall_ns / 100)
        return false;
    snprintf(text, SIZE, "`%s` waited %s for `%s`, which was %s `%.4000s`%s.", w->waiter,
             iot_people_time(w->waited_ns).text, w->other, w->doing,
             iot_words_from_here(r, w->path), w->batch ? ", prefetching a batch" : "");
    return true;
}

bool iot_words_queue(const struct iot_report *r, size_t line, char text[SIZE])
{
    const struct iot_queue *q = &r->queues[line];
    if (line >= r->n_queues || line >= QUEUES_AT_MOST)
        return false;
    snprintf(text, SIZE,
             "%.4000s carries %s from `%s` to `%s`: %.1f messages wait in it on average, at most "
             "%lld%s.",
             q->name, iot_object_names[q->object], q->producer, q->consumer, q->mean_length,
             (long long)q->max_length, q->growing ? ", and it grows" : "");
    return true;
}

bool iot_words_pipes(const struct iot_report *r, char text[SIZE])
{
    for (size_t k = 0; k < r->n_queues && k < QUEUES_AT_MOST; k++)
        if (r->queues[k].object != IOT_STATE && !strncmp(r->queues[k].name, "pipe:", 5)) {
            snprintf(text, SIZE,
                     "What a queue carries is what its producer read, or its consumer wrote. The "
                     "calls on a pipe itself are counted as state.");
            return true;
        }
    return false;
}

/* --- where calls are made --- */

bool iot_words_site(const struct iot_report *r, size_t line, char text[SIZE])
{
    char words[480];
    if (line >= r->n_sites || line >= SITES_AT_MOST)
        return false;
    const struct iot_call_site *s = &r->sites[line];
    if (line && s->exposed_ns < r->total.exposed_ns / 1000 * SITES_FROM_PER_MILLE)
        return false;
    iot_call_site_words(s, words, sizeof words);
    snprintf(text, SIZE, "%s exposed, %s, %s: `%s`", iot_people_time(s->exposed_ns).text,
             iot_people_many((int64_t)s->calls, "call").text, iot_people_bytes(s->bytes).text,
             words);
    return true;
}

/* --- what to do --- */

void iot_words_advice(const struct iot_advice *a, char text[SIZE])
{
    if (a->object < 0)
        snprintf(text, SIZE, "%s: %s.", a->finding, a->action);
    else
        snprintf(text, SIZE, "Up to %s: %s; %s.", iot_people_time(a->gain_ns).text, a->finding,
                 a->action);
}

/* Service worth a word, of which too little is exposed to be worth a change. */
bool iot_words_leave(const struct iot_report *r, int object, char text[SIZE])
{
    const struct iot_figures *f = &r->objects[object].figures;
    int64_t least = r->model->wall_ns / 100;
    if (f->service_ns <= least || f->exposed_ns >= least || f->recoverable_ns >= least)
        return false;
    const char *name = iot_object_names[object];
    struct iot_words service = iot_people_time(f->service_ns);
    if (f->exposed_ns <= f->service_ns / 20)
        snprintf(text, SIZE, "Leave %s: its %s of I/O are hidden behind other work.", name,
                 service.text);
    else
        snprintf(text, SIZE,
                 "Leave %s: of its %s of I/O %s make the run longer, less than 1 %% of it.", name,
                 service.text, iot_people_time(f->exposed_ns).text);
    return true;
}
