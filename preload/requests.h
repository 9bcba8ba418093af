/* Asynchronous requests: the row of one that is handed over, and that of its being found done.
 *
 * A request is known by its queue and its token. Who waits for it looks at a queue from time to
 * time, and a completion has no time of its own: it lies between the last look that did not find it
 * and the first that did. */
#ifndef IOT_PRELOAD_REQUESTS_H
#define IOT_PRELOAD_REQUESTS_H

#include <stdint.h>

#include "preload/record.h"

/* What a row's `err` says of it. Rings are numbered from IOT_QUEUE_RING. */
enum iot_queue {
    IOT_QUEUE_POSIX = 0,
    IOT_QUEUE_LIBAIO = 1,
    IOT_QUEUE_CUFILE = 2,
    IOT_QUEUE_RING = 16
};

/* Why requests were not seen: the offset of a row async_unseen. */
enum iot_unseen {
    IOT_UNSEEN_MEMORY = 1, /* the ring's memory is not known */
    IOT_UNSEEN_DIRECT = 2, /* handed to the kernel past libc, or by its own thread (SQPOLL) */
};

enum {
    IOT_RINGS_MAX = 32,
    IOT_RING_FILES = 1024, /* registered files that are known, of each ring */
    IOT_CONTEXTS_MAX = 32,
    IOT_CUFILE_HANDLES = 256,
    IOT_AIO_LOOKS = 1024, /* by address, the latest wins */
};

struct iot_request {
    uint64_t token;
    int64_t bytes;  /* asked for; 0 not known */
    int64_t offset; /* in the file; -1 none */
    uint32_t obj, obj2;
    uint16_t op, queue;
};

void iot_request_made(struct iot_thread *t, uint64_t when, const struct iot_request *request);

/* Found at `seen` to be done, and not at `since`. `more`: this was not the last of it. */
void iot_request_done(struct iot_thread *t, uint16_t queue, uint64_t token, int64_t result,
                      int more, uint64_t since, uint64_t seen);

/* `n` requests of a queue that are not in the trace. */
void iot_requests_unseen(struct iot_thread *t, uint16_t queue, uint64_t n, enum iot_unseen why);

/* A call that handed over or waited: `failure` is an errno or 0. */
void iot_request_call(struct iot_thread *t, const struct iot_row *row, uint64_t t0, uint64_t t1,
                      int failure);

#endif
