/* The critical path, stretch by stretch: on random programs it tiles the run, adds up to what the
 * path is made of, and goes from lane to lane where the simulator let somebody go on. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/compose.h"
#include "analyzer/path_walk.h"
#include "analyzer/schedule.h"
#include "tests/unit/graphs.h"
#include "tests/unit/programs.h"

struct checked {
    const struct iot_test_program *program;
    const struct iot_model *model;
    uint64_t seed;
    int64_t now_ns, parts[IOT_STRETCH_KINDS];
    uint32_t lane;
    size_t overs, known;
};

static uint32_t lane_of(const struct iot_trace *t, uint32_t event)
{
    uint32_t l = 0;
    while (event < t->lanes[l].first_event ||
           event >= t->lanes[l].first_event + t->lanes[l].n_events)
        l++;
    return l;
}

static size_t step_of(const struct iot_test_program *p, uint32_t event)
{
    size_t s = 0;
    while (s < p->n && !(p->steps[s].seen && p->event[s] == event))
        s++;
    return s;
}

/* The simulator knows who let the other go on. */
static void check_over(struct checked *c, const struct iot_stretch *s)
{
    const struct iot_test_program *p = c->program;
    const struct iot_hand_over *o = &s->over;
    cr_assert_neq(o->from, s->lane);
    cr_assert(o->at_ns <= s->start_ns);
    c->overs++;
    if (o->waker != IOT_NO_INDEX)
        cr_assert_eq(lane_of(&p->trace, o->waker), o->from, "seed %" PRIu64, c->seed);
    if (o->wait == IOT_NO_INDEX)
        return;
    cr_assert_eq(lane_of(&p->trace, o->wait), s->lane, "seed %" PRIu64, c->seed);
    size_t wait = step_of(p, o->wait);
    cr_assert(wait < p->n, "seed %" PRIu64, c->seed);
    if (p->steps[wait].kind == IOT_TEST_JOIN || o->waker == IOT_NO_INDEX)
        return;
    cr_assert(p->steps[wait].has_waker, "seed %" PRIu64, c->seed);
    cr_assert_eq(step_of(p, o->waker), p->steps[wait].waker, "seed %" PRIu64, c->seed);
    c->known++;
}

static int check(void *user, const struct iot_stretch *s)
{
    struct checked *c = user;
    const struct iot_events *e = &c->program->trace.events;
    cr_assert_eq(s->start_ns, c->now_ns, "seed %" PRIu64, c->seed);
    cr_assert(s->end_ns > s->start_ns);
    if (s->over.from != IOT_NO_INDEX)
        check_over(c, s);
    if (s->kind == IOT_STRETCH_IO) {
        cr_assert_eq(s->start_ns, e->t0_ns[s->event], "seed %" PRIu64, c->seed);
        cr_assert_eq(s->end_ns, e->t1_ns[s->event], "seed %" PRIu64, c->seed);
    }
    c->parts[s->kind] += s->end_ns - s->start_ns;
    c->now_ns = s->end_ns;
    c->lane = s->lane;
    return 0;
}

Test(path_walk, tiles_the_run_and_says_who_let_whom_go_on)
{
    size_t overs = 0, known = 0;
    for (uint64_t seed = 1; seed <= iot_test_graphs() / 5; seed++) {
        struct iot_test_program *p = iot_test_program_new(seed, 0);
        struct iot_model *m = iot_model_build(&p->trace);
        struct checked c = {.program = p, .model = m, .seed = seed};
        struct iot_path_parts parts;
        struct iot_path path;

        cr_assert_eq(iot_path_walk(m, check, &c), 0);
        cr_assert_eq(c.now_ns, m->wall_ns, "seed %" PRIu64, seed);
        iot_replay_run(&m->schedule->replay, IOT_LAMBDA_1);
        cr_assert_eq(iot_replay_path(&m->schedule->replay, &path), 0);
        iot_compose(m, &path, m->service_ns, &parts);
        cr_assert_eq(c.parts[IOT_STRETCH_IO], parts.io_ns, "seed %" PRIu64, seed);
        cr_assert_eq(c.parts[IOT_STRETCH_COMPUTE], parts.compute_ns, "seed %" PRIu64, seed);
        cr_assert_eq(c.parts[IOT_STRETCH_WAKE], parts.wake_ns, "seed %" PRIu64, seed);
        cr_assert_eq(c.parts[IOT_STRETCH_UNEXPLAINED], 0, "seed %" PRIu64, seed);
        overs += c.overs;
        known += c.known;
        free(path.edges);
        iot_model_free(m);
        iot_test_program_free(p);
    }
    cr_assert(known > overs / 4 && known, "%zu of %zu hand-overs are known", known, overs);
}

static int stop(void *user, const struct iot_stretch *s)
{
    (void)s;
    ++*(int *)user;
    return 7;
}

Test(path_walk, ends_with_what_the_stretch_returns)
{
    struct iot_test_program *p = iot_test_program_new(3, 0);
    struct iot_model *m = iot_model_build(&p->trace);
    int called = 0;
    cr_assert_eq(iot_path_walk(m, stop, &called), 7);
    cr_assert_eq(called, 1);
    iot_model_free(m);
    iot_test_program_free(p);
}
