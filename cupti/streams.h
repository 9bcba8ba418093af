/* Streams: their numbers in the trace, by handle, and of which kind each is. */
#ifndef IOT_CUPTI_STREAMS_H
#define IOT_CUPTI_STREAMS_H

#include "cupti/subscriber.h"
#include "format/gpu_stream.h"

/* The number of a stream that a call names; -1: not known. `per_thread`: a handle of 0 is the
 * calling thread's own default stream. */
int64_t iot_stream_named(const struct cupti_call *call, uint64_t handle, int per_thread);

enum iot_stream_kind iot_stream_kind(int64_t number);

/* A call puts work into streams: the default one, which no other call may ever name, is to be
 * known. */
void iot_streams_meet(const struct cupti_call *call, int per_thread, struct iot_gpu_call *own);

/* A stream comes to be, and goes. What it was stays known by its number: its records come late. */
void iot_stream_created(const struct cupti_resource *resource);
void iot_stream_destroyed(const struct cupti_resource *resource);

/* How the call that makes one says of which kind: the last column of calls.def. */
enum iot_stream_form { IOT_STREAM_FORM_PLAIN, IOT_STREAM_FORM_FLAGS, IOT_STREAM_FORM_GREEN };
/* Of a call that has succeeded. */
void iot_stream_made(const struct cupti_call *call, enum iot_stream_form form);

#endif
