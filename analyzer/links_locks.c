/* Locks, conditions, semaphores and barriers: whose release, signal or post let a wait end, and,
 * where nobody waited, whose it was all the same, so that a replay keeps the order of messages. */
#include "analyzer/links.h"

#include <errno.h>
#include <stdlib.h>

enum role {
    ACQUIRE, /* at return */
    RELEASE, /* at entry */
    SLEEPS,  /* on a condition, from entry to return */
    PARKS,   /* on a futex, likewise; a wake of one is a SIGNAL, of more a BROADCAST */
    SIGNAL,
    BROADCAST,
    TAKES, /* a semaphore or a queue, at return */
    POSTS, /* at entry */
    INITS, /* a semaphore: from here on it has a value */
    MEETS, /* at a barrier, from entry */
};

/* What an event did to one object. */
struct touch {
    uint64_t owner, address; /* the object: in shared memory, or in a process */
    int64_t t_ns;
    uint32_t event;
    uint8_t role;
};

struct touches {
    struct touch *list;
    size_t n;
};

static int by_object(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* How each operation touches its object, and a condition's wait its mutex. */
static const struct {
    uint16_t op;
    uint8_t role;
} roles[] = {
    {IOT_OP_MUTEX_LOCK, ACQUIRE},   {IOT_OP_MUTEX_UNLOCK, RELEASE},
    {IOT_OP_RWLOCK_LOCK, ACQUIRE},  {IOT_OP_RWLOCK_UNLOCK, RELEASE},
    {IOT_OP_SPIN_LOCK, ACQUIRE},    {IOT_OP_SPIN_UNLOCK, RELEASE},
    {IOT_OP_COND_WAIT, SLEEPS},     {IOT_OP_COND_SIGNAL, SIGNAL},
    {IOT_OP_COND_BROADCAST, BROADCAST}, {IOT_OP_SEM_WAIT, TAKES},
    {IOT_OP_SEM_POST, POSTS},       {IOT_OP_BARRIER_WAIT, MEETS},
    {IOT_OP_FUTEX_WAIT, PARKS},     {IOT_OP_FUTEX_WAKE, SIGNAL},
    {IOT_OP_SEM_INIT, INITS},       {IOT_OP_MSGRCV, TAKES},
    {IOT_OP_MSGSND, POSTS},         {IOT_OP_MQ_RECEIVE, TAKES},
    {IOT_OP_MQ_SEND, POSTS},        {IOT_OP_ONCE, ACQUIRE},
    {IOT_OP_ONCE_DONE, RELEASE},
};

static int role_of(unsigned op)
{
    for (size_t k = 0; k < sizeof roles / sizeof *roles; k++)
        if (roles[k].op == op)
            return roles[k].role;
    return -1;
}

/* Fails to lock are no touches; a condition's wait that timed out is, for its mutex. */
static size_t touches_of(const struct iot_links *links, const struct iot_trace *trace, size_t i,
                         struct touch to[3])
{
    const struct iot_events *e = &trace->events;
    int role = role_of(e->op[i]);
    if (role < 0 || links->flags[i] & IOT_LINK_NESTED)
        return 0;
    if (e->err[i] && role != SLEEPS && e->err[i] != EOWNERDEAD)
        return 0;
    uint64_t owner = e->file[i] ? (uint64_t)1 << 32 | e->file[i]
                                : trace->lanes[links->lane_of[i]].process;
    uint32_t event = (uint32_t)i;
    int at_return = role == ACQUIRE || role == TAKES;
    if (e->op[i] == IOT_OP_FUTEX_WAKE && e->offset[i] != 1)
        role = BROADCAST;
    to[0] = (struct touch){owner, e->addr[i], at_return ? e->t1_ns[i] : e->t0_ns[i], event,
                           (uint8_t)role};
    if (role != SLEEPS)
        return 1;
    to[1] = (struct touch){owner, (uint64_t)e->offset[i], e->t0_ns[i], event, RELEASE};
    to[2] = (struct touch){owner, (uint64_t)e->offset[i], e->t1_ns[i], event, ACQUIRE};
    return 3;
}

static struct iot_waker entry(uint32_t event)
{
    return (struct iot_waker){event, IOT_WAKER_ENTRY};
}

/* A lock: the last release before each acquisition. */
static int link_lock(struct iot_links *links, const struct iot_seen *seen, const struct touch *t,
                     size_t n)
{
    struct iot_waker last = {0, IOT_WAKER_NONE};
    for (size_t k = 0; k < n; k++) {
        if (k && iot_seen_cut(seen, t[k - 1].t_ns, t[k].t_ns))
            last.kind = IOT_WAKER_NONE;
        if (t[k].role == RELEASE)
            last = entry(t[k].event);
        else if (t[k].role == ACQUIRE && last.index != t[k].event &&
                 iot_links_add(links, t[k].event, last))
            return -1;
    }
    return 0;
}

/* A condition: each signal goes to the sleeper that is next to return and has none; a broadcast to
 * all that sleep. Who returned behind a gap in what was seen may have been woken within. `back_ns`
 * is by touch: of a signal, when the first whom it woke returned. */
static int link_condition(struct iot_links *links, const struct iot_trace *trace,
                          const struct touch *t, size_t n, int64_t *back_ns)
{
    const struct iot_events *e = &trace->events;
    enum { SLEEPERS_MAX = 4096 };
    static uint32_t sleepers[SLEEPERS_MAX];
    size_t asleep = 0;
    for (size_t k = 0; k < n; k++) {
        size_t kept = 0;
        for (size_t s = 0; s < asleep; s++) /* who has returned is gone */
            if (e->t1_ns[sleepers[s]] >= t[k].t_ns)
                sleepers[kept++] = sleepers[s];
        asleep = kept;
        back_ns[k] = INT64_MAX;
        if (t[k].role == SLEEPS || t[k].role == PARKS) {
            if (!e->err[t[k].event] && asleep < SLEEPERS_MAX)
                sleepers[asleep++] = t[k].event;
            continue;
        }
        size_t next = asleep;
        for (size_t s = 0; s < asleep; s++) {
            if (iot_seen_cut(&trace->seen, t[k].t_ns, e->t1_ns[sleepers[s]]))
                continue;
            if (t[k].role == BROADCAST && iot_links_add(links, sleepers[s], entry(t[k].event)))
                return -1;
            if (next == asleep || e->t1_ns[sleepers[s]] < e->t1_ns[sleepers[next]])
                next = s;
        }
        if (next < asleep)
            back_ns[k] = e->t1_ns[sleepers[next]];
        if (t[k].role == BROADCAST) {
            asleep = 0;
        } else if (next < asleep) {
            if (iot_links_add(links, sleepers[next], entry(t[k].event)))
                return -1;
            sleepers[next] = sleepers[--asleep];
        }
    }
    return 0;
}

/* How a lane touches a condition next. */
enum { NEVER, SLEEPS_AGAIN, SIGNALS };

/* The last other lane's signal while that wait was on, from touch k to the end; n: none. */
static size_t last_given(const struct iot_links *links, const struct iot_trace *trace,
                         const struct touch *t, size_t n, size_t k)
{
    int64_t until = trace->events.t1_ns[t[k].event];
    uint32_t lane = links->lane_of[t[k].event];
    size_t first = k + 1, end = n;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (t[middle].t_ns <= until)
            first = middle + 1;
        else
            end = middle;
    }
    while (--end > k)
        if ((t[end].role == SIGNAL || t[end].role == BROADCAST) &&
            links->lane_of[t[end].event] != lane)
            return iot_seen_cut(&trace->seen, t[end].t_ns, until) ? n : end;
    return n;
}

/* A condition that a lane signals when it is through with what it slept for is a lock's: an
 * interpreter's. Who timed out and did not sleep again got it from the last who let go of it, whose
 * signal may have gone to another that came too late. Had that one come back first, a lock would
 * have been taken: then what timed out was a timer. `next` is by lane, all NEVER. */
static int link_given(struct iot_links *links, const struct iot_trace *trace, const struct touch *t,
                      size_t n, const int64_t *back_ns, uint8_t *next)
{
    int failed = 0;
    for (size_t k = n; k-- > 0 && !failed;) {
        uint32_t event = t[k].event, lane = links->lane_of[event];
        if (t[k].role == SLEEPS && trace->events.err[event] == ETIMEDOUT && next[lane] == SIGNALS) {
            size_t by = last_given(links, trace, t, n, k);
            if (by < n && back_ns[by] > trace->events.t1_ns[event]) {
                links->flags[event] |= IOT_LINK_GIVEN;
                failed = iot_links_add(links, event, entry(t[by].event));
            }
        }
        next[lane] = t[k].role == SLEEPS ? SLEEPS_AGAIN : SIGNALS;
    }
    for (size_t k = 0; k < n; k++)
        next[links->lane_of[t[k].event]] = NEVER;
    return failed;
}

/* A semaphore: the n-th taking needs the n-th post, beyond what it was made with. Where that was
 * not seen, or is not enough (others post), it is the least that lets every taking come after its
 * post. */
static int link_posts(struct iot_links *links, const struct touch *t, size_t n, size_t made_with)
{
    size_t taken = 0, posted = 0, initial = made_with;
    for (size_t k = 0; k < n; k++) {
        if (t[k].role == POSTS)
            posted++;
        else if (t[k].role == TAKES && ++taken > posted + initial)
            initial = taken - posted;
    }
    size_t post = 0;
    taken = 0;
    for (size_t k = 0; k < n; k++) {
        if (t[k].role != TAKES || ++taken <= initial)
            continue;
        while (t[post].role != POSTS) /* post is never behind: there are enough */
            post++;
        if (iot_links_add(links, t[k].event, entry(t[post++].event)))
            return -1;
    }
    return 0;
}

/* At one address there may be one after the other. */
static int link_semaphore(struct iot_links *links, const struct iot_trace *trace,
                          const struct touch *t, size_t n)
{
    const struct iot_events *e = &trace->events;
    size_t value = 0;
    for (size_t first = 0, end; first < n; first = end) {
        if (t[first].role == INITS)
            value = (size_t)e->offset[t[first++].event] & UINT32_MAX;
        for (end = first; end < n && t[end].role != INITS; end++)
            if (end > first && iot_seen_cut(&trace->seen, t[end - 1].t_ns, t[end].t_ns))
                break;
        if (link_posts(links, t + first, end - first, value))
            return -1;
        value = 0;
    }
    return 0;
}

/* A barrier: those that met are those whose stays overlap; the last to come lets the others go. */
static int link_barrier(struct iot_links *links, const struct iot_trace *trace,
                        const struct touch *t, size_t n)
{
    const struct iot_events *e = &trace->events;
    for (size_t first = 0; first < n;) {
        int64_t until = e->t1_ns[t[first].event];
        size_t end = first + 1;
        while (end < n && t[end].t_ns <= until) {
            if (e->t1_ns[t[end].event] < until)
                until = e->t1_ns[t[end].event];
            end++;
        }
        int all = !iot_seen_cut(&trace->seen, t[first].t_ns, until);
        for (size_t k = first; all && k + 1 < end; k++)
            if (iot_links_add(links, t[k].event, entry(t[end - 1].event)))
                return -1;
        first = end;
    }
    return 0;
}

static int link_sleepers(struct iot_links *links, const struct iot_trace *trace,
                         const struct touch *t, size_t n, uint8_t *next)
{
    int64_t *back_ns = malloc(n * sizeof *back_ns);
    int failed = !back_ns || link_condition(links, trace, t, n, back_ns) ||
                 link_given(links, trace, t, n, back_ns, next);
    free(back_ns);
    return failed ? -1 : 0;
}

static int link_object(struct iot_links *links, const struct iot_trace *trace,
                       const struct touch *t, size_t n, uint8_t *next)
{
    switch (t[0].role) {
    case SLEEPS:
    case PARKS:
    case SIGNAL:
    case BROADCAST:
        return link_sleepers(links, trace, t, n, next);
    case TAKES:
    case POSTS:
    case INITS:
        return link_semaphore(links, trace, t, n);
    case MEETS:
        return link_barrier(links, trace, t, n);
    default:
        return link_lock(links, &trace->seen, t, n);
    }
}

/* What takes a lock or a semaphore in less did not sleep for it. */
enum { SLEPT_NS = 50000 };

/* Waits that nobody ended. One that timed out and was taken up again at once is part of that one
 * (interpreters wait for their lock in pieces); one that was not, slept. */
static void mark_rest(struct iot_links *links, const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    for (size_t i = 0; i < e->n; i++) {
        int role = role_of(e->op[i]);
        if (role != ACQUIRE && role != SLEEPS && role != PARKS && role != TAKES && role != MEETS)
            continue;
        if (e->err[i] == ETIMEDOUT && !(links->flags[i] & IOT_LINK_GIVEN)) {
            int again = i + 1 < e->n && links->lane_of[i + 1] == links->lane_of[i] &&
                        e->op[i + 1] == e->op[i] && e->addr[i + 1] == e->addr[i] &&
                        e->file[i + 1] == e->file[i];
            links->flags[i] |= again ? IOT_LINK_CONTINUES : IOT_LINK_SLEEP;
            links->waker[i].kind = IOT_WAKER_NONE;
        } else if (links->waker[i].kind == IOT_WAKER_NONE &&
                   e->t1_ns[i] - e->t0_ns[i] >= (role == SLEEPS || role == PARKS ? 1 : SLEPT_NS) &&
                   !(links->flags[i] & IOT_LINK_NESTED)) {
            links->flags[i] |= IOT_LINK_UNEXPLAINED;
            links->unmatched++;
        }
    }
}

int iot_link_locks(struct iot_links *links, const struct iot_trace *trace)
{
    struct touches all = {NULL, 0};
    struct touch of[3];
    size_t n = 0;
    for (size_t i = 0; i < trace->events.n; i++)
        n += touches_of(links, trace, i, of);
    all.list = malloc((n + 1) * sizeof *all.list);
    uint8_t *next = calloc(trace->n_lanes + 1, 1);
    if (!all.list || !next) {
        free(all.list);
        free(next);
        return -1;
    }
    for (size_t i = 0; i < trace->events.n; i++) {
        size_t more = touches_of(links, trace, i, of);
        for (size_t k = 0; k < more; k++)
            all.list[all.n++] = of[k];
    }
    qsort(all.list, all.n, sizeof *all.list, by_object);
    int failed = 0;
    for (size_t first = 0; first < all.n && !failed;) {
        size_t end = first + 1;
        while (end < all.n && all.list[end].owner == all.list[first].owner &&
               all.list[end].address == all.list[first].address)
            end++;
        failed = link_object(links, trace, &all.list[first], end - first, next);
        first = end;
    }
    free(all.list);
    free(next);
    mark_rest(links, trace);
    return failed ? -1 : 0;
}
