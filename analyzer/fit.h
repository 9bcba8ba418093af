/* Fixed latency and effective bandwidth: a line through service time against bytes,
 * service = latency + bytes / bandwidth, latency >= 0, that a few calls of another kind (a stall, a
 * page that was cached) do not move.
 *
 * Calls of any number are reduced to a sample of bounded size: some of each power of two of bytes,
 * so that rare sizes count like frequent ones. Which, is chance, but the same chance each time.
 */
#ifndef IOT_ANALYZER_FIT_H
#define IOT_ANALYZER_FIT_H

#include <stdint.h>

enum { IOT_FIT_CLASSES = 63, IOT_FIT_CALLS = 32 };

struct iot_fit_call {
    double bytes, service_ns;
};

struct iot_fit_sample {
    uint64_t seen[IOT_FIT_CLASSES]; /* calls of this class; the first IOT_FIT_CALLS are all kept */
    uint64_t chance;
    struct iot_fit_call calls[IOT_FIT_CLASSES][IOT_FIT_CALLS];
};

/* Zero: nothing is known, because sizes do not differ. */
struct iot_fit {
    uint8_t known;
    double latency_ns;  /* >= 0 */
    double ns_per_byte; /* the reciprocal is GB/s; 0: bytes make no difference that can be seen */
};

/* An empty sample. */
void iot_fit_begin(struct iot_fit_sample *sample);
/* One data call. What moved nothing tells nothing of moving, and is left out. */
void iot_fit_add(struct iot_fit_sample *sample, int64_t bytes, int64_t service_ns);
/* Three calls at least must be a quarter larger than three others. */
struct iot_fit iot_fit_line(const struct iot_fit_sample *sample);

#endif
