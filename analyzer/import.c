#include "analyzer/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/import_rows.h"
#include "analyzer/import_together.h"

/* --- which lanes there are, and in which order --- */

/* The main thread is the one with the steps, else with the loaders and calls. */
static uint32_t main_lane(const struct iot_profile *p, size_t process)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t l = 0; l < p->n_lanes; l++) {
        const struct iot_profile_lane *lane = &p->lanes[l];
        if (lane->gpu || lane->process != process || (!lane->last_span && !lane->n_steps))
            continue;
        const struct iot_profile_lane *b = best == UINT32_MAX ? NULL : &p->lanes[best];
        int main_thread = lane->pid == lane->tid;
        int b_main = b && b->pid == b->tid;
        if (!b || lane->n_steps > b->n_steps ||
            (lane->n_steps == b->n_steps &&
             (main_thread > b_main || (main_thread == b_main && lane->n_calls > b->n_calls))))
            best = l;
    }
    return best;
}

static int by_lane(const void *a, const void *b, void *all)
{
    const struct iot_item *items = all;
    const struct iot_item *x = &items[*(const uint32_t *)a];
    const struct iot_item *y = &items[*(const uint32_t *)b];
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->t0_ns != y->t0_ns)
        return x->t0_ns < y->t0_ns ? -1 : 1;
    if (x->t1_ns != y->t1_ns)
        return x->t1_ns > y->t1_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* --- by correlation --- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int by_correlation(const void *a, const void *b, void *all)
{
    const struct iot_item *items = all;
    const struct iot_item *x = &items[*(const uint32_t *)a];
    const struct iot_item *y = &items[*(const uint32_t *)b];
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

static int copies_and_waits(const struct iot_profile *p, const struct iot_item *item)
{
    const char *name = p->names[item->name];
    return item->kind == IOT_ITEM_CALL && strstr(name, "Memcpy") && !strstr(name, "Async");
}

static int find_correlations(struct iot_import *im)
{
    const struct iot_profile *p = im->profile;
    size_t works = 0, waits = 0, syncs = 0;
    for (size_t k = 0; k < p->n_items; k++) {
        if (p->items[k].process != im->process)
            continue;
        works += p->items[k].kind >= IOT_ITEM_KERNEL;
        waits += (size_t)copies_and_waits(p, &p->items[k]);
        syncs += p->items[k].kind == IOT_ITEM_SYNC;
    }
    im->works = malloc((works + 1) * sizeof *im->works);
    im->waits = malloc((waits + 1) * sizeof *im->waits);
    im->syncs = malloc((syncs + 1) * sizeof *im->syncs);
    if (!im->works || !im->waits || !im->syncs)
        return -1;
    for (size_t k = 0; k < p->n_items; k++)
        if (p->items[k].process != im->process)
            continue;
        else if (p->items[k].kind >= IOT_ITEM_KERNEL)
            im->works[im->n_works++] = p->items[k].correlation;
        else if (p->items[k].kind == IOT_ITEM_SYNC)
            im->syncs[im->n_syncs++] = (uint32_t)k;
        else if (copies_and_waits(p, &p->items[k]))
            im->waits[im->n_waits++] = p->items[k].correlation;
    qsort(im->waits, im->n_waits, sizeof *im->waits, by_number);
    qsort(im->works, im->n_works, sizeof *im->works, by_number);
    qsort_r(im->syncs, im->n_syncs, sizeof *im->syncs, by_correlation, p->items);
    im->done->unplaced += im->n_syncs;
    return 0;
}

static int is_in(uint32_t correlation, const uint32_t *list, size_t n)
{
    return correlation && bsearch(&correlation, list, n, sizeof *list, by_number) != NULL;
}

int iot_import_has_work(const struct iot_import *im, uint32_t correlation)
{
    return is_in(correlation, im->works, im->n_works);
}

int iot_import_is_sync_copy(const struct iot_import *im, uint32_t correlation)
{
    return is_in(correlation, im->waits, im->n_waits);
}

const struct iot_item *iot_import_sync(const struct iot_import *im, uint32_t correlation)
{
    size_t low = 0, high = im->n_syncs;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (im->profile->items[im->syncs[middle]].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    const struct iot_item *item = low < im->n_syncs ? &im->profile->items[im->syncs[low]] : NULL;
    return item && correlation && item->correlation == correlation ? item : NULL;
}

/* --- lanes --- */

/* The items of a lane, in order of time; SYNC have no lane. */
static size_t items_of(const struct iot_import *im, uint32_t lane, size_t *first)
{
    const struct iot_profile *p = im->profile;
    size_t low = 0, high = im->n_order;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->items[im->order[middle]].lane < lane)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < im->n_order && p->items[im->order[low]].lane == lane)
        low++;
    return low - *first;
}

static int write_hand_offs(struct iot_import *im, uint32_t lane)
{
    for (size_t k = 0; k < im->n_hand_offs; k++) {
        const struct iot_hand_off *h = &im->hand_offs[k];
        uint32_t name = iot_import_string(im, "hand-off (inferred)");
        if (h->from == lane)
            iot_import_row(im, (struct iot_row){.op = IOT_OP_SEM_POST,
                                                .t0 = iot_import_ns(im, h->from_ns),
                                                .t1 = iot_import_ns(im, h->from_ns),
                                                .obj = name,
                                                .addr = k + 1});
        if (h->to != lane)
            continue;
        /* Behind what the lane itself posts when it becomes idle. */
        int64_t since = h->idle_ns == INT64_MIN ? im->profile->start_ns : h->idle_ns + 1;
        iot_import_row(
            im, (struct iot_row){.op = IOT_OP_SEM_WAIT,
                                 .t0 = iot_import_ns(im, since < h->to_ns ? since : h->to_ns),
                                 .t1 = iot_import_ns(im, h->to_ns),
                                 .obj = name,
                                 .addr = k + 1});
    }
    return im->failed;
}

static int write_thread(struct iot_import *im, uint32_t lane, uint32_t number, int64_t end_ns)
{
    const struct iot_profile_lane *l = &im->profile->lanes[lane];
    size_t first, n = items_of(im, lane, &first);
    uint64_t start = iot_import_ns(im, im->profile->start_ns), end = iot_import_ns(im, end_ns);
    const char *name = im->profile->names[l->name];
    char own[16] = "";

    iot_import_lane(im, number, l->tid > 0 && l->tid < UINT32_MAX ? (uint32_t)l->tid : number);
    if (number == 0)
        iot_import_row(
            im, (struct iot_row){.op = IOT_OP_START, .t0 = start, .t1 = start, .obj = UINT32_MAX});
    else
        iot_import_row(im, (struct iot_row){.op = IOT_OP_THREAD_START,
                                            .t0 = start,
                                            .t1 = start,
                                            .obj = UINT32_MAX,
                                            .result = (int64_t)l->tid});
    iot_import_thread(im, &im->order[first], n);
    write_hand_offs(im, lane);
    struct iot_row last = {.op = number ? IOT_OP_THREAD_EXIT : IOT_OP_EXIT, .t0 = end, .t1 = end};
    if (number) {
        size_t length = strlen(name);
        memcpy(own, name, length < sizeof own ? length : sizeof own - 1);
        memcpy(&last.offset, own, 8);
        memcpy(&last.addr, own + 8, 8);
    }
    iot_import_row(im, last);
    im->done->threads++;
    return iot_import_lane_end(im);
}

static int write_stream(struct iot_import *im, uint32_t lane, uint32_t number)
{
    const struct iot_profile_lane *l = &im->profile->lanes[lane];
    size_t first, n = items_of(im, lane, &first);
    uint64_t start = iot_import_ns(im, im->profile->start_ns);

    iot_import_lane(im, number, number);
    iot_import_row(
        im,
        (struct iot_row){
            .op = IOT_OP_GPU_STREAM, .t0 = start, .t1 = start, .result = l->pid, .offset = l->tid});
    iot_import_stream(im, &im->order[first], n);
    im->done->streams++;
    return iot_import_lane_end(im);
}

/* When a thread was last seen. */
static void find_ends(const struct iot_profile *p, int64_t *ends)
{
    for (size_t l = 0; l < p->n_lanes; l++)
        ends[l] = p->start_ns;
    for (size_t k = 0; k < p->n_spans; k++)
        if (p->spans[k].t1_ns > ends[p->spans[k].lane])
            ends[p->spans[k].lane] = p->spans[k].t1_ns;
    for (size_t k = 0; k < p->n_items; k++) {
        const struct iot_item *i = &p->items[k];
        if (i->kind != IOT_ITEM_SYNC && i->t0_ns > ends[i->lane])
            ends[i->lane] = i->t0_ns;
    }
}

static int write_lanes(struct iot_import *im)
{
    const struct iot_profile *p = im->profile;
    uint32_t main_thread = main_lane(p, im->process), number = 1;
    int64_t *ends = malloc((p->n_lanes + 1) * sizeof *ends);
    size_t first;
    int failed = !ends;
    if (!failed)
        find_ends(p, ends);
    if (main_thread == UINT32_MAX)
        failed = failed || iot_import_nothing(im);
    else
        failed = failed || write_thread(im, main_thread, 0, p->end_ns);
    for (uint32_t l = 0; l < p->n_lanes && !failed; l++)
        if (!p->lanes[l].gpu && p->lanes[l].process == im->process && l != main_thread &&
            (p->lanes[l].last_span || p->lanes[l].n_steps))
            failed = write_thread(im, l, number++, ends[l]);
    for (uint32_t l = 0; l < p->n_lanes && !failed; l++)
        if (p->lanes[l].gpu && items_of(im, l, &first))
            failed = write_stream(im, l, number++);
    free(ends);
    return failed ? -1 : 0;
}

/* On which host it ran, and which rank it was. */
static void write_place(struct iot_import *im, const char *source)
{
    const struct iot_profile *p = im->profile;
    char host[IOT_TOGETHER_HOST_BYTES], identity[128];
    iot_together_host(p, source, host);
    if (*host)
        iot_written_fact(&im->file, IOT_FACT_HOST, host, strlen(host));
    if (p->rank < 0 || im->process != p->main_process)
        return;
    int n = snprintf(identity, sizeof identity, "rank=%lld\n", (long long)p->rank);
    if (p->world_size > 0)
        n += snprintf(identity + n, sizeof identity - (size_t)n, "world_size=%lld\n",
                      (long long)p->world_size);
    n += snprintf(identity + n, sizeof identity - (size_t)n, "source=profiler\n");
    iot_written_fact(&im->file, IOT_FACT_IDENTITY, identity, (size_t)n);
}

static int start_file(struct iot_import *im, const char *source, uint32_t pid, int root)
{
    struct iot_profile *p = im->profile;
    const char *exe = p->names[p->process_name];
    uint64_t end = iot_import_ns(im, p->end_ns);
    im->file = iot_written_new(pid, 0, iot_import_ns(im, p->start_ns));
    if (!im->file.bytes)
        return -1;
    struct iot_file_header *h = iot_written_header(&im->file);
    h->root = root != 0;
    h->start_realtime_ns = (uint64_t)p->start_ns + (uint64_t)p->base_ns;
    h->last = (struct iot_anchor){end, end};
    h->end = IOT_END_EXIT;
    iot_written_fact(&im->file, IOT_FACT_EXE, exe, strnlen(exe, 256));
    iot_written_fact(&im->file, IOT_FACT_COMMAND, exe, strnlen(exe, 256));
    iot_written_fact(&im->file, IOT_FACT_SOURCE, source, strnlen(source, 4096));
    write_place(im, source);
    iot_written_ops(&im->file);
    return 0;
}

int iot_import_write(struct iot_profile *p, size_t process, int folder, const char *name,
                     const char *source, uint32_t pid, int root, struct iot_imported *done)
{
    struct iot_import im = {.profile = p, .process = process, .done = done};
    int result = -ENOMEM;
    done->span_ns = p->end_ns - p->start_ns;
    im.order = malloc((p->n_items + 1) * sizeof *im.order);
    for (size_t k = 0; im.order && k < p->n_items; k++)
        if (p->items[k].kind != IOT_ITEM_SYNC && p->items[k].process == process)
            im.order[im.n_order++] = (uint32_t)k;
    if (im.order) {
        qsort_r(im.order, im.n_order, sizeof *im.order, by_lane, p->items);
        if (!iot_hand_offs_find(p, process, &im.hand_offs, &im.n_hand_offs) &&
            !find_correlations(&im) && !start_file(&im, source, pid, root) &&
            !iot_import_rows_begin(&im) && !write_lanes(&im)) {
            done->hand_offs += im.n_hand_offs;
            result = iot_written_write(&im.file, folder, name);
        }
    }
    iot_import_rows_end(&im);
    free(im.order);
    free(im.hand_offs);
    free(im.works);
    free(im.waits);
    free(im.syncs);
    iot_written_free(&im.file);
    return result;
}
