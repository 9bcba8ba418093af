#include "analyzer/gpu_streams.h"

#include <stdlib.h>

#include "analyzer/room.h"

/* The first that is not below. */
static size_t place_of(const struct iot_gpu_streams *s, int64_t number)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct iot_stream *iot_streams_of(const struct iot_gpu_streams *s, int64_t number, size_t *n)
{
    size_t first = place_of(s, number);
    for (*n = 0; first + *n < s->n && s->list[first + *n].number == number;)
        ++*n;
    return s->n ? s->list + first : NULL;
}

struct wanted {
    const struct iot_gpu_streams *streams;
    int64_t number;
};

static int has_number(const void *user, uint32_t index)
{
    const struct wanted *w = user;
    return w->streams->list[index].number == w->number;
}

int iot_streams_meet(struct iot_gpu_streams *s, int64_t number, unsigned kind,
                     const struct iot_lane *lane)
{
    if (number < 0 && !lane) /* a call that does not say */
        return 0;
    uint64_t hash = iot_table_hash(&number, sizeof number);
    uint32_t first = iot_table_find(&s->by_number, hash, has_number, &(struct wanted){s, number});
    if (first != UINT32_MAX && !lane) {
        s->list[first].kind_said = s->list[first].kind_said ? s->list[first].kind_said : kind;
        return 0;
    }
    if (s->n >= UINT32_MAX || IOT_ROOM(s->list, s->n + 1, s->room) ||
        (first == UINT32_MAX && iot_table_add(&s->by_number, hash, (uint32_t)s->n)))
        return -1;
    s->list[s->n++] = (struct iot_stream){.number = number,
                                          .lane = lane,
                                          .kind = kind,
                                          .last = IOT_NO_INDEX,
                                          .awaited = IOT_NO_INDEX};
    return 0;
}

/* Of one number they are all of lanes, or there is but one. */
static int by_number(const void *a, const void *b)
{
    const struct iot_stream *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static void order(struct iot_gpu_streams *s)
{
    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, by_number);
    iot_table_free(&s->by_number); /* its indexes are those of before */
    s->by_number = (struct iot_table){0};
    for (size_t first = 0, end; first < s->n; first = end) {
        unsigned said = s->list[first].kind_said;
        for (end = first; end < s->n && s->list[end].number == s->list[first].number; end++)
            s->list[end].kind = s->list[end].kind ? s->list[end].kind : said;
    }
}

void iot_streams_pair(struct iot_gpu_streams *s)
{
    order(s);
    for (size_t first = 0, end; first < s->n; first = end) {
        struct iot_stream *legacy = NULL;
        int64_t context = iot_context_of(s->list[first].number);
        for (end = first; end < s->n && iot_context_of(s->list[end].number) == context; end++)
            if (!legacy && s->list[end].kind == IOT_STREAM_LEGACY)
                legacy = &s->list[end];
        for (size_t k = first; k < end; k++)
            if (s->list[k].kind == IOT_STREAM_BLOCKING)
                s->list[k].legacy = legacy;
    }
}

int iot_streams_ask(const struct iot_gpu_streams *s, struct iot_stream *stream)
{
    while (stream->news) {
        struct iot_stream *other = stream->news;
        if (iot_gpu_ends_join(&stream->next, s->lane_of, &other->next, 0))
            return -1;
        stream->news = other->next_new;
        other->is_new = 0;
    }
    if (!stream->legacy || stream->turn == stream->legacy->turn)
        return 0;
    stream->turn = stream->legacy->turn;
    return iot_gpu_ends_join(&stream->next, s->lane_of, &stream->legacy->next, 0);
}

void iot_streams_asked(struct iot_stream *stream)
{
    stream->turn += stream->kind == IOT_STREAM_LEGACY;
    if (!stream->legacy || stream->is_new)
        return;
    stream->is_new = 1;
    stream->next_new = stream->legacy->news;
    stream->legacy->news = stream;
}

void iot_streams_free(struct iot_gpu_streams *s)
{
    for (size_t k = 0; k < s->n; k++)
        iot_gpu_ends_free(&s->list[k].next);
    free(s->list);
    iot_table_free(&s->by_number);
    *s = (struct iot_gpu_streams){0};
}
