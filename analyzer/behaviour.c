#include "analyzer/behaviour.h"

/* Without marks that say where steps are, time has to do. What is over within the first quarter of
 * the run was loaded; what goes on for more than half of it was read along the way. */
enum {
    LARGE_BYTES = 1 << 20,
    WEIGHTS_BYTES = 16 << 20, /* a part of a model that is split; a sample is smaller */
    SIBLINGS_MIN = 3,
    PIECES_MIN = 8,
    STEPS_MIN = 3,    /* to be read in many of them; */
    STEPS_SHARE = 10, /* and at least one in so many */
    MAPS_MIN = 3,
    BACK_SHARE = 8,        /* state if this part of what was written is read back */
    SYNCED_BACK_SHARE = 2, /* who syncs means to keep: a database, and what it looks up in it */
    TINY_BYTES = 4096,
    PROBE_SHARE =
        100, /* what is removed after less than this part of the run only tried something */
};

static const struct iot_judgement nothing = {.object = -1};

static struct iot_judgement say(enum iot_object object, const char *why)
{
    return (struct iot_judgement){.object = (int)object, .why = why};
}

static int loaded_early(const struct iot_uses *uses, const struct iot_group *g)
{
    return g->last_read_ns < uses->early_ns;
}

static int mapped_early(const struct iot_uses *uses, const struct iot_group *g)
{
    return g->last_map_ns < uses->early_ns;
}

static int is_state(const struct iot_group *g)
{
    int64_t share = g->synced ? SYNCED_BACK_SHARE : BACK_SHARE;
    return g->n_back && g->back_bytes >= g->written_bytes - g->back_bytes &&
           g->back_read_bytes >= g->back_bytes / share;
}

/* Whether a folder can be written in, or how long that takes. */
static int is_probe(const struct iot_uses *uses, const struct iot_use *use)
{
    return !use->renamed_to && !use->read_bytes && use->written_bytes < TINY_BYTES &&
           use->removed_ns != INT64_MAX &&
           use->removed_ns - use->first_write_ns < uses->wall_ns / PROBE_SHARE;
}

struct iot_judgement iot_judge_written(const struct iot_uses *uses, const struct iot_group *g,
                                       const struct iot_use *use)
{
    static const char *const written[2][2] = {{"written", "written, synced"},
                                              {"written, renamed", "written, synced, renamed"}};
    if (!use->written_bytes && !(use->flags & IOT_USE_TO_WRITE))
        return nothing;
    if (is_state(g))
        return say(IOT_STATE, "written, then read back");
    if (use->written_bytes && is_probe(uses, use))
        return say(IOT_OTHER, "written, and removed at once");
    if (!use->written_bytes)
        return say(IOT_OUTPUT, use->flags & IOT_USE_MAPPED ? "written through a mapping"
                                                           : "opened to be written");
    return say(IOT_OUTPUT, written[use->renamed_to != 0][use->flags & IOT_USE_SYNCED ? 1 : 0]);
}

/* Of a file that was written as well. */
static struct iot_judgement judge_read_back(const struct iot_group *g, const struct iot_use *use)
{
    /* Written under another name, before a rename: that group says what was written is. */
    int state = is_state(g) || !g->n_written;
    if (state && use->read_back_bytes > use->read_bytes / 2)
        return say(IOT_STATE, "written, then read back");
    /* Pages of a database: looked at before and between changes of it. */
    int in_place = !(use->flags & IOT_USE_TO_WRITE);
    if (!state && (use->read_back_bytes || in_place) && use->written_bytes > use->read_bytes)
        return say(IOT_OUTPUT, "written, and looked at between");
    return nothing;
}

struct iot_judgement iot_judge_read(const struct iot_uses *uses, const struct iot_group *g,
                                    const struct iot_use *use, int likely_artifact)
{
    struct iot_judgement back = judge_read_back(g, use);
    if (back.object >= 0)
        return back;
    if (g->maps >= MAPS_MIN && g->last_map_ns - g->first_map_ns > uses->wall_ns / 2)
        return say(IOT_INPUT, "mapped again and again all along");
    if (!likely_artifact && use->maps && g->mapped >= SIBLINGS_MIN && !mapped_early(uses, g))
        return say(IOT_INPUT, "one of several alike, mapped in turn");
    if (!use->read_bytes || g->n_read < SIBLINGS_MIN)
        return nothing;
    /* The shards of a model are siblings as well: large, and all read at the start, or, in a run
     * that does little else, read whole. */
    int64_t each = g->read_bytes / g->n_read;
    int whole = g->read_bytes >= g->size / 2;
    if ((loaded_early(uses, g) && each >= LARGE_BYTES) ||
        (likely_artifact && whole && each >= WEIGHTS_BYTES))
        return nothing;
    struct iot_judgement siblings = say(IOT_INPUT, "1 of %u alike, read in turn");
    siblings.counts = 1;
    return siblings;
}

struct iot_judgement iot_judge_steps(const struct iot_groups *groups, uint32_t group,
                                     const struct iot_step_use *steps)
{
    if (!steps->read_steps || !group || is_state(&groups->groups[group]))
        return nothing;
    uint32_t n = steps->read_steps[group];
    return n >= STEPS_MIN && n >= steps->steps->n / STEPS_SHARE
               ? say(IOT_INPUT, "read in many steps")
               : nothing;
}

struct iot_judgement iot_guess_read(const struct iot_uses *uses, const struct iot_group *g)
{
    if (!g->n_read)
        return g->mapped ? say(IOT_ARTIFACT, "mapped into memory")
                         : say(IOT_INPUT, "read, and no rule knows it");
    int64_t span = g->last_read_ns - g->first_read_ns;
    if (span > uses->wall_ns / 2 && g->reads >= PIECES_MIN)
        return say(IOT_INPUT, "read in pieces all along");
    if (g->size > 0 && g->read_bytes > g->size + g->size / 2 && !loaded_early(uses, g))
        return say(IOT_INPUT, "read more than once");
    if (g->read_bytes / g->n_read >= LARGE_BYTES)
        return say(IOT_ARTIFACT, "large and read once");
    return say(IOT_INPUT, "read, and no rule knows it");
}

static struct iot_judgement judge_socket(const struct iot_uses *uses, const struct iot_use *use,
                                         enum iot_direction direction)
{
    if (use->flags & IOT_USE_MADE)
        return say(IOT_STATE, "a pair of sockets that the run made");
    if (use->flags & IOT_USE_LOCAL && uses->accepts_local)
        return say(IOT_STATE, "a local socket of the run");
    return direction == IOT_READING ? say(IOT_INPUT, "from a peer outside the run")
                                    : say(IOT_OUTPUT, "to a peer outside the run");
}

/* Loaders, and copies of GPUs by the memory of their host's end. */
static struct iot_judgement judge_transfer(const struct iot_file *file)
{
#define BY_MEMORY(why) {why, why ", pageable", why ", pinned", why ", some pageable"}
    static const struct {
        enum iot_object object;
        const char *why[IOT_HOST_MIXED + 1];
    } transfers[] = {
        [IOT_FILE_LOADER] = {IOT_INPUT, BY_MEMORY("a loader of the program")},
        [IOT_FILE_GPU_EARLY] = {IOT_ARTIFACT, BY_MEMORY("before any step")},
        [IOT_FILE_GPU_IN] = {IOT_INPUT, BY_MEMORY("in the steps")},
        [IOT_FILE_GPU_OUT] = {IOT_OUTPUT, BY_MEMORY("from the GPU")},
        [IOT_FILE_GPU_STATE] = {IOT_STATE, BY_MEMORY("moved within or between GPUs")},
    };
#undef BY_MEMORY
    return say(transfers[file->kind].object, transfers[file->kind].why[file->memory]);
}

struct iot_judgement iot_judge_channel(const struct iot_uses *uses, const struct iot_file *file,
                                       const struct iot_use *use, enum iot_direction direction)
{
    const unsigned in = 1, out = 2 | 4;

    if (file->kind == IOT_FILE_PIPE) {
        if (use->flags & IOT_USE_MADE)
            return say(IOT_STATE, "a pipe that the run made");
        if (use->read_bytes && use->written_bytes)
            return say(IOT_STATE, "a pipe with both ends in the run");
    }
    if (direction == IOT_WRITING && file->standard & out)
        return say(IOT_OUTPUT, file->standard & 2 ? "standard output" : "standard error");
    if (file->kind == IOT_FILE_SOCKET)
        return judge_socket(uses, use, direction);
    if (file->kind >= IOT_FILE_LOADER)
        return judge_transfer(file);
    if (file->kind != IOT_FILE_PIPE)
        return nothing;
    if (file->standard & in && direction == IOT_READING)
        return say(IOT_INPUT, "standard input");
    if (!file->standard)
        return say(IOT_STATE, "a pipe between processes");
    return direction == IOT_READING ? say(IOT_INPUT, "a pipe from outside the run")
                                    : say(IOT_OUTPUT, "a pipe to outside the run");
}
