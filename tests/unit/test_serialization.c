#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>

#include "analyzer/serialization.h"
#include "tests/unit/runs.h"

#define WALL INT64_C(10000000)

static struct iot_test_run *run;
static struct iot_coding coding[IOT_TEST_RUN_FILES];
static int64_t now;

static void start(void)
{
    run = iot_test_run_new(WALL);
    now = 0;
}

/* The next call, `after` ns after the one before; data calls take bytes + 10. */
static size_t call(enum iot_op op, uint32_t file, int fd, int64_t bytes, int64_t after)
{
    now += after;
    size_t i = iot_test_run_event(run, op, file, bytes, now);
    run->fd[i] = fd;
    now = run->t1[i];
    return i;
}

static void step(void)
{
    run->result[call(IOT_OP_MARK, 0, -1, 0, 1)] = 1;
}

/* Steps that began then, found in this lane (`anchor` 0) or in another. */
static void find_anchored(int64_t *steps, size_t n, size_t anchor)
{
    struct iot_classes classes;
    const struct iot_steps s = {.starts_ns = steps, .n = n, .end_ns = WALL, .anchor = anchor};
    cr_assert_eq(iot_classify(&classes, &run->trace, NULL, NULL), 0);
    struct iot_gaps gaps = {0};
    const struct iot_phases phases = {.steps = &s, .phases = {{.end_ns = WALL}}, .n = 1};
    cr_assert_eq(iot_serialization_find(coding, &gaps, &run->model, &classes, &phases), 0);
    int64_t sum = 0, coded = 0;
    for (size_t k = 0; k < gaps.n; k++) {
        sum += gaps.gaps[k].ns;
        cr_expect_lt(gaps.gaps[k].from, gaps.gaps[k].to);
        cr_expect_leq(gaps.gaps[k].ns,
                      run->t0[gaps.gaps[k].to] - run->t1[gaps.gaps[k].from]);
    }
    for (size_t f = 0; f < run->trace.n_files; f++)
        for (int d = 0; d < IOT_DIRECTIONS; d++)
            coded += coding[f].ns[0][d] > 0 ? coding[f].ns[0][d] : 0;
    cr_expect_eq(sum, coded, "gaps add up to %lld, not %lld", (long long)sum, (long long)coded);
    free(gaps.gaps);
    iot_classes_free(&classes);
}

static void find(int64_t *steps, size_t n)
{
    find_anchored(steps, n, SIZE_MAX);
}

static void expect(uint32_t file, enum iot_direction d, int64_t ns)
{
    cr_expect_eq(coding[file].ns[0][d], ns, "expected %lld, got %lld", (long long)ns,
                 (long long)coding[file].ns[0][d]);
    iot_test_run_free(run);
}

Test(serialization, an_artifact_that_is_decoded_as_it_is_read)
{
    start();
    uint32_t f = iot_test_run_regular(run, "/m/a.safetensors");
    run->files[f].size = 3000;
    call(IOT_OP_OPEN, f, 3, 0, 0);
    for (int i = 0; i < 3; i++)
        call(IOT_OP_READ, f, 3, 1000, 5000);
    call(IOT_OP_READ, f, 3, 0, 5000);    /* the end */
    call(IOT_OP_READ, f, 3, 1000, 5000); /* nothing was read before it */
    call(IOT_OP_READ, f, 3, 1000, 5000); /* more than it has: read again */
    find(NULL, 0);
    expect(f, IOT_READING, 3 * 5000);
}

Test(serialization, calls_on_the_file_itself_and_free_locks_lie_between)
{
    start();
    uint32_t f = iot_test_run_regular(run, "/m/a.safetensors");
    call(IOT_OP_READ, f, 3, 1000, 0);
    call(IOT_OP_MUTEX_LOCK, 0, -1, 0, 1000); /* takes 10 ns */
    call(IOT_OP_LSEEK, f, 3, 0, 1000);       /* as well */
    run->t1[call(IOT_OP_MUTEX_UNLOCK, 0, -1, 0, 1000)] -= 10;
    now -= 10;
    call(IOT_OP_READ, f, 3, 1000, 1000);
    find(NULL, 0);
    expect(f, IOT_READING, 4000);
}

Test(serialization, the_way_from_call_to_call_is_none)
{
    start();
    uint32_t f = iot_test_run_regular(run, "/m/a.safetensors");
    for (int i = 0; i < 10; i++)
        call(IOT_OP_READ, f, 3, 1000, 999);
    find(NULL, 0);
    expect(f, IOT_READING, 0);
}

Test(serialization, other_io_a_wait_or_a_mark_between)
{
    static const enum iot_op ops[] = {IOT_OP_READ, IOT_OP_STAT, IOT_OP_FSYNC,
                                      IOT_OP_FORK, IOT_OP_MARK, IOT_OP_COND_WAIT};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        start();
        uint32_t f = iot_test_run_regular(run, "/m/a.safetensors");
        uint32_t other = iot_test_run_regular(run, "/m/b.safetensors");
        call(IOT_OP_READ, f, 3, 1000, 0);
        size_t i = call(ops[k], other, 4, 0, 5000);
        if (ops[k] == IOT_OP_COND_WAIT)
            run->part[i] = IOT_PART_WAIT;
        call(IOT_OP_READ, f, 3, 1000, 5000);
        find(NULL, 0);
        expect(f, IOT_READING, IOT_NO_CODING);
    }
}

static uint32_t read_samples(int waited)
{
    start();
    uint32_t f = iot_test_run_regular(run, "/d/train.tfrecord");
    call(IOT_OP_OPEN, f, 3, 0, 0);
    for (int i = 0; i < 4; i++)
        run->waited[call(IOT_OP_READ, f, 3, 100, 7000)] = (uint8_t)waited;
    return f;
}

Test(serialization, input_beside_the_work_on_it)
{
    uint32_t f = read_samples(0);
    find(NULL, 0);
    expect(f, IOT_READING, IOT_NO_CODING);
    f = read_samples(0); /* a step begins before all of them, and one in the last gap */
    find((int64_t[]){1, 28000}, 2);
    expect(f, IOT_READING, 2 * 7000);
    f = read_samples(0); /* all steps come later */
    find((int64_t[]){WALL / 2}, 1);
    expect(f, IOT_READING, IOT_NO_CODING);
    f = read_samples(1); /* a loader: but is it one? */
    find(NULL, 0);
    expect(f, IOT_READING, IOT_NO_CODING);
    f = read_samples(1); /* steps are another lane's */
    find((int64_t[]){1, 28000}, 2);
    expect(f, IOT_READING, 3 * 7000);
    f = read_samples(1); /* steps are of this lane, though it does not carry the run */
    find_anchored((int64_t[]){1, 28000}, 2, 0);
    expect(f, IOT_READING, 2 * 7000);
}

static uint32_t write_file(int64_t bytes, int64_t gap, int with_step)
{
    start();
    uint32_t f = iot_test_run_regular(run, "/o/checkpoint");
    call(IOT_OP_OPEN, f, 3, 0, 0);
    call(IOT_OP_WRITE, f, 3, bytes, 10);
    call(IOT_OP_WRITE, f, 3, bytes, gap);
    if (with_step)
        step();
    call(IOT_OP_CLOSE, f, 3, 0, 10);
    return f;
}

Test(serialization, output_within_a_checkpoint_alone)
{
    uint32_t f = write_file(8192, 3000, 0);
    find(NULL, 0);
    expect(f, IOT_WRITING, 3000);
    f = write_file(100, 3000, 0); /* a line of a stream */
    find(NULL, 0);
    expect(f, IOT_WRITING, IOT_NO_CODING);
    f = write_file(8192, WALL / 2, 0); /* open for most of the run */
    find(NULL, 0);
    expect(f, IOT_WRITING, IOT_NO_CODING);
    f = write_file(8192, 3000, 1); /* over a step */
    find((int64_t[]){12000}, 1);
    expect(f, IOT_WRITING, IOT_NO_CODING);
    f = write_file(8192, WALL / 2, 0); /* steps say it better than time */
    find((int64_t[]){WALL - 1}, 1);
    expect(f, IOT_WRITING, WALL / 2);
    start(); /* never closed */
    f = iot_test_run_regular(run, "/o/stream");
    call(IOT_OP_OPEN, f, 3, 0, 0);
    call(IOT_OP_WRITE, f, 3, 8192, 10);
    call(IOT_OP_WRITE, f, 3, 8192, 3000);
    find(NULL, 0);
    expect(f, IOT_WRITING, IOT_NO_CODING);
}

Test(serialization, swapping_out_and_in_is_none)
{
    start();
    uint32_t f = iot_test_run_regular(run, "/s/swap");
    call(IOT_OP_OPEN, f, 3, 0, 0);
    for (int i = 0; i < 5; i++) {
        call(IOT_OP_PWRITE, f, 3, 8192, 100);
        call(IOT_OP_PREAD, f, 3, 8192, 5000);
    }
    call(IOT_OP_CLOSE, f, 3, 0, 0);
    find(NULL, 0);
    cr_expect_eq(coding[f].ns[0][IOT_READING], IOT_NO_CODING);
    expect(f, IOT_WRITING, IOT_NO_CODING);
}
