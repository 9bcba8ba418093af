/* Bytes through pipes and sockets: which write made a read possible, and which read made room for a
 * write. Bytes are matched by their position in the stream. */
#include "analyzer/links.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/process_ends.h"
#include "analyzer/stream_holders.h"

/* An end of file that took as long did not lie there yet. */
enum { BLOCKED_NS = 50000 };

/* What Linux gives a pipe, where the recorder could not ask. */
enum { PIPE_BYTES = 65536 };

/* The calls on all streams, by file: those of file f are list[first[f]] .. list[first[f + 1] - 1].
 */
struct calls {
    uint32_t *list;
    size_t *first;
};

struct streams {
    const struct iot_trace *trace;
    struct calls reads, writes, closes, resizes;
    struct iot_process_ends process_ends;
    struct iot_holders holders;
    uint32_t *source;   /* links->stream_source */
    uint8_t *connected; /* by file: this run opened the connection, to somebody outside */
};

static int is_stream(const struct iot_trace *trace, uint32_t file)
{
    return file && (trace->files[file].kind == IOT_FILE_PIPE ||
                    trace->files[file].kind == IOT_FILE_SOCKET);
}

/* The file that event i reads a stream from; 0 if it does not. An end of file counts. */
static uint32_t read_of(const struct iot_trace *trace, size_t i)
{
    const struct iot_events *e = &trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    int reads = op->class_ == IOT_DATA && (op->moves == IOT_IN || op->moves == IOT_BOTH);
    return reads && !e->err[i] && is_stream(trace, e->file[i]) ? e->file[i] : 0;
}

static uint32_t write_of(const struct iot_trace *trace, size_t i)
{
    const struct iot_events *e = &trace->events;
    const struct iot_op_info *op = iot_op_info(e->op[i]);
    if (op->class_ != IOT_DATA || e->bytes[i] <= 0)
        return 0;
    uint32_t file = op->moves == IOT_OUT ? e->file[i] : op->moves == IOT_BOTH ? e->file2[i] : 0;
    return is_stream(trace, file) ? file : 0;
}

static uint32_t close_of(const struct iot_trace *trace, size_t i)
{
    uint32_t file = trace->events.file[i];
    unsigned op = trace->events.op[i];
    int closes = op == IOT_OP_CLOSE || op == IOT_OP_FCLOSE || op == IOT_OP_PCLOSE ||
                 op == IOT_OP_SHUTDOWN;
    return closes && is_stream(trace, file) ? file : 0;
}

/* A pipe that was given another capacity. */
static uint32_t resize_of(const struct iot_trace *trace, size_t i)
{
    const struct iot_events *e = &trace->events;
    int resizes = e->op[i] == IOT_OP_FCNTL && e->offset[i] == F_SETPIPE_SZ && e->result[i] > 0;
    return resizes && trace->files[e->file[i]].kind == IOT_FILE_PIPE ? e->file[i] : 0;
}

static int gather(struct calls *calls, const struct iot_trace *trace,
                  uint32_t (*of)(const struct iot_trace *, size_t))
{
    calls->first = calloc(trace->n_files + 2, sizeof *calls->first);
    if (!calls->first)
        return -1;
    size_t *count = calls->first + 1;
    for (size_t i = 0; i < trace->events.n; i++) {
        uint32_t file = of(trace, i);
        if (file)
            count[file]++;
    }
    for (size_t f = 0; f <= trace->n_files; f++)
        count[f] += f ? count[f - 1] : 0;
    calls->list = malloc((count[trace->n_files] + 1) * sizeof *calls->list);
    if (!calls->list)
        return -1;
    /* Filled from behind, first[f + 1] moves to where f begins: then all is one place too far. */
    for (size_t i = trace->events.n; i-- > 0;) {
        uint32_t file = of(trace, i);
        if (file)
            calls->list[--count[file]] = (uint32_t)i;
    }
    memmove(calls->first, count, (trace->n_files + 1) * sizeof *count);
    return 0;
}

static int by_time(const void *a, const void *b, void *times)
{
    const int64_t *t_ns = times;
    int64_t x = t_ns[*(const uint32_t *)a], y = t_ns[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* How many processes that ended meanwhile are asked whether they held the stream. */
enum { ENDS_MAX = 1024 };

/* The last thing that could have been the end of the stream while the read waited: a close of it,
 * or the end of a process that held it. */
static struct iot_waker end_of_stream(const struct streams *s, uint32_t file, uint32_t read)
{
    const struct iot_events *e = &s->trace->events;
    const uint32_t *closes = s->closes.list + s->closes.first[file];
    size_t low = 0, high = s->closes.first[file + 1] - s->closes.first[file];
    struct iot_waker found = {0, IOT_WAKER_NONE};
    int64_t latest = e->t0_ns[read];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (e->t0_ns[closes[middle]] <= e->t1_ns[read])
            low = middle + 1;
        else
            high = middle;
    }
    if (low && e->t0_ns[closes[low - 1]] > latest) {
        latest = e->t0_ns[closes[low - 1]];
        found = (struct iot_waker){closes[low - 1], IOT_WAKER_ENTRY};
    }
    size_t k = iot_process_ends_until(&s->process_ends, e->t1_ns[read]);
    for (size_t asked = 0; k-- > 0 && asked < ENDS_MAX; asked++) {
        const struct iot_process_end *end = &s->process_ends.list[k];
        if (end->end_ns <= latest)
            break;
        if (iot_holds(&s->holders, file, s->trace->lanes[end->lane].process))
            return (struct iot_waker){end->lane, IOT_WAKER_LANE};
    }
    return found;
}

/* A pipe holds pages, not bytes: a write first fills up the last page with what is left of it
 * beyond whole pages, if that fits and the pipe is not empty, and then takes new ones; a page is
 * free again when all of it has been read. */
enum { PAGE = 4096, PAGES_MAX = 512 };

struct pages {
    int64_t end[PAGES_MAX]; /* by page, modulo: the stream position behind its last byte */
    int64_t n;              /* pages ever taken */
    int64_t last;           /* bytes in the last one */
};

static void take_pages(struct pages *p, int64_t position, int64_t bytes, int empty)
{
    int64_t odd = bytes % PAGE;
    if (odd && !empty && p->n && p->last + odd <= PAGE) {
        position += odd;
        p->last += odd;
        p->end[(p->n - 1) % PAGES_MAX] = position;
        bytes -= odd;
    }
    int64_t forgotten = bytes / PAGE - PAGES_MAX; /* the ring would not keep them */
    if (forgotten > 0) {
        p->n += forgotten;
        position += forgotten * PAGE;
        bytes -= forgotten * PAGE;
    }
    while (bytes > 0) {
        p->last = bytes < PAGE ? bytes : PAGE;
        position += p->last;
        bytes -= p->last;
        p->end[p->n++ % PAGES_MAX] = position;
    }
}

/* Calls of a stream that no gap in what was seen lies between. */
struct stretch {
    const uint32_t *writes, *reads; /* in order of entry, of return */
    size_t n_writes, n_reads;
};

/* Each write that needed room: the read that made it. `unread` lay in the pipe before. */
static void match_room(struct iot_links *links, const struct streams *s, uint32_t file,
                       const struct stretch *c, int64_t unread, int64_t capacity)
{
    const struct iot_events *e = &s->trace->events;
    const uint32_t *resize = s->resizes.list + s->resizes.first[file];
    const uint32_t *resizes_end = s->resizes.list + s->resizes.first[file + 1];
    const uint32_t *reads = c->reads;
    size_t n_reads = c->n_reads;
    int64_t room = capacity / PAGE;
    struct pages pages = {.n = 0};
    size_t r = 0, before = 0;
    int64_t drained_to = n_reads ? e->bytes[reads[0]] : 0, drained_before = 0, position = unread;
    take_pages(&pages, 0, unread, 1);
    for (size_t w = 0; w < c->n_writes; w++) {
        uint32_t i = c->writes[w];
        while (before < n_reads && e->t1_ns[reads[before]] <= e->t0_ns[i])
            drained_before += e->bytes[reads[before++]];
        while (resize < resizes_end && e->t1_ns[*resize] <= e->t0_ns[i])
            room = e->result[*resize++] / PAGE;
        take_pages(&pages, position, e->bytes[i], drained_before >= position);
        position += e->bytes[i];
        if (pages.n <= room || room < 1 || room >= PAGES_MAX)
            continue;
        int64_t needed = pages.end[(pages.n - 1 - room) % PAGES_MAX];
        while (r < n_reads && drained_to < needed)
            if (++r < n_reads)
                drained_to += e->bytes[reads[r]];
        if (r < n_reads && e->t0_ns[reads[r]] <= e->t1_ns[i])
            links->waker[i] = (struct iot_waker){reads[r], IOT_WAKER_ENTRY};
    }
}

/* How many bytes lay in the stream when the stretch began: the least that lets every read come
 * after its write, which is exact if the stream ever ran empty. */
static int64_t least_before(const struct iot_events *e, const struct stretch *c)
{
    int64_t before = 0, read_to = 0, written_to = 0;
    size_t w = 0;
    for (size_t r = 0; r < c->n_reads; r++) {
        int64_t bytes = e->bytes[c->reads[r]];
        read_to += bytes > 0 ? bytes : 0;
        while (w < c->n_writes && e->t0_ns[c->writes[w]] <= e->t1_ns[c->reads[r]])
            written_to += e->bytes[c->writes[w++]];
        if (read_to - written_to > before)
            before = read_to - written_to;
    }
    return before;
}

/* `before`: what had been written before the first of these writes and not been read. */
static void match_stretch(struct iot_links *links, const struct streams *s, uint32_t to,
                          const struct stretch *c, int64_t before, int64_t capacity)
{
    const struct iot_events *e = &s->trace->events;
    const uint32_t *writes = c->writes, *reads = c->reads;
    size_t n_writes = c->n_writes, n_reads = c->n_reads;

    /* Each read: the write that brought its last byte. */
    size_t w = 0;
    int64_t read_to = -before, written_to = n_writes ? e->bytes[writes[0]] : 0;
    for (size_t r = 0; r < n_reads; r++) {
        uint32_t i = reads[r];
        if (e->bytes[i] <= 0) {
            links->waker[i] = end_of_stream(s, to, i);
            if (!links->waker[i].kind && e->t1_ns[i] - e->t0_ns[i] >= BLOCKED_NS) {
                links->flags[i] |= IOT_LINK_UNEXPLAINED;
                links->unmatched++;
            }
            continue;
        }
        read_to += e->bytes[i];
        if (read_to <= 0)
            continue;
        while (w < n_writes && written_to < read_to)
            if (++w < n_writes)
                written_to += e->bytes[writes[w]];
        if (w < n_writes && e->t0_ns[writes[w]] <= e->t1_ns[i]) {
            links->waker[i] = (struct iot_waker){writes[w], IOT_WAKER_ENTRY};
        } else {
            links->flags[i] |= IOT_LINK_UNEXPLAINED;
            links->unmatched++;
        }
    }

    if (capacity)
        match_room(links, s, to, c, before, capacity);
}

/* How many of n calls begin a stretch that ends where the next one starts. */
static size_t until(const int64_t *t_ns, const uint32_t *calls, size_t n, int64_t end_ns)
{
    size_t k = 0;
    while (k < n && t_ns[calls[k]] < end_ns)
        k++;
    return k;
}

/* One direction of a stream: what was written to `to` was read from `from` (a pipe: the same). */
static void match(struct iot_links *links, const struct streams *s, uint32_t to, uint32_t from,
                  int64_t capacity)
{
    const struct iot_events *e = &s->trace->events;
    const struct iot_seen *seen = &s->trace->seen;
    uint32_t *writes = s->writes.list + s->writes.first[to];
    uint32_t *reads = s->reads.list + s->reads.first[from];
    struct stretch all = {writes, reads, s->writes.first[to + 1] - s->writes.first[to],
                          s->reads.first[from + 1] - s->reads.first[from]};
    qsort_r(writes, all.n_writes, sizeof *writes, by_time, e->t0_ns);
    /* Readers that wait are served in the order in which they return. */
    qsort_r(reads, all.n_reads, sizeof *reads, by_time, e->t1_ns);
    qsort_r(s->closes.list + s->closes.first[to], s->closes.first[to + 1] - s->closes.first[to],
            sizeof *reads, by_time, e->t0_ns);

    for (size_t k = 0; k < seen->n; k++) {
        int64_t end = k + 1 < seen->n ? seen->cuts_ns[k + 1] : INT64_MAX;
        struct stretch now = all;
        now.n_writes = until(e->t0_ns, all.writes, all.n_writes, end);
        now.n_reads = until(e->t1_ns, all.reads, all.n_reads, end);
        match_stretch(links, s, to, &now,
                      k || seen->spans[0].begin_ns ? least_before(e, &now) : 0, capacity);
        all.writes += now.n_writes;
        all.n_writes -= now.n_writes;
        all.reads += now.n_reads;
        all.n_reads -= now.n_reads;
    }
    if (!seen->n)
        match_stretch(links, s, to, &all, 0, capacity);
}

struct socket {
    uint64_t ino;
    uint32_t file;
};

static int by_ino(const void *a, const void *b)
{
    const struct socket *x = a, *y = b;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static int find_sources(struct iot_links *links, struct streams *s)
{
    const struct iot_trace *trace = s->trace;
    struct socket *sockets = malloc((trace->n_files + 1) * sizeof *sockets);
    s->source = links->stream_source = calloc(trace->n_files + 1, sizeof *s->source);
    s->connected = calloc(trace->n_files + 1, 1);
    uint32_t *peer = calloc(trace->n_files + 1, sizeof *peer);
    size_t n = 0;
    int failed = !sockets || !s->source || !s->connected || !peer ||
                 iot_link_connections(links, trace, peer);
    if (!failed) {
        for (uint32_t f = 1; f < trace->n_files; f++) {
            if (trace->files[f].kind == IOT_FILE_PIPE)
                s->source[f] = f;
            else if (trace->files[f].kind == IOT_FILE_SOCKET)
                sockets[n++] = (struct socket){trace->files[f].ino, f};
        }
        qsort(sockets, n, sizeof *sockets, by_ino);
        for (size_t k = 0; k < n; k++) {
            struct socket wanted = {trace->files[sockets[k].file].peer_ino, 0};
            const struct socket *pair =
                wanted.ino ? bsearch(&wanted, sockets, n, sizeof *sockets, by_ino) : NULL;
            s->source[sockets[k].file] = pair ? pair->file : peer[sockets[k].file];
        }
        for (size_t i = 0; i < trace->events.n; i++)
            if (trace->events.op[i] == IOT_OP_CONNECT && !peer[trace->events.file[i]])
                s->connected[trace->events.file[i]] = 1;
    }
    free(sockets);
    free(peer);
    return failed ? -1 : 0;
}

static int is_terminal(const struct iot_file *file)
{
    return file->kind == IOT_FILE_CHARACTER && (strncmp(file->name, "/dev/pts/", 9) == 0 ||
                                                strncmp(file->name, "/dev/tty", 8) == 0);
}

/* Reads that nobody in the run serves. On a connection that the run opened it is service; else the
 * program idles until somebody outside comes. */
static void mark_external(struct iot_links *links, const struct streams *s)
{
    const struct iot_events *e = &s->trace->events;
    for (size_t i = 0; i < e->n; i++) {
        const struct iot_file *file = &s->trace->files[e->file[i]];
        int accepts = e->op[i] == IOT_OP_ACCEPT || e->op[i] == IOT_OP_ACCEPT4;
        if ((accepts && !links->waker[i].kind) ||
            (iot_op_info(e->op[i])->moves == IOT_IN && is_terminal(file)))
            links->flags[i] |= IOT_LINK_EXTERNAL;
        uint32_t f = read_of(s->trace, i);
        if (!f || links->waker[i].kind)
            continue;
        uint32_t source = s->source[f];
        int written = source && s->writes.first[source + 1] > s->writes.first[source];
        if (written && !s->connected[f])
            continue;
        if (links->flags[i] & IOT_LINK_UNEXPLAINED)
            links->unmatched--;
        links->flags[i] &= (uint8_t)~IOT_LINK_UNEXPLAINED;
        if (!s->connected[f])
            links->flags[i] |= IOT_LINK_EXTERNAL;
    }
}

/* A poll that says what was ready waited for the last write there before it returned: what came
 * earlier another lane may have read before this one woke. Writes are in order of entry by now. */
static int link_ready(struct iot_links *links, const struct streams *s)
{
    const struct iot_events *e = &s->trace->events;
    for (size_t i = 0; i < e->n; i++) {
        unsigned op = e->op[i];
        if ((op != IOT_OP_POLL && op != IOT_OP_SELECT && op != IOT_OP_EPOLL_WAIT) ||
            !is_stream(s->trace, e->file[i]))
            continue;
        uint32_t from = s->source[e->file[i]];
        size_t first = from ? s->writes.first[from] : 0, low = first;
        size_t high = from ? s->writes.first[from + 1] : 0;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (e->t0_ns[s->writes.list[middle]] <= e->t1_ns[i])
                low = middle + 1;
            else
                high = middle;
        }
        if (low > first &&
            !iot_seen_cut(&s->trace->seen, e->t0_ns[s->writes.list[low - 1]], e->t1_ns[i]) &&
            iot_links_add(links, (uint32_t)i,
                          (struct iot_waker){s->writes.list[low - 1], IOT_WAKER_ENTRY}))
            return -1;
    }
    return 0;
}

int iot_link_streams(struct iot_links *links, const struct iot_trace *trace)
{
    struct streams s = {.trace = trace};
    int failed = gather(&s.reads, trace, read_of) || gather(&s.writes, trace, write_of) ||
                 gather(&s.closes, trace, close_of) || gather(&s.resizes, trace, resize_of) ||
                 iot_process_ends_make(&s.process_ends, trace) ||
                 iot_holders_make(&s.holders, trace, links) || find_sources(links, &s);
    for (uint32_t f = 1; !failed && f < trace->n_files; f++) {
        const struct iot_file *file = &trace->files[f];
        int64_t pipe_bytes = file->pipe_bytes > 0 ? file->pipe_bytes : PIPE_BYTES;
        if (s.source[f])
            match(links, &s, s.source[f], f, file->kind == IOT_FILE_PIPE ? pipe_bytes : 0);
    }
    if (!failed)
        failed = link_ready(links, &s);
    if (!failed)
        mark_external(links, &s);
    struct calls *all[] = {&s.reads, &s.writes, &s.closes, &s.resizes};
    for (int k = 0; k < 4; k++) {
        free(all[k]->list);
        free(all[k]->first);
    }
    iot_process_ends_free(&s.process_ends);
    iot_holders_free(&s.holders);
    free(s.connected);
    return failed ? -1 : 0;
}
