/* Random programs of several threads, run by a simulator that knows who let whom go on. */
#ifndef IOT_TEST_PROGRAMS_H
#define IOT_TEST_PROGRAMS_H

#include "analyzer/trace.h"

enum iot_test_step_kind {
    IOT_TEST_COMPUTE,
    IOT_TEST_IO,
    IOT_TEST_TAKE, /* a semaphore */
    IOT_TEST_POST,
    IOT_TEST_LOCK, /* a plain mutex: leaves a row only where it is waited for */
    IOT_TEST_UNLOCK,
    IOT_TEST_PUT, /* bytes into a pipe; service */
    IOT_TEST_GET, /* bytes from a pipe; service where they were there */
    IOT_TEST_CREATE,
    IOT_TEST_JOIN,
    /* an absolute timer; ns: from its entry, less than 0 where the moment had passed */
    IOT_TEST_UNTIL,
};

struct iot_test_step {
    uint8_t kind, waited, seen; /* seen: the step has a row */
    uint32_t lane, object;      /* object: semaphore, mutex, pipe, lane */
    int64_t ns;                 /* of computing or service */
    int64_t until;              /* of UNTIL: the moment */
    /* step that let it go on, by its entry (of JOIN: by the lane's end) */
    size_t waker;
    int has_waker;
    int64_t entry, end;
};

enum { IOT_TEST_PROGRAM_LANES = 6, IOT_TEST_PROGRAM_STEPS = 700 };

struct iot_test_program {
    struct iot_test_step steps[IOT_TEST_PROGRAM_STEPS]; /* lane by lane */
    size_t first[IOT_TEST_PROGRAM_LANES + 1];
    size_t order[IOT_TEST_PROGRAM_STEPS]; /* as they ran */
    size_t n, lanes, ran;
    int64_t made_with[32]; /* a semaphore's value */
    int64_t latency, start_up; /* ns, of every wake-up and of every thread's beginning */
    size_t event[IOT_TEST_PROGRAM_STEPS]; /* of a step that is seen */
    struct iot_trace trace;
};

/* A program of chained bounded queues and pipes, with locks here and there, and its run at
 * lambda 1. `small`: one whose graph has few edges. All follows from the seed. */
struct iot_test_program *iot_test_program_new(uint64_t seed, int small);
void iot_test_program_free(struct iot_test_program *p);

/* How long it takes with each service times tenths / 10, with who lets whom go on as at lambda 1.
 * `without`: steps (one byte each) whose service is zero; may be NULL. */
int64_t iot_test_program_takes(const struct iot_test_program *p, int tenths,
                               const uint8_t *without);

#endif
