#include "cupti/streams.h"

#include "cupti/handles.h"

enum { LEGACY = 1, PER_THREAD = 2 }; /* handles of default streams; 0 is one of them */

static struct iot_handle numbers[IOT_HANDLES]; /* number + 1, by handle */
static struct iot_handle kinds[IOT_HANDLES];   /* by number + 1 */

static void set_kind(int64_t number, enum iot_stream_kind kind)
{
    if (number >= 0)
        iot_handles_set(kinds, (uint64_t)number + 1, kind);
}

enum iot_stream_kind iot_stream_kind(int64_t number)
{
    return number < 0 ? IOT_STREAM_UNKNOWN
                      : (enum iot_stream_kind)iot_handles_get(kinds, (uint64_t)number + 1);
}

static int64_t ask(const struct cupti_call *call, uint64_t handle, int per_thread)
{
    uint32_t id;
    if (iot_cupti.cuptiGetStreamIdEx(NULL, (void *)handle, (uint8_t)per_thread, &id))
        return -1;
    return iot_stream_number(call->context_id, id);
}

/* Another one for each thread, so its handle says nothing: not to be kept. */
static int64_t of_thread(const struct cupti_call *call, uint64_t handle)
{
    int64_t number = ask(call, handle, 1);
    set_kind(number, IOT_STREAM_BLOCKING);
    return number;
}

int64_t iot_stream_named(const struct cupti_call *call, uint64_t handle, int per_thread)
{
    int is_default = handle <= PER_THREAD;
    if (is_default && (handle == PER_THREAD || (!handle && per_thread)))
        return of_thread(call, handle);
    uint64_t key = is_default ? (uint64_t)call->context_id << 8 | LEGACY : handle;
    uint64_t kept = iot_handles_get(numbers, key);
    if (kept)
        return (int64_t)kept - 1;
    int64_t number = ask(call, handle, 0);
    if (number < 0)
        return number;
    if (is_default)
        set_kind(number, IOT_STREAM_LEGACY);
    iot_handles_set(numbers, key, (uint64_t)number + 1);
    return number;
}

void iot_streams_meet(const struct cupti_call *call, int per_thread, struct iot_gpu_call *own)
{
    if (!call->context_id) /* it comes to be within the call */
        return;
    iot_stream_named(call, LEGACY, 0);
    if (per_thread && own->context != call->context_id && of_thread(call, PER_THREAD) >= 0)
        own->context = call->context_id;
}

void iot_stream_created(const struct cupti_resource *r)
{
    uint32_t context, id;
    if (!iot_cupti.cuptiGetContextId(r->context, &context) &&
        !iot_cupti.cuptiGetStreamIdEx(r->context, r->stream, 0, &id))
        iot_handles_set(numbers, (uint64_t)(uintptr_t)r->stream,
                        (uint64_t)iot_stream_number(context, id) + 1);
}

void iot_stream_destroyed(const struct cupti_resource *r)
{
    iot_handles_set(numbers, (uint64_t)(uintptr_t)r->stream, 0);
}

/* Parameters: where the handle is put; flags, if there are any. Streams of a green context have to
 * be made non-blocking. */
void iot_stream_made(const struct cupti_call *call, enum iot_stream_form form)
{
    enum { NON_BLOCKING = 1 };
    const uint64_t *parameters = call->parameters;
    uint64_t handle = *(const uint64_t *)(uintptr_t)parameters[0];
    int by_itself = form == IOT_STREAM_FORM_GREEN ||
                    (form == IOT_STREAM_FORM_FLAGS && (uint32_t)parameters[1] & NON_BLOCKING);
    if (handle > PER_THREAD)
        set_kind(iot_stream_named(call, handle, 0),
                 by_itself ? IOT_STREAM_BY_ITSELF : IOT_STREAM_BLOCKING);
}
