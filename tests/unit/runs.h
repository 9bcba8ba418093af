/* Runs made by hand, for tests of what is computed from a trace and its model. */
#ifndef IOT_TEST_RUNS_H
#define IOT_TEST_RUNS_H

#include "analyzer/model.h"
#include "analyzer/steps.h"
#include "analyzer/trace.h"

enum { IOT_TEST_RUN_EVENTS = 4096, IOT_TEST_RUN_FILES = 512, IOT_TEST_RUN_PROCESSES = 8 };

struct iot_test_run {
    struct iot_trace trace;
    struct iot_model model;
    struct iot_process processes[IOT_TEST_RUN_PROCESSES];
    struct iot_lane lanes[IOT_TEST_RUN_PROCESSES];
    struct iot_file files[IOT_TEST_RUN_FILES];
    int64_t t0[IOT_TEST_RUN_EVENTS], t1[IOT_TEST_RUN_EVENTS], bytes[IOT_TEST_RUN_EVENTS],
        result[IOT_TEST_RUN_EVENTS], offset[IOT_TEST_RUN_EVENTS];
    uint64_t addr[IOT_TEST_RUN_EVENTS];
    uint32_t file[IOT_TEST_RUN_EVENTS], file2[IOT_TEST_RUN_EVENTS], arg[IOT_TEST_RUN_EVENTS];
    int32_t fd[IOT_TEST_RUN_EVENTS];
    uint16_t op[IOT_TEST_RUN_EVENTS], err[IOT_TEST_RUN_EVENTS];
    uint8_t part[IOT_TEST_RUN_EVENTS], waited[IOT_TEST_RUN_EVENTS];
    int64_t service[IOT_TEST_RUN_EVENTS], exposed[IOT_TEST_RUN_EVENTS];
};

/* A run of so many ns, with a root process 100. */
struct iot_test_run *iot_test_run_new(int64_t wall_ns);
void iot_test_run_free(struct iot_test_run *run);

/* Its events are those that are added from now on. */
void iot_test_run_process(struct iot_test_run *run, uint32_t pid, uint32_t ppid);

/* The index of a file, new or not. */
uint32_t iot_test_run_file(struct iot_test_run *run, const char *name, enum iot_file_kind kind);
uint32_t iot_test_run_regular(struct iot_test_run *run, const char *name);

/* An event of the last process; it took 1 ns a byte, and 10 more, all of it service if it is I/O.
 * Returns its index. */
size_t iot_test_run_event(struct iot_test_run *run, enum iot_op op, uint32_t file, int64_t bytes,
                          int64_t t0);
void iot_test_run_rename(struct iot_test_run *run, uint32_t from, uint32_t to, int64_t t0);

/* So much of an event's service is exposed. */
void iot_test_run_expose(struct iot_test_run *run, size_t event, int64_t exposed_ns, int waited);

/* The steps that its marks tell; none where it has no marks, whatever its period. Free them. */
void iot_test_run_marked_steps(const struct iot_test_run *run, struct iot_steps *steps);

#endif
