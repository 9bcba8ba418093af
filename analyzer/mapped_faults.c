/* Where the time can have been lost that a thread lost to page faults.
 *
 * A row `faults` says that between two looks a thread neither ran nor waited for a CPU for so long.
 * Calls that it made meanwhile may have waited: what they took is taken off. What is left was lost
 * between the calls, in the longest of the gaps, by faults on the files that were mapped then, each
 * by what of it was brought in. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/events.h"
#include "analyzer/mapped.h"
#include "analyzer/requests.h"
#include "analyzer/room.h"

enum {
    FILES_MAX = 8, /* among so many files the time is divided */
    FAULT_BYTES = 4096,
    WAITED_NS = 50 * 1000, /* a call that took longer has waited, one that did not has run */
    PARENTS_MAX = 64,
};

/* A stretch that was lost, of one lane. */
struct stretch {
    int64_t t0_ns, t1_ns;
    size_t event; /* the row that tells it */
    uint32_t file;
};

struct gap {
    int64_t t0_ns, ns;
};

struct shares {
    struct {
        uint32_t file;
        double weight;
    } of[FILES_MAX];
    int n;
    double sum;
};

struct work {
    const struct iot_trace *t;
    struct iot_mapped *mapped;
    struct stretch *stretches;
    struct gap *gaps;
    size_t n, room, n_gaps, gaps_room;
};

/* --- the files --- */

static void add_share(struct shares *s, uint32_t file, double weight)
{
    int k = 0, least = 0;
    while (k < s->n && s->of[k].file != file)
        k++;
    if (k == s->n && s->n < FILES_MAX) {
        s->of[s->n].weight = 0;
        s->of[s->n++].file = file;
    }
    if (k == FILES_MAX) {
        for (int j = 1; j < FILES_MAX; j++)
            least = s->of[j].weight < s->of[least].weight ? j : least;
        if (s->of[least].weight >= weight)
            return;
        k = least;
        s->sum -= s->of[k].weight;
        s->of[k].file = file;
        s->of[k].weight = 0;
    }
    s->of[k].weight += weight;
    s->sum += weight;
}

static double size_of(const struct work *w, const struct iot_mapping *m)
{
    int64_t size = w->t->files[m->file].size;
    return size >= 0 && (double)size < (double)m->bytes ? (double)size : (double)m->bytes;
}

/* A few pages of a large file are in none of the places that were looked at: then major faults say
 * that some were brought in. */
static int may_have_faulted(const struct iot_mapping *m, uint32_t major)
{
    return m->brought < 0 || (m->brought == 0 && major && !m->whole);
}

static void note_faults(struct work *w, const struct shares *mapped, uint32_t process, int64_t from,
                        int64_t to, uint32_t major)
{
    for (uint32_t k = w->mapped->first[process]; k < w->mapped->first[process + 1]; k++) {
        struct iot_mapping *m = &w->mapped->maps[k];
        if (m->t0_ns <= to && m->end_ns >= from && m->brought == 0 && !m->whole)
            m->faulted += major * size_of(w, m) / mapped->sum;
    }
}

/* By what was brought in; where nothing is known of that, by what was mapped. */
static void find_shares(struct work *w, uint32_t process, int64_t from, int64_t to, uint32_t major,
                        struct shares *s)
{
    struct shares mapped = {0};
    const uint32_t own = process;
    const int64_t own_from = from, own_to = to;
    *s = (struct shares){0};
    for (int depth = 0; depth < PARENTS_MAX && process != IOT_NO_INDEX; depth++) {
        uint32_t end = w->mapped->first[process + 1];
        for (uint32_t k = w->mapped->first[process]; k < end; k++) {
            const struct iot_mapping *m = &w->mapped->maps[k];
            if (m->t0_ns > to || m->end_ns < from || !m->file ||
                w->t->files[m->file].kind != IOT_FILE_REGULAR)
                continue;
            if (m->brought > 0)
                add_share(s, m->file, (double)m->brought);
            if (may_have_faulted(m, major))
                add_share(&mapped, m->file, size_of(w, m));
        }
        int64_t start = w->t->processes[process].start_ns;
        from = from < start ? from : start;
        to = start;
        process = iot_mapped_parent(w->t, process);
    }
    if (s->sum > 0)
        return;
    *s = mapped;
    if (mapped.sum > 0)
        note_faults(w, &mapped, own, own_from, own_to, major);
}

/* --- the gaps --- */

static int by_length(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->t0_ns > y->t0_ns) - (x->t0_ns < y->t0_ns);
}

static int by_place(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    return (x->t0_ns > y->t0_ns) - (x->t0_ns < y->t0_ns);
}

/* Without its ends, so that no call there seems to be made inside what is put into the gap. */
static int add_gap(struct work *w, int64_t from, int64_t to)
{
    if (to - from <= 2)
        return 0;
    if (IOT_ROOM(w->gaps, w->n_gaps + 1, w->gaps_room))
        return -1;
    w->gaps[w->n_gaps++] = (struct gap){from + 1, to - from - 2};
    return 0;
}

/* No call of the program. */
static int is_told_of(unsigned op)
{
    return op == IOT_OP_FAULTS || op == IOT_OP_RESIDENT;
}

/* The gaps between the lane's events from event k on; what calls waited meanwhile in *waited. */
static int find_gaps(struct work *w, size_t k, size_t end, int64_t from, int64_t to,
                     int64_t *waited)
{
    const struct iot_events *e = &w->t->events;
    int64_t reached = from;
    w->n_gaps = 0;
    *waited = 0;
    for (; k < end && e->t0_ns[k] < to; k++) {
        int64_t t0 = e->t0_ns[k] > reached ? e->t0_ns[k] : reached;
        int64_t t1 = e->t1_ns[k] < to ? e->t1_ns[k] : to;
        if (t1 < t0 || is_told_of(e->op[k]))
            continue;
        if (add_gap(w, reached, t0))
            return -1;
        unsigned class_ = iot_op_info(e->op[k])->class_;
        if (class_ == IOT_WAIT || class_ == IOT_LIFE || e->t1_ns[k] - e->t0_ns[k] >= WAITED_NS)
            *waited += t1 - t0;
        reached = t1;
    }
    return add_gap(w, reached, to);
}

/* --- placing --- */

static int add_stretches(struct work *w, const struct shares *s, size_t event, int64_t t0,
                         int64_t ns)
{
    double before = 0;
    for (int k = 0; k < s->n; k++) {
        int64_t from = t0 + (int64_t)((double)ns * (before / s->sum));
        before += s->of[k].weight;
        int64_t to = k + 1 < s->n ? t0 + (int64_t)((double)ns * (before / s->sum)) : t0 + ns;
        if (to <= from)
            continue;
        if (IOT_ROOM(w->stretches, w->n + 1, w->room))
            return -1;
        w->stretches[w->n++] = (struct stretch){from, to, event, s->of[k].file};
    }
    return 0;
}

/* The fewest gaps that have room for what was lost, each by its length. */
static int place(struct work *w, const struct shares *s, size_t event, int64_t lost)
{
    int64_t room = 0;
    size_t n = 0;
    if (!w->n_gaps)
        return 0;
    qsort(w->gaps, w->n_gaps, sizeof *w->gaps, by_length);
    while (n < w->n_gaps && room < lost)
        room += w->gaps[n++].ns;
    if (lost > room)
        lost = room;
    qsort(w->gaps, n, sizeof *w->gaps, by_place);
    double share = room ? (double)lost / (double)room : 0;
    for (size_t k = 0; k < n; k++) {
        int64_t ns = (int64_t)((double)w->gaps[k].ns * share);
        if (add_stretches(w, s, event, w->gaps[k].t0_ns, ns < w->gaps[k].ns ? ns : w->gaps[k].ns))
            return -1;
    }
    return 0;
}

static int of_lane(struct work *w, const struct iot_lane *lane)
{
    const struct iot_events *e = &w->t->events;
    size_t first = lane->first_event, end = first + lane->n_events, from_event = first;
    int64_t told = lane->start_ns;
    for (size_t i = first; i < end; i++) {
        if (e->op[i] != IOT_OP_FAULTS)
            continue;
        int64_t to = e->t0_ns[i], from = told, waited;
        if (e->offset[i] >= 0 && to - e->offset[i] > told)
            from = to - e->offset[i];
        while (from_event < i && e->t1_ns[from_event] <= from)
            from_event++; /* those around a handler's are met again */
        struct shares shares;
        find_shares(w, lane->process, from, to, (uint32_t)(e->addr[i] >> 32), &shares);
        if (shares.sum > 0) {
            if (find_gaps(w, from_event, end, from, to, &waited))
                return -1;
            if (e->result[i] > waited && place(w, &shares, i, e->result[i] - waited))
                return -1;
        }
        told = to;
    }
    return 0;
}

/* What was not seen by places is as much as there were faults. */
static void tell_faulted(struct work *w)
{
    const struct iot_events *e = &w->t->events;
    uint32_t n = w->mapped->first[w->t->n_processes];
    for (uint32_t k = 0; k < n; k++) {
        const struct iot_mapping *m = &w->mapped->maps[k];
        double bytes = m->faulted * FAULT_BYTES;
        if (m->brought == 0 && bytes > 0)
            e->bytes[m->told] = bytes < (double)e->offset[m->told] ? (int64_t)bytes
                                                                   : e->offset[m->told];
    }
}

/* --- events --- */

static void copy_event(struct iot_events *to, const struct iot_events *from, size_t i)
{
    size_t n = to->n++;
    to->t0_ns[n] = from->t0_ns[i];
    to->t1_ns[n] = from->t1_ns[i];
    to->bytes[n] = from->bytes[i];
    to->result[n] = from->result[i];
    to->offset[n] = from->offset[i];
    to->addr[n] = from->addr[i];
    to->file[n] = from->file[i];
    to->file2[n] = from->file2[i];
    to->arg[n] = from->arg[i];
    to->fd[n] = from->fd[i];
    to->stack[n] = from->stack[i];
    to->op[n] = from->op[i];
    to->err[n] = from->err[i];
}

static void put_stretch(struct iot_events *to, const struct iot_events *from,
                        const struct stretch *s)
{
    copy_event(to, from, s->event);
    size_t n = to->n - 1;
    to->t0_ns[n] = s->t0_ns;
    to->t1_ns[n] = s->t1_ns;
    to->result[n] = s->t1_ns - s->t0_ns;
    to->offset[n] = 0;
    to->addr[n] = 0;
    to->file[n] = s->file;
}

/* The events of a lane anew, with the stretches in the place of the rows that told them. */
static int renew(struct work *w, struct iot_events *to, struct iot_lane *lane, size_t first,
                 size_t n, uint32_t *moved)
{
    const struct iot_events *e = &w->t->events;
    size_t start = to->n, begin = lane->first_event, end = begin + lane->n_events;
    for (size_t i = begin; i < end; i++)
        if (e->op[i] != IOT_OP_FAULTS) {
            moved[i] = (uint32_t)to->n;
            copy_event(to, e, i);
        }
    for (size_t k = first; k < first + n; k++)
        put_stretch(to, e, &w->stretches[k]);
    lane->first_event = start;
    lane->n_events = to->n - start;
    iot_requests_lane_moved(lane, begin, end - begin, moved);
    return iot_events_sort(to, start, lane->n_events);
}

int iot_mapped_place_faults(struct iot_trace *t, struct iot_mapped *mapped)
{
    struct work w = {.t = t, .mapped = mapped};
    struct iot_events events = {0};
    size_t *of = calloc(t->n_lanes + 1, sizeof *of);
    uint32_t *moved = calloc(t->events.n + 1, sizeof *moved);
    int failed = !of || !moved;
    for (size_t l = 0; l < t->n_lanes && !failed; l++) {
        failed = of_lane(&w, &t->lanes[l]);
        of[l + 1] = w.n;
    }
    if (!failed)
        tell_faulted(&w);
    failed = failed || iot_events_init(&events, t->events.n + w.n);
    for (size_t l = 0; l < t->n_lanes && !failed; l++)
        failed = renew(&w, &events, &t->lanes[l], of[l], of[l + 1] - of[l], moved);
    if (!failed) {
        iot_requests_moved(t, moved);
        struct iot_events old = t->events;
        t->events = events;
        events = old;
        iot_events_trim(&t->events);
    }
    iot_events_free(&events);
    free(of);
    free(moved);
    free(w.stretches);
    free(w.gaps);
    return failed ? -1 : 0;
}
