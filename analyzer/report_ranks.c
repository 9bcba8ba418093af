/* Which ranks of which jobs the processes of a run are. */
#include <stdlib.h>

#include "analyzer/json_out.h"
#include "analyzer/report_json_parts.h"
#include "analyzer/report_parts.h"

static int same_rank(const struct iot_process *p, const struct iot_process *q)
{
    return !iot_identity_order(&p->identity, &q->identity);
}

static int by_identity(const void *a, const void *b)
{
    const struct iot_process *p = *(const struct iot_process *const *)a;
    const struct iot_process *q = *(const struct iot_process *const *)b;
    int order = iot_identity_order(&p->identity, &q->identity);
    return order ? order : (p->pid > q->pid) - (p->pid < q->pid);
}

static int says_something(const struct iot_identity *identity)
{
    return *identity->job || identity->rank >= 0 || identity->world_size >= 0;
}

int iot_report_ranks(struct iot_report *r)
{
    const struct iot_trace *t = r->trace;
    struct iot_rank *ranks = calloc(t->n_processes + 1, sizeof *ranks);
    const struct iot_process **of = malloc((t->n_processes + 1) * sizeof *of);
    size_t n = 0, kept = 0;
    if (!ranks || !of) {
        free(ranks);
        free(of);
        return -1;
    }
    for (size_t p = 0; p < t->n_processes; p++)
        if (says_something(&t->processes[p].identity))
            of[n++] = &t->processes[p];
    qsort(of, n, sizeof *of, by_identity);
    for (size_t k = 0; k < n; k++) {
        if (!k || !same_rank(of[k - 1], of[k]))
            ranks[kept++].identity = &of[k]->identity;
        if (!k || by_identity(&of[k - 1], &of[k]))
            ranks[kept - 1].processes++;
    }
    free(of);
    r->run.ranks = ranks;
    r->run.n_ranks = kept;
    return 0;
}

static void put_number(struct iot_json *json, const char *key, int64_t value)
{
    if (value < 0)
        iot_json_put_null(json, key);
    else
        iot_json_put_int(json, key, value);
}

void iot_report_put_ranks(struct iot_json *json, const struct iot_report_run *run)
{
    iot_json_put_array(json, "ranks");
    for (size_t k = 0; k < run->n_ranks; k++) {
        const struct iot_identity *identity = run->ranks[k].identity;
        iot_json_begin_object(json);
        iot_json_put_string(json, "job", identity->job);
        put_number(json, "rank", identity->rank);
        put_number(json, "local_rank", identity->local_rank);
        put_number(json, "world_size", identity->world_size);
        iot_json_put_string(json, "source", identity->source);
        iot_json_put_uint(json, "processes", run->ranks[k].processes);
        iot_json_end_object(json);
    }
    iot_json_end_array(json);
}
