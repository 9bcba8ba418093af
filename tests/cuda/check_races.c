/* The subscriber under the eyes of a thread sanitizer: many threads call, launch, make and destroy
 * events and streams, records are handed over meanwhile, the run's window opens and closes, the
 * process forks, and exits in the middle of it. The stand-in for CUPTI and the subscriber are
 * compiled in; the writer is one that knows what it may be asked for by whom.
 *
 *     check_races SECONDS [race]
 *
 * Ends with 0 and the number of calls on standard output; where a sanitizer finds a race, with its
 * status. With `race` there is one for it to find. */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cupti/subscriber.h"
#include "format/ops.h"
#include "tests/cuda/standin.h"

enum { THREADS = 6, HANDLES = 8, STREAMS_MAX = 64, RUNTIME = 2 };

int InitializeInjection(void);
const struct iot_gpu_writer *iotrace_gpu_writer(void);

static uint32_t stop, is_shut, calls, rows;
static uint32_t has_race, unguarded;

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "check_races: %s\n", what);
    abort();
}

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- the writer --- */

static uint64_t same(uint64_t ns)
{
    return ns;
}

static struct iot_gpu_call *own_call(void)
{
    static _Thread_local struct iot_gpu_call own;
    return &own;
}

/* For two threads at once it is not the same. */
static int is_open(void)
{
    return !__atomic_load_n(&is_shut, __ATOMIC_RELAXED) && clock_ns() >> 10 & 3;
}

static uint32_t string(const char *text, size_t bytes)
{
    (void)text;
    return (uint32_t)bytes;
}

static void put(const struct iot_row *row, int always)
{
    (void)always;
    must(row->t1 >= row->t0, "a call ends before it begins");
    __atomic_fetch_add(&rows, 1, __ATOMIC_RELAXED);
}

/* By one thread at a time: these are not atomic. */
static struct lane {
    uint64_t rows;
} lanes[STREAMS_MAX];
static uint32_t n_lanes;

static void *stream(int64_t device, int64_t number, uint64_t context, enum iot_stream_kind kind)
{
    (void)device, (void)number, (void)context, (void)kind;
    return n_lanes < STREAMS_MAX ? &lanes[n_lanes++] : NULL;
}

static uint32_t string_in(void *in, const char *text, size_t bytes)
{
    (void)in, (void)text;
    return (uint32_t)bytes;
}

static int put_in(void *in, const struct iot_row *row)
{
    (void)row;
    ((struct lane *)in)->rows++;
    return 0;
}

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
    return syscall(number, a, b, c, d, e, f);
}

static void own_code(const void *begin, size_t bytes)
{
    (void)begin, (void)bytes;
}

const struct iot_gpu_writer *iotrace_gpu_writer(void)
{
    static const struct iot_gpu_writer writer = {IOT_GPU_WRITER_VERSION,
                                                 1,
                                                 clock_ns,
                                                 clock_ns,
                                                 same,
                                                 own_call,
                                                 is_open,
                                                 string,
                                                 put,
                                                 stream,
                                                 string_in,
                                                 put_in,
                                                 kernel,
                                                 own_code};
    return &writer;
}

/* --- CUPTI, which is compiled in --- */

struct iot_cupti iot_cupti;

int iot_cupti_load(char why[512])
{
#define CUPTI(name, needed, parameters) *(void **)&iot_cupti.name = dlsym(RTLD_DEFAULT, #name);
#include "cupti/functions.def"
#undef CUPTI
    *why = '\0';
    return 0;
}

/* --- the program --- */

static void call(uint32_t id, const char *name, uint64_t a, uint64_t b)
{
    static uint32_t numbers;
    uint64_t parameters[6] = {a, b, 64, 1, a};
    uint32_t correlation = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    standin_enter(RUNTIME, id, name, correlation, 1, parameters);
    standin_exit(RUNTIME, id, name, correlation, 1, parameters, 0);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (id != CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020)
        return;
    uint64_t now = standin_now();
    CUpti_ActivityMemcpy6 c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                               .copyKind = 1,
                               .srcKind = 2,
                               .dstKind = 3,
                               .bytes = 64,
                               .start = now,
                               .end = now + 1,
                               .contextId = 1,
                               .streamId = correlation % 16,
                               .correlationId = correlation};
    standin_record(&c, sizeof c);
}

#define CALL(name, version, a, b) call(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, a, b)

static void *work(void *of)
{
    uint64_t own = 0x10000 + (uint64_t)(uintptr_t)of * 0x100;
    for (uint64_t k = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); k++) {
        uint64_t event = 0x900 + 8 * (k % HANDLES), stream = own + k % 4;
        standin_stream_created(stream, 1, (uint32_t)(20 + stream % 16));
        CALL(cudaMemcpyAsync, v3020, 0x1000, 0x2000);
        CALL(cudaEventRecord, v3020, event, stream);
        CALL(cudaStreamWaitEvent, v3020, stream, event);
        CALL(cudaStreamSynchronize, v3020, stream, 0);
        CALL(cudaEventDestroy, v3020, event, 0);
        standin_stream_destroyed(stream);
        if (has_race)
            unguarded++;
        if (k % 64 == 63)
            standin_deliver(0);
        if (k % 100 == 0)
            standin_drop(1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t end = clock_ns() + (uint64_t)(argc > 1 ? atoi(argv[1]) : 2) * 1000000000;
    int status = 0;
    has_race = argc > 2;
    must(InitializeInjection() == 1 && iot_cupti_is_on(), "it is not on");
    for (uintptr_t k = 0; k < THREADS; k++)
        must(!pthread_create(&threads[k], NULL, work, (void *)k), "no thread");
    for (uint32_t k = 0; clock_ns() < end; k++) {
        __atomic_store_n(&is_shut, k % 2, __ATOMIC_RELAXED);
        nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
        if (k % 16)
            continue;
        pid_t child = fork();
        if (!child) {
            must(!iot_cupti_is_on(), "it is on in a child");
            _exit(0);
        }
        must(waitpid(child, &status, 0) == child && !status, "a child does not end well");
    }
    __atomic_store_n(&is_shut, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int k = 0; k < THREADS; k++)
        if (k % 2)
            pthread_join(threads[k], NULL);
        else /* it exits with the process */
            pthread_detach(threads[k]);
    uint32_t made = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    printf("%u calls, %u rows\n", made, __atomic_load_n(&rows, __ATOMIC_RELAXED));
    return made ? 0 : 1;
}
