#include "tests/unit/programs.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/graphs.h"

enum { OBJECTS = 32 };

/* --- a program --- */

struct writing {
    struct iot_test_program *p;
    uint64_t state;
    uint32_t lane;
    int timed; /* has absolute timers */
};

static void step(struct writing *w, enum iot_test_step_kind kind, uint32_t object, int64_t ns)
{
    struct iot_test_program *p = w->p;
    if (p->n == IOT_TEST_PROGRAM_STEPS)
        abort();
    p->steps[p->n++] = (struct iot_test_step){
        .kind = (uint8_t)kind, .lane = w->lane, .object = object, .ns = ns};
}

static int64_t some_ns(struct writing *w)
{
    return 10 * (int64_t)(100 + iot_test_random(&w->state, 100000));
}

static void work(struct writing *w)
{
    int locked = iot_test_random(&w->state, 4) == 0;
    uint32_t mutex = (uint32_t)iot_test_random(&w->state, 2);
    if (locked)
        step(w, IOT_TEST_LOCK, mutex, 0);
    if (iot_test_random(&w->state, 4))
        step(w, IOT_TEST_IO, 0, some_ns(w));
    if (iot_test_random(&w->state, 3))
        step(w, IOT_TEST_COMPUTE, 0, some_ns(w));
    if (locked)
        step(w, IOT_TEST_UNLOCK, mutex, 0);
    if (w->timed && iot_test_random(&w->state, 4) == 0)
        step(w, IOT_TEST_UNTIL, 0, some_ns(w) / 2 - some_ns(w) / 3 + 1);
    step(w, IOT_TEST_COMPUTE, 0, some_ns(w) / 50);
}

/* Lane l hands on to next[l] (lane 0 is last): by a queue of two semaphores, free places 2 l and
 * items 2 l + 1, or by pipe l. */
static void hands_on(struct writing *w, const uint8_t *piped, uint32_t l)
{
    if (piped[l]) {
        step(w, IOT_TEST_PUT, l, some_ns(w) / 200 * 10);
    } else {
        step(w, IOT_TEST_TAKE, 2 * l, 0);
        step(w, IOT_TEST_POST, 2 * l + 1, 0);
    }
}

static void receives(struct writing *w, const uint8_t *piped, uint32_t l)
{
    if (piped[l]) {
        step(w, IOT_TEST_GET, l, some_ns(w) / 200 * 10);
    } else {
        step(w, IOT_TEST_TAKE, 2 * l + 1, 0);
        step(w, IOT_TEST_POST, 2 * l, 0);
    }
}

static void write_program(struct writing *w, int small, int64_t *initial)
{
    struct iot_test_program *p = w->p;
    uint8_t piped[IOT_TEST_PROGRAM_LANES] = {0};
    uint32_t next[IOT_TEST_PROGRAM_LANES] = {0};
    int items = small ? 2 : 3 + (int)iot_test_random(&w->state, 9);
    w->timed = iot_test_random(&w->state, 4) == 0;
    p->lanes = small ? 2 : 2 + iot_test_random(&w->state, IOT_TEST_PROGRAM_LANES - 2);
    p->latency = 1 + (int64_t)iot_test_random(&w->state, 3);
    p->start_up = (int64_t)iot_test_random(&w->state, 5000);
    for (uint32_t l = 1; l < p->lanes; l++) {
        piped[l] = iot_test_random(&w->state, 3) == 0;
        next[l] = (uint32_t)iot_test_random(&w->state, l);
        initial[2 * l] = 1 + (int64_t)iot_test_random(&w->state, 3);
    }
    for (uint32_t l = 0; l < p->lanes; l++) {
        w->lane = l;
        p->first[l] = p->n;
        for (uint32_t k = 1; l == 0 && k < p->lanes; k++)
            step(w, IOT_TEST_CREATE, k, some_ns(w) / 100);
        for (int item = 0; item < items; item++) {
            for (uint32_t from = 1; from < p->lanes; from++)
                if (next[from] == l)
                    receives(w, piped, from);
            work(w);
            if (l)
                hands_on(w, piped, l);
        }
        for (uint32_t k = 1; l == 0 && k < p->lanes; k++)
            step(w, IOT_TEST_JOIN, k, 0);
    }
    p->first[p->lanes] = p->n;
}

/* --- its run --- */

enum { NOT_YET = -1 };

struct queue {
    size_t items[IOT_TEST_PROGRAM_STEPS];
    size_t head, n;
};

static void push(struct queue *q, size_t item)
{
    q->items[q->n++] = item;
}

static int has(const struct queue *q)
{
    return q->head < q->n;
}

struct running {
    struct iot_test_program *p;
    int64_t ready[IOT_TEST_PROGRAM_LANES]; /* when the lane may go on; NOT_YET */
    size_t at[IOT_TEST_PROGRAM_LANES];
    int64_t initial[OBJECTS];
    struct queue waiting[3][OBJECTS]; /* steps, for a semaphore, mutex or pipe */
    struct queue posted[2][OBJECTS];  /* steps not yet taken, of a semaphore or pipe */
    int held[OBJECTS];
    size_t joining[IOT_TEST_PROGRAM_LANES]; /* the step that waits for the lane's end, + 1 */
    int64_t ended[IOT_TEST_PROGRAM_LANES];
};

static void goes_on(struct running *r, size_t s, int64_t end)
{
    r->p->steps[s].end = end;
    r->ready[r->p->steps[s].lane] = end;
}

static void waits(struct running *r, size_t s, struct queue *q)
{
    r->p->steps[s].waited = 1;
    r->ready[r->p->steps[s].lane] = NOT_YET;
    if (q)
        push(q, s);
}

static void woken(struct running *r, struct queue *q, size_t waker, int64_t t)
{
    size_t s = q->items[q->head++];
    r->p->steps[s].waker = waker;
    r->p->steps[s].has_waker = 1;
    goes_on(r, s, t + r->p->latency);
}

/* A step takes from what was posted, or waits for it. */
static void takes(struct running *r, size_t s, int pipe, int64_t t)
{
    struct iot_test_step *step = &r->p->steps[s];
    struct queue *posted = &r->posted[pipe][step->object];
    if (!pipe && r->initial[step->object] > 0) {
        r->initial[step->object]--;
        goes_on(r, s, t);
    } else if (has(posted)) {
        step->waker = posted->items[posted->head++];
        step->has_waker = 1;
        goes_on(r, s, t + step->ns);
    } else {
        waits(r, s, &r->waiting[pipe ? 2 : 0][step->object]);
    }
}

static void gives(struct running *r, size_t s, int pipe, int64_t t)
{
    const struct iot_test_step *step = &r->p->steps[s];
    struct queue *waiting = &r->waiting[pipe ? 2 : 0][step->object];
    if (has(waiting))
        woken(r, waiting, s, t);
    else
        push(&r->posted[pipe][step->object], s);
    goes_on(r, s, t + step->ns);
}

static void perform(struct running *r, size_t s, int64_t t)
{
    struct iot_test_step *step = &r->p->steps[s];
    uint32_t o = step->object;
    step->entry = t;
    step->seen = step->kind != IOT_TEST_COMPUTE && step->kind != IOT_TEST_LOCK &&
                 step->kind != IOT_TEST_UNLOCK;
    switch (step->kind) {
    case IOT_TEST_TAKE:
    case IOT_TEST_GET:
        takes(r, s, step->kind == IOT_TEST_GET, t);
        break;
    case IOT_TEST_POST:
    case IOT_TEST_PUT:
        gives(r, s, step->kind == IOT_TEST_PUT, t);
        break;
    case IOT_TEST_LOCK:
        if (r->held[o]) {
            step->seen = 1;
            waits(r, s, &r->waiting[1][o]);
        } else {
            r->held[o] = 1;
            goes_on(r, s, t);
        }
        break;
    case IOT_TEST_UNLOCK:
        if (has(&r->waiting[1][o])) {
            step->seen = 1;
            woken(r, &r->waiting[1][o], s, t);
        } else {
            r->held[o] = 0;
        }
        goes_on(r, s, t);
        break;
    case IOT_TEST_CREATE:
        r->ready[o] = t + r->p->start_up;
        goes_on(r, s, t + step->ns);
        break;
    case IOT_TEST_JOIN:
        if (r->ended[o] == NOT_YET) {
            r->joining[o] = s + 1;
            waits(r, s, NULL);
        } else {
            goes_on(r, s, t);
        }
        break;
    case IOT_TEST_UNTIL:
        step->until = t + step->ns;
        goes_on(r, s, step->ns > 0 ? step->until : t);
        break;
    default:
        goes_on(r, s, t + step->ns);
    }
}

static void ends(struct running *r, uint32_t l, int64_t t)
{
    r->ended[l] = t;
    r->ready[l] = NOT_YET;
    if (r->joining[l])
        goes_on(r, r->joining[l] - 1, t + r->p->latency);
}

/* Always the lane that may go on first: what a step does to others, it does at its entry. */
static void run(struct running *r)
{
    struct iot_test_program *p = r->p;
    for (uint32_t l = 0; l < p->lanes; l++) {
        r->ready[l] = l ? NOT_YET : 0;
        r->ended[l] = NOT_YET;
        r->at[l] = p->first[l];
    }
    for (;;) {
        uint32_t next = IOT_NO_INDEX;
        for (uint32_t l = 0; l < p->lanes; l++)
            if (r->ready[l] != NOT_YET && (next == IOT_NO_INDEX || r->ready[l] < r->ready[next]))
                next = l;
        if (next == IOT_NO_INDEX)
            return;
        if (r->at[next] == p->first[next + 1]) {
            ends(r, next, r->ready[next]);
            continue;
        }
        p->order[p->ran++] = r->at[next];
        perform(r, r->at[next]++, r->ready[next]);
    }
}

/* --- its trace --- */

static const uint16_t op_of[] = {
    [IOT_TEST_IO] = IOT_OP_PREAD,        [IOT_TEST_TAKE] = IOT_OP_SEM_WAIT,
    [IOT_TEST_POST] = IOT_OP_SEM_POST,   [IOT_TEST_LOCK] = IOT_OP_MUTEX_LOCK,
    [IOT_TEST_UNLOCK] = IOT_OP_MUTEX_UNLOCK, [IOT_TEST_PUT] = IOT_OP_WRITE,
    [IOT_TEST_GET] = IOT_OP_READ,        [IOT_TEST_CREATE] = IOT_OP_THREAD_CREATE,
    [IOT_TEST_JOIN] = IOT_OP_JOIN,       [IOT_TEST_UNTIL] = IOT_OP_SLEEP,
};

static void record(struct iot_test_program *p, size_t s)
{
    const struct iot_test_step *step = &p->steps[s];
    struct iot_events *e = &p->trace.events;
    size_t i = p->event[s] = e->n++;
    int piped = step->kind == IOT_TEST_PUT || step->kind == IOT_TEST_GET;
    e->t0_ns[i] = step->entry;
    e->t1_ns[i] = step->end;
    e->op[i] = op_of[step->kind];
    e->fd[i] = -1;
    e->file[i] = piped ? 1 + step->object : step->kind == IOT_TEST_IO ? 1 + OBJECTS : 0;
    e->bytes[i] = e->result[i] = piped ? 64 : step->kind == IOT_TEST_IO ? 4096 : 0;
    e->arg[i] = step->kind == IOT_TEST_UNTIL ? 1 : step->object;
    e->offset[i] = step->kind == IOT_TEST_UNTIL ? step->ns : 0;
    e->addr[i] = (step->kind == IOT_TEST_LOCK || step->kind == IOT_TEST_UNLOCK ? 0x1000 : 0x2000) +
                 8 * (uint64_t)step->object;
}

/* Before anything else in the main lane. */
static void record_value(struct iot_test_program *p, uint32_t semaphore)
{
    struct iot_events *e = &p->trace.events;
    size_t i = e->n++;
    e->op[i] = IOT_OP_SEM_INIT;
    e->fd[i] = -1;
    e->offset[i] = p->made_with[semaphore];
    e->addr[i] = 0x2000 + 8 * (uint64_t)semaphore;
}

static void make_trace(struct iot_test_program *p, const int64_t *ended)
{
    struct iot_trace *t = &p->trace;
    size_t n = p->n + OBJECTS + 1;
    static const char *const command[] = {"program", NULL};
    t->folder = t->damage = "";
    t->processes = calloc(1, sizeof *t->processes);
    t->lanes = calloc(p->lanes, sizeof *t->lanes);
    t->files = calloc(OBJECTS + 2, sizeof *t->files);
    t->n_processes = 1;
    t->n_lanes = p->lanes;
    t->n_files = OBJECTS + 2;
    t->events = (struct iot_events){
        0,
        calloc(n, sizeof(int64_t)), calloc(n, sizeof(int64_t)), calloc(n, sizeof(int64_t)),
        calloc(n, sizeof(int64_t)), calloc(n, sizeof(int64_t)), calloc(n, sizeof(uint64_t)),
        calloc(n, sizeof(uint32_t)), calloc(n, sizeof(uint32_t)), calloc(n, sizeof(uint32_t)),
        calloc(n, sizeof(int32_t)), calloc(n, sizeof(uint16_t)), calloc(n, sizeof(uint16_t)),
        calloc(n, sizeof(uint32_t))};
    for (size_t f = 0; f < t->n_files; f++)
        t->files[f] = (struct iot_file){
            .name = "", .pipe_bytes = 1 << 20, .ino = f,
            .kind = f && f <= OBJECTS ? IOT_FILE_PIPE : IOT_FILE_REGULAR};
    t->processes[0] = (struct iot_process){.pid = 1,
                                           .root = 1,
                                           .end = IOT_END_EXIT,
                                           .n_lanes = (uint32_t)p->lanes,
                                           .end_ns = ended[0],
                                           .source = "",
                                           .exe = "",
                                           .cwd = "",
                                           .host = "",
                                           .kernel = "",
                                           .cpu = "",
                                           .mounts = "",
                                           .imported = "",
                                           .command = command};
    for (uint32_t l = 0; l < p->lanes; l++) {
        struct iot_lane *lane = &t->lanes[l];
        *lane = (struct iot_lane){.number = l, .tid = l + 1, .first_event = t->events.n,
                                  .end_ns = ended[l], .start_ns = p->steps[p->first[l]].entry};
        for (uint32_t o = 0; l == 0 && o < OBJECTS; o++)
            record_value(p, o);
        for (size_t s = p->first[l]; s < p->first[l + 1]; s++)
            if (p->steps[s].seen)
                record(p, s);
        lane->n_events = t->events.n - lane->first_event;
    }
    t->wall_ns = ended[0];
}

struct iot_test_program *iot_test_program_new(uint64_t seed, int small)
{
    struct iot_test_program *p = calloc(1, sizeof *p);
    struct running *r = calloc(1, sizeof *r);
    struct writing w = {.p = p, .state = seed * 2 + 1};
    write_program(&w, small, r->initial);
    memcpy(p->made_with, r->initial, sizeof p->made_with);
    r->p = p;
    run(r);
    if (p->ran != p->n)
        abort(); /* stuck */
    make_trace(p, r->ended);
    free(r);
    return p;
}

void iot_test_program_free(struct iot_test_program *p)
{
    struct iot_events *e = &p->trace.events;
    void *columns[] = {e->t0_ns, e->t1_ns, e->bytes, e->result, e->offset, e->addr,
                       e->file,  e->file2, e->arg,   e->fd,     e->op,     e->err};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        free(columns[k]);
    free(p->trace.processes);
    free(p->trace.lanes);
    free(p->trace.files);
    free(p);
}

/* --- what it would take --- */

int64_t iot_test_program_takes(const struct iot_test_program *p, int tenths,
                               const uint8_t *without)
{
    int64_t entry[IOT_TEST_PROGRAM_STEPS] = {0}, end[IOT_TEST_PROGRAM_STEPS] = {0};
    int64_t begins[IOT_TEST_PROGRAM_LANES] = {0}, at[IOT_TEST_PROGRAM_LANES] = {0};
    /* The order of the run is one to go by, but that a waker comes after the wait that it ends: so
     * go over it until nothing changes. */
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t l = 0; l < p->lanes; l++)
            at[l] = begins[l];
        for (size_t k = 0; k < p->n; k++) {
            size_t s = p->order[k];
            const struct iot_test_step *step = &p->steps[s];
            int service = step->kind == IOT_TEST_IO || step->kind == IOT_TEST_PUT ||
                          (step->kind == IOT_TEST_GET && !step->waited);
            int64_t ns = !service ? step->ns : without && without[s] ? 0 : step->ns / 10 * tenths;
            int64_t t = at[step->lane], latency = step->waited ? p->latency : 0;
            ns = step->waited ? 0 : ns;
            int64_t from = step->has_waker ? entry[step->waker] + latency : 0;
            if (step->kind == IOT_TEST_JOIN)
                from = (p->first[step->object] < p->first[step->object + 1]
                            ? end[p->first[step->object + 1] - 1]
                            : 0) + latency;
            if (step->kind == IOT_TEST_UNTIL) {
                from = step->until;
                ns = 0;
            }
            int64_t then = (t > from ? t : from) + ns;
            /* What did not wait then is not entered before it is possible. */
            int64_t enters = step->waited ? t : then - ns;
            changed |= then != end[s] || entry[s] != enters;
            entry[s] = enters;
            end[s] = then;
            at[step->lane] = then;
            if (step->kind == IOT_TEST_CREATE && begins[step->object] != entry[s] + p->start_up) {
                begins[step->object] = entry[s] + p->start_up;
                changed = 1;
            }
        }
    }
    return at[0];
}
