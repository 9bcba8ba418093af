#include "analyzer/period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/anchors.h"
#include "analyzer/cycle.h"
#include "analyzer/loading.h"
#include "analyzer/op_sets.h"

enum {
    STEPS_MIN = 6,
    PERIOD_MIN_NS = 200 * 1000,
    SHORT = 5, /* an interval is too short if it is below a fifth of what is usual, */
    LONG = 3,  /* and too long above three times it; */
    ODD = 20,  /* one in twenty may be either */
    WARM_UP = 5,
    WARM_UP_MAX = 10, /* a fifth of the intervals, or ten, do not count at first */
    COVER = 8,
    COVER_FEW = 4, /* the steps are an eighth of the run; fewer than FEW, a quarter, */
    FEW = 20,
    LOCKED_MIN = 20,          /* found by locks: an interpreter's own repeat for a while, */
    LOCKED_PERCENT = 66,      /* but not so often, from first to last for that part of the run */
    COVER_OTHER_PERCENT = 75, /* and this much of what the best candidate covers */
    ALIKE_PERCENT = 60,       /* of the bursts */
    JUMP = 3,                 /* between the gaps in a burst and those between bursts */
    SAMPLES = 1 << 14,
    NEARLY = 16,          /* all but as many steps: one in so many is missing */
    STREAMED_PERCENT = 5, /* a lane that does nothing but I/O copies something */
};

/* A time from open to close of a file that was written, and nothing else was called. */
struct episode {
    int64_t t0, t1;
};

struct search {
    const struct iot_trace *trace;
    struct iot_anchors anchors;
    int with_locks;
    struct episode *episodes;
    size_t n_episodes;
    uint32_t *places;   /* of a candidate */
    int64_t *intervals; /* of a candidate */
    int64_t *sorted;
};

struct candidate {
    size_t kind, n;
    int64_t bursts_ns; /* calls that are nearer than this to the one before belong to it; 0: none */
    size_t burst;      /* so many calls of a burst belong together however far they are apart */
    int64_t period_ns, covers_ns;
    size_t odd; /* intervals that are too short or too long */
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* --- what is written between two steps --- */

static int find_episodes(struct search *s)
{
    const struct iot_anchors *a = &s->anchors;
    const struct iot_events *e = &s->trace->events;
    s->episodes = malloc((a->n + 1) * sizeof *s->episodes);
    if (!s->episodes)
        return -1;
    size_t open = SIZE_MAX, written = 0;
    for (size_t p = 0; p < a->n; p++) {
        size_t i = a->events[p];
        if (iot_op_opens(e->op[i]) && e->file[i]) {
            open = p;
            written = 0;
            continue;
        }
        if (open == SIZE_MAX)
            continue;
        written += iot_op_info(e->op[i])->moves == IOT_OUT;
        if (e->file[i] && e->file[i] != e->file[a->events[open]]) {
            open = SIZE_MAX;
        } else if (iot_op_closes(e->op[i])) {
            if (written)
                s->episodes[s->n_episodes++] =
                    (struct episode){iot_anchor_t0(a, open), iot_anchor_t1(a, p)};
            open = SIZE_MAX;
        }
    }
    return 0;
}

/* --- candidates --- */

/* From the end of the kind's call before, so that waiting inside a call makes no gap. */
static int64_t gap_before(const struct search *s, const struct iot_anchor_kind *k, size_t i)
{
    const uint32_t *place = &s->anchors.places[k->first + i];
    return iot_anchor_t0(&s->anchors, place[0]) - iot_anchor_t1(&s->anchors, place[-1]);
}

/* The first calls of its bursts; of a kind without bursts, all its calls. */
static size_t places_of(const struct search *s, const struct candidate *c)
{
    const struct iot_anchor_kind *k = &s->anchors.kinds[c->kind];
    size_t n = 0, in_burst = 0;
    for (size_t i = 0; i < k->n; i++) {
        if (i && (gap_before(s, k, i) < c->bursts_ns || in_burst < c->burst)) {
            in_burst++;
            continue;
        }
        in_burst = 1;
        s->places[n++] = s->anchors.places[k->first + i];
    }
    return n;
}

/* How many calls most bursts have: one that has fewer was interrupted (the thread was off the CPU),
 * and goes on in the next. 0: they vary. */
static size_t burst_size(const struct search *s, const struct candidate *c)
{
    const struct iot_anchor_kind *k = &s->anchors.kinds[c->kind];
    enum { SIZES = 256 };
    size_t count[SIZES] = {0}, n = places_of(s, c), next = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = next;
        while (next < k->n && (i + 1 == n || s->anchors.places[k->first + next] < s->places[i + 1]))
            next++;
        count[next - first < SIZES ? next - first : 0]++;
    }
    for (size_t size = 1; size < SIZES; size++)
        if (count[size] > count[most] || !most)
            most = size;
    return count[most] * 100 >= n * ALIKE_PERCENT ? most : 0;
}

/* The distances between the first n places, without the episodes inside them. */
static void find_intervals(const struct search *s, size_t n)
{
    size_t next = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        int64_t from = iot_anchor_t0(&s->anchors, s->places[i]);
        int64_t to = iot_anchor_t0(&s->anchors, s->places[i + 1]), span = to - from;
        while (next < s->n_episodes && s->episodes[next].t0 < from)
            next++;
        for (; next < s->n_episodes && s->episodes[next].t1 <= to; next++)
            span -= s->episodes[next].t1 - s->episodes[next].t0;
        s->intervals[i] = span;
    }
}

/* Into `sorted`; of very many, some picked without a pattern that a period could meet. */
static size_t sort_some(const struct search *s, const int64_t *values, size_t n)
{
    size_t count = n < SAMPLES ? n : SAMPLES;
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        s->sorted[i] = values[n <= SAMPLES ? i : (state >> 33) % n];
    }
    qsort(s->sorted, count, sizeof *s->sorted, by_size);
    return count;
}

/* The median, or the mean where that is larger: workers in step with each other deliver in
 * turns at once and after a while. */
static int64_t usual(const int64_t *sorted, size_t n)
{
    size_t cut = n / ODD;
    int64_t sum = 0;
    for (size_t i = cut; i < n - cut; i++)
        sum += sorted[i] / (int64_t)(n - 2 * cut);
    return sum > sorted[n / 2] ? sum : sorted[n / 2];
}

struct odd {
    size_t n_short, n_long;
};

static struct odd count_odd(const int64_t *intervals, size_t n, int64_t span)
{
    struct odd odd = {0};
    for (size_t i = 0; i < n; i++) {
        odd.n_short += intervals[i] * SHORT < span;
        odd.n_long += intervals[i] > LONG * span;
    }
    return odd;
}

static int is_regular(const int64_t *intervals, size_t n, int64_t span)
{
    size_t allowed = n / ODD + (n >= 2 * (STEPS_MIN - 2));
    struct odd odd = count_odd(intervals, n, span);
    return odd.n_short <= allowed && odd.n_long <= allowed;
}

/* Of what lies between a place and the next one: as much as is usual, at most. */
static int64_t covered(const struct search *s, size_t i, int64_t period_ns)
{
    int64_t span =
        iot_anchor_t0(&s->anchors, s->places[i + 1]) - iot_anchor_t0(&s->anchors, s->places[i]);
    int64_t most = LONG * period_ns + span - s->intervals[i];
    return span < most ? span : most;
}

static int is_hand_over(const struct search *s, size_t kind)
{
    const struct iot_anchors *a = &s->anchors;
    uint32_t event = a->events[a->places[a->kinds[kind].first]];
    unsigned class_ = iot_op_info(s->trace->events.op[event])->class_;
    return class_ == IOT_WAIT || class_ == IOT_WAKE;
}

/* An interpreter hands its own locks over for a while, when it starts threads or is held up, but
 * not all along. A step that the machine held up counts whole here. */
static int is_chance(const struct search *s, const struct candidate *c)
{
    int64_t span =
        iot_anchor_t0(&s->anchors, s->places[c->n - 1]) - iot_anchor_t0(&s->anchors, s->places[0]);
    return s->with_locks && (c->n < LOCKED_MIN || span < s->trace->wall_ns / 100 * LOCKED_PERCENT);
}

static int judge(const struct search *s, struct candidate *c)
{
    c->burst = c->bursts_ns ? burst_size(s, c) : 0;
    c->n = places_of(s, c);
    /* Who hands items over one by one has no bursts of them, but is held up now and then. */
    if (c->n < STEPS_MIN || (c->bursts_ns && !c->burst && is_hand_over(s, c->kind)) ||
        is_chance(s, c))
        return 0;
    find_intervals(s, c->n);
    size_t skip = (c->n - 1) / WARM_UP;
    skip = skip < WARM_UP_MAX ? skip : WARM_UP_MAX;
    size_t n = sort_some(s, s->intervals + skip, c->n - 1 - skip);
    int64_t span = usual(s->sorted, n);
    struct odd odd = count_odd(s->intervals, c->n - 1, span);
    c->odd = odd.n_short + odd.n_long;
    c->period_ns = s->sorted[n / 2];
    c->covers_ns = c->period_ns;
    for (size_t i = 0; i + 1 < c->n; i++)
        c->covers_ns += covered(s, i, c->period_ns);
    return c->period_ns >= PERIOD_MIN_NS &&
           c->covers_ns >= s->trace->wall_ns / (c->n < FEW ? COVER_FEW : COVER) &&
           is_regular(s->intervals + skip, c->n - 1 - skip, span);
}

/* What divides the gaps in bursts from those between bursts: where the two classes' logarithms
 * differ most for their spread (Otsu's threshold), so that a few gaps may lie anywhere. 0: the
 * classes are not far apart, or most gaps are between. */
static int64_t burst_limit(const struct search *s, size_t kind)
{
    const struct iot_anchor_kind *k = &s->anchors.kinds[kind];
    for (size_t i = 1; i < k->n; i++) {
        int64_t gap = gap_before(s, k, i);
        s->intervals[i - 1] = gap > 0 ? gap : 0; /* less where calls lie over one another */
    }
    size_t n = sort_some(s, s->intervals, k->n - 1), low = 0;
    double all = 0, below = 0, most = 0;
    for (size_t i = 0; i < n; i++)
        all += log((double)(s->sorted[i] < 1 ? 1 : s->sorted[i]));
    for (size_t i = 1; i < n; i++) {
        below += log((double)(s->sorted[i - 1] < 1 ? 1 : s->sorted[i - 1]));
        double apart = (all - below) / (double)(n - i) - below / (double)i;
        double between = (double)i * (double)(n - i) * apart * apart;
        if (between > most) {
            most = between;
            low = i;
        }
    }
    if (low < n * 2 / 5)
        return 0;
    int64_t inside = s->sorted[low / 2] + 1, outside = s->sorted[low + (n - low) / 2];
    return outside > JUMP * inside ? (int64_t)sqrt((double)inside * (double)outside) : 0;
}

/* --- what only looks like steps --- */

/* Of what the lane does from the first place to the last, nearly all is I/O: it copies something.
 */
static int only_streams(const struct search *s, const struct candidate *c, size_t n)
{
    const struct iot_events *e = &s->trace->events;
    int64_t busy = 0;
    for (size_t p = s->places[0]; p <= s->places[n - 1]; p++) {
        size_t i = s->anchors.events[p];
        unsigned class_ = iot_op_info(e->op[i])->class_;
        if (class_ == IOT_DATA || class_ == IOT_META || class_ == IOT_SYNC)
            busy += e->t1_ns[i] - e->t0_ns[i];
    }
    return c->covers_ns - busy < c->covers_ns / 100 * STREAMED_PERCENT;
}

/* -1 without memory. */
static int has_no_steps(const struct search *s, const struct candidate *c)
{
    size_t n = places_of(s, c);
    return only_streams(s, c, n) ? 1 : iot_only_loads(&s->anchors, c->kind, s->places, n);
}

/* --- the choice --- */

/* How many candidates have as many steps, of those that cover enough. */
static size_t support(const struct candidate *found, size_t n, size_t steps, int64_t enough_ns)
{
    size_t same = 0;
    for (size_t i = 0; i < n; i++)
        same += found[i].n == steps && found[i].covers_ns >= enough_ns;
    return same;
}

/* The one with most steps; of those with all but as many, what most kinds agree on: one kind may
 * come once more before or after the steps. Of those, the most regular. */
static struct candidate choose(const struct candidate *found, size_t n, int64_t covered_ns)
{
    int64_t enough_ns = covered_ns / 100 * COVER_OTHER_PERCENT;
    struct candidate best = {0};
    size_t most = 0, best_support = 0;
    for (size_t i = 0; i < n; i++)
        if (found[i].covers_ns >= enough_ns && found[i].n > most)
            most = found[i].n;
    for (size_t i = 0; i < n; i++) {
        if (found[i].covers_ns < enough_ns || found[i].n + most / NEARLY < most)
            continue;
        size_t s = support(found, n, found[i].n, enough_ns);
        int same = s == best_support && found[i].n == best.n;
        if (s > best_support || (s == best_support && found[i].n > best.n) ||
            (same && found[i].odd < best.odd)) {
            best = found[i];
            best_support = s;
        }
    }
    return best;
}

static int find(struct search *s, struct candidate *best)
{
    const struct iot_anchors *a = &s->anchors;
    struct candidate *found = malloc((2 * a->n_kinds + 1) * sizeof *found);
    size_t n = 0;
    int64_t covered_ns = 0;
    int failed = 0;
    if (!found)
        return -1;
    for (size_t k = 0; k < a->n_kinds; k++) {
        if (!(a->kinds[k].flags & IOT_ANCHOR_USABLE) || a->kinds[k].n < STEPS_MIN)
            continue;
        const int64_t limits[2] = {0, burst_limit(s, k)};
        for (int b = 0; b < 2; b++) {
            struct candidate c = {.kind = k, .bursts_ns = limits[b]};
            if ((b && !limits[b]) || !judge(s, &c))
                continue;
            int none = has_no_steps(s, &c);
            failed |= none < 0;
            if (!none) {
                found[n++] = c;
                covered_ns = c.covers_ns > covered_ns ? c.covers_ns : covered_ns;
            }
        }
    }
    *best = choose(found, n, covered_ns);
    free(found);
    return failed ? -1 : 0;
}

static int take(struct search *s, struct iot_steps *steps, const struct candidate *c)
{
    size_t n = places_of(s, c);
    steps->starts_ns = malloc(n * sizeof *steps->starts_ns);
    if (!steps->starts_ns)
        return -1;
    steps->n = n;
    steps->source = IOT_STEPS_PERIOD;
    steps->anchor = s->anchors.events[s->places[0]];
    return iot_cycle_starts(&s->anchors, c->kind, s->places, n, c->period_ns, steps->starts_ns);
}

static int does_io_again(const struct iot_anchors *a)
{
    for (size_t k = 0; k < a->n_kinds; k++) {
        uint32_t event = a->events[a->places[a->kinds[k].first]];
        if (a->kinds[k].n >= STEPS_MIN &&
            iot_op_info(a->trace->events.op[event])->class_ == IOT_DATA)
            return 1;
    }
    return 0;
}

static int search(struct iot_steps *steps, const struct iot_trace *trace, const uint32_t *events,
                  size_t n, int with_locks, int *repeats)
{
    struct search s = {.trace = trace, .with_locks = with_locks};
    struct candidate best = {0};
    int failed = iot_anchors_gather(&s.anchors, trace, events, n, with_locks) || find_episodes(&s);
    s.places = malloc((n + 1) * sizeof *s.places);
    s.intervals = malloc((n + 1) * sizeof *s.intervals);
    s.sorted = malloc(SAMPLES * sizeof *s.sorted);
    failed = failed || !s.places || !s.intervals || !s.sorted || find(&s, &best) ||
             (best.n && take(&s, steps, &best));
    *repeats = !failed && does_io_again(&s.anchors);
    iot_anchors_free(&s.anchors);
    free(s.episodes);
    free(s.places);
    free(s.intervals);
    free(s.sorted);
    return failed ? -1 : 0;
}

/* Only of a lane that does no I/O again and again, locks tell the steps: an interpreter's own are
 * taken and given at every call. */
int iot_period_find(struct iot_steps *steps, const struct iot_trace *trace, const uint32_t *events,
                    size_t n)
{
    int repeats;
    if (search(steps, trace, events, n, 0, &repeats))
        return -1;
    return repeats || steps->n ? 0 : search(steps, trace, events, n, 1, &repeats);
}
