/* What a stream of a GPU waits for by itself: in its first row (FORMAT.md, "GPUs"). */
#ifndef IOT_FORMAT_GPU_STREAM_H
#define IOT_FORMAT_GPU_STREAM_H

enum iot_stream_kind {
    IOT_STREAM_UNKNOWN = 0,
    IOT_STREAM_LEGACY = 1,    /* its context's legacy default stream */
    IOT_STREAM_BLOCKING = 2,  /* waits for that one, and that one for it */
    IOT_STREAM_BY_ITSELF = 3, /* made with cudaStreamNonBlocking */
};

/* What a gpu_sync waits for, beside CUPTI's numbers: the legacy default stream, and so all that
 * waits for it. */
enum { IOT_SYNC_LEGACY = 255 };

/* Beside what is said of an event, in the low bits of addr: this and the kind of the stream that
 * recorded it, of the one that waits. */
enum { IOT_EVENT_IN = 16 };

#endif
