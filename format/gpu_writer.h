/* How the CUPTI subscriber, a library of its own, writes into the trace of the process that it is
 * in: by functions that libiotrace.so gives it. The subscriber looks for IOT_GPU_WRITER_SYMBOL, a
 * function without parameters that gives the table, in the global scope. No symbol, or NULL:
 * nothing is recorded here.
 */
#ifndef IOT_FORMAT_GPU_WRITER_H
#define IOT_FORMAT_GPU_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "format/gpu_stream.h"
#include "format/row.h"

/* Changes with the table, with struct iot_gpu_call, and with what the rows mean. */
#define IOT_GPU_WRITER_VERSION 2
#define IOT_GPU_WRITER_SYMBOL "iotrace_gpu_writer"

/* What a thread is in the middle of: of the subscriber's own, but the thread keeps it (a library
 * that is loaded late has no thread-local storage without an allocation). All zero: in no call. */
struct iot_gpu_call {
    uint64_t t0; /* entry of the outermost call that is followed, in ticks */
    uint32_t domain, id, correlation;
    uint32_t captures; /* streams of which the thread records a graph */
    uint32_t context;  /* in which the thread's own default stream is known */
};

struct iot_gpu_writer {
    uint32_t version; /* IOT_GPU_WRITER_VERSION; comes first in every version */
    uint32_t kernels; /* not 0: they are wanted as well */
    /* The trace's clock, in ticks; CLOCK_MONOTONIC in ns; and the ticks of such a time. */
    uint64_t (*now)(void);
    uint64_t (*mono_ns)(void);
    uint64_t (*ticks_of)(uint64_t mono_ns);
    /* Of the calling thread; NULL: it records nothing. */
    struct iot_gpu_call *(*call)(void);
    /* Whether calls are to be recorded now (the window of the run). */
    int (*is_open)(void);
    /* The number of a string; 0: it could not be recorded. */
    uint32_t (*string)(const char *text, size_t bytes);
    /* A row in the lane of the calling thread; always: also outside the window. */
    void (*put)(const struct iot_row *row, int always);
    /* A lane that is a stream, with its first row; NULL without room. By one thread at a time. */
    void *(*stream)(int64_t device, int64_t number, uint64_t context, enum iot_stream_kind kind);
    /* The number of a string for rows in such a lane, likewise. */
    uint32_t (*string_in)(void *stream, const char *text, size_t bytes);
    /* A row in such a lane, by one thread at a time. 0, or -1 if it is lost: so in a forked child.
     */
    int (*put_in)(void *stream, const struct iot_row *row);
    /* A system call past every wrapper, which would record it as the program's own: -errno on
     * failure. */
    long (*kernel)(long number, long a, long b, long c, long d, long e, long f);
    /* Code that is a tracer's: threads that begin in it from now on are none of the program's, and
     * record nothing. */
    void (*own_code)(const void *begin, size_t bytes);
};

typedef const struct iot_gpu_writer *iot_gpu_writer_get(void);

#endif
