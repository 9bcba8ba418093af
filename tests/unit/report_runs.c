#include "tests/unit/report_runs.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "analyzer/gain.h"

/* In place of the replay: as if all I/O were in one lane. */
int64_t iot_model_recoverable(const struct iot_model *model, const uint8_t *selected)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model->trace->events.n; i++)
        sum += selected[i] ? model->exposed_ns[i] : 0;
    return sum;
}

int64_t iot_gain(const struct iot_model *model, const int64_t *service_ns)
{
    int64_t sum = 0;
    for (size_t i = 0; i < model->trace->events.n; i++)
        sum += model->service_ns[i] > service_ns[i] ? model->exposed_ns[i] : 0;
    return sum;
}

struct iot_classes iot_test_classes;
struct iot_steps iot_test_steps;
struct iot_report iot_test_report;

void iot_make_report(struct iot_test_run *run, size_t top)
{
    cr_assert_eq(iot_classify(&iot_test_classes, &run->trace, NULL, NULL), 0);
    cr_assert_eq(iot_report_make(&iot_test_report, &run->trace, &run->model, &iot_test_classes,
                                 &iot_test_steps, top),
                 0);
}

void iot_free_report(struct iot_test_run *run)
{
    iot_report_free(&iot_test_report);
    iot_classes_free(&iot_test_classes);
    iot_test_run_free(run);
}

static uint64_t state;

uint64_t iot_below(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

struct iot_test_run *iot_random_run(uint64_t seed)
{
    static const enum iot_op ops[] = {
        IOT_OP_READ,  IOT_OP_WRITE,   IOT_OP_PREAD,    IOT_OP_OPENAT, IOT_OP_CLOSE,
        IOT_OP_FSYNC, IOT_OP_STAT,    IOT_OP_SENDFILE, IOT_OP_SYNC,   IOT_OP_SYNCFS,
        IOT_OP_MSYNC, IOT_OP_WAITPID, IOT_OP_SLEEP,    IOT_OP_RENAME, IOT_OP_EXIT,
    };
    static const char *const folders[] = {"/d/train/%llu.bin", "/m/%llu.safetensors",
                                          "/o/%llu.log",       "/swap/%llu",
                                          "/etc/%llu",         "pipe:[%llu]"};
    struct iot_test_run *run = iot_test_run_new(IOT_TEST_WALL);
    uint32_t files[60] = {0};
    state = seed;
    size_t n_files = 1 + iot_below(59);
    for (size_t f = 1; f < n_files; f++) {
        char name[64];
        size_t folder = iot_below(6);
        snprintf(name, sizeof name, folders[folder], (unsigned long long)f);
        files[f] = iot_test_run_file(run, name, folder == 5 ? IOT_FILE_PIPE : IOT_FILE_REGULAR);
        run->files[files[f]].standard = (uint8_t)(iot_below(4) ? 0 : iot_below(8));
    }
    for (size_t n = iot_below(1500), i = 0; i < n; i++) {
        enum iot_op op = ops[iot_below(sizeof ops / sizeof *ops)];
        int moves = iot_op_info(op)->class_ == IOT_DATA;
        uint32_t file = iot_op_info(op)->subject ? files[iot_below(n_files)] : 0;
        size_t e = iot_test_run_event(run, op, file, moves ? (int64_t)iot_below(20000) : 0,
                                      (int64_t)i * IOT_TEST_WALL / 2000);
        if (iot_op_info(op)->moves == IOT_BOTH || op == IOT_OP_RENAME)
            run->file2[e] = files[iot_below(n_files)];
        if (run->part[e] == IOT_PART_IO && iot_below(2))
            iot_test_run_expose(run, e, (int64_t)iot_below((uint64_t)run->service[e] + 1),
                                (int)iot_below(2));
    }
    return run;
}

void iot_random_steps(int64_t starts[5])
{
    starts[0] = 0;
    for (size_t i = 1; i < 5; i++)
        starts[i] = starts[i - 1] + (int64_t)iot_below(IOT_TEST_WALL / 4);
    iot_test_steps = (struct iot_steps){.starts_ns = starts + 1,
                                        .n = iot_below(5),
                                        .end_ns = starts[4] + (int64_t)iot_below(IOT_TEST_WALL / 8),
                                        .source = IOT_STEPS_MARKS};
}
