/* Why something regressed: the files, the call site, the phase and the wait that make most of it,
 * in a line each.
 *
 * Files of different runs are the same if their last two parts are, numbers aside: every run has
 * its own temporary folder, and shards are one group.
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare_words.h"
#include "analyzer/path_glob.h"
#include "analyzer/room.h"
#include "analyzer/table.h"

enum { KEY_BYTES = 96, FIGURES_MAX = 24, ROWS_OF_FILES = 2 };

struct group {
    char key[KEY_BYTES];
    const char *scope[IOT_SIDES]; /* of one of them */
    int object;
    double sum[IOT_SIDES]
              [FIGURES_MAX]; /* a run's, on average; of a ratio by how much its parts differ */
    double placed[IOT_SIDES], distinct[IOT_SIDES]; /* bytes, the same */
    double fixed[IOT_SIDES];                       /* fixed latency of all data calls, ns */
};

struct groups {
    struct group *rows;
    size_t n, room;
    struct iot_table table;
};

/* Where the figures that sentences speak of are in the table of figures. */
static size_t figure(const char *name)
{
    size_t k = 0;
    while (strcmp(iot_metric_figures[k].name, name))
        k++;
    return k;
}

/* --- groups of files --- */

static void make_key(const char *path, char key[KEY_BYTES])
{
    const char *from = path + strlen(path);
    size_t n = 0;
    for (int slashes = 0; from > path; from--)
        if (from[-1] == '/' && ++slashes == 2)
            break;
    if (strlen(from) >= KEY_BYTES) { /* the name says more than the folder */
        from += strlen(from) - (KEY_BYTES - 1);
        while ((*from & 0xc0) == 0x80)
            from++;
    }
    while (*from && n + 1 < KEY_BYTES) {
        bool digit = isdigit((unsigned char)*from);
        key[n++] = digit ? '*' : *from;
        while (digit && isdigit((unsigned char)*from))
            from++;
        from += !digit;
    }
    key[n] = '\0';
}

static int object_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "object"));
    int o = 0;
    while (o < IOT_OTHER && name && strcmp(name, iot_object_names[o]))
        o++;
    return o;
}

static int is_group(const void *user, uint32_t index)
{
    const struct groups *groups = user;
    const struct group *wanted = &groups->rows[groups->n], *g = &groups->rows[index];
    return g->object == wanted->object && !strcmp(g->key, wanted->key);
}

/* Behind the last one is the one looked for. NULL: out of memory. */
static struct group *find_group(struct groups *groups, const char *path, int object)
{
    if (IOT_ROOM(groups->rows, groups->n + 1, groups->room))
        return NULL;
    struct group *wanted = &groups->rows[groups->n];
    *wanted = (struct group){.object = object};
    make_key(path, wanted->key);
    uint64_t hash = iot_table_hash(wanted->key, strlen(wanted->key)) ^ (uint64_t)object;
    uint32_t found = iot_table_find(&groups->table, hash, is_group, groups);
    if (found != UINT32_MAX)
        return &groups->rows[found];
    if (iot_table_add(&groups->table, hash, (uint32_t)groups->n))
        return NULL;
    groups->n++;
    return wanted;
}

static double member_number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static int add_file(struct groups *groups, const json_t *file, int side, double runs)
{
    const char *path = json_string_value(json_object_get(file, "path"));
    struct group *g = path ? find_group(groups, path, object_of(file)) : NULL;
    double calls = member_number(file, "data_ops");
    if (!path)
        return 0;
    if (!g)
        return -1;
    double placed = member_number(file, "placed_bytes"),
           distinct = member_number(file, "distinct_bytes");
    for (size_t f = 0; f < iot_metric_n_figures; f++)
        g->sum[side][f] += (iot_metric_figures[f].kind == IOT_METRIC_RATIO
                                ? placed - distinct
                                : member_number(file, iot_metric_figures[f].key)) /
                           runs;
    g->placed[side] += placed / runs;
    g->distinct[side] += distinct / runs;
    g->fixed[side] += member_number(file, "fixed_latency_ns") * calls / runs;
    g->scope[side] = json_string_value(json_object_get(file, "cache_scope"));
    return 0;
}

/* Files that a metric of files is not about say nothing of it. */
static bool concerns_file(const struct iot_compared *m, const json_t *file)
{
    const char *path = json_string_value(json_object_get(file, "path"));
    return m->metric.object != IOT_METRIC_FILES || (path && iot_path_matches(path, m->metric.glob));
}

static int read_groups(const struct iot_comparison *c, const struct iot_compared *m,
                       struct groups *groups)
{
    size_t k;
    const json_t *file;
    for (int s = 0; s < IOT_SIDES; s++)
        for (size_t i = 0; i < c->sides[s].n; i++)
            json_array_foreach(json_object_get(c->sides[s].runs[i].report, "files"), k, file)
            {
                if (concerns_file(m, file) && add_file(groups, file, s, (double)c->sides[s].n))
                    return -1;
            }
    return 0;
}

/* --- sentences --- */

/* A sentence that is made of clauses. */
struct sentence {
    char *text;
    size_t n;
    int clauses;
};

static void put(struct sentence *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct sentence *s, const char *format, ...)
{
    va_list arguments;
    if (s->n < IOT_NOTE_BYTES)
        s->n +=
            (size_t)snprintf(s->text + s->n, IOT_NOTE_BYTES - s->n, "%s", s->clauses++ ? "; " : "");
    va_start(arguments, format);
    if (s->n < IOT_NOTE_BYTES)
        s->n += (size_t)vsnprintf(s->text + s->n, IOT_NOTE_BYTES - s->n, format, arguments);
    va_end(arguments);
}

static bool differs(double a, double b, double floor)
{
    return fabs(b - a) > fmax(floor, 0.1 * fmax(a, b));
}

static struct iot_words count(double n)
{
    return iot_people_count(iot_compare_integer(n));
}

static struct iot_words size(double n)
{
    return iot_people_bytes(iot_compare_integer(n));
}

/* Of one call, also where it takes microseconds. */
static struct iot_words duration(double ns)
{
    return iot_compare_value(IOT_METRIC_TIME, ns);
}

static void put_calls(struct sentence *s, const double *a, const double *b)
{
    size_t ops = figure("data_ops"), bytes = figure("bytes"), syncs = figure("sync_ops"),
           meta = figure("metadata_ops");
    const char *what = b[figure("read_bytes")] > b[figure("write_bytes")] ? "reads" : "writes";
    double each_a = a[ops] > 0 ? a[bytes] / a[ops] : 0, each_b = b[ops] > 0 ? b[bytes] / b[ops] : 0;

    if (differs(a[ops], b[ops], 1)) {
        put(s, "%s → %s %s", count(a[ops]).text, count(b[ops]).text, what);
        if (differs(each_a, each_b, 1) && a[ops] > 0 && b[ops] > 0)
            put(s, "%s → %s each", size(each_a).text, size(each_b).text);
    }
    if (differs(a[bytes], b[bytes], 4096))
        put(s, "%s → %s in all", size(a[bytes]).text, size(b[bytes]).text);
    if (differs(a[syncs], b[syncs], 0.5))
        put(s, "%s → %s syncs", count(a[syncs]).text, count(b[syncs]).text);
    if (differs(a[meta], b[meta], 4))
        put(s, "%s → %s metadata calls", count(a[meta]).text, count(b[meta]).text);
}

static void put_again(struct sentence *s, const struct group *g)
{
    double a = g->distinct[IOT_BASE] > 0 ? g->placed[IOT_BASE] / g->distinct[IOT_BASE] : 1;
    double b =
        g->distinct[IOT_CANDIDATE] > 0 ? g->placed[IOT_CANDIDATE] / g->distinct[IOT_CANDIDATE] : 1;
    if (differs(a, b, 0.05))
        put(s, "each byte is read %.3g → %.3g times", a, b);
}

static double share(double part, double whole)
{
    return whole > 0 ? fmin(1, part / whole) : 0;
}

static void put_times(struct sentence *s, const struct group *g, const double *a, const double *b)
{
    size_t service = figure("service"), exposed = figure("exposed");
    double calls_a = a[figure("data_ops")] + a[figure("metadata_ops")] + a[figure("sync_ops")];
    double calls_b = b[figure("data_ops")] + b[figure("metadata_ops")] + b[figure("sync_ops")];
    double fixed = share(g->fixed[IOT_CANDIDATE], b[service]);
    double hidden_before = share(a[exposed], a[service]), now = share(b[exposed], b[service]);

    if (calls_a > 0 && calls_b > 0 && !differs(calls_a, calls_b, 1) &&
        differs(a[service] / calls_a, b[service] / calls_b, 1000))
        put(s, "a call takes %s → %s", duration(a[service] / calls_a).text,
            duration(b[service] / calls_b).text);
    if (a[service] > 0 && fabs(now - hidden_before) >= 0.2)
        put(s, "%.0f %% → %.0f %% of its service exposed", 100 * hidden_before, 100 * now);
    if (fixed >= 0.5 && fixed - share(g->fixed[IOT_BASE], a[service]) >= 0.1)
        put(s, "fixed latency now %.0f %% of service", 100 * fixed);
    if (g->scope[IOT_BASE] && g->scope[IOT_CANDIDATE] &&
        strcmp(g->scope[IOT_BASE], g->scope[IOT_CANDIDATE]) &&
        strcmp(g->scope[IOT_BASE], "unknown") && strcmp(g->scope[IOT_CANDIDATE], "unknown"))
        put(s, "page cache %s → %s", g->scope[IOT_BASE], g->scope[IOT_CANDIDATE]);
}

static void tell_group(const struct group *g, char text[IOT_NOTE_BYTES])
{
    struct sentence s = {.text = text};
    const double *a = g->sum[IOT_BASE], *b = g->sum[IOT_CANDIDATE];

    s.n = (size_t)snprintf(text, IOT_NOTE_BYTES, "%s (%s): ", g->key, iot_object_names[g->object]);
    put_calls(&s, a, b);
    put_again(&s, g);
    put_times(&s, g, a, b);
    size_t service = figure("service");
    if (!s.clauses)
        put(&s, "service %s → %s", duration(a[service]).text, duration(b[service]).text);
    if (!g->scope[IOT_BASE])
        put(&s, "not in the base");
}

/* --- which of them --- */

/* Of the figures of files, the one that speaks of the metric. */
static size_t figure_for(const struct iot_compared *m)
{
    const struct iot_metric_figure *f;
    if (m->metric.object == IOT_METRIC_WHOLE)
        return figure("exposed");
    f = &iot_metric_figures[m->metric.figure];
    if (f->in_files)
        return m->metric.figure;
    return figure(!strcmp(f->name, "recoverable") ? "exposed" : "service");
}

static bool concerns(const struct iot_compared *m, const struct group *g)
{
    return m->metric.object >= IOT_METRIC_TOTAL || m->metric.object == g->object;
}

static void add_files(struct iot_compared *m, const struct groups *groups)
{
    size_t f = figure_for(m);
    double all = 0, last = HUGE_VAL;

    for (size_t i = 0; i < groups->n; i++)
        if (concerns(m, &groups->rows[i]))
            all +=
                fmax(0, groups->rows[i].sum[IOT_CANDIDATE][f] - groups->rows[i].sum[IOT_BASE][f]);
    while (m->n_why < ROWS_OF_FILES) {
        const struct group *best = NULL;
        double by = m->n_why ? 0.1 * all : 0; /* the first of many that are alike is said */
        for (size_t i = 0; i < groups->n; i++) {
            const struct group *g = &groups->rows[i];
            double grown = g->sum[IOT_CANDIDATE][f] - g->sum[IOT_BASE][f];
            if (concerns(m, g) && grown > by && grown < last) {
                best = g;
                by = grown;
            }
        }
        if (!best)
            break;
        last = by;
        tell_group(best, m->why[m->n_why++]);
    }
}

/* --- phases and waits --- */

/* Exposed time of an object, or of all, in the k-th phase with that name; a run's, on average. */
static double in_phase(const struct iot_compare_side *side, const char *name, int object)
{
    double sum = 0;
    size_t k, o;
    const json_t *phase, *row;
    for (size_t i = 0; i < side->n; i++)
        json_array_foreach(json_object_get(side->runs[i].report, "phases"), k, phase)
        {
            const char *own = json_string_value(json_object_get(phase, "name"));
            json_array_foreach(json_object_get(phase, "objects"), o, row)
            {
                if (own && !strcmp(own, name) &&
                    (object >= IOT_METRIC_TOTAL || object_of(row) == object))
                    sum += json_number_value(json_object_get(row, "exposed_ns"));
            }
        }
    return sum / (double)side->n;
}

static void add_phase(const struct iot_comparison *c, struct iot_compared *m)
{
    static const char *const names[] = {"cold_start", "steady", "shutdown"};
    double all = 0, by = 0;
    const char *best = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double grown = in_phase(&c->sides[IOT_CANDIDATE], names[k], m->metric.object) -
                       in_phase(&c->sides[IOT_BASE], names[k], m->metric.object);
        all += fmax(0, grown);
        if (grown > by) {
            by = grown;
            best = names[k];
        }
    }
    if (best && by >= 0.5 * all && by > 1e6)
        snprintf(m->why[m->n_why++], IOT_NOTE_BYTES, "in phase %s: exposed %s → %s", best,
                 duration(in_phase(&c->sides[IOT_BASE], best, m->metric.object)).text,
                 duration(in_phase(&c->sides[IOT_CANDIDATE], best, m->metric.object)).text);
}

static const char *member(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* How long the same waited for the same; a run's, on average. */
static double waited(const struct iot_compare_side *side, const json_t *like)
{
    double sum = 0;
    size_t k;
    const json_t *row;
    char wanted[KEY_BYTES], own[KEY_BYTES];
    make_key(member(like, "path"), wanted);
    for (size_t i = 0; i < side->n; i++)
        json_array_foreach(json_object_get(side->runs[i].report, "waits"), k, row)
        {
            make_key(member(row, "path"), own);
            if (!strcmp(own, wanted) && !strcmp(member(row, "waiter"), member(like, "waiter")) &&
                !strcmp(member(row, "waited_for"), member(like, "waited_for")) &&
                !strcmp(member(row, "doing"), member(like, "doing")))
                sum += json_number_value(json_object_get(row, "waited_ns"));
        }
    return sum / (double)side->n;
}

static void add_wait(const struct iot_comparison *c, struct iot_compared *m)
{
    const struct iot_compare_side *now = &c->sides[IOT_CANDIDATE];
    enum { LOOKED_AT = 20 };
    double by = 0.25 * m->shift.median;
    const json_t *best = NULL, *row;
    size_t k;
    char key[KEY_BYTES];

    if (!now->n)
        return;
    json_array_foreach(json_object_get(now->runs[0].report, "waits"), k, row)
    {
        double grown = k < LOOKED_AT ? waited(now, row) - waited(&c->sides[IOT_BASE], row) : 0;
        if (grown > by &&
            (m->metric.object >= IOT_METRIC_TOTAL || object_of(row) == m->metric.object)) {
            best = row;
            by = grown;
        }
    }
    if (!best)
        return;
    make_key(member(best, "path"), key);
    snprintf(m->why[m->n_why++], IOT_NOTE_BYTES, "%.60s waits for %.60s (%.40s%s%.90s): %s → %s",
             member(best, "waiter"), member(best, "waited_for"), member(best, "doing"),
             *key ? " " : "", key, duration(waited(&c->sides[IOT_BASE], best)).text,
             duration(waited(now, best)).text);
}

static void explain(const struct iot_comparison *c, struct iot_compared *m,
                    const struct groups *groups)
{
    add_files(m, groups);
    iot_compare_add_site(c, m);
    if (!iot_metric_varies(&m->metric) || m->metric.object == IOT_METRIC_FILES)
        return;
    add_phase(c, m);
    add_wait(c, m);
}

static void free_groups(struct groups *groups)
{
    free(groups->rows);
    iot_table_free(&groups->table);
}

int iot_compare_why(struct iot_comparison *c)
{
    struct groups all = {0};
    int failed = 0;

    for (size_t i = 0; i < c->n && !failed; i++) {
        struct iot_compared *m = &c->metrics[i];
        if (!m->gated || m->state != IOT_REGRESSED)
            continue;
        struct groups own = {0}, *groups = m->metric.object == IOT_METRIC_FILES ? &own : &all;
        if (!groups->rows)
            failed = read_groups(c, m, groups);
        if (!failed)
            explain(c, m, groups);
        free_groups(&own);
    }
    free_groups(&all);
    return failed;
}
