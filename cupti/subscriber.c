#include "cupti/subscriber.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/ops.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjection(void);

enum { PAGE = 4096, FLUSH_PERIOD_MS = 1000 };

const struct iot_gpu_writer *iot_writer;

/* In a page that a forked child finds zeroed. */
static uint32_t *on;
static void *subscriber;

int iot_cupti_is_on(void)
{
    return on && __atomic_load_n(on, __ATOMIC_RELAXED);
}

static void switch_to(uint32_t is_on)
{
    __atomic_store_n(on, is_on, __ATOMIC_RELEASE);
}

void *iot_cupti_pages(size_t bytes)
{
    long at = iot_writer->kernel(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}

void iot_cupti_note(enum iot_gpu_unseen what, const char *text, int64_t number)
{
    uint64_t now = iot_writer->now();
    uint32_t string = *text ? iot_writer->string(text, strnlen(text, 1024)) : 0;
    iot_writer->put(&(struct iot_row){.t0 = now,
                                      .t1 = now,
                                      .result = what,
                                      .offset = number,
                                      .obj = string,
                                      .op = IOT_OP_GPU_UNSEEN},
                    1);
}

/* CUPTI's end, where the thread that is told of it is CUPTI's own, which has no lane: for the exit.
 */
static struct {
    uint32_t is_set;
    int result;
    char message[256];
} end;

static void shut(const struct cupti_state *state)
{
    const char *message = state->message ? state->message : "";
    if (iot_writer->call()) {
        iot_cupti_note(IOT_GPU_SHUT, message, state->result);
    } else {
        end.result = state->result;
        snprintf(end.message, sizeof end.message, "%s", message);
        __atomic_store_n(&end.is_set, 1, __ATOMIC_RELEASE);
    }
    switch_to(0);
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    (void)user;
    if (!iot_cupti_is_on())
        return;
    int saved = errno;
    if (domain == CUPTI_DOMAIN_STATE) {
        if (id == CUPTI_STATE_FATAL_ERROR)
            shut(data);
    } else {
        iot_calls_callback(domain, id, data);
    }
    errno = saved;
}

/* --- the steps --- */

static int refused(const char *function, int result)
{
    if (result)
        iot_cupti_note(IOT_GPU_REFUSED, function, result);
    return result;
}

/* While we hold it, nobody else does: so a failure after this gives it back. */
static int subscribe(void)
{
    char holder[CUPTI_NAME_BYTES + 1] = "";
    struct cupti_subscriber about = {sizeof about, "iotrace", holder, CUPTI_NAME_BYTES};
    int result = iot_cupti.cuptiSubscribe_v2
                     ? iot_cupti.cuptiSubscribe_v2(&subscriber, callback, NULL, &about)
                     : iot_cupti.cuptiSubscribe(&subscriber, callback, NULL);
    if (result == CUPTI_OTHER_SUBSCRIBER) {
        iot_cupti_note(IOT_GPU_HELD, holder, result);
        return result;
    }
    return refused("cuptiSubscribe", result);
}

static uint64_t timestamp(void)
{
    return iot_writer->mono_ns();
}

static int prepare(void)
{
    uint8_t yes = 1;
    size_t bytes = sizeof yes;
    if (iot_cupti.cuptiSetThreadIdType &&
        refused("cuptiSetThreadIdType", iot_cupti.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM)))
        return -1;
    return refused("cuptiActivityRegisterTimestampCallback",
                   iot_cupti.cuptiActivityRegisterTimestampCallback(timestamp)) ||
           refused("cuptiActivitySetAttribute",
                   iot_cupti.cuptiActivitySetAttribute(CUPTI_ATTRIBUTE_ZEROED_OUT, &bytes, &yes)) ||
           refused("cuptiActivityRegisterCallbacks",
                   iot_cupti.cuptiActivityRegisterCallbacks(iot_activity_requested,
                                                            iot_activity_completed));
}

static const struct {
    uint32_t kind;
    int is_kernels;
} kinds[] = {
    {CUPTI_KIND_MEMCPY, 0},
    {CUPTI_KIND_MEMCPY2, 0},
    {CUPTI_KIND_MEMSET, 0},
    {CUPTI_KIND_CONCURRENT_KERNEL, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int enable(void)
{
    for (int k = 0; k < KINDS; k++)
        if ((!kinds[k].is_kernels || iot_writer->kernels) &&
            refused("cuptiActivityEnable", iot_cupti.cuptiActivityEnable(kinds[k].kind)))
            return -1;
    if (iot_cupti.cuptiActivityFlushPeriod &&
        refused("cuptiActivityFlushPeriod", iot_cupti.cuptiActivityFlushPeriod(FLUSH_PERIOD_MS)))
        return -1;
    return refused("cuptiEnableCallback", iot_calls_follow(subscriber));
}

static void give_back(void)
{
    for (int k = 0; k < KINDS && iot_cupti.cuptiActivityDisable; k++)
        iot_cupti.cuptiActivityDisable(kinds[k].kind);
    if (iot_cupti.cuptiUnsubscribe)
        iot_cupti.cuptiUnsubscribe(subscriber);
}

/* Everything stays where it is: CUPTI's own end, and its cuptiFinalize, come in the way of threads
 * that are still at it. */
static void finish(void)
{
    if (on && __atomic_exchange_n(&end.is_set, 0, __ATOMIC_ACQUIRE) && iot_writer->call())
        iot_cupti_note(IOT_GPU_SHUT, end.message, end.result);
    if (!iot_cupti_is_on())
        return;
    int result = iot_cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
    if (!iot_cupti_is_on())
        return;
    iot_activity_tell();
    if (!refused("cuptiActivityFlushAll", result))
        iot_cupti_note(IOT_GPU_HANDED_OVER, "", 0);
}

static int start(void)
{
    char text[512];
    uint32_t version = 0;
    on = iot_cupti_pages(PAGE);
    if (!on ||
        iot_writer->kernel(SYS_madvise, (long)(uintptr_t)on, PAGE, MADV_WIPEONFORK, 0, 0, 0) ||
        iot_activity_start()) {
        iot_cupti_note(IOT_GPU_NO_ROOM, "", 0);
        return -1;
    }
    if (iot_cupti_load(text)) {
        iot_cupti_note(IOT_GPU_LIBRARY, text, 0);
        return -1;
    }
    if (refused("cuptiGetVersion", iot_cupti.cuptiGetVersion(&version)) || subscribe())
        return -1;
    switch_to(1);
    if (prepare() || enable() || !iot_cupti_is_on() || atexit(finish)) {
        switch_to(0);
        give_back();
        return -1;
    }
    snprintf(text, sizeof text, "CUPTI %u", version);
    iot_cupti_note(IOT_GPU_FOLLOWED, text, iot_writer->kernels != 0);
    return 0;
}

/* The function of the libiotrace.so that is preloaded; NULL without one. A table of another version
 * has only that number in common with ours. */
static const struct iot_gpu_writer *find_writer(void)
{
    void *all = dlopen(NULL, RTLD_LAZY);
    iot_gpu_writer_get *get = NULL;
    if (all)
        *(void **)&get = dlsym(all, IOT_GPU_WRITER_SYMBOL);
    if (!get)
        dlerror();
    return get ? get() : NULL;
}

/* What the driver calls; its answer is always that all is well. */
int InitializeInjection(void)
{
    static uint32_t once;
    int saved = errno;
    if (!__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL)) {
        iot_writer = find_writer();
        if (iot_writer && iot_writer->version == IOT_GPU_WRITER_VERSION)
            start();
    }
    errno = saved;
    return 1;
}
