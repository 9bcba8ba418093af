#include "analyzer/events.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN(name)                                                                               \
    {                                                                                              \
        offsetof(struct iot_events, name), sizeof *((struct iot_events *)NULL)->name               \
    }
static const struct {
    size_t at, size;
} columns[] = {
    COLUMN(t0_ns), COLUMN(t1_ns), COLUMN(bytes), COLUMN(result), COLUMN(offset),
    COLUMN(addr),  COLUMN(file),  COLUMN(file2), COLUMN(arg),    COLUMN(fd),
    COLUMN(stack), COLUMN(op),    COLUMN(err),
};
enum { COLUMNS = sizeof columns / sizeof *columns, PAGE = 4096 };

static void **column(struct iot_events *events, int k)
{
    return (void **)(void *)((char *)events + columns[k].at);
}

int iot_events_init(struct iot_events *events, size_t room)
{
    memset(events, 0, sizeof *events);
    for (int k = 0; k < COLUMNS; k++) {
        if (room > SIZE_MAX / columns[k].size ||
            !(*column(events, k) = calloc(room ? room : 1, columns[k].size))) {
            iot_events_free(events);
            return -1;
        }
    }
    return 0;
}

void iot_events_trim(struct iot_events *events)
{
    for (int k = 0; k < COLUMNS; k++) {
        void *less = realloc(*column(events, k), events->n ? events->n * columns[k].size : 1);
        if (less)
            *column(events, k) = less;
    }
}

static int is_zero(const char *p, size_t n)
{
    return !n || (!*p && !memcmp(p, p + 1, n - 1));
}

/* Zeros are not written over zeros: of a column that nothing is in, no page is ever there. */
static void put(char *to, const char *from, size_t bytes)
{
    for (size_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < PAGE ? bytes - done : PAGE;
        if (!is_zero(from + done, n) || !is_zero(to + done, n))
            memmove(to + done, from + done, n);
    }
}

void iot_events_move(struct iot_events *events, size_t to, size_t from, size_t n)
{
    if (to == from)
        return;
    for (int k = 0; k < COLUMNS; k++) {
        char *at = *column(events, k);
        put(at + to * columns[k].size, at + from * columns[k].size, n * columns[k].size);
    }
}

void iot_events_free(struct iot_events *events)
{
    for (int k = 0; k < COLUMNS; k++)
        free(*column(events, k));
    memset(events, 0, sizeof *events);
}

void iot_events_copy(struct iot_events *events, size_t to, size_t from)
{
    for (int k = 0; k < COLUMNS; k++) {
        char *base = *column(events, k);
        if (to != from)
            memcpy(base + to * columns[k].size, base + from * columns[k].size, columns[k].size);
    }
}

static int before(const struct iot_events *e, size_t a, size_t b)
{
    return e->t0_ns[a] != e->t0_ns[b] ? e->t0_ns[a] < e->t0_ns[b] : e->t1_ns[a] > e->t1_ns[b];
}

/* Merges the neighbouring ordered runs [from, middle) and [middle, to) of `in` into `out`. */
static void merge(const struct iot_events *e, size_t first, const uint32_t *in, uint32_t *out,
                  size_t from, size_t middle, size_t to)
{
    size_t a = from, b = middle;
    for (size_t k = from; k < to; k++) {
        int second = a == middle || (b < to && before(e, first + in[b], first + in[a]));
        out[k] = second ? in[b++] : in[a++];
    }
}

/* The end of the ordered run that starts at `from`. */
static size_t run_end(const struct iot_events *e, size_t first, const uint32_t *order, size_t from,
                      size_t n)
{
    size_t k = from + 1;
    while (k < n && !before(e, first + order[k], first + order[k - 1]))
        k++;
    return k < n ? k : n;
}

/* Rows are in order of their ends, so all but nested calls are in order already: a natural merge
 * sort has little to do. Returns the buffer the order is in. */
static uint32_t *sort_order(const struct iot_events *e, size_t first, size_t n, uint32_t *order,
                            uint32_t *other)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (;;) {
        size_t runs = 0;
        for (size_t from = 0; from < n; runs++) {
            size_t middle = run_end(e, first, order, from, n);
            size_t to = middle < n ? run_end(e, first, order, middle, n) : n;
            merge(e, first, order, other, from, middle, to);
            from = to;
        }
        uint32_t *swap = order;
        order = other;
        other = swap;
        if (runs <= 1)
            return order;
    }
}

static void gather(void *column, size_t size, size_t first, size_t n, const uint32_t *order,
                   void *copy)
{
    char *from = (char *)column + first * size, *to = copy;
    if (is_zero(from, n * size))
        return;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * size, from + order[i] * size, size);
    memcpy(from, to, n * size);
}

int iot_events_sort(struct iot_events *events, size_t first, size_t n)
{
    size_t i = 1;
    while (i < n && !before(events, first + i, first + i - 1))
        i++;
    if (i >= n)
        return 0;

    int result = -1;
    uint32_t *a = NULL, *b = NULL;
    void *copy = NULL;
    if (n <= UINT32_MAX && (a = malloc(n * sizeof *a)) && (b = malloc(n * sizeof *b))) {
        uint32_t *order = sort_order(events, first, n, a, b);
        free(order == a ? b : a);
        a = order;
        b = NULL;
        if ((copy = malloc(n * sizeof(uint64_t)))) {
            for (int k = 0; k < COLUMNS; k++)
                gather(*column(events, k), columns[k].size, first, n, order, copy);
            result = 0;
        }
    }
    free(a);
    free(b);
    free(copy);
    return result;
}

/* From the end: each event moves up by as many as are doubled before it. */
static void double_in(char *column, size_t size, size_t n, const size_t *which, size_t n_which)
{
    size_t end = n;
    for (size_t k = n_which; k > 0; k--) {
        size_t from = which[k - 1] + 1;
        memmove(column + (from + k) * size, column + from * size, (end - from) * size);
        memcpy(column + (from + k - 1) * size, column + (from - 1) * size, size);
        end = from;
    }
}

int iot_events_double(struct iot_events *events, const size_t *which, size_t n)
{
    for (int k = 0; k < COLUMNS; k++) {
        void *more = realloc(*column(events, k), (events->n + n + 1) * columns[k].size);
        if (!more)
            return -1;
        *column(events, k) = more;
        double_in(more, columns[k].size, events->n, which, n);
    }
    events->n += n;
    return 0;
}

int64_t iot_event_offset(const struct iot_events *e, size_t i)
{
    switch (e->op[i]) {
    case IOT_OP_PREAD:
    case IOT_OP_PWRITE:
    case IOT_OP_PREADV:
    case IOT_OP_PWRITEV:
    case IOT_OP_PREADV2:
    case IOT_OP_PWRITEV2:
    case IOT_OP_ASYNC_READ:
    case IOT_OP_ASYNC_WRITE:
    case IOT_OP_CUFILE_READ:
    case IOT_OP_CUFILE_WRITE:
        return e->offset[i] < 0 ? -1 : e->offset[i];
    default:
        return -1;
    }
}
