/* A run as Perfetto's own protobuf (perfetto_trace.proto): https://ui.perfetto.dev and
 * trace_processor read it. Threads, streams and requests are tracks, each call is a slice; an
 * instant "goes on" ends the arrow from a waker; the critical path is a track of its own, and so
 * are the counters. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/bytes.h"
#include "analyzer/export_timeline.h"
#include "analyzer/progress.h"
#include "analyzer/room.h"
#include "analyzer/time_columns.h"

/* Field numbers of the messages. */
enum { PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 6 };
enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_NAME_TEXT = 23,
    EVENT_COUNTER = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME, INTERNED_ANNOTATION, INTERNED_STRING = 29 };
enum { ANNOTATION_NAME = 1, ANNOTATION_INT = 4, ANNOTATION_STRING = 17 };
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };

/* Interned names that are no operations. */
enum { NAME_GOES_ON = IOT_OP_LIMIT };
enum { NOTE_PATH = 1, NOTE_BYTES, NOTE_SERVICE, NOTE_EXPOSED, NOTE_RESULT };
static const char *const notes[] = {[NOTE_PATH] = "path",
                                    [NOTE_BYTES] = "bytes",
                                    [NOTE_SERVICE] = "service_ns",
                                    [NOTE_EXPOSED] = "exposed_ns",
                                    [NOTE_RESULT] = "result"};

/* Tracks are numbered: 1 the path, then counters, processes, lanes, queues. */
enum { PATH_TRACK = 1, COUNTER_TRACKS, PROCESS_TRACKS = COUNTER_TRACKS + IOT_OBJECTS };

struct writer {
    const struct iot_exported *x;
    FILE *out;
    struct iot_bytes packet, message, part;
    unsigned char *interned; /* by file: its name is known to the reader */
    unsigned char *wakes;    /* by event: an arrow begins there */
    int64_t *open;           /* ends of the slices that are open in the lane under way */
    size_t n_open, room;
    size_t queues; /* whose track the reader knows */
    int failed;
};

/* --- messages --- */

static void put_varint(struct iot_bytes *to, unsigned field, uint64_t value)
{
    iot_bytes_varint(to, (uint64_t)field << 3);
    iot_bytes_varint(to, value);
}

static void put_fixed(struct iot_bytes *to, unsigned field, uint64_t value)
{
    iot_bytes_varint(to, (uint64_t)field << 3 | 1);
    iot_bytes_fixed(to, value, 8);
}

static void put_bytes(struct iot_bytes *to, unsigned field, const void *from, size_t n)
{
    iot_bytes_varint(to, (uint64_t)field << 3 | 2);
    iot_bytes_varint(to, n);
    iot_bytes_add(to, from, n);
}

static void put_text(struct iot_bytes *to, unsigned field, const char *text)
{
    put_bytes(to, field, text, strlen(text));
}

static void put_double(struct iot_bytes *to, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_fixed(to, field, bits);
}

static uint64_t process_track(uint32_t process)
{
    return PROCESS_TRACKS + (uint64_t)process;
}

static uint64_t lane_track(const struct iot_exported *x, uint32_t lane)
{
    return PROCESS_TRACKS + x->trace->n_processes + lane;
}

/* Writes the packet and begins the next. */
static void end_packet(struct writer *w)
{
    struct iot_bytes head = {0};
    iot_bytes_varint(&head, PACKET << 3 | 2);
    iot_bytes_varint(&head, w->packet.n);
    w->failed |= head.failed || w->packet.failed || w->message.failed || w->part.failed;
    if (!w->failed) {
        fwrite(head.at, 1, head.n, w->out);
        fwrite(w->packet.at, 1, w->packet.n, w->out);
    }
    iot_bytes_free(&head);
    w->packet.n = 0;
}

static void end_track(struct writer *w)
{
    put_bytes(&w->packet, PACKET_TRACK, w->message.at, w->message.n);
    w->message.n = 0;
    end_packet(w);
}

static void end_event(struct writer *w, int64_t ns)
{
    put_varint(&w->packet, PACKET_TIMESTAMP, (uint64_t)ns);
    put_varint(&w->packet, PACKET_SEQUENCE, 1);
    put_varint(&w->packet, PACKET_FLAGS, FLAG_NEEDED);
    put_bytes(&w->packet, PACKET_EVENT, w->message.at, w->message.n);
    w->message.n = 0;
    end_packet(w);
}

static void begin_event(struct writer *w, unsigned type, uint64_t track)
{
    put_varint(&w->message, EVENT_TYPE, type);
    put_varint(&w->message, EVENT_TRACK, track);
}

/* --- tracks --- */

static void begin_track(struct writer *w, uint64_t uuid, const char *name)
{
    put_varint(&w->message, TRACK_UUID, uuid);
    if (name)
        put_text(&w->message, TRACK_NAME, name);
}

static void end_part(struct writer *w, unsigned field)
{
    put_bytes(&w->message, field, w->part.at, w->part.n);
    w->part.n = 0;
}

static void put_tracks(struct writer *w)
{
    const struct iot_trace *t = w->x->trace;
    char name[40];

    begin_track(w, PATH_TRACK, "critical path");
    end_track(w);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        snprintf(name, sizeof name, "%s bandwidth", iot_object_names[o]);
        begin_track(w, COUNTER_TRACKS + (uint64_t)o, name);
        put_text(&w->part, COUNTER_UNIT, "B/s");
        end_part(w, TRACK_COUNTER);
        end_track(w);
    }
    for (uint32_t p = 0; p < t->n_processes; p++) {
        begin_track(w, process_track(p), NULL);
        put_varint(&w->part, PROCESS_PID, t->processes[p].pid);
        put_text(&w->part, PROCESS_NAME, t->processes[p].exe);
        end_part(w, TRACK_PROCESS);
        end_track(w);
    }
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        const struct iot_lane *lane = &t->lanes[l];
        int thread = lane->kind == IOT_LANE_THREAD;
        begin_track(w, lane_track(w->x, l), thread ? NULL : w->x->lane_names[l]);
        put_varint(&w->message, TRACK_PARENT, process_track(lane->process));
        if (thread) {
            put_varint(&w->part, THREAD_PID, t->processes[lane->process].pid);
            put_varint(&w->part, THREAD_TID, lane->tid);
            put_text(&w->part, THREAD_NAME, w->x->lane_names[l]);
            end_part(w, TRACK_THREAD);
        }
        end_track(w);
    }
}

/* --- names that are said once --- */

static void intern(struct writer *w, unsigned kind, uint64_t number, const char *text)
{
    put_varint(&w->part, 1, number);
    put_text(&w->part, 2, text);
    put_bytes(&w->message, kind, w->part.at, w->part.n);
    w->part.n = 0;
}

static void end_interned(struct writer *w, unsigned flags)
{
    put_varint(&w->packet, PACKET_SEQUENCE, 1);
    put_varint(&w->packet, PACKET_FLAGS, flags);
    put_bytes(&w->packet, PACKET_INTERNED, w->message.at, w->message.n);
    w->message.n = 0;
    end_packet(w);
}

static void put_names(struct writer *w)
{
    for (unsigned op = 1; op < IOT_OP_LIMIT; op++)
        if (iot_op_info(op)->class_)
            intern(w, INTERNED_NAME, op, iot_op_info(op)->name);
    intern(w, INTERNED_NAME, NAME_GOES_ON, "goes on");
    for (unsigned o = 0; o < IOT_OBJECTS; o++)
        intern(w, INTERNED_CATEGORY, o + 1, iot_object_names[o]);
    for (unsigned k = 1; k < sizeof notes / sizeof *notes; k++)
        intern(w, INTERNED_ANNOTATION, k, notes[k]);
    end_interned(w, FLAG_CLEARED);
}

static void intern_path(struct writer *w, uint32_t file)
{
    if (w->interned[file])
        return;
    w->interned[file] = 1;
    intern(w, INTERNED_STRING, file, w->x->trace->files[file].name);
    end_interned(w, FLAG_NEEDED);
}

/* --- slices --- */

static void note(struct writer *w, unsigned name, unsigned field, int64_t value)
{
    put_varint(&w->part, ANNOTATION_NAME, name);
    put_varint(&w->part, field, (uint64_t)value);
    end_part(w, EVENT_ANNOTATION);
}

static void close_slices(struct writer *w, uint64_t track, int64_t until_ns)
{
    while (w->n_open && w->open[w->n_open - 1] <= until_ns) {
        begin_event(w, TYPE_END, track);
        end_event(w, w->open[--w->n_open]);
    }
}

/* A slice ends within the one around it. */
static void open_slice(struct writer *w, int64_t end_ns)
{
    if (IOT_ROOM(w->open, w->n_open + 1, w->room)) {
        w->failed = 1;
        return;
    }
    if (w->n_open && w->open[w->n_open - 1] < end_ns)
        end_ns = w->open[w->n_open - 1];
    w->open[w->n_open++] = end_ns;
}

static void put_event(struct writer *w, size_t i, uint64_t track)
{
    const struct iot_exported *x = w->x;
    const struct iot_events *e = &x->trace->events;
    unsigned object = iot_exported_object(x, i);

    if (e->file[i])
        intern_path(w, e->file[i]);
    close_slices(w, track, e->t0_ns[i]);
    int instant = e->t0_ns[i] == e->t1_ns[i];
    begin_event(w, instant ? TYPE_INSTANT : TYPE_BEGIN, track);
    put_varint(&w->message, EVENT_NAME, e->op[i]);
    if (object != IOT_OBJECTS)
        put_varint(&w->message, EVENT_CATEGORY, object + 1);
    if (e->file[i])
        note(w, NOTE_PATH, ANNOTATION_STRING, e->file[i]);
    if (e->bytes[i])
        note(w, NOTE_BYTES, ANNOTATION_INT, e->bytes[i]);
    if (x->model->service_ns[i]) {
        note(w, NOTE_SERVICE, ANNOTATION_INT, x->model->service_ns[i]);
        note(w, NOTE_EXPOSED, ANNOTATION_INT, x->model->exposed_ns[i]);
    }
    if (e->err[i])
        note(w, NOTE_RESULT, ANNOTATION_INT, -(int64_t)e->err[i]);
    if (w->wakes[i])
        put_fixed(&w->message, EVENT_FLOW, i + 1);
    end_event(w, e->t0_ns[i]);
    if (!instant)
        open_slice(w, e->t1_ns[i]);
}

static uint32_t arrow_from(const struct writer *w, size_t i)
{
    uint32_t waker = iot_timeline_waker(w->x, i);
    const uint32_t *lane_of = w->x->links.lane_of;
    return waker != IOT_NO_INDEX && lane_of[waker] != lane_of[i] ? waker : IOT_NO_INDEX;
}

/* Where a wait ends, an arrow from whoever let it go on. */
static void put_arrow(struct writer *w, size_t i, uint64_t track)
{
    uint32_t waker = arrow_from(w, i);
    if (waker == IOT_NO_INDEX)
        return;
    begin_event(w, TYPE_INSTANT, track);
    put_varint(&w->message, EVENT_NAME, NAME_GOES_ON);
    put_fixed(&w->message, EVENT_FLOW_END, (uint64_t)waker + 1);
    end_event(w, w->x->trace->events.t1_ns[i]);
}

static void put_lane(struct writer *w, uint32_t lane)
{
    const struct iot_lane *l = &w->x->trace->lanes[lane];
    uint64_t track = lane_track(w->x, lane);
    for (size_t i = l->first_event; i < l->first_event + l->n_events && !w->failed; i++) {
        iot_progress("writing events", i, w->x->trace->events.n);
        put_event(w, i, track);
        put_arrow(w, i, track);
    }
    close_slices(w, track, INT64_MAX);
}

static int put_stretch(void *user, const struct iot_stretch *s)
{
    struct writer *w = user;
    char name[160];
    iot_timeline_stretch(w->x, s, name);
    begin_event(w, TYPE_BEGIN, PATH_TRACK);
    put_text(&w->message, EVENT_NAME_TEXT, name);
    end_event(w, s->start_ns);
    begin_event(w, TYPE_END, PATH_TRACK);
    end_event(w, s->end_ns);
    return 0;
}

static void put_rates(struct writer *w, const struct iot_timeline_rates *rates)
{
    for (int o = 0; o < IOT_OBJECTS; o++)
        for (int c = 0; c < IOT_TIMELINE_COLUMNS; c++) {
            begin_event(w, TYPE_COUNTER, COUNTER_TRACKS + (uint64_t)o);
            put_double(&w->message, EVENT_COUNTER, iot_timeline_rate(w->x, rates, o, c));
            end_event(w, iot_column_start(w->x->model->wall_ns, IOT_TIMELINE_COLUMNS, c));
        }
}

static void put_length(void *user, size_t queue, const char *name, int64_t t_ns, int64_t length)
{
    struct writer *w = user;
    uint64_t track = lane_track(w->x, (uint32_t)w->x->trace->n_lanes) + queue;
    if (queue == w->queues) {
        begin_track(w, track, name);
        put_text(&w->part, COUNTER_UNIT, "messages");
        end_part(w, TRACK_COUNTER);
        end_track(w);
        w->queues++;
    }
    begin_event(w, TYPE_COUNTER, track);
    put_double(&w->message, EVENT_COUNTER, (double)length);
    end_event(w, t_ns);
}

int iot_export_perfetto(const struct iot_exported *x, FILE *out)
{
    struct writer w = {.x = x, .out = out};
    struct iot_timeline_rates *rates = iot_timeline_rates(x);

    w.interned = calloc(x->trace->n_files + 1, 1);
    w.wakes = calloc(x->trace->events.n + 1, 1);
    w.failed = !rates || !w.interned || !w.wakes;
    for (size_t i = 0; i < x->trace->events.n && !w.failed; i++) {
        uint32_t waker = arrow_from(&w, i);
        if (waker != IOT_NO_INDEX)
            w.wakes[waker] = 1;
    }
    if (!w.failed) {
        put_names(&w);
        put_tracks(&w);
    }
    for (uint32_t l = 0; l < x->trace->n_lanes && !w.failed && !ferror(out); l++)
        put_lane(&w, l);
    if (!w.failed)
        w.failed = iot_path_walk(x->model, put_stretch, &w);
    if (!w.failed)
        put_rates(&w, rates);
    if (!w.failed)
        w.failed = iot_timeline_queues(x, put_length, &w);
    iot_bytes_free(&w.packet);
    iot_bytes_free(&w.message);
    iot_bytes_free(&w.part);
    free(w.interned);
    free(w.wakes);
    free(w.open);
    free(rates);
    return w.failed ? -1 : 0;
}
