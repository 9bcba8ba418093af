#include "analyzer/queue_moves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/queue_locks.h"

enum kind { STREAM, SEMAPHORE, SIGNALS };

/* A touch of what may be a queue. */
struct touch {
    uint64_t owner, address; /* of a stream: the file written to, 0 */
    int64_t t_ns, bytes;
    uint32_t lane;
    uint8_t kind, puts, inits;
    int64_t value; /* that a semaphore is made with */
    uint64_t condition; /* of a signal: whose mutex is the address */
};

struct finding {
    const struct iot_trace *trace;
    const uint32_t *source;
    struct iot_arena *arena;
    iot_queue_found *found;
    void *user;
    struct touch *touches;
    struct iot_move *moves;
};

static int by_queue(const void *a, const void *b)
{
    const struct touch *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind - y->kind;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->puts != y->puts)
        return y->puts - x->puts;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static int by_moment(const void *a, const void *b)
{
    const struct iot_move *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return y->by - x->by;
}

/* Messages go in when the call that put them there began, and out when the one that took them
 * returned. */
static int touch_of(const struct finding *f, size_t i, uint32_t l, struct touch *to)
{
    const struct iot_trace *trace = f->trace;
    const struct iot_events *e = &trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    *to = (struct touch){.lane = l};
    to->owner = e->file[i] ? (uint64_t)1 << 32 | e->file[i] : trace->lanes[l].process;
    to->address = e->addr[i];
    if (e->err[i])
        return 0;
    switch (e->op[i]) {
    case IOT_OP_SEM_POST:
    case IOT_OP_SEM_WAIT:
    case IOT_OP_SEM_INIT:
    case IOT_OP_MSGSND:
    case IOT_OP_MSGRCV:
    case IOT_OP_MQ_SEND:
    case IOT_OP_MQ_RECEIVE:
        to->kind = SEMAPHORE;
        to->value = e->op[i] == IOT_OP_SEM_INIT ? e->offset[i] : 0;
        to->inits = e->op[i] == IOT_OP_SEM_INIT;
        to->puts = op->class_ == IOT_WAKE;
        to->t_ns = to->puts ? e->t0_ns[i] : e->t1_ns[i];
        return 1;
    case IOT_OP_COND_SIGNAL:
    case IOT_OP_COND_BROADCAST:
        to->kind = SIGNALS;
        to->condition = e->addr[i];
        to->address = (uint64_t)e->offset[i];
        to->t_ns = e->t0_ns[i];
        return e->offset[i] != 0;
    default:
        break;
    }
    uint32_t file = op->moves == IOT_OUT ? e->file[i] : f->source[e->file[i]];
    if (op->class_ != IOT_DATA || op->moves == IOT_BOTH || e->bytes[i] <= 0 || !file ||
        (trace->files[file].kind != IOT_FILE_PIPE && trace->files[file].kind != IOT_FILE_SOCKET))
        return 0;
    to->kind = STREAM;
    to->owner = (uint64_t)1 << 32 | file;
    to->address = 0;
    to->puts = op->moves == IOT_OUT;
    to->bytes = e->bytes[i];
    to->t_ns = to->puts ? e->t0_ns[i] : e->t1_ns[i];
    return 1;
}

static const char *named(struct finding *f, const char *format, const char *text, uint64_t number)
{
    char name[320];
    snprintf(name, sizeof name, format, text, (unsigned long long)number);
    return iot_arena_text(f->arena, name, strlen(name));
}

static int report(struct finding *f, const char *name, size_t n)
{
    return !name ? -1 : n ? f->found(f->user, name, f->moves, n) : 0;
}

/* A message is a write; it is taken when the read that has its last byte returns. */
static int stream(struct finding *f, const struct touch *t, size_t n)
{
    size_t moves = 0, reads = 0;
    int64_t read_to = 0, written_to = 0;
    for (size_t k = 0; k < n; k++) {
        if (!t[k].puts)
            continue;
        written_to += t[k].bytes;
        f->moves[moves++] = (struct iot_move){t[k].t_ns, t[k].lane, 1};
        while (reads < n && read_to < written_to) {
            if (!t[reads].puts)
                read_to += t[reads].bytes;
            reads++;
        }
        if (read_to >= written_to && reads)
            f->moves[moves++] = (struct iot_move){t[reads - 1].t_ns, t[reads - 1].lane, -1};
    }
    if (moves)
        qsort(f->moves, moves, sizeof *f->moves, by_moment);
    const struct iot_file *file = &f->trace->files[(uint32_t)t[0].owner];
    return report(f, named(f, "%s", file->name, 0), moves);
}

/* One that begins with something in it counts free places, or is a lock. */
static int semaphore(struct finding *f, const struct touch *t, size_t n)
{
    int64_t value = 0;
    size_t moves = 0;
    for (size_t k = 0; k < n; k++) {
        if (t[k].inits) {
            value = 0;
            moves = 0; /* the last one at this address counts */
            if (t[k].value)
                value = INT64_MIN / 2;
            continue;
        }
        value += t[k].puts ? 1 : -1;
        if (value < 0)
            return 0;
        f->moves[moves++] = (struct iot_move){t[k].t_ns, t[k].lane, t[k].puts ? 1 : -1};
    }
    const char *name =
        t[0].owner >> 32 ? f->trace->files[(uint32_t)t[0].owner].name : "semaphore";
    return report(f, named(f, t[0].owner >> 32 ? "%s+%llu" : "%s at 0x%llx", name, t[0].address),
                  moves);
}

/* Two sides that each signal a condition of their own; what the first one to signal does puts in.
 * A lane on both sides, or a third condition, and it is something else (an interpreter's lock). */
static int signals(struct finding *f, const struct touch *t, size_t n)
{
    uint64_t put = t[0].condition, take = 0;
    for (size_t k = 0; k < n; k++) {
        int puts = t[k].condition == put;
        if (!puts && take && t[k].condition != take)
            return 0;
        take = puts ? take : t[k].condition;
        f->moves[k] = (struct iot_move){t[k].t_ns, t[k].lane, puts ? 1 : -1};
    }
    uint8_t *sides = calloc(f->trace->n_lanes + 1, 1);
    int both = 0;
    for (size_t k = 0; sides && k < n; k++) {
        sides[t[k].lane] |= f->moves[k].by > 0 ? 1 : 2;
        both |= sides[t[k].lane] == 3;
    }
    int failed = !sides;
    free(sides);
    if (failed)
        return -1;
    return both || !take ? 0 : report(f, named(f, "%s at 0x%llx", "condition", put), n);
}

int iot_queue_moves(const struct iot_trace *trace, const uint32_t *source, struct iot_arena *arena,
                    iot_queue_found *found, void *user)
{
    static int (*const parts[])(struct finding *, const struct touch *, size_t) = {
        [STREAM] = stream, [SEMAPHORE] = semaphore, [SIGNALS] = signals};
    struct finding f = {
        .trace = trace, .source = source, .arena = arena, .found = found, .user = user};
    struct touch to;
    size_t n = 0;
    for (uint32_t l = 0; l < trace->n_lanes; l++)
        for (size_t i = trace->lanes[l].first_event, k = 0; k < trace->lanes[l].n_events; i++, k++)
            n += (size_t)touch_of(&f, i, l, &to);
    f.touches = malloc((n + 1) * sizeof *f.touches);
    f.moves = malloc((2 * n + 1) * sizeof *f.moves);
    int failed = !f.touches || !f.moves ? -1 : 0;
    n = 0;
    for (uint32_t l = 0; l < trace->n_lanes && !failed; l++)
        for (size_t i = trace->lanes[l].first_event, k = 0; k < trace->lanes[l].n_events; i++, k++)
            n += (size_t)touch_of(&f, i, l, &f.touches[n]);
    if (!failed && n)
        qsort(f.touches, n, sizeof *f.touches, by_queue);
    for (size_t first = 0, end; first < n && !failed; first = end) {
        const struct touch *t = &f.touches[first];
        for (end = first + 1; end < n; end++)
            if (f.touches[end].kind != t->kind || f.touches[end].owner != t->owner ||
                f.touches[end].address != t->address)
                break;
        failed = parts[t->kind](&f, t, end - first);
    }
    free(f.touches);
    free(f.moves);
    return failed ? failed : iot_queue_locks(trace, arena, found, user);
}
