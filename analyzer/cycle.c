#include "analyzer/cycle.h"

#include <stdlib.h>
#include <string.h>

/* How much of the steps a kind may be missing in: 1 in so many. */
enum { MISSING = 20 };

/* The first call's step may be slow: it is looked for this many periods before its anchor. */
enum { FIRST_PERIODS = 10 };

struct cycle {
    const struct iot_anchors *a;
    const uint32_t *places; /* of the anchor */
    size_t n;
    int64_t period_ns;
    int gives;       /* the anchor hands something on */
    uint32_t *first; /* by step: the place of its first call */
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How the calls of a kind lie among the anchors. */
struct among {
    size_t before, between, after; /* calls */
    size_t hit;                    /* steps, without the first, with a call before their anchor */
};

static struct among look(const struct cycle *c, const struct iot_anchor_kind *kind)
{
    struct among found = {0};
    size_t step = 0, last_hit = 0;
    for (size_t k = 0; k < kind->n; k++) {
        uint32_t place = c->a->places[kind->first + k];
        while (step < c->n && c->places[step] <= place)
            step++;
        if (!step) {
            found.before++;
        } else if (step < c->n) {
            found.between++;
            found.hit += last_hit != step;
            last_hit = step;
        } else {
            found.after += iot_anchor_t0(c->a, place) <=
                           iot_anchor_t0(c->a, c->places[c->n - 1]) + c->period_ns;
        }
    }
    return found;
}

/* Whether its calls come before the anchor in each step. Where the anchor hands something on, who
 * gets something before may ask once more at the end, in vain. */
static int precedes(const struct cycle *c, const struct iot_anchor_kind *kind,
                    const struct among *found)
{
    size_t usual = (found->between + (c->n - 1) / 2) / (c->n - 1);
    size_t allowed = kind->flags & IOT_ANCHOR_GIVES || !c->gives ? 0 : usual;
    return found->hit + (c->n - 1) / MISSING >= c->n - 1 && found->before &&
           found->after <= allowed;
}

static void move_first(struct cycle *c, const struct iot_anchor_kind *kind,
                       const struct among *found)
{
    const uint32_t *places = &c->a->places[kind->first];
    size_t usual = (found->between + (c->n - 1) / 2) / (c->n - 1);
    size_t back = found->before > usual ? found->before - usual : 0;
    if (iot_anchor_t0(c->a, places[back]) >=
            iot_anchor_t0(c->a, c->places[0]) - FIRST_PERIODS * c->period_ns &&
        places[back] < c->first[0])
        c->first[0] = places[back];
    size_t step = 1, seen = 0;
    for (size_t k = found->before; k < kind->n && step < c->n; k++) {
        while (step < c->n && c->places[step] <= places[k])
            step++;
        if (step < c->n && seen != step && places[k] < c->first[step])
            c->first[step] = places[k];
        seen = step;
    }
}

/* --- before or after the computing --- */

static int64_t gap_before(const struct cycle *c, size_t place)
{
    int64_t gap = iot_anchor_t0(c->a, place) - (place ? iot_anchor_t1(c->a, place - 1) : 0);
    return gap > 0 ? gap : 0;
}

/* The usual gap before a step's first call, and the usual number of calls in a step. */
static int usual(const struct cycle *c, int64_t *gap, size_t *calls)
{
    int64_t *values = malloc(c->n * sizeof *values);
    if (!values)
        return -1;
    for (size_t i = 1; i < c->n; i++)
        values[i - 1] = gap_before(c, c->first[i]);
    qsort(values, c->n - 1, sizeof *values, by_size);
    *gap = values[(c->n - 1) / 2];
    for (size_t i = 1; i < c->n; i++)
        values[i - 1] = (int64_t)(c->first[i] - c->first[i - 1]);
    qsort(values, c->n - 1, sizeof *values, by_size);
    *calls = (size_t)values[(c->n - 1) / 2];
    free(values);
    return 0;
}

static int computes_first(const struct cycle *c, int64_t gap, size_t calls)
{
    const struct iot_anchors *a = c->a;
    size_t end = c->first[c->n - 1] + calls; /* the first call after the last step */
    int64_t left = end < a->n ? gap_before(c, end) : a->trace->wall_ns - iot_anchor_t1(a, a->n - 1);
    int head = gap_before(c, c->first[0]) >= gap / 2, tail = left >= gap / 2;
    if (head != tail)
        return head;
    uint32_t kind = a->kind_of[c->first[c->n / 2]];
    return kind != IOT_NO_INDEX && a->kinds[kind].flags & IOT_ANCHOR_GIVES;
}

/* Where the calls end that come with a step's anchor: what hands on as well and follows at once. */
static size_t end_of_giving(const struct cycle *c, size_t step, int64_t gap)
{
    const struct iot_anchors *a = c->a;
    size_t place = c->places[step];
    while (place + 1 < c->places[step + 1] && a->kind_of[place + 1] != IOT_NO_INDEX &&
           a->kinds[a->kind_of[place + 1]].flags & IOT_ANCHOR_GIVES &&
           gap_before(c, place + 1) < gap / 2)
        place++;
    return place;
}

/* The first step's first call: the one after the last call of a kind that does not come in the
 * steps, or the anchor. SIZE_MAX without memory. */
static size_t first_call(const struct cycle *c)
{
    const struct iot_anchors *a = c->a;
    uint8_t *in_steps = calloc(a->n_kinds + 1, 1);
    size_t place = c->places[0];
    if (!in_steps)
        return SIZE_MAX;
    for (size_t p = place; p <= c->places[c->n - 1]; p++)
        if (a->kind_of[p] != IOT_NO_INDEX)
            in_steps[a->kind_of[p]] = 1;
    while (place && (a->kind_of[place - 1] == IOT_NO_INDEX || in_steps[a->kind_of[place - 1]]) &&
           iot_anchor_t0(a, place - 1) >=
               iot_anchor_t0(a, c->places[0]) - FIRST_PERIODS * c->period_ns)
        place--;
    free(in_steps);
    return place;
}

/* Where nothing comes regularly before an anchor that hands on the result of some computing, and
 * what comes next follows soon, the step ends with it. 0: that is not so; -1 without memory. */
static int starts_after_anchors(const struct cycle *c, int64_t gap, int64_t *starts_ns)
{
    const struct iot_anchors *a = c->a;
    int64_t *values = malloc(2 * c->n * sizeof *values), *spans = values ? values + c->n : NULL;
    if (!values)
        return -1;
    for (size_t i = 1; i < c->n; i++) {
        size_t end = end_of_giving(c, i - 1, gap);
        starts_ns[i] = iot_anchor_t1(a, end);
        spans[i - 1] = iot_anchor_t0(a, c->places[i]) - starts_ns[i];
        values[i - 1] = gap_before(c, end + 1);
    }
    qsort(values, c->n - 1, sizeof *values, by_size);
    qsort(spans, c->n - 1, sizeof *spans, by_size);
    size_t first = first_call(c);
    int so = first == SIZE_MAX ? -1 : gap > c->period_ns / 10 && values[(c->n - 1) / 2] < gap / 2;
    starts_ns[0] = iot_anchor_t0(a, c->places[0]) - spans[(c->n - 1) / 2];
    if (so > 0 && first < c->places[0])
        starts_ns[0] = iot_anchor_t0(a, first);
    starts_ns[0] = starts_ns[0] < 0 ? 0 : starts_ns[0];
    free(values);
    return so;
}

static void set_starts(const struct cycle *c, int64_t gap, size_t calls, int64_t *starts_ns)
{
    int after_last = gap > c->period_ns / 50 && computes_first(c, gap, calls);
    for (size_t i = 0; i < c->n; i++) {
        int64_t before = gap_before(c, c->first[i]);
        if (!i && before > gap)
            before = gap; /* what comes before the first step is longer, or shorter */
        starts_ns[i] = iot_anchor_t0(c->a, c->first[i]) - (after_last ? before : 0);
        if (i && starts_ns[i] < starts_ns[i - 1]) /* calls of a signal handler overlap */
            starts_ns[i] = starts_ns[i - 1];
    }
}

static int find_starts(const struct cycle *c, int64_t *starts_ns)
{
    int64_t gap;
    size_t calls;
    int after = 0;
    if (usual(c, &gap, &calls))
        return -1;
    if (c->gives && !memcmp(c->first, c->places, c->n * sizeof *c->first))
        after = starts_after_anchors(c, gap, starts_ns);
    if (!after)
        set_starts(c, gap, calls, starts_ns);
    return after < 0 ? -1 : 0;
}

int iot_cycle_starts(const struct iot_anchors *a, size_t kind, const uint32_t *places, size_t n,
                     int64_t period_ns, int64_t *starts_ns)
{
    struct cycle c = {a,
                      places,
                      n,
                      period_ns,
                      a->kinds[kind].flags & IOT_ANCHOR_GIVES,
                      malloc(n * sizeof *c.first)};
    if (!c.first)
        return -1;
    memcpy(c.first, places, n * sizeof *c.first);
    for (size_t k = 0; k < a->n_kinds; k++) {
        if (k == kind || a->kinds[k].n + n / MISSING + 2 < n)
            continue;
        struct among found = look(&c, &a->kinds[k]);
        if (precedes(&c, &a->kinds[k], &found))
            move_first(&c, &a->kinds[k], &found);
    }
    int failed = find_starts(&c, starts_ns);
    free(c.first);
    return failed;
}
