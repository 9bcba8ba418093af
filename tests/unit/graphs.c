#include "tests/unit/graphs.h"

#include <stdbool.h>
#include <stdlib.h>

/* A graph whose node times are worked out as the edges into them are added: a node gets its
 * edges before any edge leaves it. */
struct builder {
    struct iot_graph *g;
    uint32_t last[8]; /* by lane: its latest node */
};

static void arrive(struct iot_graph *g, uint32_t edge)
{
    const struct iot_edge *e = &g->edges[edge];
    int64_t at = g->nodes[e->src].time_ns + e->base_ns + e->io_ns;
    if (at > g->nodes[e->dst].time_ns)
        g->nodes[e->dst].time_ns = at;
}

static void cross(struct builder *b, uint32_t src, uint32_t dst, int64_t base)
{
    arrive(b->g, iot_graph_add_cross(b->g, src, dst, base));
}

/* A new node in a lane, after `base` and calls that take `io`, if any, in `calls` parts. */
static uint32_t node(struct builder *b, uint32_t lane, int64_t base, int64_t io, uint32_t calls)
{
    uint32_t v = iot_graph_add_node(b->g, 0, lane), first = (uint32_t)b->g->n_calls;
    for (uint32_t k = 0; k < calls; k++) {
        int64_t part = k + 1 == calls ? io : io / 3;
        iot_graph_add_call(b->g, part);
        io -= part;
    }
    if (b->last[lane] != IOT_NO_NODE)
        arrive(b->g, iot_graph_add_lane(b->g, b->last[lane], v, base, first, calls));
    b->last[lane] = v;
    return v;
}

static struct builder begin(struct iot_graph *g)
{
    *g = (struct iot_graph){0};
    struct builder b = {.g = g};
    for (size_t lane = 0; lane < sizeof(b.last) / sizeof(*b.last); lane++)
        b.last[lane] = IOT_NO_NODE;
    g->start = node(&b, 0, 0, 0, 0);
    return b;
}

struct times {
    int64_t s, d, c;
};

/* The items of a pipeline, lane 1 to lane 0. Its put waits until the item `depth` before was
 * got; the get waits for the put. */
static void items(struct builder *b, const struct times *t, int depth, int n)
{
    uint32_t *got = calloc((size_t)n, sizeof(*got));
    for (int i = 0; i < n; i++) {
        uint32_t put = node(b, 1, t[i].d, t[i].s, 1);
        if (i >= depth)
            cross(b, got[i - depth], put, 0);
        got[i] = node(b, 0, i ? t[i - 1].c : 0, 0, 0);
        cross(b, put, got[i], 0);
    }
    b->g->end = node(b, 0, t[n - 1].c, 0, 0);
    free(got);
}

void iot_test_pipeline(struct iot_graph *g, int64_t s, int64_t d, int64_t c, int depth, int n)
{
    struct builder b = begin(g);
    struct times *t = calloc((size_t)n, sizeof(*t));
    for (int i = 0; i < n; i++)
        t[i] = (struct times){s, d, c};
    cross(&b, g->start, node(&b, 1, 0, 0, 0), 0);
    items(&b, t, depth, n);
    free(t);
}

void iot_test_beside(struct iot_graph *g, int64_t s, int64_t w)
{
    struct builder b = begin(g);
    cross(&b, g->start, node(&b, 1, 0, 0, 0), 0);
    uint32_t read = node(&b, 1, 0, s, 1);
    g->end = node(&b, 0, w, 0, 0);
    cross(&b, read, g->end, 0);
}

uint64_t iot_test_graphs(void)
{
    const char *setting = getenv("IOT_TEST_GRAPHS");
    return setting ? strtoull(setting, NULL, 10) : 10000;
}

uint64_t iot_test_random(uint64_t *state, uint64_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return below ? (z ^ z >> 31) % below : 0;
}

static const uint64_t scales[] = {2, 4, 30, 1000000, (uint64_t)1 << 48};

static int64_t duration(uint64_t *rng, uint64_t scale)
{
    return iot_test_random(rng, 3) ? (int64_t)iot_test_random(rng, scale) : 0;
}

static void random_pipeline(struct builder *b, uint64_t *rng, uint64_t scale, int n)
{
    struct times *t = calloc((size_t)n, sizeof(*t));
    for (int i = 0; i < n; i++)
        t[i] = (struct times){duration(rng, scale), duration(rng, scale), duration(rng, scale)};
    cross(b, b->g->start, node(b, 1, 0, 0, 0), 0);
    items(b, t, 1 + (int)iot_test_random(rng, 3), n);
    free(t);
}

/* A wait whose waker, by the clock, came too late. */
static void wait_for_the_impossible(struct builder *b, uint64_t *rng, uint32_t before, uint32_t v,
                                    int64_t wait)
{
    uint32_t src = (uint32_t)iot_test_random(rng, before);
    b->g->nodes[v].time_ns += wait;
    int64_t slack = b->g->nodes[v].time_ns - b->g->nodes[src].time_ns;
    iot_graph_add_cross(b->g, src, v, slack < 0 ? 0 : slack + 1);
}

static void random_lanes(struct builder *b, uint64_t *rng, uint64_t scale, uint32_t n)
{
    uint32_t lanes = 1 + (uint32_t)iot_test_random(rng, 4);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = (uint32_t)iot_test_random(rng, lanes);
        uint32_t before = (uint32_t)b->g->n_nodes;
        uint32_t calls = (uint32_t)iot_test_random(rng, 4);
        bool first = b->last[lane] == IOT_NO_NODE;
        uint32_t v = node(b, lane, duration(rng, scale), calls ? duration(rng, scale) : 0,
                          first ? 0 : calls);
        uint64_t crosses = iot_test_random(rng, 3);
        for (uint64_t k = 0; k < crosses; k++)
            cross(b, (uint32_t)iot_test_random(rng, before), v,
                  iot_test_random(rng, 2) ? duration(rng, scale) : 0);
        if (first && crosses == 0)
            b->g->nodes[v].time_ns = duration(rng, scale); /* starts then, who knows why */
        else if (iot_test_random(rng, 4) == 0)
            wait_for_the_impossible(b, rng, before, v, duration(rng, scale));
    }
    b->g->end = (uint32_t)b->g->n_nodes - 1;
    if (iot_test_random(rng, 4)) { /* as a program ends: after all its lanes */
        uint32_t others = (uint32_t)b->g->n_nodes;
        b->g->end = node(b, 0, duration(rng, scale), 0, 0);
        for (uint32_t v = 0; v < others; v++)
            if (b->last[b->g->nodes[v].lane] == v)
                cross(b, v, b->g->end, duration(rng, 3));
    }
}

/* Edges from any node to any: against the clock, in a cycle of one moment, or true with slack.
 * None of them can delay a node. */
static void contradict(struct builder *b, uint64_t *rng)
{
    struct iot_graph *g = b->g;
    for (uint64_t k = iot_test_random(rng, 4); k > 0; k--)
        iot_graph_add_cross(g, (uint32_t)iot_test_random(rng, g->n_nodes),
                            (uint32_t)iot_test_random(rng, g->n_nodes),
                            (int64_t)iot_test_random(rng, 2));
}

void iot_test_random_graph(struct iot_graph *g, uint64_t seed)
{
    uint64_t rng = seed;
    struct builder b = begin(g);
    uint64_t scale = scales[iot_test_random(&rng, sizeof(scales) / sizeof(*scales))];

    if (iot_test_random(&rng, 2))
        random_pipeline(&b, &rng, scale, 2 + (int)iot_test_random(&rng, 4));
    else
        random_lanes(&b, &rng, scale, 1 + (uint32_t)iot_test_random(&rng, 11));
    if (iot_test_random(&rng, 3) == 0)
        contradict(&b, &rng);
}

void iot_test_large_graph(struct iot_graph *g, uint64_t seed)
{
    uint64_t rng = seed;
    struct builder b = begin(g);
    if (iot_test_random(&rng, 4))
        random_pipeline(&b, &rng, 1000000, 5 + (int)iot_test_random(&rng, 200));
    else
        random_lanes(&b, &rng, 1000000, 20 + (uint32_t)iot_test_random(&rng, 400));
}
