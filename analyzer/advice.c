#include "analyzer/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/advice_finds.h"
#include "analyzer/advice_parts.h"
#include "analyzer/arena.h"
#include "analyzer/gain.h"
#include "analyzer/people.h"
#include "analyzer/room.h"
#include "analyzer/verdict.h"

/* What wins less than this share of the run is not worth a change, and I/O that adds less does not
 * limit it. */
enum { WORTH_PERCENT = 1 };

void iot_advice_free(struct iot_advice_list *list)
{
    if (list)
        free(list->advice);
    free(list);
}

bool iot_advice_is_worth(const struct iot_report *r, int64_t ns)
{
    return ns > 0 && ns >= r->model->wall_ns / 100 * WORTH_PERCENT;
}

/* --- words --- */

static bool is(const char *name, const char *whole)
{
    size_t n = strlen(whole);
    return strncmp(name, whole, n) == 0 && name[n] == '}';
}

/* With their nouns: {calls}, {syncs} and {times} count the same; and {files}. */
static struct iot_words word(const char *name, const struct iot_tally *t, int object)
{
    struct iot_words words;
    if (is(name, "bytes"))
        return iot_people_bytes(t->bytes);
    if (is(name, "calls"))
        return iot_people_many((int64_t)t->calls, "call");
    if (is(name, "syncs"))
        return iot_people_many((int64_t)t->calls, "sync");
    if (is(name, "times"))
        return iot_people_many((int64_t)t->calls, "time");
    if (is(name, "files"))
        return iot_people_many((int64_t)t->files, "file");
    if (is(name, "exposed"))
        return iot_people_time(t->exposed_ns);
    if (is(name, "opens"))
        return iot_people_many((int64_t)t->calls, "open");
    if (is(name, "service"))
        return iot_people_time(t->service_ns);
    snprintf(words.text, sizeof words.text, "%s", iot_object_names[object]);
    return words;
}

static const char *expand(struct iot_arena *arena, const char *text, const struct iot_tally *t,
                          int object)
{
    char line[IOT_FINDING_BYTES];
    size_t n = 0;
    while (*text && n + 1 < sizeof line) {
        if (*text != '{') {
            line[n++] = *text++;
            continue;
        }
        size_t name = strcspn(text, "}");
        struct iot_words words = word(text + 1, t, object);
        int length = snprintf(line + n, sizeof line - n, "%s", words.text);
        n = length < 0 || (size_t)length >= sizeof line - n ? sizeof line - 1 : n + (size_t)length;
        text += name + 1;
    }
    return iot_arena_text(arena, line, n);
}

int iot_advice_add(struct iot_report *r, int object, const char *finding, const char *action,
                   int64_t gain_ns)
{
    struct iot_advice_list *list = r->advice;
    if (!finding)
        return -1;
    if (IOT_ROOM(list->advice, list->n + 1, list->room))
        return -1;
    list->advice[list->n++] = (struct iot_advice){object, finding, action, gain_ns};
    return 0;
}

/* --- I/O --- */

static int look_for(struct iot_scene *s, struct iot_report *r, const struct iot_finding *f)
{
    const struct iot_figures *object = &r->objects[s->object].figures;
    struct iot_tally tally = {0};
    if (!f->action[s->object] || !object->exposed_ns || !iot_advice_is_worth(r, object->service_ns))
        return 0;
    memcpy(s->service_ns, r->model->service_ns, r->trace->events.n * sizeof *s->service_ns);
    memset(s->by_file, 0, (r->trace->n_files + 1) * sizeof *s->by_file);
    memset(s->bytes_by_file, 0, (r->trace->n_files + 1) * sizeof *s->bytes_by_file);
    f->find(s, &tally);
    if (!tally.calls || !iot_advice_is_worth(r, tally.service_ns))
        return 0;
    int64_t gain = iot_gain(r->model, s->service_ns);
    if (!iot_advice_is_worth(r, gain))
        return 0;
    return iot_advice_add(r, s->object, expand(r->arena, f->finding, &tally, s->object),
                          f->action[s->object], gain);
}

static int find_io(struct iot_report *r)
{
    struct iot_scene s = {
        .report = r,
        .row_of = r->of_event,
        .service_ns = malloc((r->trace->events.n + 1) * sizeof *s.service_ns),
        .by_file = malloc((r->trace->n_files + 1) * sizeof *s.by_file),
        .bytes_by_file = malloc((r->trace->n_files + 1) * sizeof *s.bytes_by_file),
    };
    int failed = !s.service_ns || !s.by_file || !s.bytes_by_file;
    for (size_t k = 0; k < iot_n_findings && !failed; k++)
        for (s.object = 0; s.object < IOT_OBJECTS && !failed; s.object++)
            failed = look_for(&s, r, &iot_findings[k]);
    free(s.service_ns);
    free(s.by_file);
    free(s.bytes_by_file);
    return failed ? -1 : 0;
}

/* --- what is not I/O --- */

static int find_limit(struct iot_report *r)
{
    const struct iot_path_parts *p = &r->model->path;
    const struct {
        int64_t ns;
        const char *is, *action;
    } parts[] = {
        {p->compute_ns, iot_was_busy(r) ? "computing and waiting for a CPU" : "computing",
         "speed up or spread the computing, as faster I/O wins nothing"},
        {p->gpu_ns, "GPU work", "speed up the GPU work, as faster I/O wins nothing"},
        {p->sleep_ns, "sleep", "look at what the program sleeps for, and wait for that instead"},
        {p->external_ns, "waiting for peers outside the run", "look at those peers"},
        {p->wake_ns, "waking up", "hand on more work at a time, in fewer hand-overs"},
        {p->unexplained_ns, "waiting for something that is not known",
         "see what was not seen, as the run waits for something that left no trace"},
    };
    size_t most = 0;
    char text[IOT_FINDING_BYTES];
    if (p->io_ns && iot_advice_is_worth(r, p->io_ns))
        return 0;
    for (size_t k = 1; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].ns > parts[most].ns)
            most = k;
    if (!iot_advice_is_worth(r, parts[most].ns))
        return 0;
    int n = snprintf(text, sizeof text, "I/O is not what limits this run, %s of which is %s",
                     iot_people_share(parts[most].ns, r->model->wall_ns).text, parts[most].is);
    return iot_advice_add(r, -1, iot_arena_text(r->arena, text, (size_t)n), parts[most].action,
               parts[most].ns);
}

/* Who consumes a queue that grows is too slow: what its I/O costs the run is what could be won. */
static int find_queues(struct iot_report *r)
{
    char text[IOT_FINDING_BYTES];
    int64_t gain = r->objects[IOT_OUTPUT].figures.recoverable_ns;
    for (size_t k = 0; k < r->n_queues && iot_advice_is_worth(r, gain); k++) {
        const struct iot_queue *q = &r->queues[k];
        if (!q->growing || q->object != IOT_OUTPUT)
            continue;
        int n = snprintf(text, sizeof text, "the queue from %.60s to %.60s grows, to %lld",
                         q->producer, q->consumer, (long long)q->max_length);
        return iot_advice_add(r, IOT_OUTPUT, iot_arena_text(r->arena, text, (size_t)n),
                   "write in batches, limit what is handed over, or speed up the consumer", gain);
    }
    return 0;
}

/* What its carrier waited for a CPU no run on a machine of its own would. */
static int find_contention(struct iot_report *r)
{
    int64_t waited_ns = r->run.carrier_runqueue_ns;
    char text[IOT_FINDING_BYTES];
    if (!iot_advice_is_worth(r, waited_ns))
        return 0;
    int n = snprintf(text, sizeof text,
                     "The run's main thread was ready to run and waited for a CPU for at most %s",
                     iot_people_time(waited_ns).text);
    return iot_advice_add(r, -1, iot_arena_text(r->arena, text, (size_t)n),
               "give the run more CPUs, or start fewer threads and processes", waited_ns);
}

/* The sort is stable: in the table's order where they win as much. */
static void sort(struct iot_advice_list *list)
{
    for (size_t i = 1; i < list->n; i++) {
        struct iot_advice one = list->advice[i];
        size_t k = i;
        for (; k && list->advice[k - 1].gain_ns < one.gain_ns; k--)
            list->advice[k] = list->advice[k - 1];
        list->advice[k] = one;
    }
}

int iot_report_advise(struct iot_report *r)
{
    r->advice = calloc(1, sizeof *r->advice);
    if (!r->advice || find_io(r) || iot_advice_coding(r) || find_queues(r) || find_limit(r) ||
        find_contention(r))
        return -1;
    sort(r->advice);
    return 0;
}
