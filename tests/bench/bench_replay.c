/* How long the exact decomposition takes, and how much memory: 64 lanes, half of them producers
 * that read for the other half through queues, all services and times random, so that T has many
 * pieces. Every tenth call is followed by a put.
 *
 *     bench_replay [millions of calls ...]      default: 1 3 10
 */
#include "analyzer/expose.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { pairs = 32, depth = 4, calls_a_put = 10 };

static uint64_t state;

static int64_t some(int64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The lanes of one producer and its consumer; returns the consumer's last node. */
static uint32_t add_pair(struct iot_graph *g, uint32_t lane, size_t puts)
{
    uint32_t *got = malloc(puts * sizeof(*got));
    uint32_t producer = iot_graph_add_node(g, 0, lane), consumer = IOT_NO_NODE;
    int64_t free_at = 0; /* the consumer, from here on */

    if (!got)
        abort();
    iot_graph_add_cross(g, g->start, producer, 0);
    for (size_t i = 0; i < puts; i++) {
        uint32_t call = (uint32_t)g->n_calls;
        int64_t io = 0, decode = some(3000), compute = some(8000);
        for (int k = 0; k < calls_a_put; k++) {
            int64_t service = 200 + some(400);
            io += service;
            iot_graph_add_call(g, service);
        }
        int64_t at = g->nodes[producer].time_ns + decode + io;
        if (i >= depth)
            at = later(at, g->nodes[got[i - depth]].time_ns);
        uint32_t put = iot_graph_add_node(g, at, lane);
        iot_graph_add_lane(g, producer, put, decode, call, calls_a_put);
        if (i >= depth)
            iot_graph_add_cross(g, got[i - depth], put, 0);
        producer = put;

        int64_t last = consumer == IOT_NO_NODE ? 0 : g->nodes[consumer].time_ns;
        got[i] = iot_graph_add_node(g, later(at, free_at), lane + 1);
        iot_graph_add_cross(g, put, got[i], 0);
        if (consumer != IOT_NO_NODE)
            iot_graph_add_lane(g, consumer, got[i], free_at - last, 0, 0);
        consumer = got[i];
        free_at = g->nodes[consumer].time_ns + compute;
    }
    uint32_t end = iot_graph_add_node(g, free_at, lane + 1);
    iot_graph_add_lane(g, consumer, end, free_at - g->nodes[consumer].time_ns, 0, 0);
    free(got);
    return end;
}

static void build(struct iot_graph *g, size_t calls)
{
    uint32_t ends[pairs];
    int64_t last = 0;

    g->start = iot_graph_add_node(g, 0, 2 * pairs);
    for (uint32_t i = 0; i < pairs; i++) {
        ends[i] = add_pair(g, 2 * i, calls / pairs / calls_a_put);
        last = later(last, g->nodes[ends[i]].time_ns);
    }
    g->end = iot_graph_add_node(g, last, 2 * pairs);
    iot_graph_add_lane(g, g->start, g->end, 0, 0, 0);
    for (uint32_t i = 0; i < pairs; i++)
        iot_graph_add_cross(g, ends[i], g->end, 0);
}

static long peak_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss / 1024;
}

static void measure(size_t calls)
{
    struct iot_graph g = {0};
    struct iot_replay r;
    struct iot_exposure x;

    build(&g, calls);
    long built = peak_mib();
    double t0 = now();
    if (iot_graph_finish(&g) || g.node_errors || iot_replay_init(&r, &g))
        abort();
    double t1 = now();
    if (iot_expose(&x, &r, 0))
        abort();
    double t2 = now();
    int64_t sum = 0;
    for (size_t i = 0; i < g.n_calls; i++)
        sum += x.exposed_ns[i];
    if (sum != x.t1_ns - x.t0_ns)
        abort();
    uint8_t *class = calloc(g.n_calls, 1);
    double t3 = now();
    if (!class || iot_replay_recoverable(&r, class, 0) != sum)
        abort();
    double t4 = now();
    printf("%9zu %8zu %8zu  %6.3f %6.3f %6.3f %8.1f  %5ld %5ld  %5.1f %%\n", g.n_calls, g.n_nodes,
           g.n_edges, t1 - t0, t2 - t1, t2 - t0, 1e3 * (t4 - t3), built, peak_mib(),
           sum ? 100.0 * (double)x.exposed_error_ns / (double)sum : 0.0);
    free(class);
    iot_expose_free(&x);
    iot_replay_free(&r);
    iot_graph_free(&g);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"", "1", "3", "10"};
    const char *const *millions = argc > 1 ? (const char *const *)argv : usual;
    int n = argc > 1 ? argc : 4;

    printf("    calls    nodes    edges  finish expose    all  what-if  graph  peak    error\n"
           "                                  s      s      s       ms    MiB   MiB   of sum\n");
    for (int i = 1; i < n; i++) {
        fflush(stdout);
        pid_t child = fork(); /* a process each, so that the peak is its own */
        if (child == 0) {
            measure((size_t)(1e6 * strtod(millions[i], NULL)));
            exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            return 1;
    }
    return 0;
}
