#include "analyzer/experiment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *const iot_experiment_modes[] = {"dry_run", "host", "real_gpu", NULL};
const char *const iot_experiment_dtypes[] = {"fp32", "fp16", "bf16", "int8", NULL};
const char *const iot_experiment_parts[IOT_EXPERIMENT_PARTS] = {
    [IOT_EXPERIMENT_SAVE] = "artifact_save",
    [IOT_EXPERIMENT_LOAD] = "artifact_load_warm_cache",
    [IOT_EXPERIMENT_COLD_LOAD] = "artifact_load_cold_cache",
    [IOT_EXPERIMENT_PAGEABLE] = "pageable_h2d",
    [IOT_EXPERIMENT_PINNED] = "pinned_non_blocking_h2d",
    [IOT_EXPERIMENT_OUTPUT] = "output_d2h_and_save",
};

/* Numbers as a seed gives them (splitmix64): in [0, 1) as fp32, else any bits. */
static void fill(unsigned char *to, size_t bytes, uint64_t seed, int fp32)
{
    for (size_t at = 0; at < bytes; at += 4) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        uint32_t bits = (uint32_t)(z ^ z >> 31);
        float value = (float)(bits >> 8) * 0x1p-24F;
        memcpy(to + at, fp32 ? (const void *)&value : (const void *)&bits, 4);
    }
}

/* --- before it measures --- */

static int make_folder(struct iot_experiment *x, char error[512])
{
    if (!mkdir(x->config->folder, 0777)) {
        x->folder_made = 1;
        return 0;
    }
    if (errno == EEXIST)
        return 0;
    snprintf(error, 512, "%.400s: %m; give another --folder", x->config->folder);
    return -1;
}

/* What the kernel would give without swapping, the page cache included; all if it does not say. */
static uint64_t free_memory(void)
{
    char line[128];
    unsigned long long kib = UINT64_MAX / 1024;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (uint64_t)kib * 1024;
}

static int check_room(const struct iot_experiment *x, char error[512])
{
    struct statvfs fs;
    enum { FILES = 2, COPIES = 3 };
    uint64_t memory = free_memory();
    if (statvfs(x->config->folder, &fs)) {
        snprintf(error, 512, "%.400s: %m; give another --folder", x->config->folder);
        return -1;
    }
    if ((uint64_t)fs.f_bavail * fs.f_frsize < FILES * (uint64_t)x->bytes + (64 << 20)) {
        snprintf(error, 512,
                 "%.400s: too little free disk for two files of %zu MiB; give another --folder or "
                 "a smaller --size",
                 x->config->folder, x->bytes >> 20);
        return -1;
    }
    if (memory < COPIES * (uint64_t)x->bytes) {
        snprintf(error, 512,
                 "too little free memory for %d copies of %zu MiB; give a smaller --size", COPIES,
                 x->bytes >> 20);
        return -1;
    }
    return 0;
}

static int prepare(struct iot_experiment *x, char error[512])
{
    const struct iot_experiment_config *c = x->config;
    if (make_folder(x, error) || check_room(x, error))
        return -1;
    snprintf(x->path, sizeof x->path, "%s/iotrace-artifact-%d", c->folder, (int)getpid());
    snprintf(x->output, sizeof x->output, "%s/iotrace-output-%d", c->folder, (int)getpid());
    x->tensor = malloc(x->bytes);
    x->loaded = malloc(x->bytes);
    if (!x->tensor || !x->loaded) {
        snprintf(error, 512, "out of memory; give a smaller --size");
        return -1;
    }
    fill(x->tensor, x->bytes, c->seed, c->dtype == IOT_FP32);
    return 0;
}

/* --- measuring --- */

static int measure_file(struct iot_experiment *x, enum iot_experiment_part part, int64_t *ns)
{
    int failed;
    if (part == IOT_EXPERIMENT_SAVE) {
        failed = iot_experiment_save(x->path, x->tensor, x->bytes, x->config->fsync, ns);
    } else {
        memset(x->loaded, 0, x->bytes);
        failed = part == IOT_EXPERIMENT_COLD_LOAD && iot_experiment_evict(x->path);
        if (failed && errno == EBUSY) {
            snprintf(x->failure, sizeof x->failure,
                     "the page cache still holds the file after it was dropped, so nothing here is "
                     "cold; use a folder on a disk");
            return -1;
        }
        failed = failed || iot_experiment_load(x->path, x->loaded, x->bytes, ns);
        if (!failed && memcmp(x->loaded, x->tensor, x->bytes) != 0) {
            snprintf(x->failure, sizeof x->failure, "what was loaded is not what was saved");
            return -1;
        }
    }
    if (failed)
        snprintf(x->failure, sizeof x->failure, "%s: %m", iot_experiment_parts[part]);
    return failed ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* P95 is the value at index floor(0.95 * (n - 1)) of the sorted repeats. */
static void summarise(struct iot_experiment_times *t, size_t n)
{
    qsort(t->ns, n, sizeof *t->ns, by_time);
    t->median_ns = n % 2 ? t->ns[n / 2] : t->ns[n / 2 - 1] + (t->ns[n / 2] - t->ns[n / 2 - 1]) / 2;
    t->p95_ns = t->ns[95 * (n - 1) / 100];
}

static int measure(struct iot_experiment *x, struct iot_experiment_cuda *cuda,
                   enum iot_experiment_part part)
{
    const struct iot_experiment_config *c = x->config;
    int64_t *ns = malloc(c->repeats * sizeof *ns), warm;
    int failed = !ns;
    if (failed)
        snprintf(x->failure, sizeof x->failure, "out of memory");
    for (size_t k = 0; k < c->warmups + c->repeats && !failed; k++) {
        int64_t *to = k < c->warmups ? &warm : &ns[k - c->warmups];
        failed = part >= IOT_EXPERIMENT_PAGEABLE ? iot_experiment_cuda_measure(cuda, x, part, to)
                                                 : measure_file(x, part, to);
    }
    if (failed) {
        free(ns);
        return -1;
    }
    x->times[part].ns = ns;
    summarise(&x->times[part], c->repeats);
    return 0;
}

/* What was written back, read again, is the source. */
static int check_output(struct iot_experiment *x)
{
    int64_t ns;
    memset(x->loaded, 0, x->bytes);
    if (iot_experiment_load(x->output, x->loaded, x->bytes, &ns)) {
        snprintf(x->failure, sizeof x->failure, "what was written back cannot be read: %m");
        return -1;
    }
    if (memcmp(x->loaded, x->tensor, x->bytes) != 0) {
        snprintf(x->failure, sizeof x->failure, "what was written back is not the source");
        return -1;
    }
    return 0;
}

static void measure_all(struct iot_experiment *x, struct iot_experiment_cuda *cuda)
{
    int failed = 0;
    for (int part = 0; part < IOT_EXPERIMENT_PARTS && !failed; part++) {
        if ((part == IOT_EXPERIMENT_COLD_LOAD && !x->config->cold) ||
            (part >= IOT_EXPERIMENT_PAGEABLE && !cuda))
            continue;
        failed = measure(x, cuda, (enum iot_experiment_part)part);
    }
    x->correct = !failed && (!cuda || !check_output(x));
}

static void clean(struct iot_experiment *x)
{
    x->path_left = *x->path && unlink(x->path) && errno != ENOENT;
    x->output_left = *x->output && unlink(x->output) && errno != ENOENT;
    if (x->folder_made)
        rmdir(x->config->folder);
}

int iot_experiment_run(struct iot_experiment *x, const struct iot_experiment_config *config,
                       char error[512])
{
    *x = (struct iot_experiment){.config = config, .bytes = config->mib << 20};
    struct iot_experiment_cuda *cuda = NULL;
    int failed = prepare(x, error);
    if (!failed && config->mode == IOT_EXPERIMENT_GPU && !(cuda = iot_experiment_cuda_open(x))) {
        snprintf(error, 512, "%s; --mode host runs the storage half without a GPU", x->failure);
        failed = -1;
    }
    if (!failed)
        measure_all(x, cuda);
    iot_experiment_cuda_close(cuda);
    clean(x);
    return failed;
}

void iot_experiment_free(struct iot_experiment *x)
{
    for (int part = 0; part < IOT_EXPERIMENT_PARTS; part++)
        free(x->times[part].ns);
    free(x->tensor);
    free(x->loaded);
}
