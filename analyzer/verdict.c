#include "analyzer/verdict.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/people.h"

/* Below this share of the run, I/O is not what limits it. */
enum { LIMITS_FROM_PERCENT = 1 };

/* By object, and whether the carrying lane was in the calls itself or waited for another lane. */
static const char *const causes[IOT_OBJECTS][2] = {
    [IOT_INPUT] = {"input that is read before work can go on",
                   "input that starves the run: its readers are too slow"},
    [IOT_ARTIFACT] = {"artifacts that are loaded before work can go on",
                      "artifacts that the run waits for while another lane loads them"},
    [IOT_STATE] = {"state that is moved before work can go on",
                   "state that the run waits for while another lane moves it"},
    [IOT_OUTPUT] = {"output that is written before work can go on",
                    "back-pressure: output that the run waits for another lane to write"},
    [IOT_OTHER] = {"start-up and configuration files",
                   "start-up and configuration files of processes that the run waits for"},
};

int64_t iot_curve_at(const struct iot_model *model, double lambda)
{
    const struct iot_model_curve *c = model->curve;
    for (size_t i = 0; i + 1 < model->n_curve; i++)
        if (c[i + 1].lambda <= lambda && c[i].lambda > c[i + 1].lambda) {
            double share = (lambda - c[i + 1].lambda) / (c[i].lambda - c[i + 1].lambda);
            double span = (double)(c[i].time_ns - c[i + 1].time_ns);
            return c[i + 1].time_ns + (int64_t)(share * span);
        }
    return model->wall_ns - (int64_t)((1 - lambda) * (double)model->path.io_ns);
}

int iot_most_exposed(const struct iot_report *r)
{
    int most = 0;
    for (int o = 1; o < IOT_OBJECTS; o++)
        if (r->objects[o].figures.exposed_ns > r->objects[most].figures.exposed_ns)
            most = o;
    return most;
}

void iot_verdict_on_io(const struct iot_report *r, char text[IOT_VERDICT_BYTES])
{
    int64_t io = r->total.exposed_ns, wall = r->model->wall_ns;
    struct iot_words adds = iot_people_time(io), of = iot_people_time(wall);
    struct iot_words share = iot_people_share(io, wall);
    int most = iot_most_exposed(r), whole = !r->trace->seen.spans;

    if (io < wall / 100 * LIMITS_FROM_PERCENT || !io) {
        if (io)
            snprintf(text, IOT_VERDICT_BYTES,
                     "I/O is not what limits this run: it adds %s to %s%s (%s).", adds.text,
                     whole ? "" : "the recorded ", of.text, share.text);
        else
            snprintf(text, IOT_VERDICT_BYTES, "I/O is not what limits %s%s: it adds nothing.",
                     whole ? "this run of " : "the recorded part of this run, ", of.text);
        return;
    }
    const struct iot_figures *f = &r->objects[most].figures;
    int waited = f->waited_ns > f->exposed_ns - f->waited_ns;
    snprintf(text, IOT_VERDICT_BYTES, "I/O adds %s to %s%s%s (%s), %s %s.", adds.text,
             whole ? "this run of " : "the recorded ", of.text, whole ? "" : " of this run",
             share.text,
             f->exposed_ns > io - f->exposed_ns ? "most of it" : "the largest part of it",
             causes[most][waited]);
}

int iot_was_busy(const struct iot_report *r)
{
    int64_t waited_ns = r->run.carrier_runqueue_ns;
    return waited_ns > 0 && waited_ns >= r->model->wall_ns / 100 * IOT_BUSY_PERCENT;
}

int iot_verdict_on_load(const struct iot_report *r, char text[IOT_VERDICT_BYTES])
{
    if (!iot_was_busy(r))
        return 0;
    snprintf(text, IOT_VERDICT_BYTES,
             "The machine was busy: for %s of the run its main thread waited for a CPU, so times "
             "here are longer than they would be on a machine of its own.",
             iot_people_share(r->run.carrier_runqueue_ns, r->model->wall_ns).text);
    return 1;
}

void iot_verdict(const struct iot_report *r, char text[IOT_VERDICT_BYTES])
{
    char load[IOT_VERDICT_BYTES];
    iot_verdict_on_io(r, text);
    size_t n = strlen(text);
    if (iot_verdict_on_load(r, load))
        snprintf(text + n, IOT_VERDICT_BYTES - n, " %s", load);
}
