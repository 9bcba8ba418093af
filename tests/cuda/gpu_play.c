/* A program that uses a GPU, by a script. It loads the driver (libcuda.so.1), calls cuInit, and
 * then does what each line of the file says that its argument names (- : standard input), the same
 * whether or not it is traced. With --inject LIBRARY it only loads that, and calls its
 * InitializeInjection.
 *
 *   at NS                    sleep until NS after the start of the script
 *   stream HANDLE [context=1] [id=N]       a stream comes to be; destroy HANDLE: it goes
 *   call NAME corr=N [KEY=V]...            a call: it enters, sleeps, returns. KEYs by what it
 * takes: dst src bytes kind stream event width height depth dpitch spitch count (of a batch: that
 * many copies of `bytes`, at src + k * spitch and dst + k * dpitch) until=NS            it returns
 * then, not at once result=N            what it returns, 0 inner=NAME icorr=N  a call inside it
 * with the same parameters, and its correlation context=N           1 copy corr=N stream=N kind=N
 * from=N to=N bytes=N start=NS end=NS [async=1] [device=0] [context=1] peer ... [source=N]
 * [target=N]         likewise, between two devices memset corr=N stream=N bytes=N start=NS end=NS
 *   kernel corr=N stream=N name=TEXT start=NS end=NS
 *   unknown                  a record of a kind that does not exist
 *   invalid                  one that is not valid: the rest of its buffer is lost
 *   deliver [cut=N]          what there is is handed over, less N bytes
 *   drop n=N                 so many records were dropped
 *   fatal TEXT               CUPTI shuts itself down
 *   fork                     a child makes a call and a copy, and exits
 *   read FILE                reads a file whole, into memory at `buffer`
 *   crowd threads=N rounds=N [bytes=N]     threads that make a call and a copy each round, from
 * correlation 1000000; amid=1: the script goes on meanwhile say TEXT                 a line on
 * standard output exit [status=N]; _exit [status=N]; exec PROGRAM
 *
 * start and end are NS after the start of the script (0: the record has no times); they may lie
 * ahead. Numbers are decimal or 0x...; `buffer` is the address of 64 MiB of this program, buffer+N
 * N bytes on.
 */
#include "tests/cuda/standin.h"

#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 20, KEYS = 24, BATCH = 1024, RUNTIME = 2, DRIVER = 1 };

static char buffer[BUFFER_BYTES];
static uint64_t origin;

/* NULL where nobody has loaded them. */
static struct {
    __typeof__(&standin_enter) enter;
    __typeof__(&standin_exit) exit;
    __typeof__(&standin_stream_created) created;
    __typeof__(&standin_stream_destroyed) destroyed;
    __typeof__(&standin_record) record;
    __typeof__(&standin_deliver) deliver;
    __typeof__(&standin_drop) drop;
    __typeof__(&standin_fatal) fatal;
} cupti;

static void find_cupti(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return;
    *(void **)&cupti.enter = dlsym(library, "standin_enter");
    *(void **)&cupti.exit = dlsym(library, "standin_exit");
    *(void **)&cupti.created = dlsym(library, "standin_stream_created");
    *(void **)&cupti.destroyed = dlsym(library, "standin_stream_destroyed");
    *(void **)&cupti.record = dlsym(library, "standin_record");
    *(void **)&cupti.deliver = dlsym(library, "standin_deliver");
    *(void **)&cupti.drop = dlsym(library, "standin_drop");
    *(void **)&cupti.fatal = dlsym(library, "standin_fatal");
}

/* --- a line --- */

struct line {
    const char *word;
    char *rest; /* behind the word */
    size_t n;
    struct {
        const char *key, *value;
    } keys[KEYS];
};

static void split(struct line *line, char *text, char copy[1024])
{
    char *save;
    snprintf(copy, 1024, "%s", text);
    line->rest = strchr(text, ' ');
    line->rest = line->rest ? line->rest + 1 : text + strlen(text);
    line->word = strtok_r(copy, " ", &save);
    line->n = 0;
    for (char *token; line->n < KEYS && (token = strtok_r(NULL, " ", &save)); line->n++) {
        char *equals = strchr(token, '=');
        line->keys[line->n].key = equals ? token : "";
        line->keys[line->n].value = equals ? equals + 1 : token;
        if (equals)
            *equals = '\0';
    }
}

static const char *text_of(const struct line *line, const char *key)
{
    for (size_t k = 0; k < line->n; k++)
        if (!strcmp(line->keys[k].key, key))
            return line->keys[k].value;
    return NULL;
}

static uint64_t number(const char *text)
{
    if (!strncmp(text, "buffer", 6))
        return (uint64_t)(uintptr_t)buffer + (text[6] == '+' ? strtoull(text + 7, NULL, 0) : 0);
    return strtoull(text, NULL, 0);
}

static uint64_t value(const struct line *line, const char *key, uint64_t otherwise)
{
    const char *text = text_of(line, key);
    return text ? number(text) : otherwise;
}

#define V(key) value(line, key, 0)

static uint64_t monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_until(uint64_t ns)
{
    struct timespec until = {(time_t)((origin + ns) / 1000000000u),
                             (long)((origin + ns) % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
        continue;
}

/* --- calls --- */

union parameters {
    uint64_t words[16];
    struct {
        const void *pointers[3];
        uint64_t n;
    } batch;
};

/* Structures that parameters point to; one call at a time has them. */
static union {
    struct cudaMemcpy3DParms block;
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D solid;
    uint64_t batch[3][BATCH];
} pointed;

static void fill_linear(union parameters *p, const struct line *line)
{
    p->words[0] = V("dst");
    p->words[1] = V("src");
    p->words[2] = V("bytes");
    p->words[3] = V("kind");
    p->words[4] = V("stream");
}

static void fill_driver_linear(union parameters *p, const struct line *line)
{
    fill_linear(p, line);
    p->words[3] = V("stream");
}

static void fill_pitched(union parameters *p, const struct line *line)
{
    uint64_t words[] = {V("dst"),   V("dpitch"), V("src"),  V("spitch"),
                        V("width"), V("height"), V("kind"), V("stream")};
    memcpy(p, words, sizeof words);
}

static void fill_block(union parameters *p, const struct line *line)
{
    pointed.block = (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)V("src"), V("spitch"), V("width"), V("height")},
        .dstPtr = {(void *)(uintptr_t)V("dst"), V("dpitch"), V("width"), V("height")},
        .extent = {V("width"), V("height"), V("depth")},
        .kind = (enum cudaMemcpyKind)V("kind")};
    p->words[0] = (uint64_t)(uintptr_t)&pointed.block;
    p->words[1] = V("stream");
}

static void fill_flat(union parameters *p, const struct line *line)
{
    pointed.flat = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                   .srcHost = (void *)(uintptr_t)V("src"),
                                   .srcPitch = V("spitch"),
                                   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                   .dstDevice = V("dst"),
                                   .WidthInBytes = V("width"),
                                   .Height = V("height")};
    p->words[0] = (uint64_t)(uintptr_t)&pointed.flat;
}

static void fill_solid(union parameters *p, const struct line *line)
{
    pointed.solid = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                    .srcDevice = V("src"),
                                    .dstMemoryType = CU_MEMORYTYPE_HOST,
                                    .dstHost = (void *)(uintptr_t)V("dst"),
                                    .dstPitch = V("dpitch"),
                                    .dstHeight = V("height"),
                                    .dstZ = 1,
                                    .dstY = 2,
                                    .dstXInBytes = 3,
                                    .WidthInBytes = V("width"),
                                    .Height = V("height"),
                                    .Depth = V("depth")};
    p->words[0] = (uint64_t)(uintptr_t)&pointed.solid;
}

static void fill_batch(union parameters *p, const struct line *line)
{
    uint64_t n = V("count");
    for (uint64_t k = 0; k < n && k < BATCH; k++) {
        pointed.batch[0][k] = V("dst") + k * V("dpitch");
        pointed.batch[1][k] = V("src") + k * V("spitch");
        pointed.batch[2][k] = V("bytes");
    }
    for (int k = 0; k < 3; k++)
        p->batch.pointers[k] = pointed.batch[k];
    p->batch.n = n;
}

static void fill_symbol(union parameters *p, const struct line *line)
{
    uint64_t words[] = {V("dst"), V("src"), V("bytes"), 0, V("kind"), V("stream")};
    memcpy(p, words, sizeof words);
}

static void fill_event(union parameters *p, const struct line *line)
{
    p->words[0] = V("event");
    p->words[1] = V("stream");
}

static void fill_stream(union parameters *p, const struct line *line)
{
    p->words[0] = V("stream");
    p->words[1] = V("event");
}

static void fill_nothing(union parameters *p, const struct line *line)
{
    (void)p, (void)line;
}

#define R(name, version, fill) {#name, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_##name##version, fill}
#define D(name, fill) {#name, DRIVER, CUPTI_DRIVER_TRACE_CBID_##name, fill}
static const struct function {
    const char *name;
    uint32_t domain, id;
    void (*fill)(union parameters *p, const struct line *line);
} functions[] = {
    R(cudaMemcpy, _v3020, fill_linear),
    R(cudaMemcpyAsync, _v3020, fill_linear),
    R(cudaMemcpyAsync, _ptsz_v7000, fill_linear),
    R(cudaMemcpyToSymbol, _v3020, fill_symbol),
    R(cudaMemcpy2DAsync, _v3020, fill_pitched),
    R(cudaMemcpy3D, _v3020, fill_block),
    R(cudaMemcpyBatchAsync, _v13000, fill_batch),
    R(cudaMemcpyPeerAsync, _v4000, fill_nothing),
    R(cudaMemsetAsync, _v3020, fill_nothing),
    R(cudaLaunchKernel, _v7000, fill_nothing),
    R(cudaGraphLaunch, _v10000, fill_nothing),
    R(cudaMalloc, _v3020, fill_nothing),
    R(cudaFree, _v3020, fill_nothing),
    R(cudaStreamCreate, _v3020, fill_nothing),
    R(cudaStreamSynchronize, _v3020, fill_stream),
    R(cudaStreamSynchronize, _ptsz_v7000, fill_stream),
    R(cudaDeviceSynchronize, _v3020, fill_nothing),
    R(cudaEventSynchronize, _v3020, fill_event),
    R(cudaEventRecord, _v3020, fill_event),
    R(cudaEventDestroy, _v3020, fill_event),
    R(cudaStreamWaitEvent, _v3020, fill_stream),
    R(cudaStreamBeginCapture, _v10000, fill_stream),
    R(cudaStreamEndCapture, _v10000, fill_stream),
    R(cudaGetDevice, _v3020, fill_nothing),
    R(cudaGetLastError, _v3020, fill_nothing),
    R(cudaPeekAtLastError, _v3020, fill_nothing),
    R(cudaStreamIsCapturing, _v10000, fill_stream),
    D(cuMemcpyHtoD_v2, fill_driver_linear),
    D(cuMemcpyHtoDAsync_v2, fill_driver_linear),
    D(cuMemcpyDtoH_v2, fill_driver_linear),
    D(cuMemcpyDtoHAsync_v2, fill_driver_linear),
    D(cuMemcpyAsync, fill_driver_linear),
    D(cuMemcpy2D_v2, fill_flat),
    D(cuMemcpy3D_v2, fill_solid),
    D(cuLaunchKernel, fill_nothing),
    D(cuStreamSynchronize, fill_stream),
    D(cuCtxSynchronize, fill_nothing),
    D(cuEventRecord, fill_event),
    D(cuStreamWaitEvent, fill_stream),
};

/* per-thread twins come second */
static const struct function *function_of(const char *name, int per_thread)
{
    const struct function *found = NULL;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, name) && (!found || per_thread))
            found = &functions[k];
    if (!found) {
        fprintf(stderr, "gpu_play: no function %s\n", name);
        exit(3);
    }
    return found;
}

static void enter(const struct function *f, uint64_t corr, uint64_t context, const void *p)
{
    if (cupti.enter)
        cupti.enter(f->domain, f->id, f->name, (uint32_t)corr, (uint32_t)context, p);
}

static void leave(const struct function *f, uint64_t corr, uint64_t context, const void *p,
                  int result)
{
    if (cupti.exit)
        cupti.exit(f->domain, f->id, f->name, (uint32_t)corr, (uint32_t)context, p, result);
}

static void make_call(const struct line *line)
{
    union parameters p = {{0}}, inner_p = {{0}};
    const struct function *f = function_of(line->keys[0].value, (int)V("per_thread"));
    const char *inner_name = text_of(line, "inner");
    uint64_t context = value(line, "context", 1);
    int result = (int)V("result");
    f->fill(&p, line);
    enter(f, V("corr"), context, &p);
    if (inner_name) {
        const struct function *inner = function_of(inner_name, 0);
        inner->fill(&inner_p, line);
        enter(inner, V("icorr"), context, &inner_p);
        if (text_of(line, "until"))
            wait_until(V("until"));
        leave(inner, V("icorr"), context, &inner_p, result);
    } else if (text_of(line, "until")) {
        wait_until(V("until"));
    }
    leave(f, V("corr"), context, &p, result);
}

/* --- records --- */

static uint64_t time_of(const struct line *line, const char *key)
{
    uint64_t ns = V(key);
    return ns ? origin + ns : 0;
}

static void put(const void *record, size_t bytes)
{
    if (cupti.record)
        cupti.record(record, bytes);
}

static void put_copy(const struct line *line)
{
    CUpti_ActivityMemcpy6 c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                               .copyKind = (uint8_t)V("kind"),
                               .srcKind = (uint8_t)V("from"),
                               .dstKind = (uint8_t)V("to"),
                               .flags = (uint8_t)V("async"),
                               .bytes = V("bytes"),
                               .start = time_of(line, "start"),
                               .end = time_of(line, "end"),
                               .deviceId = (uint32_t)V("device"),
                               .contextId = (uint32_t)value(line, "context", 1),
                               .streamId = (uint32_t)V("stream"),
                               .correlationId = (uint32_t)V("corr")};
    put(&c, sizeof c);
}

static void put_peer(const struct line *line)
{
    CUpti_ActivityMemcpyPtoP4 c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                   .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                                   .srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                   .dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                   .flags = (uint8_t)V("async"),
                                   .bytes = V("bytes"),
                                   .start = time_of(line, "start"),
                                   .end = time_of(line, "end"),
                                   .deviceId = (uint32_t)V("device"),
                                   .contextId = (uint32_t)value(line, "context", 1),
                                   .streamId = (uint32_t)V("stream"),
                                   .srcDeviceId = (uint32_t)V("source"),
                                   .dstDeviceId = (uint32_t)V("target"),
                                   .correlationId = (uint32_t)V("corr")};
    put(&c, sizeof c);
}

static void put_memset(const struct line *line)
{
    CUpti_ActivityMemset4 m = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                               .bytes = V("bytes"),
                               .start = time_of(line, "start"),
                               .end = time_of(line, "end"),
                               .deviceId = (uint32_t)V("device"),
                               .contextId = (uint32_t)value(line, "context", 1),
                               .streamId = (uint32_t)V("stream"),
                               .correlationId = (uint32_t)V("corr")};
    put(&m, sizeof m);
}

static void put_kernel(const struct line *line)
{
    const char *name = text_of(line, "name");
    CUpti_ActivityKernel10 k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                .start = time_of(line, "start"),
                                .end = time_of(line, "end"),
                                .deviceId = (uint32_t)V("device"),
                                .contextId = (uint32_t)value(line, "context", 1),
                                .streamId = (uint32_t)V("stream"),
                                .correlationId = (uint32_t)V("corr"),
                                .name = strdup(name ? name : "kernel")};
    put(&k, sizeof k);
}

static void put_kind(uint32_t kind)
{
    CUpti_Activity a = {.kind = (CUpti_ActivityKind)kind};
    put(&a, sizeof a);
}

/* --- more than one --- */

struct crowd {
    uint64_t first, rounds, bytes;
};

static void *one_of_crowd(void *user)
{
    const struct crowd *c = user;
    const struct function *f = function_of("cudaMemcpyAsync", 0);
    for (uint64_t k = 0; k < c->rounds; k++) {
        char text[256], copy[1024];
        struct line line;
        uint64_t corr = c->first + k;
        union parameters p = {.words = {0x1000, (uint64_t)(uintptr_t)buffer, c->bytes, 1, 0}};
        enter(f, corr, 1, &p);
        leave(f, corr, 1, &p, 0);
        uint64_t at = monotonic() - origin;
        snprintf(
            text, sizeof text,
            "copy corr=%llu stream=%llu kind=1 from=2 to=3 async=1 bytes=%llu start=%llu end=%llu",
            (unsigned long long)corr, (unsigned long long)(20 + c->first / 1000000),
            (unsigned long long)c->bytes, (unsigned long long)at, (unsigned long long)(at + 10));
        split(&line, text, copy);
        put_copy(&line);
    }
    return NULL;
}

static void run_crowd(const struct line *line)
{
    enum { THREADS = 64 };
    static pthread_t threads[THREADS];
    static struct crowd crowds[THREADS];
    size_t n = V("threads") < THREADS ? V("threads") : THREADS;
    for (size_t k = 0; k < n; k++) {
        crowds[k] = (struct crowd){1000000 * (k + 1), V("rounds"), value(line, "bytes", 4096)};
        pthread_create(&threads[k], NULL, one_of_crowd, &crowds[k]);
    }
    for (size_t k = 0; k < n && !V("amid"); k++)
        pthread_join(threads[k], NULL);
}

static void play(char *text);

static void run_fork(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char call[] = "call cudaMemcpyAsync corr=77 src=buffer bytes=64 kind=1";
        char copy[] = "copy corr=77 stream=7 kind=1 from=1 to=3 bytes=64 start=1 end=2";
        char deliver[] = "deliver";
        play(call);
        play(copy);
        play(deliver);
        exit(5);
    }
    waitpid(child, &status, 0);
    printf("child ended with %d\n", WEXITSTATUS(status));
}

static void read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    size_t at = 0;
    while (fd >= 0 && (n = read(fd, buffer + at, sizeof buffer - at)) > 0)
        at += (size_t)n;
    if (fd >= 0)
        close(fd);
}

static void play(char *text)
{
    char copy[1024];
    struct line parsed, *line = &parsed;
    if (!*text || *text == '#')
        return;
    split(line, text, copy);
    const char *word = line->word;
    if (!strcmp(word, "at"))
        wait_until(number(line->rest));
    else if (!strcmp(word, "stream") && cupti.created)
        cupti.created(number(line->keys[0].value), (uint32_t)value(line, "context", 1),
                      (uint32_t)V("id"));
    else if (!strcmp(word, "destroy") && cupti.destroyed)
        cupti.destroyed(number(line->keys[0].value));
    else if (!strcmp(word, "call"))
        make_call(line);
    else if (!strcmp(word, "copy"))
        put_copy(line);
    else if (!strcmp(word, "peer"))
        put_peer(line);
    else if (!strcmp(word, "memset"))
        put_memset(line);
    else if (!strcmp(word, "kernel"))
        put_kernel(line);
    else if (!strcmp(word, "unknown"))
        put_kind(9999);
    else if (!strcmp(word, "invalid"))
        put_kind(CUPTI_ACTIVITY_KIND_INVALID);
    else if (!strcmp(word, "deliver") && cupti.deliver)
        cupti.deliver(V("cut"));
    else if (!strcmp(word, "drop") && cupti.drop)
        cupti.drop(V("n"));
    else if (!strcmp(word, "fatal") && cupti.fatal)
        cupti.fatal(line->rest);
    else if (!strcmp(word, "fork"))
        run_fork();
    else if (!strcmp(word, "read"))
        read_file(line->rest);
    else if (!strcmp(word, "crowd"))
        run_crowd(line);
    else if (!strcmp(word, "say"))
        puts(line->rest);
    else if (!strcmp(word, "exit"))
        exit((int)V("status"));
    else if (!strcmp(word, "_exit"))
        _exit((int)V("status"));
    else if (!strcmp(word, "exec"))
        execl(line->rest, line->rest, (char *)NULL);
}

/* As a driver would that is not there: the library alone. */
static int inject(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*initialize)(void);
    *(void **)&initialize = library ? dlsym(library, "InitializeInjection") : NULL;
    int answer = initialize ? initialize() : -1;
    printf("answered %d\n", answer);
    return answer == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char text[1024];
    if (argc == 3 && !strcmp(argv[1], "--inject"))
        return inject(argv[2]);
    FILE *script = argc > 1 && strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned);
    *(void **)&init = driver ? dlsym(driver, "cuInit") : NULL;
    if (!script || !init || init(0)) {
        fprintf(stderr, "gpu_play: no script, or no driver\n");
        return 2;
    }
    find_cupti();
    /* Read whole: a child that exits would set the place in a file that it shares. */
    static char whole[8 << 20];
    whole[fread(whole, 1, sizeof whole - 1, script)] = '\0';
    fclose(script);
    origin = monotonic();
    for (char *rest = whole, *next; (next = strsep(&rest, "\n"));) {
        snprintf(text, sizeof text, "%s", next);
        play(text);
    }
    return 0;
}
