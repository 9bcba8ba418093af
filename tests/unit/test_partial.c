/* Partial results: however units are split and merged, the bytes are the same, and their sums are
 * those of the units' own reports. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/job.h"
#include "analyzer/phases.h"
#include "analyzer/report_gpu.h"
#include "tests/unit/report_runs.h"

enum { UNITS = 12, ROUNDS = 15, TOP = 3 };

struct made {
    char *text;
    size_t n;
};

static struct made written(struct iot_partial *p)
{
    struct made made = {0};
    FILE *out = open_memstream(&made.text, &made.n);
    cr_assert_eq(iot_partial_order(p), 0);
    cr_assert_eq(iot_partial_write(p, out), 0);
    fclose(out);
    return made;
}

static void take(struct iot_partial *p, const struct made *from)
{
    char error[512] = "";
    cr_assert_eq(iot_partial_add_memory(p, "made", from->text, from->n, error), 0, "%s", error);
}

/* Merges [from, from + n) in a random tree; texts go into `to`. */
static struct made merged(const struct made *units, size_t n)
{
    struct iot_partial p;
    cr_assert_eq(iot_partial_init(&p), 0);
    size_t parts = n == 1 ? 1 : 2 + iot_below(3), from = 0;
    for (size_t k = 0; k < parts && from < n; k++) {
        size_t left = n - from, some = k + 1 == parts ? left : 1 + iot_below(left);
        if (some == n && n > 1)
            some = n - 1;
        struct made part = some == 1 ? units[from] : merged(units + from, some);
        take(&p, &part);
        if (some != 1)
            free(part.text);
        from += some;
    }
    for (; from < n; from++)
        take(&p, &units[from]);
    struct made all = written(&p);
    iot_partial_free(&p);
    return all;
}

static void shuffle(struct made *units)
{
    for (size_t k = UNITS - 1; k > 0; k--) {
        size_t other = iot_below(k + 1);
        struct made kept = units[k];
        units[k] = units[other];
        units[other] = kept;
    }
}

struct truth {
    struct iot_figures objects[IOT_OBJECTS];
    int64_t files[IOT_OBJECTS];
    int64_t gpu_bytes, gpu_busy_ns, gpu_idle_of_ns[IOT_OBJECTS], waited_ns;
    int64_t uncalled_read_bytes, recoverable_ns[IOT_OBJECTS], last_start_ns;
    int64_t longest_ns;       /* until a named file was ready */
    struct iot_partial all;   /* with every file named */
    struct iot_partial whole; /* made as the units were, of all reports at once */
};

/* What random runs do not have: GPUs, bytes without a call, and when artifacts were ready. */
static void add_more(struct iot_report *r, struct iot_model *model)
{
    static const char *const programs[] = {"python3.11", "python3.9", "sh"};
    r->gpu = calloc(1, sizeof *r->gpu);
    r->gpu->copies = calloc(8, sizeof *r->gpu->copies);
    r->gpu->devices = calloc(3, sizeof *r->gpu->devices);
    r->gpu->ranks = calloc(2, sizeof *r->gpu->ranks);
    static const uint8_t directions[] = {0, IOT_COPY_HTOD, IOT_COPY_DTOH};
    for (r->gpu->n_copies = 0; r->gpu->n_copies < iot_below(8); r->gpu->n_copies++)
        r->gpu->copies[r->gpu->n_copies] = (struct iot_gpu_copies){
            directions[iot_below(3)],        (uint8_t)iot_below(IOT_COPY_RULES),
            (uint8_t)iot_below(IOT_OBJECTS), (uint8_t)iot_below(3),
            (int64_t)iot_below(9),           (int64_t)iot_below(1 << 30),
            (int64_t)iot_below(1 << 20)};
    for (r->gpu->n_devices = 0; r->gpu->n_devices < iot_below(3); r->gpu->n_devices++)
        r->gpu->devices[r->gpu->n_devices] =
            (struct iot_gpu_device){.device = (uint32_t)r->gpu->n_devices,
                                    .kernels = (uint8_t)iot_below(2),
                                    .busy_ns = (int64_t)iot_below(1 << 30),
                                    .idle_ns = (int64_t)iot_below(1 << 30),
                                    .idle_of_ns = {(int64_t)iot_below(99), 0, 7}};
    r->gpu->n_ranks = iot_below(3);
    for (size_t k = 0; k < r->gpu->n_ranks; k++)
        r->gpu->ranks[k] = (struct iot_gpu_rank){.waited_ns = (int64_t)iot_below(1 << 30)};
    model->path.gpu_launch_ns = (int64_t)iot_below(1000);
    free(r->run.uncalled);
    r->run.uncalled = calloc(4, sizeof *r->run.uncalled);
    r->run.uncalled_read_bytes = 0;
    for (r->run.n_uncalled = 0; r->run.n_uncalled < iot_below(4); r->run.n_uncalled++) {
        uint64_t bytes = iot_below(1 << 30);
        r->run.uncalled[r->run.n_uncalled] =
            (struct iot_uncalled){7, programs[iot_below(3)], bytes, 0};
        r->run.uncalled_read_bytes += bytes;
    }
    for (size_t i = 0; i < r->n_files; i++)
        r->files[i].ready = (struct iot_ready){r->files[i].object == IOT_ARTIFACT && iot_below(4),
                                               (int64_t)iot_below(5), (int64_t)iot_below(5),
                                               (int64_t)iot_below(5), 0};
}

static void add_truth(struct truth *truth, const struct iot_report *r)
{
    const struct iot_steps *s = r->phases->steps;
    for (size_t k = 0; k < r->gpu->n_copies; k++)
        truth->gpu_bytes += r->gpu->copies[k].bytes;
    for (size_t k = 0; k < r->gpu->n_devices; k++) {
        truth->gpu_busy_ns += r->gpu->devices[k].busy_ns;
        for (int o = 0; o < IOT_OBJECTS; o++)
            truth->gpu_idle_of_ns[o] += r->gpu->devices[k].idle_of_ns[o];
    }
    for (size_t k = 0; k < r->gpu->n_ranks; k++)
        truth->waited_ns += r->gpu->ranks[k].waited_ns;
    truth->uncalled_read_bytes += (int64_t)r->run.uncalled_read_bytes;
    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].figures.recoverable_ns != IOT_NOT_COMPUTED)
            truth->recoverable_ns[r->files[i].object] += r->files[i].figures.recoverable_ns;
    if (s->n > 2 && s->starts_ns[2] > truth->last_start_ns)
        truth->last_start_ns = s->starts_ns[2];
}

/* A unit of a random run; its own report is added to the truth. */
static struct made unit(uint64_t seed, struct truth *truth)
{
    struct iot_test_run *run = iot_random_run(seed);
    struct iot_partial p;
    int64_t starts[5];
    run->trace.processes[0].identity.rank = (int64_t)(seed % 10); /* some twice */
    run->trace.damage = "";
    iot_random_steps(starts);
    iot_make_report(run, SIZE_MAX);
    const struct iot_report *r = &iot_test_report;
    add_more(&iot_test_report, &run->model);
    add_truth(truth, r);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &r->objects[o].figures;
        struct iot_figures *to = &truth->objects[o];
        to->bytes += f->bytes;
        to->data_ops += f->data_ops;
        to->service_ns += f->service_ns;
        to->exposed_ns += f->exposed_ns;
        to->waited_ns += f->waited_ns;
        to->recoverable_ns += f->recoverable_ns;
        to->timed_ops += f->timed_ops;
        truth->files[o] += (int64_t)r->objects[o].files;
    }
    cr_assert_eq(iot_partial_init(&p), 0);
    cr_assert_eq(iot_partial_add_report(&p, r, TOP), 0);
    const char *beside = seed % 2 ? "a: cannot be read" : "b: is damaged";
    if (seed % 5 == 0) {
        cr_assert_eq(iot_partial_unread(&p, beside), 0);
        cr_assert_eq(iot_partial_unread(&truth->whole, beside), 0);
    }
    cr_assert_eq(iot_partial_add_report(&truth->all, r, SIZE_MAX), 0);
    cr_assert_eq(iot_partial_add_report(&truth->whole, r, TOP), 0);
    for (size_t k = 0; k < p.units[0].n_ready; k++) {
        const struct iot_unit_ready *ready = &p.units[0].ready[k];
        int64_t ns = ready->storage_ns + ready->decode_ns + ready->placement_ns;
        truth->longest_ns = ns > truth->longest_ns ? ns : truth->longest_ns;
    }
    struct made made = written(&p);
    iot_partial_free(&p);
    iot_free_report(run);
    return made;
}

static int64_t named_sum(const struct iot_partial *p, enum iot_row_kind kind, int number)
{
    int64_t sum = 0;
    for (size_t k = 0; k < p->named[kind].n; k++)
        sum += p->named[kind].rows[k].numbers[number];
    return sum;
}

static void check_more(const struct iot_job *job, const struct truth *truth)
{
    const struct iot_partial *p = job->partial;
    int64_t longest_ns = 0;
    cr_expect_eq(named_sum(p, IOT_ROWS_gpu_copies, IOT_ROW_gpu_copies_bytes), truth->gpu_bytes);
    cr_expect_eq(named_sum(p, IOT_ROWS_gpu_devices, IOT_ROW_gpu_devices_busy_ns),
                 truth->gpu_busy_ns);
    cr_expect_eq(iot_job_sum(job, IOT_UNIT_gpu_busy_ns), truth->gpu_busy_ns);
    cr_expect_eq(iot_job_sum(job, IOT_UNIT_collectives_waited_ns), truth->waited_ns);
    cr_expect_eq(iot_job_sum(job, IOT_UNIT_uncalled_read_bytes), truth->uncalled_read_bytes);
    cr_expect_eq(named_sum(p, IOT_ROWS_uncalled, IOT_ROW_uncalled_read_bytes),
                 truth->uncalled_read_bytes);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        int64_t recoverable_ns = p->rest[o].at[IOT_COLUMN_recoverable_ns];
        for (size_t i = 0; i < p->n_files; i++)
            if (p->files[i].object == o)
                recoverable_ns += p->files[i].sums.at[IOT_COLUMN_recoverable_ns];
        cr_expect_eq(recoverable_ns, truth->recoverable_ns[o]);
        cr_expect_eq(named_sum(p, IOT_ROWS_gpu_devices, IOT_ROW_gpu_devices_input_ns + o),
                     truth->gpu_idle_of_ns[o]);
    }
    for (size_t i = 0; i < job->n_files; i++)
        if (job->files[i].ready_units && job->files[i].ready.max > longest_ns)
            longest_ns = job->files[i].ready.max;
    cr_expect_eq(longest_ns, truth->longest_ns);
    cr_expect_eq(job->n_starts > 2 ? job->starts[2].begins.max : 0, truth->last_start_ns);
}

static void check_sums(const struct made *text, const struct truth *truth)
{
    struct iot_partial p;
    struct iot_job job;
    cr_assert_eq(iot_partial_init(&p), 0);
    take(&p, text);
    cr_assert_eq(iot_partial_order(&p), 0);
    cr_assert_eq(iot_job_make(&job, &p), 0);
    cr_assert_eq(p.n_units, UNITS);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &job.objects[o].figures, *want = &truth->objects[o];
        cr_expect_eq(f->bytes, want->bytes);
        cr_expect_eq(f->data_ops, want->data_ops);
        cr_expect_eq(f->service_ns, want->service_ns);
        cr_expect_eq(f->exposed_ns, want->exposed_ns);
        cr_expect_eq(f->waited_ns, want->waited_ns);
        cr_expect_eq(f->recoverable_ns, want->recoverable_ns);
        cr_expect_eq(f->timed_ops, want->timed_ops);
        cr_expect_eq((int64_t)job.objects[o].files, truth->files[o]);
        /* The files named and the rest add up to the object. */
        struct iot_sums sums = p.rest[o];
        for (size_t i = 0; i < p.n_files; i++)
            if (p.files[i].object == o)
                iot_sums_add(&sums, &p.files[i].sums);
        cr_expect_eq(sums.at[IOT_COLUMN_bytes], want->bytes);
        cr_expect_eq(sums.at[IOT_COLUMN_exposed_ns], want->exposed_ns);
        cr_expect_eq(sums.at[IOT_COLUMN_files], truth->files[o]);
        /* So do the phases. */
        struct iot_named_row phases = {0};
        for (size_t k = 0; k < p.named[IOT_ROWS_phase_objects].n; k++)
            if (p.named[IOT_ROWS_phase_objects].rows[k].object == o)
                for (int c = 0; c < IOT_ROW_NUMBERS; c++)
                    phases.numbers[c] += p.named[IOT_ROWS_phase_objects].rows[k].numbers[c];
        cr_expect_eq(phases.numbers[IOT_ROW_phase_objects_bytes], want->bytes);
        cr_expect_eq(phases.numbers[IOT_ROW_phase_objects_exposed_ns], want->exposed_ns);
    }
    check_more(&job, truth);
    /* Of a file that each unit names, its calls are as many as it has. */
    for (size_t i = 0; i < truth->all.n_files; i++)
        cr_expect_eq(iot_histogram_count(&truth->all.files[i].times),
                     truth->all.files[i].sums.at[IOT_COLUMN_timed_ops]);
    iot_job_free(&job);
    iot_partial_free(&p);
}

static const struct iot_partial_file *find(const struct iot_partial *p,
                                           const struct iot_partial_file *f)
{
    for (size_t i = 0; i < p->n_files; i++)
        if (p->files[i].object == f->object && !strcmp(p->files[i].path, f->path))
            return &p->files[i];
    return NULL;
}

/* What a file really has lies between what is said and that with the error on top. */
static size_t check_errors(const struct made *text, const struct truth *truth)
{
    struct iot_partial p;
    struct iot_job job;
    size_t uncertain = 0;
    cr_assert_eq(iot_partial_init(&p), 0);
    take(&p, text);
    cr_assert_eq(iot_partial_order(&p), 0);
    cr_assert_eq(iot_job_make(&job, &p), 0);
    for (size_t i = 0; i < job.n_files; i++) {
        const struct iot_job_file *f = &job.files[i];
        const struct iot_partial_file *real = find(&truth->all, f->file);
        cr_assert_not_null(real);
        const int64_t *at = real->sums.at;
        cr_expect(at[IOT_COLUMN_exposed_ns] >= f->figures.exposed_ns &&
                  at[IOT_COLUMN_exposed_ns] <= f->figures.exposed_ns + f->error_exposed_ns);
        cr_expect(at[IOT_COLUMN_service_ns] >= f->figures.service_ns &&
                  at[IOT_COLUMN_service_ns] <= f->figures.service_ns + f->error_service_ns);
        cr_expect(at[IOT_COLUMN_bytes] >= f->figures.bytes &&
                  at[IOT_COLUMN_bytes] <= f->figures.bytes + f->error_bytes);
        uncertain += at[IOT_COLUMN_service_ns] > f->figures.service_ns;
    }
    iot_job_free(&job);
    iot_partial_free(&p);
    return uncertain;
}

Test(partial, merging_is_the_same_in_any_order_and_tree)
{
    size_t uncertain = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct truth truth = {0};
        struct made units[UNITS];
        cr_assert_eq(iot_partial_init(&truth.all), 0);
        cr_assert_eq(iot_partial_init(&truth.whole), 0);
        for (size_t k = 0; k < UNITS; k++)
            units[k] = unit(round * UNITS + k + 1, &truth);
        struct made first = merged(units, UNITS), whole = written(&truth.whole);
        cr_assert_eq(first.n, whole.n);
        cr_assert_eq(memcmp(first.text, whole.text, first.n), 0);
        free(whole.text);
        for (int again = 0; again < 8; again++) {
            shuffle(units);
            struct made other = merged(units, UNITS);
            cr_assert_eq(first.n, other.n);
            cr_assert_eq(memcmp(first.text, other.text, first.n), 0);
            free(other.text);
        }
        check_sums(&first, &truth);
        uncertain += check_errors(&first, &truth);
        free(first.text);
        for (size_t k = 0; k < UNITS; k++)
            free(units[k].text);
        iot_partial_free(&truth.all);
        iot_partial_free(&truth.whole);
    }
    cr_expect_gt(uncertain, 0); /* else the errors were not tried */
}

Test(partial, percentiles_of_one_unit_are_those_of_its_report)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct iot_test_run *run = iot_random_run(seed);
        struct iot_partial p;
        struct iot_job job;
        run->trace.damage = "";
        iot_make_report(run, SIZE_MAX);
        cr_assert_eq(iot_partial_init(&p), 0);
        cr_assert_eq(iot_partial_add_report(&p, &iot_test_report, TOP), 0);
        cr_assert_eq(iot_partial_order(&p), 0);
        cr_assert_eq(iot_job_make(&job, &p), 0);
        for (size_t i = 0; i < job.n_files; i++)
            for (size_t k = 0; k < iot_test_report.n_files; k++)
                if (!strcmp(job.files[i].file->path, iot_test_report.files[k].path) &&
                    job.files[i].file->object == iot_test_report.files[k].object)
                    cr_expect_eq(memcmp(&job.files[i].figures.latency,
                                        &iot_test_report.files[k].figures.latency,
                                        sizeof(struct iot_latency)),
                                 0);
        for (int o = 0; o < IOT_OBJECTS; o++)
            if (job.objects[o].figures.timed_ops)
                cr_expect_eq(memcmp(&job.objects[o].figures.latency,
                                    &iot_test_report.objects[o].figures.latency,
                                    sizeof(struct iot_latency)),
                             0);
        iot_job_free(&job);
        iot_partial_free(&p);
        iot_free_report(run);
    }
}

Test(partial, starts_are_said_of_the_first_steps_and_of_four_in_each_power_of_two)
{
    static const int64_t first[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40};
    for (size_t n = 0; n < sizeof first / sizeof *first; n++)
        cr_expect_eq(iot_unit_start_step(n), first[n]);
    cr_expect_eq(iot_unit_start_step(IOT_UNIT_STARTS - 1), INT64_C(7) << 27);
}

Test(partial, sums_stay_at_the_largest)
{
    cr_expect_eq(iot_sum(IOT_SUM_MAX, 1), IOT_SUM_MAX);
    cr_expect_eq(iot_sum(IOT_SUM_MAX - 1, 1), IOT_SUM_MAX);
    cr_expect_eq(iot_sum(1, 2), 3);
}
