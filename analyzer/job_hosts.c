/* The hosts of a job, and which of them are slow: like for like.
 *
 * Calls on one object of one class of sizes are compared, by the middle of their times on each
 * host, with the (lower) median host that has such calls. So neither more bytes, nor larger calls,
 * nor some that stalled make a host look slow.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/job.h"

/* So many times as slow as the median, and a hundredth of the job at least. */
#define SLOW_TIMES 1.5
enum { WORTH_PART = 100 };

/* Calls of a unit, or then of a host, of one object and class. */
struct entry {
    size_t host;
    uint8_t object, class_;
    int64_t calls, median_ns;
};

/* What a host's calls on an object take, each as long as the middle of its class: here and on the
 * median host. */
struct pace {
    double here, median;
};

static int by_host(const void *a, const void *b)
{
    return strcmp(((const struct iot_job_host *)a)->host, ((const struct iot_job_host *)b)->host);
}

static int make_hosts(struct iot_job *job)
{
    const struct iot_partial *p = job->partial;
    size_t n = 0;
    job->hosts = calloc(p->n_units + 1, sizeof *job->hosts);
    if (!job->hosts)
        return -1;
    for (size_t k = 0; k < p->n_units; k++)
        job->hosts[k] =
            (struct iot_job_host){.host = p->units[k].host, .units = 1, .slow_object = -1};
    qsort(job->hosts, p->n_units, sizeof *job->hosts, by_host);
    for (size_t k = 0; k < p->n_units; k++)
        if (n && !by_host(&job->hosts[n - 1], &job->hosts[k]))
            job->hosts[n - 1].units++;
        else
            job->hosts[n++] = job->hosts[k];
    job->n_hosts = n;
    return 0;
}

static size_t host_of(const struct iot_job *job, const struct iot_unit *unit)
{
    const struct iot_job_host wanted = {.host = unit->host};
    const struct iot_job_host *found =
        bsearch(&wanted, job->hosts, job->n_hosts, sizeof *job->hosts, by_host);
    return (size_t)(found - job->hosts);
}

static int by_class(const struct entry *x, const struct entry *y)
{
    return x->object != y->object ? (int)x->object - (int)y->object
                                  : (int)x->class_ - (int)y->class_;
}

static int by_class_and_host(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int classes = by_class(x, y);
    if (classes)
        return classes;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
}

static int by_class_and_time(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int classes = by_class(x, y);
    if (classes)
        return classes;
    if (x->median_ns != y->median_ns)
        return x->median_ns < y->median_ns ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

static struct entry *list_calls(const struct iot_job *job, size_t *n)
{
    const struct iot_partial *p = job->partial;
    size_t room = 1;
    *n = 0;
    for (size_t k = 0; k < p->n_units; k++)
        room += p->units[k].n_calls;
    struct entry *entries = malloc(room * sizeof *entries);
    for (size_t k = 0; k < p->n_units && entries; k++)
        for (size_t i = 0; i < p->units[k].n_calls; i++) {
            const struct iot_unit_calls *c = &p->units[k].calls[i];
            if (c->object != IOT_OTHER && c->calls)
                entries[(*n)++] = (struct entry){host_of(job, &p->units[k]), c->object, c->class_,
                                                 c->calls, c->median_ns};
        }
    return entries;
}

/* One of each host and class: the lower median of its units', each as often as it has calls. */
static size_t sum_hosts(struct entry *entries, size_t n)
{
    size_t kept = 0;
    qsort(entries, n, sizeof *entries, by_class_and_host);
    for (size_t from = 0, to; from < n; from = to) {
        struct entry sum = entries[from];
        int64_t seen = 0;
        sum.calls = 0;
        for (to = from; to < n && !by_class(&entries[from], &entries[to]) &&
                        entries[to].host == entries[from].host;
             to++)
            sum.calls = iot_sum(sum.calls, entries[to].calls);
        for (size_t k = from; k < to && seen < (sum.calls + 1) / 2; k++) {
            seen = iot_sum(seen, entries[k].calls);
            sum.median_ns = entries[k].median_ns;
        }
        entries[kept++] = sum;
    }
    return kept;
}

/* A class that one host alone has tells nothing. */
static void compare(struct pace (*paces)[IOT_OBJECTS], struct entry *entries, size_t n)
{
    qsort(entries, n, sizeof *entries, by_class_and_time);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && !by_class(&entries[from], &entries[to]);)
            to++;
        double median = (double)entries[from + (to - from - 1) / 2].median_ns;
        for (size_t k = from; k < to && to - from > 1; k++) {
            struct pace *pace = &paces[entries[k].host][entries[k].object];
            pace->here += (double)entries[k].calls * (double)entries[k].median_ns;
            pace->median += (double)entries[k].calls * median;
        }
    }
}

static void judge(const struct iot_job *job, struct iot_job_host *host, const struct pace *paces)
{
    for (int o = 0; o < IOT_OTHER; o++) {
        double excess = (paces[o].here - paces[o].median) / (double)host->units;
        if (paces[o].here < SLOW_TIMES * paces[o].median ||
            excess < (double)job->wall_ns / WORTH_PART || excess <= (double)host->excess_ns)
            continue;
        host->slow_object = o;
        host->excess_ns = excess < (double)IOT_SUM_MAX ? (int64_t)excess : IOT_SUM_MAX;
        host->times = paces[o].median > 0 ? paces[o].here / paces[o].median : 0;
    }
}

int iot_job_hosts(struct iot_job *job)
{
    size_t n = 0;
    if (make_hosts(job))
        return -1;
    struct pace(*paces)[IOT_OBJECTS] = calloc(job->n_hosts + 1, sizeof *paces);
    struct entry *entries = list_calls(job, &n);
    int failed = !paces || !entries;
    if (!failed && n) {
        n = sum_hosts(entries, n);
        compare(paces, entries, n);
        for (size_t h = 0; h < job->n_hosts; h++)
            judge(job, &job->hosts[h], paces[h]);
    }
    free(paces);
    free(entries);
    return failed ? -1 : 0;
}
