/* What the kernel counted for a process, against what its recorded calls moved. The difference went
 * by system calls that nothing here can see: made without libc, inside it, or in a child without a
 * trace. So a report never leaves such bytes out without saying so. */
#include <stdlib.h>

#include "analyzer/report_parts.h"
#include "analyzer/sum.h"
#include "format/ops.h"

struct moved {
    uint64_t read, written;
};

/* One process over all its images. */
struct account {
    uint32_t pid, ppid;
    int64_t start_ns;
    const char *exe;      /* of its last image */
    struct moved counted; /* by the kernel while it was recorded, less the recorder's own */
    struct moved seen;    /* by its recorded calls; of those also: */
    struct moved late;    /* after the kernel was asked for the last time */
    struct moved total;   /* by the kernel in all its life */
    struct moved reaped;  /* of children it waited for: the kernel adds them to it */
    uint32_t reaper;      /* account; IOT_NO_INDEX: nobody waited for it */
    uint8_t known;        /* it lived to ask the kernel */
};

struct accounts {
    const struct iot_trace *trace;
    struct account *list; /* by pid */
    size_t n;
    uint32_t *of_process; /* account by process */
};

static struct moved plus(struct moved a, struct moved b)
{
    return (struct moved){iot_sum_unsigned(a.read, b.read),
                          iot_sum_unsigned(a.written, b.written)};
}

static struct moved minus(struct moved a, struct moved b)
{
    return (struct moved){a.read > b.read ? a.read - b.read : 0,
                          a.written > b.written ? a.written - b.written : 0};
}

static int by_pid(const void *a, const void *b)
{
    const struct account *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static uint32_t find(const struct accounts *all, uint32_t pid)
{
    size_t low = 0, high = all->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->list[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->n && all->list[low].pid == pid ? (uint32_t)low : IOT_NO_INDEX;
}

static struct moved of_called(struct iot_called called)
{
    return (struct moved){called.read_bytes, called.write_bytes};
}

/* The images of a trace are in the order of their start. */
static void add_image(struct account *a, const struct iot_process *p)
{
    const struct moved from = of_called(p->called_start), to = of_called(p->called_end);
    a->exe = p->exe;
    a->known = p->end != IOT_END_OPEN && to.read;
    if (!a->known)
        return;
    a->counted = plus(a->counted, minus(to, from));
    a->counted.read -= p->own_read_bytes < a->counted.read ? p->own_read_bytes : a->counted.read;
    a->total = to;
}

static int open_accounts(struct accounts *all)
{
    const struct iot_trace *t = all->trace;
    all->list = calloc(t->n_processes + 1, sizeof *all->list);
    all->of_process = malloc((t->n_processes + 1) * sizeof *all->of_process);
    if (!all->list || !all->of_process)
        return -1;
    for (size_t i = 0; i < t->n_processes; i++)
        all->list[i] = (struct account){.pid = t->processes[i].pid,
                                        .ppid = t->processes[i].ppid,
                                        .start_ns = t->processes[i].start_ns,
                                        .exe = "",
                                        .reaper = IOT_NO_INDEX};
    qsort(all->list, t->n_processes, sizeof *all->list, by_pid);
    for (size_t i = 0; i < t->n_processes; i++)
        if (!i || all->list[i].pid != all->list[all->n - 1].pid)
            all->list[all->n++] = all->list[i];
    for (size_t i = 0; i < t->n_processes; i++) {
        all->of_process[i] = find(all, t->processes[i].pid);
        add_image(&all->list[all->of_process[i]], &t->processes[i]);
    }
    return 0;
}

/* Those that the kernel counts in rchar and wchar: not what goes through a socket's own calls, nor
 * what moves between pipes. */
static int is_counted(unsigned op)
{
    switch (op) {
    case IOT_OP_SEND:
    case IOT_OP_SENDTO:
    case IOT_OP_SENDMSG:
    case IOT_OP_SENDMMSG:
    case IOT_OP_RECV:
    case IOT_OP_RECVFROM:
    case IOT_OP_RECVMSG:
    case IOT_OP_RECVMMSG:
    case IOT_OP_SPLICE:
    case IOT_OP_TEE:
    case IOT_OP_VMSPLICE:
        return 0;
    default:
        return iot_op_info(op)->class_ == IOT_DATA;
    }
}

static void add_call(struct account *a, const struct iot_events *e, size_t i)
{
    unsigned moves = iot_op_info(e->op[i])->moves;
    uint64_t n = e->bytes[i] > 0 ? (uint64_t)e->bytes[i] : 0;
    struct moved moved = {moves == IOT_IN || moves == IOT_BOTH ? n : 0,
                          moves == IOT_OUT || moves == IOT_BOTH ? n : 0};
    if (e->op[i] == IOT_OP_EXIT_FLUSH)
        a->late = plus(a->late, moved);
    a->seen = plus(a->seen, moved);
}

static void add_wait(struct accounts *all, uint32_t reaper, int64_t pid)
{
    uint32_t child = pid > 0 && pid <= INT32_MAX ? find(all, (uint32_t)pid) : IOT_NO_INDEX;
    if (child != IOT_NO_INDEX)
        all->list[child].reaper = reaper;
}

/* system() waits inside libc, and does not say for whom. */
static void add_system(struct accounts *all, uint32_t reaper, int64_t t0_ns, int64_t t1_ns)
{
    for (size_t i = 0; i < all->n; i++) {
        struct account *a = &all->list[i];
        if (a->reaper == IOT_NO_INDEX && a->ppid == all->list[reaper].pid && a->start_ns >= t0_ns &&
            a->start_ns <= t1_ns)
            a->reaper = reaper;
    }
}

static void add_events(struct accounts *all)
{
    const struct iot_trace *t = all->trace;
    const struct iot_events *e = &t->events;
    for (size_t k = 0; k < t->n_lanes; k++) {
        const struct iot_lane *lane = &t->lanes[k];
        uint32_t own = all->of_process[lane->process];
        /* The kernel counts no requests of its own; those of POSIX are libc's threads' calls. */
        if (lane->kind != IOT_LANE_THREAD && lane->kind != IOT_LANE_AIO)
            continue;
        for (size_t i = lane->first_event; i < lane->first_event + lane->n_events; i++) {
            if (is_counted(e->op[i]))
                add_call(&all->list[own], e, i);
            else if (e->op[i] == IOT_OP_WAITPID || e->op[i] == IOT_OP_WAIT ||
                     e->op[i] == IOT_OP_WAITID || e->op[i] == IOT_OP_PCLOSE)
                add_wait(all, own, e->result[i]);
            else if (e->op[i] == IOT_OP_SYSTEM)
                add_system(all, own, e->t0_ns[i], e->t1_ns[i]);
        }
    }
}

static int latest_first(const void *a, const void *b)
{
    const struct account *const *x = a, *const *y = b;
    return ((*x)->start_ns < (*y)->start_ns) - ((*x)->start_ns > (*y)->start_ns);
}

/* What a reaper's count has of its child. A child that was killed did not say; then it is at least
 * what was seen of it. */
static struct moved of_child(const struct account *a)
{
    return a->known ? plus(a->total, a->late) : plus(a->seen, a->reaped);
}

/* Children before their parents. */
static int add_children(struct accounts *all)
{
    struct account **order = malloc((all->n + 1) * sizeof(struct account *));
    if (!order)
        return -1;
    for (size_t i = 0; i < all->n; i++)
        order[i] = &all->list[i];
    if (all->n)
        qsort(order, all->n, sizeof *order, latest_first);
    for (size_t i = 0; i < all->n; i++)
        if (order[i]->reaper != IOT_NO_INDEX) {
            struct account *reaper = &all->list[order[i]->reaper];
            reaper->reaped = plus(reaper->reaped, of_child(order[i]));
        }
    free(order);
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct iot_uncalled *x = a, *y = b;
    uint64_t n = x->read_bytes + x->write_bytes, m = y->read_bytes + y->write_bytes;
    return n != m ? (n < m ? 1 : -1) : (x->pid > y->pid) - (x->pid < y->pid);
}

int iot_report_uncalled(struct iot_report *r)
{
    struct accounts all = {.trace = r->trace};
    if (r->trace->seen.spans) /* the kernel counts over the whole run */
        return 0;
    int failed = open_accounts(&all);

    if (!failed) {
        add_events(&all);
        failed = add_children(&all);
        r->run.uncalled = calloc(all.n + 1, sizeof *r->run.uncalled);
        failed = failed || !r->run.uncalled;
    }
    for (size_t i = 0; i < all.n && !failed; i++) {
        const struct account *a = &all.list[i];
        struct moved rest = minus(a->counted, plus(minus(a->seen, a->late), a->reaped));
        if (!a->known || (!rest.read && !rest.written))
            continue;
        r->run.uncalled[r->run.n_uncalled++] =
            (struct iot_uncalled){a->pid, a->exe, rest.read, rest.written};
        r->run.uncalled_read_bytes = iot_sum_unsigned(r->run.uncalled_read_bytes, rest.read);
        r->run.uncalled_write_bytes = iot_sum_unsigned(r->run.uncalled_write_bytes, rest.written);
    }
    if (r->run.n_uncalled)
        qsort(r->run.uncalled, r->run.n_uncalled, sizeof *r->run.uncalled, by_bytes);
    free(all.list);
    free(all.of_process);
    return failed ? -1 : 0;
}
