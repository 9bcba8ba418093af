/* Decode-bound: what the run would win if an object were encoded or decoded faster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/advice_parts.h"
#include "analyzer/arena.h"
#include "analyzer/people.h"
#include "analyzer/replay.h"
#include "analyzer/schedule.h"
#include "analyzer/serialization.h"

/* What another codec, or a few threads, reach: the time is divided by so much. */
enum { FASTER = 4 };
#define RECKONED " (reckoned: four times as fast)"

static const struct {
    const char *doing, *action;
} words[IOT_OTHER] = {
    [IOT_INPUT] = {"decoding", "use another codec, or decode in more threads" RECKONED},
    [IOT_ARTIFACT] = {"decoding", "store it as it is used, use another codec, or decode in more "
                                  "threads" RECKONED},
    [IOT_STATE] = {"encoding and decoding", "hand it on as it is, or use another codec" RECKONED},
    [IOT_OUTPUT] = {"encoding", "use another codec or level, or encode in more threads" RECKONED},
};

/* Of each event, the edge with it; edges with calls are in the order of their calls. */
static uint32_t *find_edges(const struct iot_graph *g, size_t n_events)
{
    uint32_t *edge_of = malloc((n_events + 1) * sizeof *edge_of);
    for (size_t i = 0; edge_of && i < n_events; i++)
        edge_of[i] = IOT_NO_NODE;
    for (uint32_t n = 0; edge_of && n < g->n_edges; n++)
        for (uint32_t k = 0; k < g->edges[n].call_count; k++)
            edge_of[g->edges[n].call_first + k] = n;
    return edge_of;
}

/* Between the two calls other events may lie that take no time but divide the lane: the time is
 * taken from the last stretch first. */
static void shorten(const struct iot_graph *g, const uint32_t *edge_of, const struct iot_gap *gap,
                    int64_t *less_ns)
{
    uint32_t first = edge_of[gap->from], n = edge_of[gap->to];
    int64_t left = gap->ns / FASTER * (FASTER - 1);
    if (first == IOT_NO_NODE || n == IOT_NO_NODE)
        return;
    for (n++; n-- > first && left;) {
        const struct iot_edge *edge = &g->edges[n];
        if (edge->kind != IOT_EDGE_LANE ||
            g->nodes[edge->dst].lane != g->nodes[g->edges[first].dst].lane)
            continue;
        int64_t part = edge->base_ns - less_ns[n];
        part = part < left ? part : left;
        less_ns[n] += part;
        left -= part;
    }
}

/* What the run wins by it. -1 without memory. */
static int64_t gain_of(const struct iot_model *model, const int64_t *less_ns)
{
    struct iot_replay *replay = &model->schedule->replay;
    if (iot_replay_set_service(replay, NULL) || iot_replay_set_less(replay, less_ns))
        return -1;
    int64_t gain = model->wall_ns - iot_line_ns(iot_replay_run(replay, IOT_LAMBDA_1), IOT_LAMBDA_1);
    return iot_replay_set_less(replay, NULL) ? -1 : gain;
}

static int look_at(struct iot_report *r, int object, const uint32_t *edge_of, int64_t *less_ns)
{
    const struct iot_graph *g = &r->model->schedule->graph;
    const struct iot_figures *f = &r->objects[object].figures;
    char text[IOT_FINDING_BYTES];

    if (!f->coded || !iot_advice_is_worth(r, f->serialization_ns))
        return 0;
    memset(less_ns, 0, (g->n_edges + 1) * sizeof *less_ns);
    for (size_t k = 0; k < r->gaps->n; k++) {
        uint32_t row = r->of_event[r->gaps->gaps[k].to];
        if (row != IOT_NO_INDEX && r->files[row].object == object)
            shorten(g, edge_of, &r->gaps->gaps[k], less_ns);
    }
    int64_t gain = gain_of(r->model, less_ns);
    if (gain < 0)
        return -1;
    if (!iot_advice_is_worth(r, gain))
        return 0;
    int n = snprintf(text, sizeof text, "%s %s takes %s beside its I/O of %s", words[object].doing,
                     iot_object_names[object], iot_people_time(f->serialization_ns).text,
                     iot_people_time(f->service_ns).text);
    return iot_advice_add(r, object, iot_arena_text(r->arena, text, (size_t)n),
                          words[object].action, gain);
}

int iot_advice_coding(struct iot_report *r)
{
    if (!r->gaps->n || !r->model->schedule)
        return 0;
    const struct iot_graph *g = &r->model->schedule->graph;
    uint32_t *edge_of = find_edges(g, r->trace->events.n);
    int64_t *less_ns = malloc((g->n_edges + 1) * sizeof *less_ns);
    int failed = !edge_of || !less_ns;
    for (int o = 0; o < IOT_OTHER && !failed; o++)
        failed = look_at(r, o, edge_of, less_ns);
    free(edge_of);
    free(less_ns);
    return failed ? -1 : 0;
}
