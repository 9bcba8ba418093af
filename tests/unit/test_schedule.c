/* From a trace to its schedule: random programs, against a simulator that knows who let whom go on.
 * IOT_TEST_GRAPHS sets how many programs (10000). */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/compose.h"
#include "analyzer/model.h"
#include "analyzer/pieces.h"
#include "analyzer/schedule.h"
#include "tests/unit/brute.h"
#include "tests/unit/graphs.h"
#include "tests/unit/programs.h"
#include "tests/unit/runs.h"

static void check_sums(const struct iot_model *m, uint64_t seed)
{
    const struct iot_path_parts *p = &m->path;
    int64_t exposed = 0;
    for (size_t i = 0; i < m->trace->events.n; i++) {
        cr_assert(m->exposed_ns[i] >= 0 && m->exposed_ns[i] <= m->service_ns[i], "seed %" PRIu64,
                  seed);
        exposed += m->exposed_ns[i];
    }
    cr_assert_eq(exposed, p->io_ns, "seed %" PRIu64, seed);
    cr_assert_eq(p->compute_ns + p->io_ns + p->gpu_ns + p->sleep_ns + p->wake_ns + p->external_ns +
                     p->unexplained_ns,
                 m->wall_ns, "seed %" PRIu64, seed);
    cr_assert_eq(p->unexplained_ns, 0, "seed %" PRIu64, seed);
}

/* T is convex: it falls the less the further lambda goes down. */
static void check_curve(const struct iot_model *m, const struct iot_test_program *p, uint64_t seed)
{
    int64_t before = IOT_TIME_MAX;
    for (size_t k = 0; k < m->n_curve; k++) {
        int64_t takes = iot_test_program_takes(p, 10 - (int)k, NULL);
        cr_assert_eq(m->curve[k].time_ns, takes,
                     "seed %" PRIu64 ", lambda %g: %" PRId64 ", the simulator %" PRId64, seed,
                     m->curve[k].lambda, m->curve[k].time_ns, takes);
        if (k) {
            int64_t fall = m->curve[k - 1].time_ns - m->curve[k].time_ns;
            cr_assert(fall <= before, "seed %" PRIu64 ": not convex", seed);
            before = fall;
        }
    }
}

static void check_recoverable(const struct iot_model *m, const struct iot_test_program *p,
                              uint64_t seed)
{
    uint64_t state = seed;
    uint8_t without[IOT_TEST_PROGRAM_STEPS] = {0};
    uint8_t *selected = calloc(m->trace->events.n + 1, 1);
    for (size_t s = 0; s < p->n; s++)
        if (p->steps[s].seen && iot_test_random(&state, 2))
            without[s] = selected[p->event[s]] = 1;
    cr_assert_eq(m->wall_ns - iot_model_recoverable(m, selected),
                 iot_test_program_takes(p, 10, without), "seed %" PRIu64, seed);
    free(selected);
}

Test(schedule, random_programs_take_what_the_simulator_says)
{
    for (uint64_t seed = 1; seed <= iot_test_graphs(); seed++) {
        struct iot_test_program *p = iot_test_program_new(seed, 0);
        struct iot_model *m = iot_model_build(&p->trace);
        cr_assert_eq(m->wall_ns, p->trace.wall_ns, "seed %" PRIu64, seed);
        cr_assert_eq(m->replay_error_ns, 0, "seed %" PRIu64, seed);
        cr_assert_eq(m->cut_edges, 0, "seed %" PRIu64, seed);
        cr_assert_eq(m->unmatched_waits, 0, "seed %" PRIu64, seed);
        check_sums(m, seed);
        check_curve(m, p, seed);
        check_recoverable(m, p, seed);
        iot_model_free(m);
        iot_test_program_free(p);
    }
}

Test(schedule, exposed_is_that_of_all_paths)
{
    uint64_t programs = iot_test_graphs() / 5, checked = 0;
    for (uint64_t seed = 1; seed <= programs; seed++) {
        struct iot_test_program *p = iot_test_program_new(seed, 1);
        struct iot_model *m = iot_model_build(&p->trace);
        const struct iot_graph *g = &m->schedule->graph;
        if (g->n_edges <= 64) {
            struct iot_test_paths all = {0};
            double least[64], most[64];
            iot_test_all_paths(&all, g);
            iot_test_shares(&all, g->n_edges, least, most);
            for (size_t n = 0; n < g->n_edges; n++) {
                double share = (double)m->edge_share[n] / (double)IOT_SHARE_ONE;
                cr_assert(share >= least[n] - 1e-9 && share <= most[n] + 1e-9,
                          "seed %" PRIu64 ", edge %zu: %g, not in %g to %g", seed, n, share,
                          least[n], most[n]);
                const struct iot_edge *edge = &g->edges[n];
                for (size_t i = edge->call_first; i < edge->call_first + (size_t)edge->call_count;
                     i++) {
                    double exact = share * (double)m->service_ns[i];
                    double off = (double)m->exposed_ns[i] - exact;
                    cr_assert(off > -1.01 && off < 1.01, "seed %" PRIu64 ", call %zu", seed, i);
                }
            }
            free(all.paths);
            checked++;
        }
        iot_model_free(m);
        iot_test_program_free(p);
    }
    cr_assert(checked > programs / 4, "%" PRIu64 " small graphs", checked);
}

/* A read from 10 on, then a sleep until a moment, then computing for 20. */
static void check_timer(const char *exe, int64_t read_ns, int64_t due, int64_t t1, int64_t t0)
{
    struct iot_test_run *run = iot_test_run_new(t1);
    size_t i = iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/data"), 1, 10);
    run->t1[i] = 10 + read_ns;
    i = iot_test_run_event(run, IOT_OP_SLEEP, 0, 0, 10 + read_ns);
    run->result[i] = 0;
    run->arg[i] = 1;
    run->offset[i] = due - run->t0[i];
    run->t1[i] = due > run->t0[i] ? due : run->t0[i];
    run->processes[0].exe = exe;
    run->processes[0].end_ns = run->lanes[0].end_ns = t1;
    struct iot_model *m = iot_model_build(&run->trace);
    cr_expect_eq(m->wall_ns, t1);
    cr_expect_eq(m->replay_error_ns, 0);
    cr_expect_eq(m->curve[m->n_curve - 1].time_ns, t0, "a read of %" PRId64 ", due at %" PRId64,
                 read_ns, due);
    cr_expect_eq(m->exposed_ns[0], t1 - t0);
    cr_expect_eq(m->path.compute_ns, 30, "what the lane does, whatever held it");
    cr_expect_eq(m->path.sleep_ns, t0 - 30);
    cr_expect_eq(m->path.io_ns, t1 - t0);
    iot_model_free(m);
    iot_test_run_free(run);
}

Test(schedule, an_absolute_timer_is_held)
{
    check_timer("/bin/app", 50, 100, 120, 120); /* waited for the moment: the read is hidden */
    check_timer("/bin/app", 89, 100, 120, 120);
    check_timer("/bin/app", 150, 100, 180, 120); /* was late: what is after the moment is exposed */
    check_timer("/usr/bin/python3.11", 50, 100, 120, 70); /* time.sleep() */
    check_timer("/usr/bin/python3.11", 150, 100, 180, 30);
}

static size_t add_lock_event(struct iot_test_run *run, enum iot_op op, int64_t t0, int64_t t1)
{
    enum { CONDITION = 8, MUTEX = 16 };
    int of_mutex = op == IOT_OP_MUTEX_LOCK || op == IOT_OP_MUTEX_UNLOCK;
    size_t i = iot_test_run_event(run, op, iot_test_run_regular(run, "/dev/shm/locks"), 0, t0);
    run->t1[i] = t1;
    run->result[i] = 0;
    run->addr[i] = of_mutex ? MUTEX : CONDITION;
    run->offset[i] = op == IOT_OP_COND_WAIT ? MUTEX : 0;
    return i;
}

static void time_out(struct iot_test_run *run, int64_t t0, int64_t t1)
{
    size_t i = add_lock_event(run, IOT_OP_COND_WAIT, t0, t1);
    run->err[i] = ETIMEDOUT;
    run->result[i] = ETIMEDOUT;
}

/* The root waits in three pieces, as for an interpreter's lock, for who reads from 20 to 120, takes
 * the mutex that a piece began with, and signals. When a piece began holds nobody back: not who
 * takes the mutex, nor, if another one waits in pieces beside it, the root, whose wait ends with
 * the mutex that the other's last piece let go of. */
static void check_pieces(int beside)
{
    struct iot_test_run *run = iot_test_run_new(170);
    for (int64_t t0 = 10; t0 < 110; t0 += 50)
        time_out(run, t0, t0 + 50);
    add_lock_event(run, IOT_OP_COND_WAIT, 110, 150);
    run->processes[0].end_ns = run->lanes[0].end_ns = 170;
    iot_test_run_process(run, 200, 100);
    size_t read = iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/data"), 1, 20);
    run->t1[read] = 120;
    add_lock_event(run, IOT_OP_MUTEX_LOCK, 121, 121);
    add_lock_event(run, IOT_OP_COND_SIGNAL, 140, 140);
    add_lock_event(run, IOT_OP_MUTEX_UNLOCK, 141, 141);
    run->processes[1].end_ns = run->lanes[1].end_ns = 145;
    if (beside) {
        iot_test_run_process(run, 300, 100);
        for (int64_t t0 = 12; t0 < 170; t0 += 65) /* to 77, 142, 207 */
            time_out(run, t0, t0 + 65);
        run->processes[2].end_ns = run->lanes[2].end_ns = 210;
    }
    struct iot_model *m = iot_model_build(&run->trace);
    cr_expect_eq(m->replay_error_ns, 0);
    cr_expect_eq(m->curve[m->n_curve - 1].time_ns, 70, "%" PRId64,
                 m->curve[m->n_curve - 1].time_ns);
    cr_expect_eq(m->exposed_ns[read], 100);
    cr_expect_eq(m->path.sleep_ns, 0);
    iot_model_free(m);
    iot_test_run_free(run);
}

Test(schedule, a_wait_in_pieces_ends_when_it_is_signalled)
{
    check_pieces(0);
    check_pieces(1);
}

static void add_wait(struct iot_test_run *run, uint32_t child, int64_t t0, int64_t t1)
{
    size_t i = iot_test_run_event(run, IOT_OP_WAITPID, 0, 0, t0);
    run->t1[i] = t1;
    run->result[i] = child;
}

/* A child that waits for its own child before its parent comes to wait for it. */
Test(schedule, a_wait_that_began_before_the_parents_is_carried_on)
{
    enum { CHILD = 200, GRANDCHILD = 300 };
    struct iot_test_run *run = iot_test_run_new(1000000);
    add_wait(run, CHILD, 100000, 900000);
    run->processes[0].end_ns = run->lanes[0].end_ns = 1000000;
    iot_test_run_process(run, CHILD, 100);
    add_wait(run, GRANDCHILD, 50000, 800000);
    run->processes[1].end_ns = run->lanes[1].end_ns = 850000;
    iot_test_run_process(run, GRANDCHILD, CHILD);
    uint32_t file = iot_test_run_regular(run, "/data");
    size_t before = iot_test_run_event(run, IOT_OP_READ, file, 1000, 60000);
    size_t meanwhile = iot_test_run_event(run, IOT_OP_READ, file, 500000, 200000);
    run->processes[2].end_ns = run->lanes[2].end_ns = 750000;
    struct iot_model *m = iot_model_build(&run->trace);
    cr_expect(m->waited[before], "the parent carries the run yet");
    cr_expect_not(m->waited[meanwhile]);
    iot_model_free(m);
    iot_test_run_free(run);
}
