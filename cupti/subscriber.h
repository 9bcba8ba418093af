/* The CUPTI subscriber: libiotrace-cupti.so, which the CUDA driver loads as it is initialised.
 *
 * It has no memory of the program's: what it keeps is its own, static or mapped. Nothing it does
 * may stop or change the program: what fails is said in the trace, and nothing is followed from
 * then on.
 */
#ifndef IOT_CUPTI_SUBSCRIBER_H
#define IOT_CUPTI_SUBSCRIBER_H

#include "cupti/abi.h"
#include "format/gpu_unseen.h"
#include "format/gpu_writer.h"

struct iot_cupti {
#define CUPTI(name, needed, parameters) int(*name) parameters;
#include "cupti/functions.def"
#undef CUPTI
};
extern struct iot_cupti iot_cupti;

/* Of libiotrace.so. */
extern const struct iot_gpu_writer *iot_writer;

/* 0 also in a forked child: CUDA does not work there, and the trace is another process's. */
int iot_cupti_is_on(void);

/* A gpu_unseen row: `text` may be empty. */
void iot_cupti_note(enum iot_gpu_unseen what, const char *text, int64_t number);

/* Fills iot_cupti from the libcupti that is loaded, else from one that is found, and says that
 * threads that begin in it are none of the program's. Returns 0, or -1 with the reason in `why`. */
int iot_cupti_load(char why[512]);

/* Pages of our own, all zero; NULL without memory. */
void *iot_cupti_pages(size_t bytes);

/* --- calls.c: callbacks --- */

/* What has to be called at the calls that are followed. 0, or the result of the call of CUPTI that
 * failed. */
int iot_calls_follow(void *subscriber);
void iot_calls_callback(uint32_t domain, uint32_t id, const void *data);

/* The correlation under which a row of a thread stands: a driver's call inside one of the runtime
 * may have one of its own. */
uint32_t iot_calls_outer(uint32_t correlation);
/* Whether the call with it lies in the window of the run. */
int iot_calls_in_window(uint32_t correlation);

/* --- activity.c: records --- */

int iot_activity_start(void); /* 0, or -1 without memory */
void iot_activity_requested(uint8_t **buffer, size_t *bytes, size_t *records);
void iot_activity_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                            size_t valid);
/* What they could not give, if anything since the last time: by a thread of the program. */
void iot_activity_tell(void);

/* A stream's number in the trace, of CUPTI's within its context. */
static inline int64_t iot_stream_number(uint32_t context, uint32_t stream)
{
    return stream + ((int64_t)(context ? context - 1 : 0) << 24);
}

#endif
