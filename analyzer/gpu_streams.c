#include "analyzer/gpu_streams.h"

#include <stdlib.h>
#include <string.h>

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

int iot_streams_meet(struct iot_gpu_streams *s, int64_t number, unsigned kind,
                     const struct iot_lane *lane)
{
    size_t n, at = place_of(s, number);
    if (number < 0 && !lane) /* a call that does not say */
        return 0;
    iot_streams_of(s, number, &n);
    for (size_t k = at; k < at + n && !lane; k++)
        s->list[k].kind = s->list[k].kind ? s->list[k].kind : kind;
    if (n && !lane)
        return 0;
    if (IOT_ROOM(s->list, s->n + 1, s->room))
        return -1;
    memmove(&s->list[at + n + 1], &s->list[at + n], (s->n - at - n) * sizeof *s->list);
    s->list[at + n] =
        (struct iot_stream){.number = number, .lane = lane, .kind = kind, .last = IOT_NO_INDEX};
    s->n++;
    return 0;
}

void iot_streams_pair(struct iot_gpu_streams *s)
{
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
    *s = (struct iot_gpu_streams){0};
}
