#include "analyzer/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/address_map.h"
#include "analyzer/gpu.h"
#include "analyzer/merge.h"
#include "analyzer/op_sets.h"
#include "analyzer/room.h"

/* What lies in a range of memory, and its subject: a file; a launch; a file, where what is put
 * there becomes part of it. */
enum held { HELD_FILE = 1, HELD_COPY, HELD_MAPPED };

/* Addresses that copies name, ascending and apart: what else is filled or emptied concerns nobody.
 */
struct wanted {
    uint64_t begin, end;
};

struct memory {
    struct iot_address_map map;
    struct wanted *wanted;
    size_t n_wanted;
};

/* A read that has begun. Its bytes are there when it returns. */
struct filling {
    int64_t t1_ns;
    size_t event;
    uint32_t process;
};

struct work {
    const struct iot_trace *trace;
    const struct iot_files *files;
    struct iot_lineage *lineage;
    struct memory *memory; /* by process */
    struct iot_correlated *copies, *launches;
    size_t n_copies, n_launches;
    struct filling *filling; /* by t1_ns; one a lane at most, but for calls inside others */
    size_t n_filling, room_filling;
    uint8_t *shared; /* by file: memory that processes share, which others fill */
    int failed;
};

static int is_copy(unsigned op)
{
    return op == IOT_OP_GPU_MEMCPY;
}

static int is_launch(unsigned op)
{
    return op == IOT_OP_GPU_LAUNCH;
}

static int names_memory(const struct iot_events *e, size_t i)
{
    return e->op[i] == IOT_OP_GPU_LAUNCH && (e->addr[i] || e->result[i]) && e->bytes[i] > 0;
}

/* The end of a range, cut where addresses end. */
static uint64_t end_of(uint64_t begin, uint64_t bytes)
{
    return bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes;
}

/* --- the addresses that copies name --- */

static int by_begin(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void want(struct memory *m, uint64_t begin, int64_t bytes)
{
    if (begin)
        m->wanted[m->n_wanted++] = (struct wanted){begin, end_of(begin, (uint64_t)bytes)};
}

static void join(struct memory *m)
{
    size_t n = 0;
    if (m->n_wanted)
        qsort(m->wanted, m->n_wanted, sizeof *m->wanted, by_begin);
    for (size_t k = 0; k < m->n_wanted; k++) {
        if (n && m->wanted[k].begin <= m->wanted[n - 1].end) {
            if (m->wanted[k].end > m->wanted[n - 1].end)
                m->wanted[n - 1].end = m->wanted[k].end;
        } else {
            m->wanted[n++] = m->wanted[k];
        }
    }
    m->n_wanted = n;
}

/* Whether anything of the range is wanted; then it is narrowed to where that begins and ends. */
static int is_wanted(const struct memory *m, uint64_t *begin, uint64_t *end)
{
    size_t low = 0, high = m->n_wanted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->wanted[middle].end <= *begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->n_wanted || m->wanted[low].begin >= *end)
        return 0;
    if (m->wanted[low].begin > *begin)
        *begin = m->wanted[low].begin;
    return 1;
}

static int find_wanted(struct work *w, size_t ranges)
{
    const struct iot_trace *t = w->trace;
    const struct iot_events *e = &t->events;
    w->memory = calloc(t->n_processes + 1, sizeof *w->memory);
    for (size_t l = 0; w->memory && l < t->n_lanes; l++)
        for (size_t i = t->lanes[l].first_event; i < t->lanes[l].first_event + t->lanes[l].n_events;
             i++)
            w->memory[t->lanes[l].process].n_wanted += 2 * (size_t)names_memory(e, i);
    for (size_t p = 0; w->memory && p < t->n_processes; p++) {
        struct memory *m = &w->memory[p];
        m->map.limit = ranges;
        m->wanted = m->n_wanted ? malloc(m->n_wanted * sizeof *m->wanted) : NULL;
        if (m->n_wanted && !m->wanted)
            return -1;
        m->n_wanted = 0;
    }
    for (size_t l = 0; w->memory && l < t->n_lanes; l++) {
        struct memory *m = &w->memory[t->lanes[l].process];
        for (size_t i = t->lanes[l].first_event; i < t->lanes[l].first_event + t->lanes[l].n_events;
             i++)
            if (names_memory(e, i)) {
                want(m, e->addr[i], e->bytes[i]);
                want(m, (uint64_t)e->result[i], e->bytes[i]);
            }
    }
    for (size_t p = 0; w->memory && p < t->n_processes; p++)
        join(&w->memory[p]);
    return w->memory ? 0 : -1;
}

/* --- copies of a launch --- */

static size_t first_with(const struct iot_correlated *list, size_t n, uint32_t process,
                         uint64_t correlation)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct iot_correlated *x = &list[middle];
        if (x->process < process || (x->process == process && x->correlation < correlation))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t n_with(const struct iot_correlated *list, size_t n, size_t first, uint32_t process,
                     uint64_t correlation)
{
    size_t k = first;
    while (k < n && list[k].process == process && list[k].correlation == correlation)
        k++;
    return k - first;
}

static struct iot_carried *carried(const struct iot_lineage *lineage, size_t copy)
{
    size_t low = 0, high = lineage->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lineage->copies[middle].copy < copy)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lineage->n && lineage->copies[low].copy == copy ? &lineage->copies[low] : NULL;
}

/* Of one call's several copies each has a launch of its own; where their numbers differ, what is
 * known of the one goes for all that have nothing yet. */
static void settle(struct work *w, uint32_t process, size_t launch, int64_t kind, uint32_t file,
                   int several)
{
    const struct iot_events *e = &w->trace->events;
    uint64_t correlation = (uint64_t)e->offset[launch];
    size_t first = first_with(w->copies, w->n_copies, process, correlation);
    size_t n = n_with(w->copies, w->n_copies, first, process, correlation);
    size_t its = first_with(w->launches, w->n_launches, process, correlation);
    size_t n_its = n_with(w->launches, w->n_launches, its, process, correlation);
    for (size_t k = 0; correlation && k < n; k++) {
        size_t copy = w->copies[first + k].event;
        struct iot_carried *c = carried(w->lineage, copy);
        if (!c || c->file || e->result[copy] != kind ||
            (n == n_its && w->launches[its + k].event != launch))
            continue;
        c->file = file;
        c->several = several != 0;
    }
}

/* --- what calls do to memory --- */

static uint64_t length_of(const struct iot_events *e, size_t i)
{
    return e->arg[i] ? e->arg[i] : (uint64_t)e->bytes[i];
}

static void put(struct work *w, uint32_t process, uint64_t begin, uint64_t end, enum held held,
                uint32_t subject)
{
    struct memory *m = &w->memory[process];
    if (is_wanted(m, &begin, &end))
        w->failed |= iot_address_map_put(&m->map, begin, end, held, subject);
}

static void cut(struct work *w, uint32_t process, uint64_t begin, uint64_t bytes)
{
    w->failed |= iot_address_map_cut(&w->memory[process].map, begin, end_of(begin, bytes));
}

static void fill(struct work *w, const struct filling *f)
{
    const struct iot_events *e = &w->trace->events;
    uint64_t begin = e->addr[f->event];
    put(w, f->process, begin, end_of(begin, length_of(e, f->event)), HELD_FILE, e->file[f->event]);
}

/* Reads that had returned by then. */
static void fill_until(struct work *w, int64_t ns)
{
    size_t n = 0;
    while (n < w->n_filling && w->filling[n].t1_ns <= ns)
        fill(w, &w->filling[n++]);
    if (!n)
        return;
    w->n_filling -= n;
    memmove(w->filling, &w->filling[n], w->n_filling * sizeof *w->filling);
}

static void begin_filling(struct work *w, uint32_t process, size_t i)
{
    struct filling f = {w->trace->events.t1_ns[i], i, process};
    if (IOT_ROOM(w->filling, w->n_filling + 1, w->room_filling)) {
        w->failed = 1;
        return;
    }
    size_t at = w->n_filling++;
    for (; at && w->filling[at - 1].t1_ns > f.t1_ns; at--)
        w->filling[at] = w->filling[at - 1];
    w->filling[at] = f;
}

struct emptying {
    struct work *w;
    uint32_t process, file;
};

static void goes_to(void *user, const struct iot_extent *part)
{
    const struct emptying *x = user;
    if (part->kind == HELD_COPY)
        settle(x->w, x->process, part->subject, IOT_COPY_DTOH, x->file, 0);
}

static void empty(struct work *w, uint32_t process, uint32_t file, uint64_t begin, uint64_t bytes)
{
    struct emptying x = {w, process, file};
    iot_address_map_look(&w->memory[process].map, begin, end_of(begin, bytes), goes_to, &x);
}

/* Of a request this comes before it is done. But until then who looks at the buffer finds nothing
 * there that he could rely on. */
static void piece(struct work *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    uint64_t begin = e->addr[i], bytes = (uint64_t)e->offset[i];
    if (e->offset[i] <= 0)
        return;
    if (e->result[i] == 1)
        put(w, process, begin, end_of(begin, bytes), HELD_FILE, e->file2[i]);
    else
        empty(w, process, e->file2[i], begin, bytes);
}

enum { FILES_OF_COPY = 64 }; /* of more, the first so many are looked at */

struct sources {
    struct {
        uint32_t file;
        uint64_t bytes;
    } of[FILES_OF_COPY];
    size_t n;
    int more;
    int mapped; /* only such that what is put there becomes part of */
};

static void comes_from(void *user, const struct iot_extent *part)
{
    struct sources *s = user;
    size_t k = 0;
    if (part->kind == HELD_COPY || (s->mapped && part->kind != HELD_MAPPED))
        return;
    while (k < s->n && s->of[k].file != part->subject)
        k++;
    if (k == FILES_OF_COPY) {
        s->more = 1;
        return;
    }
    if (k == s->n) {
        s->of[s->n].file = part->subject;
        s->of[s->n++].bytes = 0;
    }
    s->of[k].bytes += part->end - part->begin;
}

/* Of the files in a range, the one with most bytes; NO_FILE: there is none. */
enum { NO_FILE };
static uint32_t most_of(struct work *w, uint32_t process, uint64_t begin, uint64_t bytes,
                        int mapped, int *several)
{
    struct sources s = {.mapped = mapped};
    if (begin)
        iot_address_map_look(&w->memory[process].map, begin, end_of(begin, bytes), comes_from, &s);
    size_t best = 0;
    for (size_t k = 1; k < s.n; k++)
        if (s.of[k].bytes > s.of[best].bytes)
            best = k;
    *several = s.n > 1 || s.more;
    return s.n ? s.of[best].file : NO_FILE;
}

static void launch(struct work *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    uint64_t to = (uint64_t)e->result[i], bytes = (uint64_t)e->bytes[i];
    int several;
    uint32_t file = most_of(w, process, e->addr[i], bytes, 0, &several);
    if (file != NO_FILE)
        settle(w, process, i, IOT_COPY_HTOD, file, several);
    file = most_of(w, process, to, bytes, 1, &several);
    if (file != NO_FILE)
        settle(w, process, i, IOT_COPY_DTOH, file, several);
    else if (to)
        put(w, process, to, end_of(to, bytes), HELD_COPY, (uint32_t)i);
}

/* What processes share as memory is filled by stores of any of them: nothing says by which. */
static void map(struct work *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    uint64_t at = (uint64_t)e->result[i];
    if (e->err[i])
        return;
    cut(w, process, at, e->addr[i]);
    if (e->file[i] && !w->shared[e->file[i]])
        put(w, process, at, end_of(at, e->addr[i]), e->arg[i] ? HELD_MAPPED : HELD_FILE,
            e->file[i]);
}

static void note_one(void *user, const struct iot_extent *part)
{
    *(struct iot_extent *)user = *part;
}

static void move(struct work *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    struct iot_extent held = {.kind = 0};
    uint64_t from = e->addr[i], to = (uint64_t)e->result[i];
    if (e->err[i])
        return;
    iot_address_map_look(&w->memory[process].map, from, end_of(from, 1), note_one, &held);
    if (to != from)
        cut(w, process, from, (uint64_t)e->offset[i]);
    if (held.kind == HELD_FILE || held.kind == HELD_MAPPED)
        put(w, process, to, end_of(to, (uint64_t)e->offset[i]), held.kind, held.subject);
}

static void step(struct work *w, uint32_t process, size_t i)
{
    const struct iot_events *e = &w->trace->events;
    unsigned op = e->op[i];
    if (iot_op_has_buffer(op)) {
        if (!e->addr[i] || e->bytes[i] <= 0)
            return;
        if (iot_op_info(op)->moves == IOT_IN)
            begin_filling(w, process, i);
        else
            empty(w, process, e->file[i], e->addr[i], length_of(e, i));
        return;
    }
    switch (op) {
    case IOT_OP_BUFFER:
        piece(w, process, i);
        break;
    case IOT_OP_MMAP:
        map(w, process, i);
        break;
    case IOT_OP_MREMAP:
        move(w, process, i);
        break;
    case IOT_OP_MUNMAP:
        if (!e->err[i])
            cut(w, process, e->addr[i], (uint64_t)e->offset[i]);
        break;
    case IOT_OP_GPU_LAUNCH:
        if (names_memory(e, i))
            launch(w, process, i);
        break;
    default:
        break;
    }
}

/* --- all of it --- */

static int by_copy(const void *a, const void *b)
{
    const struct iot_carried *x = a, *y = b;
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static int list_copies(struct work *w)
{
    const struct iot_trace *t = w->trace;
    struct iot_lineage *lineage = w->lineage;
    w->copies = iot_correlated_list(t, is_copy, &w->n_copies);
    w->launches = iot_correlated_list(t, is_launch, &w->n_launches);
    lineage->copies = malloc((w->n_copies + 1) * sizeof *lineage->copies);
    w->shared = calloc(w->files->n + 1, 1);
    if (!w->copies || !w->launches || !lineage->copies || !w->shared)
        return -1;
    for (size_t k = 0; k < w->n_copies; k++)
        lineage->copies[lineage->n++] = (struct iot_carried){w->copies[k].event, 0, 0};
    if (lineage->n)
        qsort(lineage->copies, lineage->n, sizeof *lineage->copies, by_copy);
    return 0;
}

static void find_shared(struct work *w)
{
    static const char folder[] = "/dev/shm/", memory[] = "/memfd:";
    for (size_t f = 0; f < w->files->n; f++) {
        const char *name = w->files->files[f].name;
        w->shared[f] = !strncmp(name, folder, sizeof folder - 1) ||
                       !strncmp(name, memory, sizeof memory - 1);
    }
}

static int walk(struct work *w)
{
    struct iot_merge merge;
    size_t event;
    uint32_t lane;
    if (iot_merge_init(&merge, w->trace))
        return -1;
    find_shared(w);
    while (!w->failed && iot_merge_next(&merge, &event, &lane)) {
        uint32_t process = w->trace->lanes[lane].process;
        if (!w->memory[process].n_wanted)
            continue;
        fill_until(w, w->trace->events.t0_ns[event]);
        step(w, process, event);
    }
    iot_merge_free(&merge);
    return w->failed ? -1 : 0;
}

int iot_lineage_find(struct iot_lineage *lineage, const struct iot_trace *trace,
                     const struct iot_files *files, size_t ranges)
{
    struct work w = {.trace = trace, .lineage = lineage, .files = files};
    size_t named = 0;
    *lineage = (struct iot_lineage){0};
    for (size_t i = 0; i < trace->events.n && !named; i++)
        named = (size_t)names_memory(&trace->events, i);
    if (!named)
        return 0;
    int failed = find_wanted(&w, ranges) || list_copies(&w) || walk(&w);
    for (size_t p = 0; w.memory && p < trace->n_processes; p++) {
        lineage->forgotten += w.memory[p].map.forgotten;
        iot_address_map_free(&w.memory[p].map);
        free(w.memory[p].wanted);
    }
    free(w.memory);
    free(w.copies);
    free(w.launches);
    free(w.filling);
    free(w.shared);
    return failed ? -1 : 0;
}

void iot_lineage_free(struct iot_lineage *lineage)
{
    free(lineage->copies);
    *lineage = (struct iot_lineage){0};
}

const struct iot_carried *iot_lineage_of(const struct iot_lineage *lineage, size_t copy)
{
    return carried(lineage, copy);
}
