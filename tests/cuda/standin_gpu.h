/* A GPU of the tests' own: streams that do one thing after the other, at rates that are set. Time
 * is real, but nothing runs in it: when something begins and ends is known as soon as it is asked
 * for, and bytes move when somebody waits. */
#ifndef IOT_TESTS_CUDA_STANDIN_GPU_H
#define IOT_TESTS_CUDA_STANDIN_GPU_H

#include <stddef.h>
#include <stdint.h>

/* Bytes a microsecond, and times in ns. */
enum {
    GPU_PAGEABLE_RATE = 4000,
    GPU_PINNED_RATE = 16000,
    GPU_DEVICE_RATE = 200000,
    GPU_FIXED_NS = 1000,
    GPU_LAUNCH_NS = 5000,
    GPU_GAP_NS = 50,            /* from the end of what something waits for to its start */
    GPU_TAIL_NS = 30000,        /* of a copy from pageable memory, behind its call */
    GPU_INTO_LAUNCH = 64 << 10, /* bytes: a copy up to that does not hold its call up */
};

enum gpu_memory { GPU_PAGEABLE = 1, GPU_PINNED = 2, GPU_DEVICE = 3, GPU_MANAGED = 5 };

/* What is put into the default stream of a context waits for its blocking ones, and they for it. */
enum gpu_stream_kind { GPU_DEFAULT, GPU_BLOCKING, GPU_NON_BLOCKING };
enum { GPU_DEVICES = 2 }; /* with one context each: its number + 1 */

struct gpu_stream {
    uint32_t number, context;
    enum gpu_stream_kind kind;
    uint64_t last_ns, wait_ns; /* the end of all that was asked for; of what it must wait for */
    struct gpu_graph *capture; /* what is asked for goes there instead; NULL: runs */
    struct gpu_stream *next;
};

enum gpu_what { GPU_COPY, GPU_SET, GPU_KERNEL };

struct gpu_op {
    enum gpu_what what;
    int asynchronous;
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height; /* a copy of rows; one row of any length, too */
    int value;
    uint64_t kernel_ns;
};

struct gpu_graph {
    struct gpu_op ops[64];
    size_t n;
};

uint64_t gpu_now(void);
/* Set: no bytes move, so that what waits for them takes no longer than a GPU would. */
extern int gpu_moves_nothing;
struct gpu_stream *gpu_stream_new(uint32_t context, enum gpu_stream_kind kind);
struct gpu_stream *gpu_stream_default(uint32_t context);

/* Memory, so that its kind is known by its address. NULL: there is none. */
void *gpu_memory_new(enum gpu_memory kind, size_t bytes);
void gpu_memory_free(void *memory);
enum gpu_memory gpu_memory_kind(const void *memory);

/* Asks for it, and reports it as a record with that correlation. Returns when its call can return.
 */
uint64_t gpu_add(struct gpu_stream *stream, const struct gpu_op *op, uint32_t correlation);
/* Of what this thread asked for last: when its launch would let it begin, and what became of it. */
struct gpu_times {
    uint64_t ready_ns, start_ns, end_ns;
};
extern _Thread_local struct gpu_times gpu_last;
/* When all that was asked for will have ended: of a stream and what it waits for, and of a context.
 */
uint64_t gpu_end(struct gpu_stream *stream);
uint64_t gpu_end_of_context(uint32_t context);
/* An event is recorded there: when that will come to pass. */
uint64_t gpu_mark(struct gpu_stream *stream);
/* What is asked for from now on begins no earlier. */
void gpu_hold(struct gpu_stream *stream, uint64_t until_ns);
/* Moves the bytes, and waits until then. */
void gpu_wait(uint64_t until_ns);

#endif
