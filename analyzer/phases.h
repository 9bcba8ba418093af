/* The phases of a run: cold_start, until the first step begins; steady, the steps; shutdown, what
 * follows them. A run without steps is one phase, run.
 *
 * An event belongs to the phase and to the step in which it ends; one that ends as a step begins,
 * to the step before. What outlives the run is in its last phase. So the phases of a run add up to
 * its totals in every figure that adds up at all.
 */
#ifndef IOT_ANALYZER_PHASES_H
#define IOT_ANALYZER_PHASES_H

#include "analyzer/report.h"

/* The middle and the 95th percentile over the steps. */
struct iot_step_times {
    int64_t p50_ns, p95_ns;
};

struct iot_phase_object {
    uint64_t files;
    struct iot_figures figures;
    struct iot_step_times exposed;
};

struct iot_phase {
    const char *name;
    int64_t start_ns, end_ns;
    size_t steps;
    struct iot_step_times length;  /* of the steps whose end is known: all but the last; 0 of one */
    struct iot_step_times exposed; /* of all objects together */
    struct iot_phase_object objects[IOT_OBJECTS];
};

enum { IOT_PHASES_MAX = 3 };

struct iot_phases {
    const struct iot_steps *steps;
    struct iot_phase phases[IOT_PHASES_MAX];
    size_t n;
};

/* Over all objects. */
struct iot_phase_sum {
    int64_t bytes, service_ns, exposed_ns;
};
struct iot_phase_sum iot_phase_sum(const struct iot_phase *phase);

/* The index of the phase that an event belongs to which ends then. */
uint8_t iot_phase_at(const struct iot_phases *phases, int64_t ns);

#endif
