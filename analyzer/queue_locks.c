#include "analyzer/queue_locks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role { TAKES, POSTS, INITS, GIVES_UP }; /* the last: a wait that timed out */

/* How many acts on others lie at most between two of a lane that belong together. */
enum { NEAR = 16 };

/* What a lane did to a semaphore. */
struct act {
    uint64_t owner, address;
    int64_t t_ns, value; /* value: that it is made with */
    uint32_t lane, object;
    uint8_t role;
    uint8_t goes_on; /* a release, to wait and to take the lock again */
    uint8_t void_;   /* a release after a wait that timed out */
};

/* A semaphore, from when it was made until another one was at its address. */
struct object {
    size_t first, n; /* in the order of time */
    uint8_t is_lock, held;
    uint32_t holder;
    /* of what somebody waits for: the lock, and the lane; IOT_NO_INDEX none */
    uint32_t guard, waiter;
};

struct notice {
    uint32_t lock, from, to;
};

struct finding {
    const struct iot_trace *trace;
    struct iot_arena *arena;
    iot_queue_found *found;
    void *user;
    struct act *acts;   /* by lane, as they came */
    uint32_t *by_time;  /* by semaphore, then time */
    struct object *objects;
    struct notice *notices;
    struct iot_move *moves;
    uint8_t *side; /* by lane: 0 not known, 1, 2 */
    size_t n, n_objects, n_notices;
};

static int act_of(const struct iot_trace *trace, size_t i, uint32_t l, struct act *to)
{
    const struct iot_events *e = &trace->events;
    *to =
        (struct act){.owner = e->file[i] ? (uint64_t)1 << 32 | e->file[i] : trace->lanes[l].process,
                     .address = e->addr[i],
                     .t_ns = e->t0_ns[i],
                     .lane = l};
    switch (e->op[i]) {
    case IOT_OP_SEM_INIT:
        to->role = INITS;
        to->value = e->offset[i];
        return 1;
    case IOT_OP_SEM_POST:
        to->role = POSTS;
        return !e->err[i];
    case IOT_OP_SEM_WAIT:
        to->role = e->err[i] ? GIVES_UP : TAKES;
        to->t_ns = e->t1_ns[i];
        return !e->err[i] || e->err[i] == ETIMEDOUT;
    default:
        return 0;
    }
}

static size_t gather(struct finding *f, int keep)
{
    const struct iot_trace *t = f->trace;
    struct act act;
    size_t n = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++)
        for (size_t i = t->lanes[l].first_event, k = 0; k < t->lanes[l].n_events; i++, k++)
            if (act_of(t, i, l, &act)) {
                if (keep)
                    f->acts[n] = act;
                n++;
            }
    return n;
}

static int by_semaphore(const void *a, const void *b, void *acts)
{
    const struct act *x = (const struct act *)acts + *(const uint32_t *)a;
    const struct act *y = (const struct act *)acts + *(const uint32_t *)b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Is it still one that only its holder posts? */
static void hold(struct object *o, const struct act *a)
{
    if (a->role == TAKES) {
        o->is_lock &= !o->held;
        o->held = 1;
        o->holder = a->lane;
    } else if (a->role == POSTS) {
        o->is_lock &= o->held && o->holder == a->lane;
        o->held = 0;
    }
}

static void find_objects(struct finding *f)
{
    struct object *o = NULL;
    for (size_t k = 0; k < f->n; k++) {
        struct act *a = &f->acts[f->by_time[k]];
        const struct act *before = k ? &f->acts[f->by_time[k - 1]] : NULL;
        if (!o || a->role == INITS || a->owner != before->owner || a->address != before->address) {
            o = &f->objects[f->n_objects++];
            *o = (struct object){.first = k,
                                 .is_lock = a->role == INITS && a->value == 1,
                                 .guard = IOT_NO_INDEX,
                                 .waiter = IOT_NO_INDEX};
        }
        o->n++;
        a->object = (uint32_t)(o - f->objects);
        hold(o, a);
    }
}

/* A lane that lets a lock go, waits for something else, and takes the lock again. */
static void find_waiters(struct finding *f)
{
    for (size_t k = 0; k + 2 < f->n; k++) {
        struct act *release = &f->acts[k];
        const struct act *wait = release + 1, *again = release + 2;
        struct object *lock = &f->objects[release->object], *o = &f->objects[wait->object];
        if (release->role != POSTS || !lock->is_lock || again->role != TAKES || o->is_lock ||
            (wait->role != TAKES && wait->role != GIVES_UP) || again->object != release->object ||
            again->lane != release->lane)
            continue;
        release->goes_on = 1;
        o->guard = release->object;
        o->waiter = release->lane;
        for (size_t end = k + 3; wait->role == GIVES_UP && end < f->n && end < k + 3 + NEAR; end++)
            if (f->acts[end].lane == release->lane && f->acts[end].object == release->object) {
                f->acts[end].void_ = 1;
                break;
            }
    }
}

static void find_notices(struct finding *f)
{
    for (size_t k = 0; k < f->n; k++) {
        const struct act *a = &f->acts[k];
        const struct object *o = &f->objects[a->object];
        if (a->role != POSTS || o->guard == IOT_NO_INDEX || o->waiter == a->lane)
            continue;
        for (size_t last = k; last-- > 0 && last + NEAR > k && f->acts[last].lane == a->lane;)
            if (f->acts[last].object == o->guard) { /* what this lane did last with the lock */
                if (f->acts[last].role == TAKES)
                    f->notices[f->n_notices++] = (struct notice){o->guard, a->lane, o->waiter};
                break;
            }
    }
}

static int by_lock(const void *a, const void *b)
{
    const struct notice *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* In order, and each once. */
static void sort_notices(struct finding *f)
{
    size_t kept = 0;
    qsort(f->notices, f->n_notices, sizeof *f->notices, by_lock);
    for (size_t k = 0; k < f->n_notices; k++)
        if (!k || by_lock(&f->notices[k], &f->notices[kept - 1]))
            f->notices[kept++] = f->notices[k];
    f->n_notices = kept;
}

/* Puts who is told on the other side of who tells. Returns whether that can be. */
static int find_sides(struct finding *f, const struct notice *notices, size_t n)
{
    memset(f->side, 0, f->trace->n_lanes);
    f->side[notices[0].from] = 1;
    for (int more = 1; more;) {
        more = 0;
        for (size_t k = 0; k < n; k++) {
            uint8_t *from = &f->side[notices[k].from], *to = &f->side[notices[k].to];
            if (*from && *from == *to)
                return 0;
            if (!*from == !*to)
                continue;
            more = 1;
            *from = *from ? *from : (uint8_t)(3 - *to);
            *to = (uint8_t)(3 - *from);
        }
    }
    return 1;
}

static int report(struct finding *f, const struct object *lock)
{
    size_t n = 0;
    int64_t length = 0;
    uint8_t puts = 0;
    for (size_t k = lock->first; k < lock->first + lock->n; k++) {
        const struct act *a = &f->acts[f->by_time[k]];
        if (a->role != POSTS || a->goes_on || a->void_)
            continue;
        uint8_t side = f->side[a->lane];
        puts = puts ? puts : side;
        length += side == puts ? 1 : -1;
        if (!side || length < 0)
            return 0;
        f->moves[n++] = (struct iot_move){a->t_ns, a->lane, side == puts ? 1 : -1};
    }
    char text[64];
    snprintf(text, sizeof text, "queue at 0x%llx",
             (unsigned long long)f->acts[f->by_time[lock->first]].address);
    const char *name = iot_arena_text(f->arena, text, strlen(text));
    return !name ? -1 : n ? f->found(f->user, name, f->moves, n) : 0;
}

static int find(struct finding *f)
{
    int failed = 0;
    gather(f, 1);
    for (size_t k = 0; k < f->n; k++)
        f->by_time[k] = (uint32_t)k;
    qsort_r(f->by_time, f->n, sizeof *f->by_time, by_semaphore, f->acts);
    find_objects(f);
    find_waiters(f);
    find_notices(f);
    sort_notices(f);
    for (size_t first = 0, end; first < f->n_notices && !failed; first = end) {
        for (end = first + 1; end < f->n_notices; end++)
            if (f->notices[end].lock != f->notices[first].lock)
                break;
        if (find_sides(f, &f->notices[first], end - first))
            failed = report(f, &f->objects[f->notices[first].lock]);
    }
    return failed;
}

int iot_queue_locks(const struct iot_trace *trace, struct iot_arena *arena, iot_queue_found *found,
                    void *user)
{
    struct finding f = {.trace = trace, .arena = arena, .found = found, .user = user};
    f.n = gather(&f, 0);
    if (!f.n)
        return 0;
    f.acts = malloc(f.n * sizeof *f.acts);
    f.by_time = malloc(f.n * sizeof *f.by_time);
    f.objects = malloc(f.n * sizeof *f.objects);
    f.notices = malloc(f.n * sizeof *f.notices);
    f.moves = malloc(f.n * sizeof *f.moves);
    f.side = malloc(trace->n_lanes);
    int failed = !f.acts || !f.by_time || !f.objects || !f.notices || !f.moves || !f.side
                     ? -1
                     : find(&f);
    free(f.acts);
    free(f.by_time);
    free(f.objects);
    free(f.notices);
    free(f.moves);
    free(f.side);
    return failed;
}
