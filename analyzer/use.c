#include "analyzer/use.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>


static uint32_t family_of(struct iot_use *files, uint32_t file)
{
    while (files[file].family != file) {
        files[file].family = files[files[file].family].family;
        file = files[file].family;
    }
    return file;
}

/* A name of `to` from now on: whoever reads that reads what was written as `from`. */
static void join(struct iot_use *files, uint32_t from, uint32_t to)
{
    if (!from || !to || from == to)
        return;
    files[from].renamed_to = to;
    uint32_t a = family_of(files, from), b = family_of(files, to);
    files[a].family = b;
}

static void note_map(struct iot_use *use, int64_t t0)
{
    use->flags |= IOT_USE_MAPPED;
    use->maps++;
    if (t0 < use->first_map_ns)
        use->first_map_ns = t0;
    if (use->last_map_ns == INT64_MAX || t0 > use->last_map_ns)
        use->last_map_ns = t0;
}

static void note_read(struct iot_use *use, int64_t t0, int64_t t1, int64_t bytes)
{
    use->read_bytes += bytes;
    use->reads++;
    if (t0 < use->first_read_ns)
        use->first_read_ns = t0;
    if (use->last_read_ns == INT64_MAX || t1 > use->last_read_ns)
        use->last_read_ns = t1;
}

static void note_written(struct iot_use *use, int64_t t0, int64_t bytes)
{
    use->written_bytes += bytes;
    use->writes++;
    if (t0 < use->first_write_ns)
        use->first_write_ns = t0;
}

static void note_moved(struct iot_uses *uses, const struct iot_events *e, size_t i)
{
    struct iot_use *files = uses->files;
    unsigned moves = iot_op_info(e->op[i])->moves;
    if (e->bytes[i] <= 0)
        return;
    if (moves == IOT_IN || moves == IOT_BOTH)
        note_read(&files[e->file[i]], e->t0_ns[i], e->t1_ns[i], e->bytes[i]);
    if (moves == IOT_OUT)
        note_written(&files[e->file[i]], e->t0_ns[i], e->bytes[i]);
    else if (moves == IOT_BOTH)
        note_written(&files[e->file2[i]], e->t0_ns[i], e->bytes[i]);
}

static void note_metadata(struct iot_uses *uses, const struct iot_events *e, size_t i)
{
    struct iot_use *use = &uses->files[e->file[i]];
    int64_t flags = e->offset[i];

    if (e->err[i])
        return;
    switch (e->op[i]) {
    case IOT_OP_OPEN:
    case IOT_OP_OPENAT:
    case IOT_OP_FOPEN:
    case IOT_OP_FREOPEN:
        if ((flags & O_ACCMODE) == O_WRONLY || flags & O_TRUNC)
            use->flags |= IOT_USE_TO_WRITE;
        break;
    case IOT_OP_CREAT:
        use->flags |= IOT_USE_TO_WRITE;
        break;
    case IOT_OP_MMAP:
        note_map(use, e->t0_ns[i]);
        break;
    case IOT_OP_PIPE:
    case IOT_OP_PIPE2:
    case IOT_OP_SOCKETPAIR:
        use->flags |= IOT_USE_MADE;
        uses->files[e->file2[i]].flags |= IOT_USE_MADE;
        break;
    case IOT_OP_SOCKET:
        if (e->offset[i] == AF_UNIX)
            use->flags |= IOT_USE_LOCAL;
        break;
    case IOT_OP_ACCEPT:
    case IOT_OP_ACCEPT4:
        uses->files[e->file2[i]].flags |=
            (uint8_t)(IOT_USE_ACCEPTED | (use->flags & IOT_USE_LOCAL));
        break;
    case IOT_OP_UNLINK:
    case IOT_OP_UNLINKAT:
    case IOT_OP_REMOVE:
        use->removed_ns = e->t1_ns[i];
        break;
    case IOT_OP_RENAME:
    case IOT_OP_RENAMEAT:
    case IOT_OP_RENAMEAT2:
        join(uses->files, e->file[i], e->file2[i]);
        break;
    default:
        break;
    }
}

/* What is synced through a mapping was written through it. */
static void note_sync(struct iot_use *use, unsigned op)
{
    use->flags |= IOT_USE_SYNCED;
    if (op == IOT_OP_MSYNC)
        use->flags |= IOT_USE_TO_WRITE;
}

static void note_events(struct iot_uses *uses, const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    for (size_t i = 0; i < e->n; i++) {
        switch (iot_op_info(e->op[i])->class_) {
        case IOT_DATA:
            note_moved(uses, e, i);
            break;
        case IOT_META:
            note_metadata(uses, e, i);
            break;
        case IOT_SYNC:
            note_sync(&uses->files[e->file[i]], e->op[i]);
            break;
        case IOT_LIFE:
            if (e->op[i] == IOT_OP_EXEC && e->result[i] != -1)
                uses->files[e->file[i]].flags |= IOT_USE_PROGRAM;
            break;
        default:
            break;
        }
    }
}

/* Only now are all names of what was written known, and when it was written first. */
static void note_read_back(struct iot_uses *uses, const struct iot_trace *trace)
{
    const struct iot_events *e = &trace->events;
    struct iot_use *files = uses->files;

    for (uint32_t f = 1; f < trace->n_files; f++) {
        struct iot_use *head = &files[family_of(files, f)];
        files[f].family = (uint32_t)(head - files);
        if (files[f].first_write_ns < head->first_write_ns)
            head->first_write_ns = files[f].first_write_ns;
    }
    for (size_t i = 0; i < e->n; i++) {
        const struct iot_op_info *op = iot_op_info(e->op[i]);
        if (op->class_ != IOT_DATA || op->moves == IOT_OUT || e->bytes[i] <= 0)
            continue;
        if (e->t0_ns[i] > files[files[e->file[i]].family].first_write_ns)
            files[e->file[i]].read_back_bytes += e->bytes[i];
    }
}

static void note_accepted(struct iot_uses *uses, const struct iot_trace *trace)
{
    for (size_t f = 1; f < trace->n_files; f++)
        if (uses->files[f].flags & IOT_USE_ACCEPTED && uses->files[f].flags & IOT_USE_LOCAL)
            uses->accepts_local = 1;
}

int iot_uses_gather(struct iot_uses *uses, const struct iot_trace *trace,
                    const struct iot_steps *steps)
{
    int marked = steps && steps->source == IOT_STEPS_MARKS && steps->n;
    *uses = (struct iot_uses){.files = calloc(trace->n_files + 1, sizeof *uses->files),
                              .wall_ns = trace->wall_ns,
                              .early_ns = marked ? steps->starts_ns[0] : trace->wall_ns / 4};
    if (!uses->files)
        return -1;
    for (uint32_t f = 0; f < trace->n_files; f++) {
        uses->files[f].first_read_ns = uses->files[f].last_read_ns = INT64_MAX;
        uses->files[f].first_write_ns = uses->files[f].removed_ns = INT64_MAX;
        uses->files[f].first_map_ns = uses->files[f].last_map_ns = INT64_MAX;
        uses->files[f].family = f;
    }
    note_events(uses, trace);
    note_read_back(uses, trace);
    note_accepted(uses, trace);
    return 0;
}

void iot_uses_free(struct iot_uses *uses)
{
    free(uses->files);
    *uses = (struct iot_uses){0};
}
