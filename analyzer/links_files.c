/* Locks on files: whose unlock, close or end let a wait for one go on. Of record locks all that lie
 * in one file count as one: which bytes they are of is not recorded. */
#include "analyzer/links.h"

#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "analyzer/op_sets.h"
#include "analyzer/room.h"

enum { FLOCK_KIND, RECORD_KIND }; /* FORMAT.md, file_lock: neither knows of the other */
enum { SET_SHARED = 1, SET_EXCLUSIVE, LET_GO }; /* addr of an fcntl */
enum role { TAKES, LETS_GO, CLOSES, ENDS, WAITS };

struct touch {
    uint64_t object; /* file * 2 + kind */
    int64_t t_ns;
    uint32_t index; /* of the event; of ENDS, the image that ends */
    uint32_t process;
    uint8_t role;
};

struct touches {
    struct touch *list;
    size_t n, room;
    int failed;
};

static int by_object(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->role != y->role) /* what is taken at the moment it was let go comes behind */
        return (int)(x->role == TAKES || x->role == WAITS) -
               (int)(y->role == TAKES || y->role == WAITS);
    return (x->index > y->index) - (x->index < y->index);
}

static void put(struct touches *all, struct touch touch)
{
    if (IOT_ROOM(all->list, all->n + 1, all->room)) {
        all->failed = 1;
        return;
    }
    all->list[all->n++] = touch;
}

static int is_lock(unsigned op)
{
    return op == IOT_OP_FILE_LOCK || op == IOT_OP_FLOCK || op == IOT_OP_LOCKF || op == IOT_OP_FCNTL;
}

/* Gives the kind of lock, or -1; sets the role. */
static int lock_of(const struct iot_events *e, size_t i, uint8_t *role)
{
    *role = TAKES;
    switch (e->op[i]) {
    case IOT_OP_FILE_LOCK:
        *role = WAITS;
        return e->offset[i] == FLOCK_KIND ? FLOCK_KIND : RECORD_KIND;
    case IOT_OP_FLOCK:
        if (e->offset[i] & LOCK_UN)
            *role = LETS_GO;
        return FLOCK_KIND;
    case IOT_OP_LOCKF:
        if (e->offset[i] == F_ULOCK)
            *role = LETS_GO;
        return e->offset[i] == F_TEST ? -1 : RECORD_KIND;
    case IOT_OP_FCNTL:
        if (e->addr[i] == LET_GO)
            *role = LETS_GO;
        return e->addr[i] >= SET_SHARED && e->addr[i] <= LET_GO ? RECORD_KIND : -1;
    default:
        return -1;
    }
}

static struct touch touch_of(const struct iot_links *links, const struct iot_trace *trace, size_t i,
                             int kind, uint8_t role)
{
    const struct iot_events *e = &trace->events;
    int at_return = role == TAKES || role == WAITS;
    return (struct touch){(uint64_t)e->file[i] * 2 + (unsigned)kind,
                          at_return ? e->t1_ns[i] : e->t0_ns[i], (uint32_t)i,
                          trace->lanes[links->lane_of[i]].process, role};
}

/* By file: somebody waits for a lock on it. Of these there are few. */
static uint8_t *waited_for(const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    uint8_t *wanted = calloc(trace->n_files, 1);
    for (size_t i = 0; wanted && i < e->n; i++)
        if (e->op[i] == IOT_OP_FILE_LOCK && e->file[i])
            wanted[e->file[i]] = 1;
    return wanted;
}

/* What a process has taken it lets go when it ends; exec keeps it. */
static uint32_t last_image(const struct iot_trace *trace, uint32_t process)
{
    for (uint32_t k = process + 1; k < trace->n_processes; k++)
        if (trace->processes[process].end == IOT_END_EXEC &&
            trace->processes[k].pid == trace->processes[process].pid)
            process = k;
    return process;
}

static void gather(struct touches *all, const struct iot_links *links,
                   const struct iot_trace *trace, const uint8_t *wanted)
{
    const struct iot_events *e = &trace->events;
    uint8_t role;
    for (size_t i = 0; i < e->n && !all->failed; i++) {
        if (!wanted[e->file[i]] || e->err[i])
            continue;
        int kind = is_lock(e->op[i]) ? lock_of(e, i, &role) : -1;
        if (kind >= 0) {
            put(all, touch_of(links, trace, i, kind, role));
        } else if (iot_op_closes(e->op[i])) {
            put(all, touch_of(links, trace, i, FLOCK_KIND, CLOSES));
            put(all, touch_of(links, trace, i, RECORD_KIND, CLOSES));
        }
    }
    for (size_t k = 0, n = all->n; k < n && !all->failed; k++) {
        const struct touch t = all->list[k];
        uint32_t last = last_image(trace, t.process);
        if (t.role == TAKES || t.role == WAITS)
            put(all,
                (struct touch){t.object, trace->processes[last].end_ns, last, t.process, ENDS});
    }
}

/* The one that was let go last, while the wait lasted. `holders`: by process, how often it has
 * taken the lock and not let it go. */
static int link_object(struct iot_links *links, const struct iot_trace *trace,
                       const struct touch *t, size_t n, uint32_t *holders)
{
    const struct iot_events *e = &trace->events;
    struct iot_waker last = {0, IOT_WAKER_NONE};
    int64_t last_ns = INT64_MIN;
    for (size_t k = 0; k < n; k++) {
        uint32_t process = t[k].process;
        switch (t[k].role) {
        case WAITS:
            if (last_ns >= e->t0_ns[t[k].index] &&
                !iot_seen_cut(&trace->seen, last_ns, t[k].t_ns) &&
                iot_links_add(links, t[k].index, last))
                return -1;
            holders[process] = 1;
            break;
        case TAKES:
            holders[process] = 1;
            break;
        case ENDS:
        case CLOSES:
            if (!holders[process])
                break;
            /* fall through */
        default:
            last = t[k].role == ENDS
                       ? (struct iot_waker){iot_last_lane(trace, t[k].index), IOT_WAKER_LANE}
                       : (struct iot_waker){t[k].index, IOT_WAKER_ENTRY};
            last_ns = t[k].t_ns;
            holders[process] = 0;
        }
    }
    for (size_t k = 0; k < n; k++)
        holders[t[k].process] = 0;
    return 0;
}

/* Whoever else had the lock is not of the run. */
static void mark_rest(struct iot_links *links, const struct iot_events *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->op[i] == IOT_OP_FILE_LOCK && links->waker[i].kind == IOT_WAKER_NONE)
            links->flags[i] |= IOT_LINK_EXTERNAL;
}

int iot_link_file_locks(struct iot_links *links, const struct iot_trace *trace)
{
    struct touches all = {NULL, 0, 0, 0};
    uint8_t *wanted = waited_for(trace);
    uint32_t *holders = calloc(trace->n_processes + 1, sizeof *holders);
    int failed = !wanted || !holders;
    if (!failed) {
        gather(&all, links, trace, wanted);
        failed = all.failed;
    }
    if (all.n)
        qsort(all.list, all.n, sizeof *all.list, by_object);
    for (size_t first = 0, end; first < all.n && !failed; first = end) {
        for (end = first + 1; end < all.n && all.list[end].object == all.list[first].object;)
            end++;
        failed = link_object(links, trace, &all.list[first], end - first, holders);
    }
    if (!failed)
        mark_rest(links, &trace->events);
    free(all.list);
    free(holders);
    free(wanted);
    return failed ? -1 : 0;
}
