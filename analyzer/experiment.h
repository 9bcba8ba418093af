/* The local I/O path of a machine in parts (DESIGN, "The experiment"): an artifact is saved and
 * loaded, copied to a GPU from pageable and from pinned memory, and copied back and saved. */
#ifndef IOT_ANALYZER_EXPERIMENT_H
#define IOT_ANALYZER_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum iot_experiment_mode { IOT_EXPERIMENT_DRY_RUN, IOT_EXPERIMENT_HOST, IOT_EXPERIMENT_GPU };
extern const char *const iot_experiment_modes[];

/* In the order of the report. COLD_LOAD is measured with --cold alone, those of a GPU with one. */
enum iot_experiment_part {
    IOT_EXPERIMENT_SAVE,
    IOT_EXPERIMENT_LOAD,
    IOT_EXPERIMENT_COLD_LOAD,
    IOT_EXPERIMENT_PAGEABLE,
    IOT_EXPERIMENT_PINNED,
    IOT_EXPERIMENT_OUTPUT,
    IOT_EXPERIMENT_PARTS
};
extern const char *const iot_experiment_parts[IOT_EXPERIMENT_PARTS];

enum iot_experiment_dtype { IOT_FP32, IOT_FP16, IOT_BF16, IOT_INT8 };
extern const char *const iot_experiment_dtypes[];

struct iot_experiment_config {
    size_t mode, dtype; /* enum iot_experiment_mode, enum iot_experiment_dtype */
    size_t mib, warmups, repeats, seed;
    const char *folder, *results, *label;
    const char *profile, *semantic; /* names that the result carries */
    bool cold, fsync;
};

/* Times of one part, ns. */
struct iot_experiment_times {
    int64_t *ns; /* `repeats` of them, sorted at the end; NULL: the part was not measured */
    int64_t median_ns, p95_ns;
};

struct iot_experiment_gpu {
    char name[128];
    uint64_t memory_bytes;
    int driver; /* 1000 * major + 10 * minor; 0: no driver */
};

struct iot_experiment {
    const struct iot_experiment_config *config;
    size_t bytes;
    unsigned char *tensor, *loaded;
    char path[4096], output[4096]; /* the temporary files */
    int folder_made;               /* the folder of the temporary files was not there before */
    struct iot_experiment_times times[IOT_EXPERIMENT_PARTS];
    struct iot_experiment_gpu gpu;
    int correct;
    char failure[256];          /* "" none */
    int path_left, output_left; /* temporary files that could not be taken away */
};

/* Checks the profile and measures. Returns 0, or -1 with one line in `error`: nothing was measured.
 * What went wrong while measuring is in failure. Free in either case. */
int iot_experiment_run(struct iot_experiment *x, const struct iot_experiment_config *config,
                       char error[512]);
void iot_experiment_free(struct iot_experiment *x);

/* Files, with times in ns. -1 with errno; of the cold load also if the page cache still holds some
 * of it (errno EBUSY). */
int iot_experiment_save(const char *path, const void *bytes, size_t n, bool sync, int64_t *ns);
int iot_experiment_load(const char *path, void *bytes, size_t n, int64_t *ns);
/* Takes the file out of the page cache and proves by residency that it is gone. */
int iot_experiment_evict(const char *path);

/* The GPU's parts. -1 with failure set. Nothing is linked: the driver is loaded when it is run. */
struct iot_experiment_cuda;
struct iot_experiment_cuda *iot_experiment_cuda_open(struct iot_experiment *x);
int iot_experiment_cuda_measure(struct iot_experiment_cuda *cuda, struct iot_experiment *x,
                                enum iot_experiment_part part, int64_t *ns);
void iot_experiment_cuda_close(struct iot_experiment_cuda *cuda);

/* The result as JSON, schema performance-mechanism-gpu/v1, in a file that was not there. Each
 * returns 0 or -errno; `path` says which. Claiming makes its folder and sees that it can be written
 * there: -EEXIST where a result is. */
int iot_experiment_path(const struct iot_experiment_config *config, char path[4096]);
int iot_experiment_claim(const char *path);
int iot_experiment_write(const struct iot_experiment *x, const char *path);
/* Prints the configuration, as a dry run does. */
void iot_experiment_print_config(const struct iot_experiment_config *config);
/* Prints a result again, and what it proves. An exit status. */
int iot_experiment_read(const char *path);

#endif
