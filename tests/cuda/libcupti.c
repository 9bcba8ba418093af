#include "tests/cuda/standin.h"

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IDS = 1024, STREAMS = 4096, UNKNOWN_BYTES = 64 };
static const CUptiResult FAILED = CUPTI_ERROR_UNKNOWN;

static const size_t record_bytes[] = {
    [CUPTI_ACTIVITY_KIND_MEMCPY] = sizeof(CUpti_ActivityMemcpy6),
    [CUPTI_ACTIVITY_KIND_MEMCPY2] = sizeof(CUpti_ActivityMemcpyPtoP4),
    [CUPTI_ACTIVITY_KIND_MEMSET] = sizeof(CUpti_ActivityMemset4),
    [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = sizeof(CUpti_ActivityKernel10),
};
enum { KINDS = sizeof record_bytes / sizeof *record_bytes };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_CallbackFunc callback;
static void *callback_user;
static uint8_t wanted[CUPTI_CB_DOMAIN_SIZE][IDS];
static uint8_t enabled[KINDS];
static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;
static CUpti_TimestampCallbackFunc timestamp;
static int zeroed;
static uint8_t *buffer;
static size_t buffer_bytes, used, dropped;
static int in_request;

static void violated(const char *what)
{
    fprintf(stderr, "standin: %s\n", what);
    abort();
}

/* Whether the function that is being called is to fail, by STANDIN_CUPTI. */
static int fails(const char *name)
{
    static struct {
        char name[64];
        int calls;
    } counts[32];
    const char *set = getenv("STANDIN_CUPTI");
    size_t n = strlen(name);
    if (!set || strncmp(set, name, n) || (set[n] && set[n] != '@'))
        return 0;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (!*counts[k].name || !strcmp(counts[k].name, name)) {
            strcpy(counts[k].name, name);
            return !set[n] || ++counts[k].calls == atoi(set + n + 1);
        }
    return 0;
}
#define FAILS_IF_NAMED()                                                                           \
    do {                                                                                           \
        if (fails(__func__))                                                                       \
            return FAILED;                                                                         \
    } while (0)

/* --- what the subscriber calls --- */

CUptiResult cuptiGetVersion(uint32_t *version)
{
    FAILS_IF_NAMED();
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function,
                              void *user, CUpti_SubscriberParams *parameters)
{
    const char *set = getenv("STANDIN_CUPTI");
    FAILS_IF_NAMED();
    if (set && !strcmp(set, "taken")) {
        if (parameters->structSize != CUpti_SubscriberParams_STRUCT_SIZE ||
            parameters->oldSubscriberSize < CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)
            violated("the parameters of cuptiSubscribe_v2 are not as they should be");
        snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize,
                 "CUPTI for somebody");
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    if (callback)
        violated("subscribed twice");
    callback = function;
    callback_user = user;
    *subscriber = (CUpti_SubscriberHandle)&callback;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function,
                           void *user)
{
    (void)subscriber, (void)function, (void)user;
    violated("the old way to subscribe");
    return FAILED;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    callback = NULL;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    FAILS_IF_NAMED();
    (void)subscriber;
    if (!callback)
        violated("callbacks without a subscription");
    if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= IDS)
        return CUPTI_ERROR_INVALID_PARAMETER;
    wanted[domain][id] = (uint8_t)enable;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    FAILS_IF_NAMED();
    return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : FAILED;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
    FAILS_IF_NAMED();
    if (timestamp)
        violated("the timestamp callback was registered twice");
    timestamp = function;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *bytes, void *value)
{
    FAILS_IF_NAMED();
    if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER && *bytes == 1)
        zeroed = *(uint8_t *)value;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    FAILS_IF_NAMED();
    requested = request;
    completed = complete;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    FAILS_IF_NAMED();
    if (!requested || !timestamp || !callback)
        violated("a kind was enabled before the callbacks were registered");
    if ((unsigned)kind >= KINDS || !record_bytes[kind])
        return CUPTI_ERROR_INVALID_KIND;
    enabled[kind] = 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    if ((unsigned)kind < KINDS)
        enabled[kind] = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
    FAILS_IF_NAMED();
    return ms ? CUPTI_SUCCESS : FAILED;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    FAILS_IF_NAMED();
    if (!(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED))
        violated("the last flush was not forced");
    standin_deliver(0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **record)
{
    FAILS_IF_NAMED();
    size_t at = 0;
    if (*record) {
        unsigned kind = (unsigned)(*record)->kind;
        at = (size_t)((uint8_t *)*record - from);
        at += kind < KINDS && record_bytes[kind] ? record_bytes[kind] : UNKNOWN_BYTES;
    }
    if (at >= valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(from + at);
    return (*record)->kind == CUPTI_ACTIVITY_KIND_INVALID ? CUPTI_ERROR_INVALID_KIND
                                                          : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *n)
{
    FAILS_IF_NAMED();
    (void)context, (void)stream;
    pthread_mutex_lock(&lock);
    *n = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
    violated("cuptiFinalize was called");
    return FAILED;
}

/* --- streams and contexts: a context is its number --- */

static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream {
    uint64_t handle;
    uint32_t context, id;
} streams[STREAMS];

/* NULL: there is none. Of handle 0: a place that is free. */
static struct stream *find_stream(uint64_t handle)
{
    for (int k = 0; k < STREAMS; k++)
        if (streams[k].handle == handle)
            return &streams[k];
    return NULL;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    FAILS_IF_NAMED();
    *id = (uint32_t)(uintptr_t)context;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
    uint64_t handle = (uint64_t)(uintptr_t)stream;
    FAILS_IF_NAMED();
    (void)context;
    if (handle <= 2) {
        *id = handle == 2 || (!handle && per_thread) ? 8 : 7;
        return CUPTI_SUCCESS;
    }
    pthread_mutex_lock(&streams_lock);
    const struct stream *found = find_stream(handle);
    if (found)
        *id = found->id;
    pthread_mutex_unlock(&streams_lock);
    return found ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_STREAM;
}

static void resource(CUpti_CallbackIdResource id, uint32_t context, uint64_t handle)
{
    CUpti_ResourceData data = {.context = (CUcontext)(uintptr_t)context,
                               .resourceHandle.stream = (CUstream)(uintptr_t)handle};
    if (callback && wanted[CUPTI_CB_DOMAIN_RESOURCE][id])
        callback(callback_user, CUPTI_CB_DOMAIN_RESOURCE, (CUpti_CallbackId)id, &data);
}

void standin_stream_created(uint64_t handle, uint32_t context, uint32_t id)
{
    pthread_mutex_lock(&streams_lock);
    struct stream *place = find_stream(0);
    if (place)
        *place = (struct stream){handle, context, id};
    pthread_mutex_unlock(&streams_lock);
    resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, context, handle);
}

void standin_stream_destroyed(uint64_t handle)
{
    pthread_mutex_lock(&streams_lock);
    struct stream *found = find_stream(handle);
    uint32_t context = found ? found->context : 0;
    pthread_mutex_unlock(&streams_lock);
    if (!found)
        return;
    resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, context, handle);
    pthread_mutex_lock(&streams_lock);
    found->handle = 0;
    pthread_mutex_unlock(&streams_lock);
}

/* --- calls --- */

static void call(CUpti_ApiCallbackSite site, uint32_t domain, uint32_t id, const char *name,
                 uint32_t correlation, uint32_t context, const void *parameters, int *result)
{
    uint64_t own = 0;
    CUpti_CallbackData data = {.callbackSite = site,
                               .functionName = name,
                               .functionParams = parameters,
                               .functionReturnValue = result,
                               .context = (CUcontext)(uintptr_t)context,
                               .contextUid = context,
                               .correlationData = &own,
                               .correlationId = correlation};
    if (callback && id < IDS && wanted[domain][id])
        callback(callback_user, (CUpti_CallbackDomain)domain, id, &data);
}

void standin_enter(uint32_t domain, uint32_t id, const char *name, uint32_t correlation,
                   uint32_t context, const void *parameters)
{
    call(CUPTI_API_ENTER, domain, id, name, correlation, context, parameters, NULL);
}

void standin_exit(uint32_t domain, uint32_t id, const char *name, uint32_t correlation,
                  uint32_t context, const void *parameters, int result)
{
    call(CUPTI_API_EXIT, domain, id, name, correlation, context, parameters, &result);
}

void standin_fatal(const char *message)
{
    CUpti_StateData data = {.notification = {.result = CUPTI_ERROR_HARDWARE, .message = message}};
    if (callback && wanted[CUPTI_CB_DOMAIN_STATE][CUPTI_CBID_STATE_FATAL_ERROR])
        callback(callback_user, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
}

/* --- records --- */

uint64_t standin_now(void)
{
    struct timespec t;
    if (timestamp)
        return timestamp();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check_buffer(void)
{
    if (!buffer)
        violated("no buffer was handed out");
    if ((uintptr_t)buffer % 8)
        violated("a buffer is not aligned");
    for (size_t k = 0; zeroed && k < buffer_bytes; k++)
        if (buffer[k])
            violated("a buffer is not zero, as was promised");
}

static void *hand_over(void *valid)
{
    uint8_t *full = buffer;
    buffer = NULL;
    completed(NULL, 0, full, buffer_bytes, (size_t)(uintptr_t)valid);
    return NULL;
}

static void deliver(size_t cut)
{
    pthread_t worker;
    if (!buffer)
        return;
    size_t valid = used > cut ? used - cut : 0;
    used = 0;
    if (pthread_create(&worker, NULL, hand_over, (void *)(uintptr_t)valid))
        violated("no thread");
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
    pthread_mutex_lock(&lock);
}

void standin_record(const void *record, size_t bytes)
{
    unsigned kind;
    memcpy(&kind, record, sizeof kind);
    int exists = kind < KINDS && record_bytes[kind];
    if (!requested || (exists ? !enabled[kind] : !callback))
        return;
    size_t whole = exists ? record_bytes[kind] : UNKNOWN_BYTES;
    pthread_mutex_lock(&lock);
    while (in_request) {
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
    }
    if (buffer && used + whole > buffer_bytes) {
        in_request = 1;
        deliver(0);
        in_request = 0;
    }
    if (!buffer) {
        size_t most = 0;
        requested(&buffer, &buffer_bytes, &most);
        check_buffer();
    }
    memcpy(buffer + used, record, bytes < whole ? bytes : whole);
    used += whole;
    pthread_mutex_unlock(&lock);
}

void standin_deliver(size_t cut)
{
    pthread_mutex_lock(&lock);
    while (in_request) {
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
    }
    in_request = 1;
    deliver(cut);
    in_request = 0;
    pthread_mutex_unlock(&lock);
}

void standin_drop(size_t n)
{
    pthread_mutex_lock(&lock);
    dropped += n;
    pthread_mutex_unlock(&lock);
}
