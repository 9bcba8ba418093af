/* Graphs and their replay: the known answers, the walk's ties, and graphs that are none. */
#include "analyzer/replay.h"
#include "tests/unit/graphs.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <errno.h>

struct known {
    int64_t s, d, c;
    int depth;
    int64_t t1, t0;
};

ParameterizedTestParameters(replay, known_answers)
{
    static struct known rows[] = {
        {16, 0, 8, 1, 808, 400}, {6, 0, 10, 1, 506, 500}, {12, 4, 10, 1, 810, 504},
        {6, 6, 9, 2, 609, 456},  {20, 0, 0, 1, 1000, 0},
    };
    return cr_make_param_array(struct known, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct known *k, replay, known_answers)
{
    struct iot_graph g;
    struct iot_replay r;

    iot_test_pipeline(&g, k->s, k->d, k->c, k->depth, 50);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_assert(eq(sz, g.cut_edges, 0));
    cr_assert(eq(sz, g.node_errors, 0));
    cr_assert(eq(int, iot_replay_init(&r, &g), 0));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, IOT_LAMBDA_1), IOT_LAMBDA_1), k->t1));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, IOT_LAMBDA_0), IOT_LAMBDA_0), k->t0));
    cr_expect(eq(i64, g.nodes[g.end].time_ns, k->t1));
    iot_replay_free(&r);
    iot_graph_free(&g);
}

Test(replay, the_walk_at_1_meets_all_reads)
{
    struct iot_graph g;
    struct iot_replay r;

    iot_test_pipeline(&g, 16, 0, 8, 1, 50);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_assert(eq(int, iot_replay_init(&r, &g), 0));
    struct iot_line path = iot_replay_run(&r, IOT_LAMBDA_1);
    cr_expect(eq(i64, path.io_ns, 800));
    cr_expect(eq(i64, path.base_ns, 8));
    iot_replay_free(&r);
    iot_graph_free(&g);
}

Test(replay, half_as_slow_storage_and_other_services)
{
    struct iot_graph g;
    struct iot_replay r;
    int64_t service[50];
    const struct iot_lambda half = {1, 2}, third = {1, 3};

    iot_test_pipeline(&g, 16, 0, 6, 1, 50);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_assert(eq(int, iot_replay_init(&r, &g), 0));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, half), half), 406));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, third), third), 305)); /* 5 1/3 + 300 */

    for (size_t i = 0; i < 50; i++)
        service[i] = 8;
    cr_expect(eq(int, iot_replay_set_service(&r, service), 0));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, IOT_LAMBDA_1), IOT_LAMBDA_1), 406));
    service[49] = INT64_MAX;
    cr_expect(eq(int, iot_replay_set_service(&r, service), -ERANGE));
    service[49] = -1;
    cr_expect(eq(int, iot_replay_set_service(&r, service), -ERANGE));
    cr_expect(eq(int, iot_replay_set_service(&r, NULL), 0));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, IOT_LAMBDA_1), IOT_LAMBDA_1), 806));
    iot_replay_free(&r);
    iot_graph_free(&g);
}

Test(replay, recoverable_by_class)
{
    struct iot_graph g;
    struct iot_replay r;
    uint8_t class[50] = {0};

    iot_test_pipeline(&g, 16, 0, 8, 1, 50);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_assert(eq(int, iot_replay_init(&r, &g), 0));
    class[7] = class[8] = 1;
    /* Both are there with item 6, but item 8 has no place in the queue until item 7 is got, which
     * is 8 later: of 32 the run wins 24. */
    cr_expect(eq(i64, iot_replay_recoverable(&r, class, 1), 24));
    cr_expect(eq(i64, iot_replay_recoverable(&r, class, 2), 0));
    class[7] = class[8] = 0;
    cr_expect(eq(i64, iot_replay_recoverable(&r, class, 0), 408));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, IOT_LAMBDA_1), IOT_LAMBDA_1), 808));
    iot_replay_free(&r);
    iot_graph_free(&g);
}

/* Lanes 0 .. 3, each from start to end in 10 ns, joined in the end in the order given. */
static uint32_t lane_of_the_walk(const uint32_t *joined, size_t n, bool own)
{
    struct iot_graph g = {0};
    struct iot_replay r;
    struct iot_path path;

    g.start = iot_graph_add_node(&g, 0, 2);
    g.end = iot_graph_add_node(&g, 10, 2);
    for (size_t i = 0; i < n; i++) {
        uint32_t first = iot_graph_add_node(&g, 0, joined[i]);
        uint32_t last = iot_graph_add_node(&g, 10, joined[i]);
        iot_graph_add_cross(&g, last, g.end, 0);
        iot_graph_add_cross(&g, g.start, first, 0);
        iot_graph_add_lane(&g, first, last, 10, 0, 0);
    }
    iot_graph_add_lane(&g, g.start, g.end, own ? 10 : 9, 0, 0);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_assert(eq(int, iot_replay_init(&r, &g), 0));
    iot_replay_run(&r, IOT_LAMBDA_1);
    cr_assert(eq(int, iot_replay_path(&r, &path), 0));
    uint32_t lane = g.nodes[g.edges[path.edges[path.n_edges - 1]].src].lane;
    cr_expect(eq(u32, g.edges[path.edges[0]].src, g.start));
    free(path.edges);
    iot_replay_free(&r);
    iot_graph_free(&g);
    return lane;
}

Test(replay, ties_stay_in_the_lane_else_take_the_lowest)
{
    cr_expect(eq(u32, lane_of_the_walk((uint32_t[]){3, 0, 1}, 3, true), 2));
    cr_expect(eq(u32, lane_of_the_walk((uint32_t[]){3, 0, 1}, 3, false), 0));
    cr_expect(eq(u32, lane_of_the_walk((uint32_t[]){3, 4, 1}, 3, false), 1));
}

Test(graph, one_node)
{
    struct iot_graph g = {0};
    struct iot_replay r;
    struct iot_path path;

    iot_graph_add_node(&g, 5, 0);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_assert(eq(int, iot_replay_init(&r, &g), 0));
    cr_expect(eq(i64, iot_line_ns(iot_replay_run(&r, IOT_LAMBDA_1), IOT_LAMBDA_1), 0));
    cr_assert(eq(int, iot_replay_path(&r, &path), 0));
    cr_expect(eq(sz, path.n_edges, 0));
    free(path.edges);
    iot_replay_free(&r);
    iot_graph_free(&g);
}

Test(graph, none_at_all)
{
    struct iot_graph g = {0};
    cr_expect(eq(int, iot_graph_finish(&g), -EINVAL));
    cr_expect(ne(ptr, (void *)g.error, NULL));
    iot_graph_free(&g);
}

Test(graph, against_the_clock_is_cut_and_the_wait_kept)
{
    struct iot_graph g = {0};
    iot_graph_add_node(&g, 0, 0);
    uint32_t woken = iot_graph_add_node(&g, 40, 0);
    g.end = iot_graph_add_node(&g, 50, 0);
    uint32_t waker = iot_graph_add_node(&g, 41, 1); /* nothing leads to it */
    iot_graph_add_call(&g, 3);
    uint32_t wait = iot_graph_add_lane(&g, g.start, woken, 10, 0, 1);
    iot_graph_add_lane(&g, woken, g.end, 10, 0, 0);
    uint32_t late = iot_graph_add_cross(&g, waker, woken, 0);

    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_expect(eq(sz, g.cut_edges, 1));
    cr_expect(eq(sz, g.kept_waits, 1));
    cr_expect(eq(u8, g.edges[late].cut, IOT_CUT_CLOCK));
    cr_expect(eq(i64, g.edges[wait].base_ns, 37)); /* 40 less the call */
    cr_expect(eq(sz, g.n_edges, 4));
    cr_expect(eq(u8, g.edges[3].kind, IOT_EDGE_START));
    cr_expect(eq(i64, g.edges[3].base_ns, 41));
    cr_expect(eq(sz, g.node_errors, 0));
    cr_expect(eq(i64, g.replay_error_ns, 0));
    iot_graph_free(&g);
}

/* Two lanes that wait for each other in one moment, and a third behind them. */
Test(graph, a_cycle_is_cut_once_and_only_there)
{
    struct iot_graph g = {0};
    iot_graph_add_node(&g, 0, 0);
    uint32_t behind = iot_graph_add_node(&g, 10, 2); /* the lowest index: looked at first */
    uint32_t a = iot_graph_add_node(&g, 10, 0), b = iot_graph_add_node(&g, 10, 1);
    uint32_t first_b = iot_graph_add_node(&g, 0, 1);
    g.end = iot_graph_add_node(&g, 12, 2);
    iot_graph_add_lane(&g, g.start, a, 4, 0, 0);
    iot_graph_add_lane(&g, first_b, b, 10, 0, 0);
    iot_graph_add_lane(&g, behind, g.end, 2, 0, 0);
    iot_graph_add_cross(&g, g.start, first_b, 0);
    uint32_t ab = iot_graph_add_cross(&g, a, b, 0), ba = iot_graph_add_cross(&g, b, a, 0);
    uint32_t out = iot_graph_add_cross(&g, a, behind, 0);

    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_expect(eq(sz, g.cut_edges, 1));
    cr_expect(eq(int, g.edges[ab].cut + g.edges[ba].cut, IOT_CUT_CYCLE));
    cr_expect(eq(u8, g.edges[out].cut, 0));
    cr_expect(eq(sz, g.node_errors, 0));
    iot_graph_free(&g);
}

Test(graph, many_cycles_of_one_moment)
{
    struct iot_graph g = {0};
    enum { lanes = 200000 }; /* minutes, if each looked at all that are left */

    for (uint32_t v = 0; v < lanes; v++)
        iot_graph_add_node(&g, 0, v);
    for (uint32_t v = 0; v < lanes; v++) {
        iot_graph_add_cross(&g, v, (v + 1) % lanes, 0);
        iot_graph_add_cross(&g, (v + 1) % lanes, v, 0);
        iot_graph_add_cross(&g, v, v, 0);
    }
    g.end = lanes / 2;
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_expect(ge(sz, g.cut_edges, lanes + 2)); /* every v to v, and what comes back to start */
    cr_expect(eq(sz, g.node_errors, 0));
    iot_graph_free(&g);
}

Test(graph, what_does_not_add_up_is_told)
{
    struct iot_graph g = {0};
    iot_graph_add_node(&g, 0, 0);
    uint32_t v = iot_graph_add_node(&g, 10, 0);
    g.end = iot_graph_add_node(&g, 20, 0);
    iot_graph_add_lane(&g, 0, v, 13, 0, 0);
    iot_graph_add_lane(&g, v, g.end, 9, 0, 0);
    cr_assert(eq(int, iot_graph_finish(&g), 0));
    cr_expect(eq(sz, g.node_errors, 2));
    cr_expect(eq(i64, g.replay_error_ns, 2));
    iot_graph_free(&g);
}

/* A graph of two lanes with a call, right but for what `spoil` does to it. */
static int refused(void (*spoil)(struct iot_graph *g))
{
    struct iot_graph g = {0};
    iot_graph_add_node(&g, 0, 0);
    g.end = iot_graph_add_node(&g, 10, 0);
    iot_graph_add_node(&g, 3, 1);
    iot_graph_add_node(&g, 4, 1);
    iot_graph_add_call(&g, 4);
    iot_graph_add_lane(&g, 0, 1, 6, 0, 1);
    iot_graph_add_lane(&g, 2, 3, 1, 0, 0);
    iot_graph_add_cross(&g, 3, 1, 0);
    if (spoil)
        spoil(&g);
    int err = iot_graph_finish(&g);
    cr_expect(err == 0 || g.error);
    iot_graph_free(&g);
    return err;
}

static void bad_start(struct iot_graph *g)
{
    g->start = 9;
}
static void bad_end(struct iot_graph *g)
{
    g->end = 4;
}
static void bad_node(struct iot_graph *g)
{
    g->edges[2].src = 4;
}
static void negative_time(struct iot_graph *g)
{
    g->nodes[2].time_ns = -1;
}
static void before_start(struct iot_graph *g)
{
    g->nodes[0].time_ns = 4;
}
static void negative_base(struct iot_graph *g)
{
    g->edges[2].base_ns = -1;
}
static void huge_base(struct iot_graph *g)
{
    g->edges[0].base_ns = IOT_TIME_MAX;
}
static void negative_service(struct iot_graph *g)
{
    g->call_service_ns[0] = -4;
    g->edges[0].io_ns = -4;
}
static void wrong_sum(struct iot_graph *g)
{
    g->edges[0].io_ns = 5;
}
static void io_without_calls(struct iot_graph *g)
{
    g->edges[1].io_ns = 5;
}
static void calls_not_there(struct iot_graph *g)
{
    g->edges[0].call_count = 2;
}
static void calls_twice(struct iot_graph *g)
{
    g->edges[1].call_count = 1;
    g->edges[1].io_ns = 4;
}
static void cross_with_calls(struct iot_graph *g)
{
    g->edges[0].kind = IOT_EDGE_CROSS;
}
static void lane_backwards(struct iot_graph *g)
{
    g->nodes[2].time_ns = 5;
}
static void lane_changes(struct iot_graph *g)
{
    g->nodes[3].lane = 2;
}
static void lane_into_start(struct iot_graph *g)
{
    g->start = 3;
    g->nodes[3].time_ns = 0;
    g->nodes[2].time_ns = 0;
}
static void two_lane_edges(struct iot_graph *g)
{
    iot_graph_add_lane(g, 2, 3, 0, 0, 0);
}
static void lane_circle(struct iot_graph *g)
{
    g->nodes[3].time_ns = 3;
    iot_graph_add_lane(g, 3, 2, 0, 0, 0);
}
static void unknown_kind(struct iot_graph *g)
{
    g->edges[2].kind = IOT_EDGE_START;
}
static void adds_up_to_too_much(struct iot_graph *g)
{
    g->edges[0].base_ns = IOT_TIME_MAX - 1;
}

Test(graph, mistakes_are_refused)
{
    static void (*const spoil[])(struct iot_graph *) = {
        bad_start,       bad_end,          bad_node,    negative_time,    before_start,
        negative_base,   huge_base,        wrong_sum,   negative_service, io_without_calls,
        calls_not_there, cross_with_calls, calls_twice, lane_backwards,   lane_changes,
        lane_into_start, two_lane_edges,   lane_circle, unknown_kind,     adds_up_to_too_much,
    };
    cr_expect(eq(int, refused(NULL), 0));
    for (size_t i = 0; i < sizeof(spoil) / sizeof(*spoil); i++)
        cr_expect(eq(int, refused(spoil[i]), -EINVAL), "mistake %zu", i);
}
