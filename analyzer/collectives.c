#include "analyzer/collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"

int iot_collective_named(struct iot_names *names, struct iot_files *files, uint32_t kernel,
                         uint32_t communicator, uint32_t *file)
{
    const char *name = iot_names_text(names, kernel), *among = iot_names_text(names, communicator);
    size_t n = name ? strlen(name) : 0, m = among ? strlen(among) : 0;
    if (!name || !among)
        *file = iot_names_path(names, files, kernel);
    if (!name || !among)
        return *file == IOT_NO_INDEX ? -1 : 0;
    char *text = iot_arena_take(files->arena, n + m + 5);
    if (!text)
        return -1;
    snprintf(text, n + m + 5, "%s of %s", name, among);
    *file = iot_files_intern(files, text);
    return *file == IOT_NO_INDEX ? -1 : 0;
}

/* --- sequences --- */

/* What a collective belongs to, before it is known with which others. */
struct place {
    uint32_t name;
    uint32_t stream; /* among those of its rank that have any */
    uint32_t device;
    struct iot_collective collective;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->collective.process != y->collective.process)
        return x->collective.process < y->collective.process ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->collective.event < y->collective.event ? -1
                                                     : x->collective.event > y->collective.event;
}

static int same_rank(const struct place *x, const struct place *y)
{
    return x->collective.process == y->collective.process && x->device == y->device;
}

static size_t count(const struct iot_events *e, const struct iot_lane *lane)
{
    size_t n = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++)
        n += e->op[i] == IOT_OP_GPU_COLLECTIVE;
    return n;
}

/* How many streams of the rank before this one have collectives. */
static uint32_t stream_of(const struct iot_trace *t, size_t l)
{
    uint32_t n = 0;
    for (size_t k = t->processes[t->lanes[l].process].first_lane; k < l; k++)
        n += iot_lane_is_stream(&t->lanes[k]) && t->lanes[k].device == t->lanes[l].device &&
             count(&t->events, &t->lanes[k]) > 0;
    return n;
}

static size_t list_lane(const struct iot_trace *t, size_t l, struct place *places)
{
    const struct iot_events *e = &t->events;
    const struct iot_lane *lane = &t->lanes[l];
    uint32_t stream = stream_of(t, l);
    size_t n = 0;
    for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
        if (e->op[i] != IOT_OP_GPU_COLLECTIVE)
            continue;
        size_t begins =
            i > lane->first_event && e->op[i - 1] == IOT_OP_GPU_COLLECTIVE_WAIT ? i - 1 : i;
        places[n++] = (struct place){.name = e->file2[i],
                                     .stream = stream,
                                     .device = lane->device,
                                     .collective = {(uint32_t)begins, lane->process, (uint32_t)l,
                                                    e->t0_ns[begins], e->t1_ns[i]}};
    }
    return n;
}

/* --- groups --- */

struct sequence {
    size_t at, end; /* places */
};

/* A group of what stands next in each sequence, if their times allow it; else what ended too early
 * for that is left alone. Returns whether there may be more. */
static int take_group(struct iot_collectives *c, const struct place *places,
                      struct sequence *sequences, size_t n)
{
    size_t left = 0;
    int64_t latest = INT64_MIN;
    int early = 0;
    for (size_t s = 0; s < n; s++) {
        if (sequences[s].at == sequences[s].end)
            continue;
        left++;
        if (places[sequences[s].at].collective.t0_ns > latest)
            latest = places[sequences[s].at].collective.t0_ns;
    }
    if (left < 2)
        return 0;
    for (size_t s = 0; s < n; s++)
        if (sequences[s].at < sequences[s].end &&
            places[sequences[s].at].collective.t1_ns <= latest) {
            sequences[s].at++;
            c->alone++;
            early = 1;
        }
    if (early)
        return 1;
    struct iot_collective_group *g = &c->groups[c->n_groups++];
    *g = (struct iot_collective_group){c->n_members, 0, c->n_members};
    for (size_t s = 0; s < n; s++) {
        if (sequences[s].at == sequences[s].end)
            continue;
        c->members[c->n_members] = places[sequences[s].at++].collective;
        if (c->members[c->n_members].t0_ns > c->members[g->last].t0_ns)
            g->last = c->n_members;
        c->n_members++;
        g->n++;
    }
    return 1;
}

/* Of one name and stream. */
static void match(struct iot_collectives *c, const struct place *places, size_t n,
                  struct sequence *sequences)
{
    size_t ranks = 0;
    for (size_t k = 0; k < n; k++) {
        if (!k || !same_rank(&places[k - 1], &places[k]))
            sequences[ranks++] = (struct sequence){k, k};
        sequences[ranks - 1].end = k + 1;
    }
    if (ranks < 2)
        return;
    while (take_group(c, places, sequences, ranks))
        ;
    for (size_t s = 0; s < ranks; s++)
        c->alone += sequences[s].end - sequences[s].at;
}

int iot_collectives_find(struct iot_collectives *c, const struct iot_trace *t)
{
    size_t n = 0;
    *c = (struct iot_collectives){0};
    for (size_t l = 0; l < t->n_lanes; l++)
        n += iot_lane_is_stream(&t->lanes[l]) ? count(&t->events, &t->lanes[l]) : 0;
    if (!n)
        return 0;
    struct place *places = malloc(n * sizeof *places);
    struct sequence *sequences = malloc(n * sizeof *sequences);
    c->members = malloc(n * sizeof *c->members);
    c->groups = malloc(n * sizeof *c->groups);
    int failed = !places || !sequences || !c->members || !c->groups;
    if (!failed) {
        n = 0;
        for (size_t l = 0; l < t->n_lanes; l++)
            if (iot_lane_is_stream(&t->lanes[l]))
                n += list_lane(t, l, &places[n]);
        qsort(places, n, sizeof *places, by_place);
    }
    for (size_t k = 0, end; k < n && !failed; k = end) {
        for (end = k + 1; end < n && places[end].name == places[k].name &&
                          places[end].stream == places[k].stream;)
            end++;
        match(c, &places[k], end - k, sequences);
    }
    free(places);
    free(sequences);
    return failed ? -1 : 0;
}

void iot_collectives_free(struct iot_collectives *c)
{
    free(c->members);
    free(c->groups);
    *c = (struct iot_collectives){0};
}
