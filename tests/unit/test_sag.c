/* What is ruled out on an interval, against replays within it. IOT_TEST_GRAPHS sets how many
 * graphs (10000). */
#include "analyzer/replay.h"
#include "analyzer/sag.h"
#include "tests/unit/graphs.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

struct run {
    struct iot_graph g;
    struct iot_replay r;
    struct iot_interval v;
    struct iot_sag *room;
    bool *never;
    size_t n_open;
};

static struct iot_longest replayed(struct iot_replay *r, struct iot_lambda lambda)
{
    size_t n = r->dag.n_nodes;
    struct iot_longest longest = {malloc(n * sizeof(*longest.at)),
                                  malloc(n * sizeof(*longest.slot))};
    iot_dag_run(&r->dag, lambda, &longest);
    return longest;
}

/* What run->r.dag is left with from left to right. */
static void bound(struct run *run, struct iot_lambda left, struct iot_lambda right)
{
    const struct iot_dag *dag = &run->r.dag;

    run->v = (struct iot_interval){left, right, replayed(&run->r, left), replayed(&run->r, right)};
    run->room = malloc(dag->n_nodes * sizeof(*run->room));
    run->never = malloc((dag->in_first[dag->n_nodes] + 1) * sizeof(*run->never));
    run->n_open = iot_sag_never(dag, &run->v, run->room, run->never);
}

static void done(struct run *run)
{
    free(run->v.at_left.at);
    free(run->v.at_left.slot);
    free(run->v.at_right.at);
    free(run->v.at_right.slot);
    free(run->room);
    free(run->never);
    iot_replay_free(&run->r);
    iot_graph_free(&run->g);
}

/* At a lambda inside; says how many slots are on no longest path there. */
static size_t check_at(const struct run *run, struct iot_lambda lambda)
{
    const struct iot_dag *dag = &run->r.dag;
    struct iot_longest longest = replayed((struct iot_replay *)&run->r, lambda);
    size_t shorter = 0;

    for (uint32_t p = 1; p < dag->n_nodes; p++)
        for (uint32_t k = dag->in_first[p]; k < dag->in_first[p + 1]; k++) {
            bool is_longest =
                iot_line_difference(longest.at[p], iot_dag_extend(dag, k, longest.at), lambda) == 0;
            cr_assert(not(is_longest && run->never[k]), "slot %u", k);
            shorter += !is_longest;
        }
    free(longest.at);
    free(longest.slot);
    return shorter;
}

Test(sag, what_is_ruled_out_is_on_no_longest_path)
{
    uint64_t graphs = iot_test_graphs();
    size_t shorter = 0, ruled_out = 0;

    for (uint64_t seed = 0; seed < graphs; seed++) {
        uint64_t rng = ~seed;
        struct run run = {.g = {0}};
        int64_t den = 1 + (int64_t)iot_test_random(&rng, 30);
        int64_t left = (int64_t)iot_test_random(&rng, (uint64_t)den);
        int64_t right = left + 1 + (int64_t)iot_test_random(&rng, (uint64_t)(den - left));

        (seed % 10 ? iot_test_random_graph : iot_test_large_graph)(&run.g, seed);
        cr_assert(eq(int, iot_graph_finish(&run.g), 0), "%s", run.g.error);
        cr_assert(eq(int, iot_replay_init(&run.r, &run.g), 0));
        bound(&run, (struct iot_lambda){left, den}, (struct iot_lambda){right, den});
        for (int64_t i = 1; i < 20; i++)
            shorter +=
                check_at(&run, (struct iot_lambda){left * 20 + i * (right - left), den * 20});
        for (uint32_t k = 0; k < run.r.dag.in_first[run.r.dag.n_nodes]; k++)
            ruled_out += 19 * run.never[k];
        done(&run);
    }
    cr_expect(ruled_out > shorter / 2, "%zu of %zu", ruled_out,
              shorter); /* else it says too little */
}

/* --- graphs without a run --- */

static struct iot_dag room_for(size_t n, size_t n_slots)
{
    struct iot_dag dag = {.n_nodes = 0, /* they are counted as they come */
                          .in_first = calloc(n + 1, sizeof(*dag.in_first)),
                          .src = malloc(n_slots * sizeof(*dag.src)),
                          .base_ns = malloc(n_slots * sizeof(*dag.base_ns)),
                          .io_ns = malloc(n_slots * sizeof(*dag.io_ns))};
    return dag;
}

static uint32_t add_node(struct iot_dag *dag)
{
    uint32_t node = (uint32_t)dag->n_nodes++;
    dag->in_first[node + 1] = dag->in_first[node];
    return node;
}

/* Into the node added last. */
static void add_slot(struct iot_dag *dag, uint32_t src, int64_t base, int64_t io)
{
    uint32_t slot = dag->in_first[dag->n_nodes]++;
    dag->src[slot] = src;
    dag->base_ns[slot] = base;
    dag->io_ns[slot] = io;
}

static uint32_t add_chain(struct iot_dag *dag, uint32_t from, int n)
{
    while (n-- > 0) {
        uint32_t node = add_node(dag);
        add_slot(dag, from, 0, 0);
        from = node;
    }
    return from;
}

/* r sags, and q after it much less, as a side path is the longest in the middle, though at neither
 * end. So one that comes past q from r sags more than q: to p, from r at the ends, the longest
 * path in the middle is that from q. */
Test(sag, a_side_path_between_two_references)
{
    struct run run = {.r.dag = room_for(5000, 5000)};
    struct iot_dag *dag = &run.r.dag;
    uint32_t start = add_node(dag), r = add_node(dag);

    add_slot(dag, start, 2000, 0);
    add_slot(dag, start, 0, 4000);
    uint32_t before_q = add_chain(dag, r, 1100), q = add_node(dag);
    add_slot(dag, before_q, 0, 0);
    add_slot(dag, start, 1990, 2000);
    uint32_t after_q = add_chain(dag, q, 1100), p = add_node(dag);
    add_slot(dag, before_q, 500, 0);
    add_slot(dag, after_q, 400, 0);
    add_node(dag);
    add_slot(dag, after_q, 1000, 0);
    add_slot(dag, p, 0, 0);
    bound(&run, IOT_LAMBDA_0, IOT_LAMBDA_1);
    check_at(&run, (struct iot_lambda){1, 2});
    cr_expect(eq(int, run.never[dag->in_first[p] + 1], false));
    cr_expect(eq(int, run.never[dag->in_first[p + 1] + 1], true)); /* past q, and shorter */
    done(&run);
}

/* --- rings of lanes, each of which waits in each round for the one before it --- */

static int64_t some(uint64_t *rng)
{
    return (int64_t)iot_test_random(rng, 10000);
}

static struct iot_dag ring(uint32_t lanes, uint32_t rounds, uint64_t seed)
{
    size_t n = (size_t)rounds * lanes + 2;
    struct iot_dag dag = room_for(n, 2 * n + lanes);
    uint32_t first = add_node(&dag), node = first;

    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            node = add_node(&dag);
            uint32_t before = round ? node - lanes : first;
            add_slot(&dag, before, some(&seed), some(&seed));
            if (round)
                add_slot(&dag, before + (lane ? 0 : lanes) - 1, some(&seed), 0);
        }
    add_node(&dag);
    for (uint32_t lane = 0; lane < lanes; lane++)
        add_slot(&dag, node - lane, 0, 0);
    return dag;
}

/* The share of nodes at which a choice is left on the num-th of so many parts of lambda. */
static double open_share(struct iot_dag dag, int64_t num, int64_t parts)
{
    struct run run = {.r.dag = dag};

    bound(&run, (struct iot_lambda){num, parts}, (struct iot_lambda){num + 1, parts});
    for (int64_t i = 1; i < 4; i++)
        check_at(&run, (struct iot_lambda){4 * num + i, 4 * parts});
    double share = (double)run.n_open / (double)dag.n_nodes;
    done(&run);
    return share;
}

Test(sag, nor_is_it_where_references_change)
{
    for (uint64_t seed = 0; seed < iot_test_graphs() / 50; seed++)
        open_share(ring(2 + seed % 7, 3000, seed), (int64_t)(seed % 3), 3 + (int64_t)(seed % 20));
}

Test(sag, as_little_is_open_in_a_long_run)
{
    for (int64_t num = 0; num < 20; num += 6) {
        double brief = open_share(ring(8, 1000, 1), num, 20);
        double lengthy = open_share(ring(8, 30000, 1), num, 20);
        cr_expect(lengthy < 1.5 * brief, "at %ld twentieths %g of a brief run, %g of a long one",
                  (long)num, brief, lengthy);
        cr_expect(brief > 0.01 && brief < 0.05, "%g", brief);
    }
}
