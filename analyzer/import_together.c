#include "analyzer/import_together.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Times before that are no CLOCK_REALTIME: they count from the recorder's or the machine's start.
 */
#define REAL_SINCE_NS (INT64_C(365) * 86400 * 1000000000)

/* --- the host --- */

static int has_thread_of(const struct iot_profile *p, int64_t pid)
{
    for (size_t l = 0; l < p->n_lanes; l++)
        if (!p->lanes[l].gpu && p->lanes[l].pid == pid)
            return 1;
    return 0;
}

/* PyTorch names its files HOST_PID.TIME.pt.trace.json, unless the program names them. */
static size_t host_of_name(const struct iot_profile *p, const char *path)
{
    static const char suffix[] = ".pt.trace.json";
    const char *name = basename(path), *end = strstr(name, suffix), *at = end;
    if (!end)
        return 0;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (at == end || at == name || *--at != '.')
        return 0;
    const char *pid = at;
    while (pid > name && pid[-1] >= '0' && pid[-1] <= '9')
        pid--;
    if (pid == at || pid - name < 2 || pid[-1] != '_' || !has_thread_of(p, strtoll(pid, NULL, 10)))
        return 0;
    return (size_t)(pid - 1 - name);
}

void iot_together_host(const struct iot_profile *p, const char *path,
                       char host[IOT_TOGETHER_HOST_BYTES])
{
    const char *const names[] = {p->trace_name, path};
    snprintf(host, IOT_TOGETHER_HOST_BYTES, "%s", p->host ? p->host : "");
    for (size_t k = 0; k < sizeof names / sizeof *names && !*host; k++)
        if (names[k])
            snprintf(host, IOT_TOGETHER_HOST_BYTES, "%.*s", (int)host_of_name(p, names[k]),
                     basename(names[k]));
}

/* --- two of them --- */

static int is_real(const struct iot_recording *r)
{
    return r->start_ns >= REAL_SINCE_NS;
}

struct moment {
    char text[40];
};

static struct moment moment_of(int64_t ns)
{
    struct moment m;
    struct tm tm;
    time_t seconds = (time_t)(ns / 1000000000);
    if (!gmtime_r(&seconds, &tm) || !strftime(m.text, sizeof m.text, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(m.text, sizeof m.text, "%" PRId64 " ns", ns);
    return m;
}

/* NULL: nothing speaks against it. */
static const char *against(const struct iot_recording *a, const struct iot_recording *b,
                           char why[400])
{
    if (*a->host && *b->host && strcmp(a->host, b->host) != 0)
        snprintf(why, 400,
                 "are of two hosts, %.60s and %.60s, whose clocks differ; import each host's into "
                 "a folder of its own, and give 'iotrace report' all folders",
                 a->host, b->host);
    else if (a->world_size > 0 && b->world_size > 0 && a->world_size != b->world_size)
        snprintf(why, 400,
                 "are of two runs, of %" PRId64 " and of %" PRId64
                 " ranks; import each run into a folder of its own",
                 a->world_size, b->world_size);
    else if (a->rank >= 0 && a->rank == b->rank)
        snprintf(why, 400,
                 "are both of rank %" PRId64 ": one recording twice, two stretches of one run, "
                 "or two runs; give one recording of each rank",
                 a->rank);
    else if (is_real(a) != is_real(b))
        snprintf(why, 400,
                 "have no common clock: only one says when it was recorded; import each into a "
                 "folder of its own");
    else if (a->end_ns < b->start_ns || b->end_ns < a->start_ns)
        snprintf(why, 400,
                 "were not recorded at one time (%s and %s), so they are no ranks of one run; "
                 "import each into a folder of its own",
                 moment_of(a->start_ns).text, moment_of(b->start_ns).text);
    else
        return NULL;
    return why;
}

int iot_together_add(struct iot_together *t, const char *path, const struct iot_profile *p,
                     char error[1024])
{
    char why[400];
    struct iot_recording r = {.path = path,
                              .rank = p->rank,
                              .world_size = p->world_size,
                              .start_ns = p->start_ns + p->base_ns,
                              .end_ns = p->end_ns + p->base_ns};
    iot_together_host(p, path, r.host);
    for (size_t k = 0; k < t->n; k++)
        if (against(&t->recordings[k], &r, why)) {
            snprintf(error, 1024, "%.300s and %.300s %s", t->recordings[k].path, path, why);
            return -1;
        }
    struct iot_recording *more = realloc(t->recordings, (t->n + 1) * sizeof *more);
    if (!more) {
        snprintf(error, 1024, "%.300s: out of memory; import it on a machine with more", path);
        return -1;
    }
    t->recordings = more;
    more[t->n++] = r;
    return 0;
}

void iot_together_free(struct iot_together *t)
{
    free(t->recordings);
    *t = (struct iot_together){NULL, 0};
}

/* --- what is taken for granted --- */

const char *iot_together_note(const struct iot_together *t, size_t line, char text[1024])
{
    size_t hosts = 0, times = 0;
    for (size_t k = 0; k < t->n; k++) {
        hosts += *t->recordings[k].host != '\0';
        times += (size_t)is_real(&t->recordings[k]);
    }
    if (t->n < 2)
        return NULL;
    if (hosts < t->n && !line--) {
        snprintf(text, 1024,
                 "%s of which host they are: they are taken to be of one, with one clock",
                 hosts ? "not all recordings say" : "the recordings do not say");
        return text;
    }
    if (!times && !line--) {
        snprintf(text, 1024,
                 "the recordings do not say when they were made: their times are taken to count "
                 "from one moment");
        return text;
    }
    return NULL;
}
