/* The exact decomposition: the known answers, and random graphs against every path of them.
 * IOT_TEST_GRAPHS sets how many graphs (10000). */
#include "analyzer/expose.h"
#include "tests/unit/brute.h"
#include "tests/unit/graphs.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

struct run {
    struct iot_graph g;
    struct iot_replay r;
    struct iot_exposure x;
};

static void expose(struct run *run, int64_t budget)
{
    cr_assert(eq(int, iot_graph_finish(&run->g), 0), "%s", run->g.error);
    cr_assert(eq(int, iot_replay_init(&run->r, &run->g), 0));
    cr_assert(eq(int, iot_expose(&run->x, &run->r, budget), 0));
}

static void done(struct run *run)
{
    iot_expose_free(&run->x);
    iot_replay_free(&run->r);
    iot_graph_free(&run->g);
}

static int64_t exposed_sum(const struct run *run)
{
    int64_t sum = 0;
    for (size_t i = 0; i < run->g.n_calls; i++)
        sum += run->x.exposed_ns[i];
    return sum;
}

Test(expose, known_answers)
{
    static const struct {
        int64_t s, d, c;
        int depth;
        int64_t t1, t0, exposed;
    } rows[] = {
        {16, 0, 8, 1, 808, 400, 408}, {6, 0, 10, 1, 506, 500, 6},   {12, 4, 10, 1, 810, 504, 306},
        {6, 6, 9, 2, 609, 456, 153},  {20, 0, 0, 1, 1000, 0, 1000},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct run run;
        iot_test_pipeline(&run.g, rows[i].s, rows[i].d, rows[i].c, rows[i].depth, 50);
        expose(&run, 0);
        cr_expect(eq(i64, run.x.t1_ns, rows[i].t1));
        cr_expect(eq(i64, run.x.t0_ns, rows[i].t0));
        cr_expect(eq(i64, exposed_sum(&run), rows[i].exposed));
        cr_expect(eq(i64, run.x.exposed_error_ns, 0));
        done(&run);
    }
}

/* Each read of a pipeline that has run in: s - max(0, c - d), or 0 where s + d <= c. */
Test(expose, what_a_faster_disk_could_win_of_each_read)
{
    static const struct {
        int64_t s, d, c, each;
    } rows[] = {{16, 0, 8, 8}, {12, 4, 10, 6}, {6, 6, 9, 3}, {6, 0, 10, 0}, {7, 9, 5, 7}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct run run;
        iot_test_pipeline(&run.g, rows[i].s, rows[i].d, rows[i].c, 1, 50);
        expose(&run, 0);
        for (size_t k = 1; k < 50; k++)
            cr_expect(le(i64, llabs(run.x.exposed_ns[k] - rows[i].each), 1), "row %zu read %zu", i,
                      k);
        done(&run);
    }
}

Test(expose, one_call_beside_a_window)
{
    static const int64_t rows[][3] = {
        {10, 0, 10}, {10, 10, 0}, {10, 25, 0}, {12, 5, 7}, {8, 20, 0}, {0, 5, 0}, {0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct run run;
        iot_test_beside(&run.g, rows[i][0], rows[i][1]);
        expose(&run, 0);
        cr_expect(eq(i64, run.x.exposed_ns[0], rows[i][2]));
        cr_expect(eq(i64, run.x.exposed_error_ns, 0));
        done(&run);
    }
}

Test(expose, times_near_the_limit)
{
    const int64_t s = ((int64_t)1 << 52) + 12345, w = ((int64_t)1 << 51) + 777;
    struct run run;
    iot_test_beside(&run.g, s, w);
    expose(&run, 0);
    cr_expect(eq(i64, run.x.exposed_ns[0], s - w));
    cr_expect(eq(i64, run.x.exposed_error_ns, 0));
    done(&run);
}

/* Thirds of a nanosecond: no call gets more than its service, and nothing is lost. */
Test(expose, rounding_keeps_the_sum)
{
    struct run run = {.g = {0}};
    struct iot_graph *g = &run.g;
    enum { calls = 3000 };

    for (int i = 0; i < calls; i++)
        iot_graph_add_call(g, i % 3 ? 1 : 0); /* 2000 ns */
    g->start = iot_graph_add_node(g, 0, 0);
    g->end = iot_graph_add_node(g, 2000, 0);
    uint32_t first = iot_graph_add_node(g, 0, 1), last = iot_graph_add_node(g, 2000, 1);
    iot_graph_add_lane(g, g->start, g->end, 1334, 0, 0);
    iot_graph_add_lane(g, first, last, 0, 0, calls);
    iot_graph_add_cross(g, g->start, first, 0);
    iot_graph_add_cross(g, last, g->end, 0);
    expose(&run, 0);
    cr_expect(eq(i64, exposed_sum(&run), 666));
    for (size_t i = 0; i < calls; i++)
        cr_expect(run.x.exposed_ns[i] >= 0 && run.x.exposed_ns[i] <= g->call_service_ns[i]);
    for (size_t end = 300, from = 0; end <= calls; from = end, end += 300) {
        int64_t part = 0;
        for (size_t i = from; i < end; i++)
            part += run.x.exposed_ns[i];
        cr_expect(part == 66 || part == 67, "%zu: %ld", end, (long)part); /* a tenth, 66.6 */
    }
    done(&run);
}

/* Many pieces and a small budget: the error says so, the sum still holds, and a larger one ends it.
 */
Test(expose, a_small_budget_is_told)
{
    int64_t error = INT64_MAX;
    for (int64_t budget = 1; budget <= 100000; budget *= 10) {
        struct run run = {.g = {0}};
        struct iot_graph *g = &run.g;
        enum { lanes = 40 };
        g->start = iot_graph_add_node(g, 0, 0);
        g->end = iot_graph_add_node(g, 1000000, 0);
        iot_graph_add_lane(g, g->start, g->end, 0, 0, 0);
        for (int64_t i = 0; i < lanes; i++) { /* a parabola of tangents */
            int64_t io = i * 20000, base = 1000000 - io - (lanes - i) * (lanes - i) * 100;
            uint32_t call = iot_graph_add_call(g, io), lane = (uint32_t)i + 1;
            uint32_t first = iot_graph_add_node(g, 0, lane);
            uint32_t last = iot_graph_add_node(g, base + io, lane);
            iot_graph_add_cross(g, g->start, first, 0);
            iot_graph_add_lane(g, first, last, base, call, 1);
            iot_graph_add_cross(g, last, g->end, i + 1 == lanes ? 100 : 0);
        }
        expose(&run, budget);
        cr_expect(eq(sz, run.g.node_errors, 0));
        cr_expect(eq(i64, exposed_sum(&run), run.x.t1_ns - run.x.t0_ns));
        cr_expect(le(i64, run.x.exposed_error_ns, error));
        error = run.x.exposed_error_ns;
        cr_expect(budget > 1 || error > 0);
        done(&run);
    }
    cr_expect(eq(i64, error, 0));
}

/* --- random graphs against all their paths --- */

struct truth {
    struct iot_test_paths all;
    double least[64], most[64];
};

static void check_replay(struct run *run, const struct truth *t, uint64_t *rng)
{
    const struct iot_graph *g = &run->g;

    cr_assert(eq(i64, g->replay_error_ns, 0));
    cr_assert(eq(sz, g->node_errors, 0));
    for (int i = 0; i < 12; i++) {
        struct iot_lambda at = {0, 1 + (int64_t)iot_test_random(rng, i < 6 ? 8 : 1000000000)};
        at.num = (int64_t)iot_test_random(rng, (uint64_t)at.den + 1);
        struct iot_line line = iot_replay_run(&run->r, at);
        cr_assert(eq(int, iot_test_compare(line, iot_test_longest(&t->all, at), at), 0));

        struct iot_path path;
        uint32_t node = g->start;
        cr_assert(eq(int, iot_replay_path(&run->r, &path), 0));
        for (size_t k = 0; k < path.n_edges; k++) {
            const struct iot_edge *e = &g->edges[path.edges[k]];
            cr_assert(e->src == node && !e->cut);
            line.base_ns -= e->base_ns;
            line.io_ns -= e->io_ns;
            node = e->dst;
        }
        cr_assert(node == g->end && line.base_ns == 0 && line.io_ns == 0);
        free(path.edges);
    }
}

static void check_recoverable(struct run *run, const struct truth *t, uint64_t *rng)
{
    const struct iot_graph *g = &run->g;
    uint8_t class[128];
    int64_t io[64], service = 0;

    cr_assert(lt(sz, g->n_calls, 128));
    for (size_t i = 0; i < g->n_calls; i++) {
        class[i] = (uint8_t)iot_test_random(rng, 2);
        service += class[i] ? g->call_service_ns[i] : 0;
    }
    for (size_t e = 0; e < g->n_edges; e++) {
        io[e] = 0;
        for (uint32_t i = 0; i < g->edges[e].call_count; i++)
            if (!class[g->edges[e].call_first + i])
                io[e] += g->call_service_ns[g->edges[e].call_first + i];
    }
    int64_t gain = iot_replay_recoverable(&run->r, class, 1);
    cr_assert(eq(i64, gain, run->x.t1_ns - iot_test_t1_with(&t->all, g, io)));
    cr_assert(gain >= 0 && gain <= service);
}

static void check_exposure(const struct run *run, const struct truth *t)
{
    const struct iot_graph *g = &run->g;
    const struct iot_exposure *x = &run->x;
    double slack = 1.0 + (double)x->exposed_error_ns;
    double ulp = (double)x->t1_ns * 1e-14; /* of the doubles here */

    cr_assert(eq(i64, exposed_sum(run), x->t1_ns - x->t0_ns));
    for (size_t e = 0; e < g->n_edges; e++) {
        double least = 0, most = 0, got = 0, io = (double)g->edges[e].io_ns;
        cr_assert(x->edge_share[e] >= 0 && x->edge_share[e] <= IOT_SHARE_ONE);
        for (uint32_t i = 0; i < g->edges[e].call_count; i++) {
            uint32_t call = g->edges[e].call_first + i;
            int64_t exposed = x->exposed_ns[call], service = g->call_service_ns[call];
            cr_assert(exposed >= 0 && exposed <= service);
            cr_assert(t->least[e] * (double)service - slack - ulp < (double)exposed);
            cr_assert(t->most[e] * (double)service + slack + ulp > (double)exposed);
            got += (double)exposed;
        }
        least = t->least[e] * io;
        most = t->most[e] * io;
        cr_assert(got > least - slack - ulp && got < most + slack + ulp); /* not 1 ns a call */
        double share = (double)x->edge_share[e] / (double)IOT_SHARE_ONE;
        cr_assert(x->exposed_error_ns || (share > t->least[e] - 1e-9 && share < t->most[e] + 1e-9));
    }
}

static void check_curve(const struct run *run, const struct truth *t)
{
    const struct iot_exposure *x = &run->x;

    for (size_t i = 0; i <= IOT_CURVE_STEPS; i++) {
        struct iot_lambda at = x->curve[i].lambda;
        cr_assert(eq(i64, x->curve[i].t_ns, iot_line_ns(iot_test_longest(&t->all, at), at)));
        if (i > 0) {
            struct iot_lambda before = x->curve[i - 1].lambda;
            __int128 down = (__int128)before.num * at.den - (__int128)at.num * before.den;
            cr_assert(down > 0);
        }
    }
    cr_assert(eq(i64, x->curve[0].t_ns, x->t1_ns));
    cr_assert(eq(i64, x->curve[IOT_CURVE_STEPS].t_ns, x->t0_ns));
    int64_t base = 0;
    for (size_t k = 0; k < x->path0.n_edges; k++)
        base += run->g.edges[x->path0.edges[k]].base_ns;
    cr_assert(eq(i64, base, x->t0_ns));
    for (size_t k = 0; k < x->path1.n_edges; k++)
        base += run->g.edges[x->path1.edges[k]].base_ns + run->g.edges[x->path1.edges[k]].io_ns;
    cr_assert(eq(i64, base, x->t0_ns + x->t1_ns));
}

Test(expose, random_graphs_against_all_paths)
{
    uint64_t graphs = iot_test_graphs();
    size_t cut = 0, kept = 0, pieces = 0, inexact = 0;

    for (uint64_t seed = 0; seed < graphs; seed++) {
        uint64_t rng = ~seed;
        struct run run;
        struct truth t;

        iot_test_random_graph(&run.g, seed);
        expose(&run, seed % 4 ? 0 : 1);
        cr_assert(le(sz, run.g.n_edges, 64));
        iot_test_all_paths(&t.all, &run.g);
        iot_test_shares(&t.all, run.g.n_edges, t.least, t.most);
        cr_assert(seed % 4 == 0 || run.x.exposed_error_ns == 0, "seed %lu", (unsigned long)seed);
        check_exposure(&run, &t);
        check_curve(&run, &t);
        check_recoverable(&run, &t, &rng);
        check_replay(&run, &t, &rng);
        cut += run.g.cut_edges;
        kept += run.g.kept_waits;
        pieces += run.x.curve[5].t_ns < (run.x.t0_ns + run.x.t1_ns) / 2;
        inexact += run.x.exposed_error_ns > 0;
        free(t.all.paths);
        done(&run);
    }
    /* The generator makes what it says. */
    cr_expect(graphs < 1000 || (cut > graphs / 10 && kept > graphs / 50 && pieces > graphs / 10 &&
                                inexact > graphs / 1000));
}

/* --- larger graphs, where T has many pieces, against replays of the whole --- */

static void add_path_share(const struct run *run, double width, double *share)
{
    struct iot_path path;
    cr_assert(eq(int, iot_replay_path(&run->r, &path), 0));
    for (size_t k = 0; k < path.n_edges; k++)
        share[path.edges[k]] += width;
    free(path.edges);
}

/* The pieces between two tangents, by replays where two cross; returns how many more than two. */
static size_t whole_replays(struct run *run, struct iot_lambda left, struct iot_lambda right,
                            double *share)
{
    struct iot_line r = iot_replay_run(&run->r, right), l = iot_replay_run(&run->r, left);
    struct iot_lambda cross = {l.base_ns - r.base_ns, r.io_ns - l.io_ns};

    if (cross.den == 0) {
        add_path_share(run, (double)right.num / (double)right.den, share);
        add_path_share(run, -(double)left.num / (double)left.den, share);
        return 0;
    }
    if (iot_test_compare(iot_replay_run(&run->r, cross), l, cross) != 0)
        return 1 + whole_replays(run, left, cross, share) + whole_replays(run, cross, right, share);
    iot_replay_run(&run->r, left);
    add_path_share(run, (double)cross.num / (double)cross.den - (double)left.num / (double)left.den,
                   share);
    iot_replay_run(&run->r, right);
    add_path_share(
        run, (double)right.num / (double)right.den - (double)cross.num / (double)cross.den, share);
    return 0;
}

Test(expose, larger_graphs_against_whole_replays)
{
    uint64_t graphs = iot_test_graphs() / 10;
    size_t pieces = 0;

    for (uint64_t seed = 0; seed < graphs; seed++) {
        struct run run;
        iot_test_large_graph(&run.g, seed);
        expose(&run, 0);
        double *share = calloc(run.g.n_edges, sizeof(*share)), off = 0;
        cr_assert(eq(i64, run.x.exposed_error_ns, 0));
        cr_assert(eq(i64, exposed_sum(&run), run.x.t1_ns - run.x.t0_ns));
        pieces += whole_replays(&run, IOT_LAMBDA_0, IOT_LAMBDA_1, share);
        for (size_t e = 0; e < run.g.n_edges; e++)
            if (run.g.edges[e].io_ns > 0)
                off =
                    fmax(off, fabs(share[e] - (double)run.x.edge_share[e] / (double)IOT_SHARE_ONE));
        cr_assert(off < 1e-9, "seed %lu: a share is off by %g", (unsigned long)seed, off);
        free(share);
        done(&run);
    }
    cr_expect(graphs == 0 || pieces > 3 * graphs);
}
