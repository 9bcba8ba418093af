/* What a report says of GPUs: what decided of what object copies are, how long GPUs idled because
 * of I/O, and what ranks waited for each other within collectives. doc/gpu.md has the definitions.
 */
#ifndef IOT_ANALYZER_REPORT_GPU_H
#define IOT_ANALYZER_REPORT_GPU_H

#include "analyzer/report.h"
#include "analyzer/report_words.h"

/* What decided of what object a copy is. */
enum iot_copy_rule {
    IOT_COPY_BY_FILE,  /* that of the file that its bytes come from or go to */
    IOT_COPY_BY_USER,  /* a rule of the user's */
    IOT_COPY_BY_EARLY, /* to the GPU before the first step */
    IOT_COPY_BY_STEPS, /* to the GPU from there on */
    IOT_COPY_BY_OUT,   /* from the GPU */
    IOT_COPY_BY_STATE, /* within or between GPUs, or neither end is known */
    IOT_COPY_RULES
};
extern const char *const iot_copy_rule_names[IOT_COPY_RULES];
/* "HtoD"; of what is no kind of copy "other". And back. */
const char *iot_copy_direction_name(unsigned direction);
uint8_t iot_copy_direction(const char *name);
uint8_t iot_copy_rule(const char *name); /* enum iot_copy_rule */
/* "pageable", "pinned", "" if it is not known. And back. */
const char *iot_host_memory_name(unsigned memory);
uint8_t iot_host_memory(const char *name);

/* Copies that are alike. */
struct iot_gpu_copies {
    uint8_t direction; /* enum iot_copy_kind; 0: another */
    uint8_t rule, object;
    uint8_t memory; /* enum iot_host_memory; 0: not known, or none */
    int64_t copies, bytes, service_ns;
};

struct iot_gpu_device {
    uint32_t device;
    uint8_t kernels; /* they were recorded: else what it did is not known, and the rest is 0 */
    int64_t busy_ns; /* something ran in one of its streams */
    int64_t idle_ns; /* nothing did, up to the last that ran */
    int64_t idle_of_ns[IOT_OBJECTS]; /* the parts of idle_ns that I/O made */
};

/* A GPU of a process that takes part in collectives of several. */
struct iot_gpu_rank {
    uint32_t pid, device;
    int64_t rank; /* of the job; -1: not known */
    int64_t collectives, matched; /* those whose counterparts are known */
    int64_t waited_ns, transfer_ns;
};

struct iot_report_gpu {
    struct iot_gpu_copies *copies;
    struct iot_gpu_device *devices;
    struct iot_gpu_rank *ranks;
    size_t n_copies, n_devices, n_ranks;
};

/* report->gpu, which is NULL where no GPU was seen; when rows and model are there. 0, or -1 without
 * memory. */
int iot_report_gpu_make(struct iot_report *report, const struct iot_classes *classes);
void iot_report_gpu_free(struct iot_report_gpu *gpu);

/* Sentences, as in report_words.h, line by line: false behind the last one. */
bool iot_words_gpu(const struct iot_report *report, size_t line, char text[IOT_SENTENCE_BYTES]);

/* Those of the copies in one direction (0 to IOT_COPY_DIRECTIONS - 1; false: there are none), of a
 * GPU (`who`: what is said behind its name), and of the path; `what` GPUs hold. */
enum { IOT_COPY_DIRECTIONS = 5 };
bool iot_words_copies(const struct iot_report_gpu *gpu, size_t direction,
                      char text[IOT_SENTENCE_BYTES]);
void iot_words_device(const struct iot_gpu_device *device, const char *who,
                      char text[IOT_SENTENCE_BYTES]);
void iot_words_gpu_path(const struct iot_path_parts *path, const char *what,
                        char text[IOT_SENTENCE_BYTES]);

/* How long each GPU idled, and because of what: the part of iot_report_gpu_make in gpu_idle.c. */
int iot_report_gpu_idle(struct iot_report *report);

#endif
