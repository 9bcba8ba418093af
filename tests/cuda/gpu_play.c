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
#include "tests/cuda/gpu_play.h"

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

enum { BUFFER_BYTES = 64 << 20 };

static char buffer[BUFFER_BYTES];
static uint64_t origin;

/* NULL where nobody has loaded them. */
__typeof__(&standin_enter) play_enter;
__typeof__(&standin_exit) play_exit;
static struct {
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
    *(void **)&play_enter = dlsym(library, "standin_enter");
    *(void **)&play_exit = dlsym(library, "standin_exit");
    *(void **)&cupti.created = dlsym(library, "standin_stream_created");
    *(void **)&cupti.destroyed = dlsym(library, "standin_stream_destroyed");
    *(void **)&cupti.record = dlsym(library, "standin_record");
    *(void **)&cupti.deliver = dlsym(library, "standin_deliver");
    *(void **)&cupti.drop = dlsym(library, "standin_drop");
    *(void **)&cupti.fatal = dlsym(library, "standin_fatal");
}

/* --- a line --- */

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

const char *line_text(const struct line *line, const char *key)
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

uint64_t line_value(const struct line *line, const char *key, uint64_t otherwise)
{
    const char *text = line_text(line, key);
    return text ? number(text) : otherwise;
}

static uint64_t monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void play_wait_until(uint64_t ns)
{
    struct timespec until = {(time_t)((origin + ns) / 1000000000u),
                             (long)((origin + ns) % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
        continue;
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
                               .contextId = (uint32_t)line_value(line, "context", 1),
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
                                   .contextId = (uint32_t)line_value(line, "context", 1),
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
                               .contextId = (uint32_t)line_value(line, "context", 1),
                               .streamId = (uint32_t)V("stream"),
                               .correlationId = (uint32_t)V("corr")};
    put(&m, sizeof m);
}

static void put_kernel(const struct line *line)
{
    const char *name = line_text(line, "name");
    CUpti_ActivityKernel10 k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                .start = time_of(line, "start"),
                                .end = time_of(line, "end"),
                                .deviceId = (uint32_t)V("device"),
                                .contextId = (uint32_t)line_value(line, "context", 1),
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
    for (uint64_t k = 0; k < c->rounds; k++) {
        char text[256], copy[1024];
        struct line line;
        uint64_t corr = c->first + k;
        snprintf(text, sizeof text,
                 "call cudaMemcpyAsync corr=%llu dst=0x1000 src=buffer bytes=%llu kind=1",
                 (unsigned long long)corr, (unsigned long long)c->bytes);
        split(&line, text, copy);
        play_call(&line);
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
        crowds[k] = (struct crowd){1000000 * (k + 1), V("rounds"), line_value(line, "bytes", 4096)};
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
        play_wait_until(number(line->rest));
    else if (!strcmp(word, "stream") && cupti.created)
        cupti.created(number(line->keys[0].value), (uint32_t)line_value(line, "context", 1),
                      (uint32_t)V("id"));
    else if (!strcmp(word, "destroy") && cupti.destroyed)
        cupti.destroyed(number(line->keys[0].value));
    else if (!strcmp(word, "call"))
        play_call(line);
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
