/* What a report says of GPUs, for people. */
#include <stdio.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/people.h"
#include "analyzer/report_gpu.h"
#include "analyzer/sum.h"

#define SIZE IOT_SENTENCE_BYTES

/* In which order, and what decided. */
static const struct {
    uint8_t direction;
    const char *name;
    const char *state; /* why such copies are state, unless a file or a rule says otherwise */
} directions[] = {
    {IOT_COPY_HTOD, "To GPUs", "as neither end is known"},
    {IOT_COPY_DTOH, "From GPUs", "as neither end is known"},
    {IOT_COPY_DTOD, "Within GPUs", "as they stay there"},
    {IOT_COPY_PTOP, "Between GPUs", "as they stay there"},
    {0, "Other copies", "as neither end is known"},
};
_Static_assert(sizeof directions / sizeof *directions == IOT_COPY_DIRECTIONS, "all of them");

static const char *const rules[IOT_COPY_RULES] = {
    [IOT_COPY_BY_FILE] = "as the files whose bytes they are",
    [IOT_COPY_BY_USER] = "by a rule of yours",
    [IOT_COPY_BY_EARLY] = "as they came before the first step",
    [IOT_COPY_BY_STEPS] = "as they came in the steps",
    [IOT_COPY_BY_OUT] = "as they came from a GPU",
};

static size_t add(char text[SIZE], size_t n, const char *before, const struct iot_words amount,
                  const char *what)
{
    int more = snprintf(text + n, SIZE - n, "%s%s%s%s", before, amount.text,
                        *amount.text ? " " : "", what);
    return more > 0 && (size_t)more < SIZE - n ? n + (size_t)more : n;
}

static const struct iot_words none = {""};

/* A part of something, which is not said where it is all of it. */
static struct iot_words part(int64_t bytes, int64_t all)
{
    return bytes == all ? none : iot_people_bytes(bytes);
}

/* "1.00 GB artifact, as the files whose bytes they are; 0.07 GB input, as they came in the steps"
 */
static size_t add_rules(const struct iot_report_gpu *g, size_t d, int64_t all, char text[SIZE],
                        size_t n)
{
    const char *before = ": ";
    for (int rule = 0; rule < IOT_COPY_RULES; rule++) {
        int some = 0;
        for (int o = 0; o < IOT_OBJECTS; o++) {
            int64_t bytes = 0;
            for (size_t k = 0; k < g->n_copies; k++)
                if (g->copies[k].direction == directions[d].direction &&
                    g->copies[k].rule == rule && g->copies[k].object == o)
                    bytes = iot_sum(bytes, g->copies[k].bytes);
            if (!bytes)
                continue;
            n = add(text, n, some ? ", " : before, part(bytes, all), iot_object_names[o]);
            some = 1;
        }
        if (!some)
            continue;
        n = add(text, n, ", ", none, rules[rule] ? rules[rule] : directions[d].state);
        before = "; ";
    }
    return n;
}

/* "To GPUs: 1.07 GB in 14 copies, 0.90 GB pageable, 0.17 GB pinned: 1.00 GB artifact, as ...; ...."
 */
bool iot_words_copies(const struct iot_report_gpu *g, size_t d, char text[SIZE])
{
    static const char *const memories[] = {NULL, "pageable", "pinned"};
    int64_t all = 0, copies = 0, of_memory[3] = {0};
    for (size_t k = 0; k < g->n_copies; k++)
        if (g->copies[k].direction == directions[d].direction) {
            int64_t *of = &of_memory[g->copies[k].memory % 3];
            all = iot_sum(all, g->copies[k].bytes);
            copies = iot_sum(copies, g->copies[k].copies);
            *of = iot_sum(*of, g->copies[k].bytes);
        }
    if (!all)
        return false;
    size_t n = (size_t)snprintf(text, SIZE, "%s: %s in %s %s", directions[d].name,
                                iot_people_bytes(all).text, iot_people_count(copies).text,
                                copies == 1 ? "copy" : "copies");
    for (int m = 1; m < 3; m++)
        if (of_memory[m])
            n = add(text, n, ", ", part(of_memory[m], all), memories[m]);
    n = add_rules(g, d, all, text, n);
    snprintf(text + n, SIZE - n, ".");
    return true;
}

void iot_words_device(const struct iot_gpu_device *d, const char *who, char text[SIZE])
{
    if (!d->kernels) {
        snprintf(text, SIZE,
                 "gpu%u%s: none of its kernels was recorded, so that it is not known when it "
                 "idled.",
                 d->device, who);
        return;
    }
    int64_t io = 0;
    for (int o = 0; o < IOT_OBJECTS; o++)
        io = iot_sum(io, d->idle_of_ns[o]);
    size_t n = (size_t)snprintf(text, SIZE, "gpu%u%s: busy %s, idle %s", d->device, who,
                                iot_people_time(d->busy_ns).text, iot_people_time(d->idle_ns).text);
    const char *before = ", because of I/O: ";
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (d->idle_of_ns[o]) {
            n = add(text, n, before, iot_people_time(d->idle_of_ns[o]), iot_object_names[o]);
            before = ", ";
        }
    snprintf(text + n, SIZE - n, io ? "." : ", none of it because of I/O.");
}

static void of_rank(const struct iot_gpu_rank *rank, char text[SIZE])
{
    char times[40], known[40] = "";
    snprintf(times, sizeof times, "%s", iot_people_many(rank->collectives, "collective").text);
    if (rank->rank >= 0)
        snprintf(known, sizeof known, ", rank %lld", (long long)rank->rank);
    size_t n =
        (size_t)snprintf(text, SIZE, "gpu%u of process %u%s: ", rank->device, rank->pid, known);
    if (rank->matched)
        snprintf(text + n, SIZE - n, "in %s %s waiting for the other ranks, %s moving bytes.",
                 times, iot_people_time(rank->waited_ns).text,
                 iot_people_time(rank->transfer_ns).text);
    else
        snprintf(text + n, SIZE - n,
                 "%s in %s, waiting for other ranks included: those are not in this trace.",
                 iot_people_time(rank->transfer_ns).text, times);
}

void iot_words_gpu_path(const struct iot_path_parts *p, const char *what, char text[SIZE])
{
    static const struct iot_words whole = {"all of it"};
    const struct {
        int64_t ns;
        const char *what;
    } parts[] = {
        {p->gpu_ns - p->gpu_launch_ns - p->gpu_gap_ns, "of work"},
        {p->gpu_launch_ns, "from launches to starts"},
        {p->gpu_gap_ns, "between operations"},
    };
    size_t n = (size_t)snprintf(text, SIZE, "Without I/O, GPUs hold %s for %s", what,
                                iot_people_time(p->gpu_ns).text);
    const char *before = ": ";
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].ns) {
            n = add(text, n, before,
                    parts[k].ns == p->gpu_ns ? whole : iot_people_time(parts[k].ns), parts[k].what);
            before = ", ";
        }
    snprintf(text + n, SIZE - n, ".");
}

/* "model.safetensors: ready after 1.90 s: 1.20 s storage, 0.30 s decode, 0.40 s pageable HtoD." */
static void of_artifact(const struct iot_report_file *f, char text[SIZE])
{
    static const char *const memory[] = {"", "pageable ", "pinned ", "partly pageable "};
    const char *slash = strrchr(f->path, '/');
    const struct iot_ready *x = &f->ready;
    snprintf(text, SIZE, "%.255s: ready after %s: %s storage, %s decode, %s %sHtoD.",
             slash && slash[1] ? slash + 1 : f->path,
             iot_people_time(x->storage_ns + x->decode_ns + x->placement_ns).text,
             iot_people_time(x->storage_ns).text, iot_people_time(x->decode_ns).text,
             iot_people_time(x->placement_ns).text, memory[x->memory & IOT_HOST_MIXED]);
}

enum { ARTIFACTS_SHOWN = 5, DEVICES_SHOWN = 16, RANKS_SHOWN = 16 };

bool iot_words_gpu(const struct iot_report *r, size_t line, char text[SIZE])
{
    const struct iot_report_gpu *g = r->gpu;
    size_t artifacts = 0;
    if (!g)
        return false;
    for (size_t d = 0; d < IOT_COPY_DIRECTIONS; d++)
        if (iot_words_copies(g, d, text) && !line--)
            return true;
    for (size_t i = 0; i < r->n_files && artifacts < ARTIFACTS_SHOWN; i++) {
        if (!r->files[i].ready.placement_ns)
            continue;
        artifacts++;
        if (!line--) {
            of_artifact(&r->files[i], text);
            return true;
        }
    }
    for (size_t k = 0; k < g->n_devices && k < DEVICES_SHOWN; k++)
        if (!line--) {
            iot_words_device(&g->devices[k], "", text);
            return true;
        }
    for (size_t k = 0; k < g->n_ranks && k < RANKS_SHOWN; k++)
        if (!line--) {
            of_rank(&g->ranks[k], text);
            return true;
        }
    if (line || !r->model->path.gpu_ns)
        return false;
    iot_words_gpu_path(&r->model->path, "the run", text);
    return true;
}
