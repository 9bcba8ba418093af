/* Plays a program of several threads that give streams work, on the stand-in for a GPU.
 *
 *     gpu_schedule THREAD:STEP:... ...
 *
 * One argument for each thread, the first is the main one's. A step is a letter and numbers with
 * commas:
 *
 *     kSTREAM,US        a kernel                      pSTREAM,BYTES  a copy there, pinned
 *     hSTREAM,BYTES     a copy there, pageable        bBYTES,DEVICE  the same, not asynchronous
 *     oSTREAM,BYTES     a copy back, pinned           dSTREAM,BYTES  a copy within the device
 *     sSTREAM           waits for a stream            yEVENT         waits for an event
 *     rSTREAM,EVENT     records an event              wSTREAM,EVENT  lets a stream wait for it
 *     cUS               computes                      aDEVICE        waits for all its streams
 *     tSEMAPHORE        waits for it                  gSEMAPHORE     posts it
 *
 * Streams 0 to 7 are of the first device, 8 to 15 of the second; 0 and 8 are the default ones, 2,
 * 4, 5, 10 and 12 are blocking, the others not. Prints what became of each work: "THREAD STEP READY
 * START END", in ns of the monotonic clock. */
#include <pthread.h>
#include <semaphore.h>

#include "tests/cuda/check.h"
#include "tests/cuda/standin_gpu.h"

enum {
    OF_DEVICE = 8,
    STREAMS = 2 * OF_DEVICE,
    EVENTS = 128,
    STEPS = 256,
    THREADS = 8,
    BYTES = 4 << 20,
    SAID_BYTES = THREADS * STEPS * 80
};

static cudaStream_t streams[STREAMS];
static cudaEvent_t events[EVENTS];
static sem_t semaphores[EVENTS];
static char *pageable, *pinned, *device, *other;

static struct thread {
    pthread_t id;
    char *text;
    struct gpu_times times[STEPS];
    size_t n;
} threads[THREADS];

static void compute(unsigned us)
{
    for (uint64_t until = gpu_now() + us * UINT64_C(1000); gpu_now() < until;)
        ;
}

static int is_blocking(unsigned stream)
{
    return stream == 2 || stream == 4 || stream == 5 || stream == 10 || stream == 12;
}

static unsigned device_of(char what, unsigned a, unsigned b)
{
    return what == 'b' ? b : what == 'a' ? a : strchr("kphodsrw", what) ? a / OF_DEVICE : 0;
}

static void step(char what, unsigned a, unsigned b)
{
    GPU(cudaSetDevice((int)device_of(what, a, b)));
    switch (what) {
    case 'k':
        GPU(spin_us(b, streams[a]));
        break;
    case 'p':
        GPU(cudaMemcpyAsync(device, pinned, b, cudaMemcpyHostToDevice, streams[a]));
        break;
    case 'h':
        GPU(cudaMemcpyAsync(device, pageable, b, cudaMemcpyHostToDevice, streams[a]));
        break;
    case 'b':
        GPU(cudaMemcpy(device, pageable, a, cudaMemcpyHostToDevice));
        break;
    case 'o':
        GPU(cudaMemcpyAsync(pinned, device, b, cudaMemcpyDeviceToHost, streams[a]));
        break;
    case 'd':
        GPU(cudaMemcpyAsync(other, device, b, cudaMemcpyDeviceToDevice, streams[a]));
        break;
    case 's':
        GPU(cudaStreamSynchronize(streams[a]));
        break;
    case 'y':
        GPU(cudaEventSynchronize(events[a]));
        break;
    case 'r':
        GPU(cudaEventRecord(events[b], streams[a]));
        break;
    case 'w':
        GPU(cudaStreamWaitEvent(streams[a], events[b], 0));
        break;
    case 'c':
        compute(a);
        break;
    case 'a':
        GPU(cudaDeviceSynchronize());
        break;
    case 't':
        while (sem_wait(&semaphores[a]))
            ;
        break;
    case 'g':
        MUST(!sem_post(&semaphores[a]));
        break;
    default:
        fprintf(stderr, "gpu_schedule: no step is called '%c'\n", what);
        exit(2);
    }
}

static void *play(void *of)
{
    struct thread *t = of;
    char *rest = t->text;
    for (char *word; (word = strtok_r(rest, ":", &rest)); t->n++) {
        unsigned a = 0, b = 0;
        MUST(t->n < STEPS);
        sscanf(word + 1, "%u,%u", &a, &b);
        MUST(a < STREAMS || strchr("abcytg", *word));
        gpu_last = (struct gpu_times){0, 0, 0};
        step(*word, a, b);
        t->times[t->n] = gpu_last;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static char said[SAID_BYTES];
    MUST(argc > 1 && argc <= THREADS + 1);
    /* No output but at the exit: it would be I/O, too. */
    setvbuf(stdout, said, _IOFBF, sizeof said);
    gpu_moves_nothing = 1;
    pageable = host_memory(0, BYTES);
    pinned = host_memory(1, BYTES);
    device = device_memory(BYTES);
    other = device_memory(BYTES);
    for (unsigned k = 0; k < STREAMS; k++) {
        GPU(cudaSetDevice((int)(k / OF_DEVICE)));
        if (k % OF_DEVICE)
            GPU(cudaStreamCreateWithFlags(&streams[k], is_blocking(k) ? cudaStreamDefault
                                                                      : cudaStreamNonBlocking));
    }
    for (int k = 0; k < EVENTS; k++) {
        GPU(cudaEventCreate(&events[k]));
        sem_init(&semaphores[k], 0, 0);
    }
    for (int k = 1; k < argc; k++)
        threads[k - 1].text = argv[k];
    for (int k = 1; k < argc - 1; k++)
        MUST(!pthread_create(&threads[k].id, NULL, play, &threads[k]));
    play(&threads[0]);
    for (int k = 1; k < argc - 1; k++)
        MUST(!pthread_join(threads[k].id, NULL));
    for (int k = 0; k < STREAMS / OF_DEVICE; k++) {
        GPU(cudaSetDevice(k));
        GPU(cudaDeviceSynchronize());
    }
    for (int k = 0; k < argc - 1; k++)
        for (size_t s = 0; s < threads[k].n; s++)
            printf("%d %zu %llu %llu %llu\n", k, s,
                   (unsigned long long)threads[k].times[s].ready_ns,
                   (unsigned long long)threads[k].times[s].start_ns,
                   (unsigned long long)threads[k].times[s].end_ns);
    return 0;
}
