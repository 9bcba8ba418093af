#include "analyzer/newest.h"

#include <stdlib.h>

#include "analyzer/memory.h"
#include "analyzer/older_names.h"
#include "analyzer/progress.h"
#include "analyzer/sum.h"

/* What a report takes at its highest for each event: measured, see doc/choices.md. */
enum { EVENT_BYTES = 256 };

size_t iot_newest_that_fit(void)
{
    uint64_t n = iot_memory_available() / 4 * 3 / EVENT_BYTES;
    return n < IOT_EVENTS_MAX ? (size_t)n : IOT_EVENTS_MAX;
}

/* --- the choice --- */

struct block {
    uint64_t until_ns; /* CLOCK_MONOTONIC: when it was made */
    uint32_t events;
};

static int newest_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    return (x->until_ns < y->until_ns) - (x->until_ns > y->until_ns);
}

static size_t count(const struct iot_reading *r, size_t *blocks)
{
    size_t events = 0;
    *blocks = 0;
    for (size_t i = 0; i < r->n_images; i++) {
        const struct iot_container *c = &r->images[i].file;
        for (size_t k = 0; k < c->n_pieces; k++) {
            events += c->pieces[k].events;
            *blocks += !c->pieces[k].live;
        }
    }
    return events;
}

/* Splits the pieces of a file, each part in its order. */
static int leave_out(struct iot_container *c, uint64_t until_ns)
{
    size_t kept = 0;
    c->older = malloc((c->n_pieces + 1) * sizeof *c->older);
    if (!c->older)
        return -1;
    for (size_t k = 0; k < c->n_pieces; k++) {
        const struct iot_piece *p = &c->pieces[k];
        if (p->live || p->anchor.mono_ns > until_ns) {
            c->pieces[kept++] = *p;
            continue;
        }
        c->older[c->n_older++] = *p;
        if (p->anchor.mono_ns > c->header.older_until_ns)
            c->header.older_until_ns = p->anchor.mono_ns;
    }
    c->n_pieces = kept;
    return 0;
}

int iot_newest_choose(struct iot_reading *r, size_t most)
{
    size_t n_blocks, events = count(r, &n_blocks);
    if (events <= most || !n_blocks)
        return 0;
    struct block *blocks = malloc(n_blocks * sizeof *blocks);
    if (!blocks)
        return -1;
    size_t n = 0, left = events;
    for (size_t i = 0; i < r->n_images; i++) {
        const struct iot_container *c = &r->images[i].file;
        for (size_t k = 0; k < c->n_pieces; k++)
            if (!c->pieces[k].live) {
                blocks[n++] = (struct block){c->pieces[k].anchor.mono_ns, c->pieces[k].events};
                left -= c->pieces[k].events;
            }
    }
    qsort(blocks, n, sizeof *blocks, newest_first);
    for (n = 0; n < n_blocks && left + blocks[n].events <= most; n++)
        left += blocks[n].events;
    int failed = 0;
    uint64_t until_ns =
        n < n_blocks ? blocks[n].until_ns : 0; /* 0: not known, of what was imported */
    for (size_t i = 0; i < r->n_images && until_ns && !failed; i++)
        failed = leave_out(&r->images[i].file, until_ns);
    free(blocks);
    return failed;
}

/* --- the sums --- */

struct adding {
    struct iot_whole *whole;
    struct iot_clock_map *clock;
};

static void add(struct iot_whole *w, unsigned op, int64_t bytes, uint64_t ns)
{
    const struct iot_op_info *info = iot_op_info(op);
    uint64_t *ops = info->class_ == IOT_DATA   ? &w->data_ops
                    : info->class_ == IOT_META ? &w->metadata_ops
                    : info->class_ == IOT_SYNC ? &w->sync_ops
                                               : NULL;
    w->events++;
    if (!ops)
        return;
    ++*ops;
    w->call_ns = iot_sum_unsigned(w->call_ns, ns);
    if (info->class_ != IOT_DATA || bytes <= 0)
        return;
    if (info->moves != IOT_OUT)
        w->read_bytes = iot_sum_unsigned(w->read_bytes, (uint64_t)bytes);
    if (info->moves != IOT_IN)
        w->write_bytes = iot_sum_unsigned(w->write_bytes, (uint64_t)bytes);
}

static void on_older(void *user, const struct iot_row *row)
{
    struct adding *a = user;
    uint64_t t0 = iot_clock_mono(a->clock, row->t0), t1 = iot_clock_mono(a->clock, row->t1);
    add(a->whole, row->op, row->bytes, t1 > t0 ? t1 - t0 : 0);
}

static void on_no_definition(void *user, const struct iot_definition *definition)
{
    (void)user;
    (void)definition;
}

static int by_place(const void *a, const void *b)
{
    const struct iot_piece *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static int read_older(struct iot_reading *r, size_t index)
{
    struct iot_image *image = &r->images[index];
    struct iot_container *c = &image->file;
    struct adding adding = {&r->trace->whole, &image->clock};
    const struct iot_row_visitor visitor = {on_older, on_no_definition, &adding};
    if (!c->n_older || iot_container_reopen(c, r->folder, image->process.source))
        return 0;
    qsort(c->older, c->n_older, sizeof *c->older, by_place);
    for (size_t k = 0; k < c->n_older; k++) {
        if (k % 1024 == 0)
            iot_progress("summing up what is too much to analyse", k, c->n_older);
        iot_container_rows(c, r->readers[0], &c->older[k], &visitor);
    }
    int failed = iot_older_names(r, index);
    iot_container_close(c);
    return failed;
}

int iot_newest_read_older(struct iot_reading *r)
{
    const struct iot_events *e = &r->trace->events;
    int failed = 0, any = 0;
    for (size_t i = 0; i < r->n_images; i++)
        any |= r->images[i].file.n_older > 0;
    if (!any)
        return 0;
    if (iot_reading_room_of(r, 0))
        return -1;
    for (size_t i = 0; i < e->n; i++)
        add(&r->trace->whole, e->op[i], e->bytes[i], (uint64_t)(e->t1_ns[i] - e->t0_ns[i]));
    for (size_t i = 0; i < r->n_images && !failed; i++)
        failed = read_older(r, i);
    return failed;
}
