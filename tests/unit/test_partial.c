/* Partial results: however units are split and merged, the bytes are the same, and their sums are
 * those of the units' own reports. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/job.h"
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
    struct iot_partial all; /* with every file named */
};

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
    if (seed % 5 == 0) /* something lay beside it */
        cr_assert_eq(iot_partial_unread(&p, seed % 2 ? "a: cannot be read" : "b: is damaged"), 0);
    cr_assert_eq(iot_partial_add_report(&truth->all, r, SIZE_MAX), 0);
    struct made made = written(&p);
    iot_partial_free(&p);
    iot_free_report(run);
    return made;
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
        for (size_t k = 0; k < UNITS; k++)
            units[k] = unit(round * UNITS + k + 1, &truth);
        struct made first = merged(units, UNITS);
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

Test(partial, sums_stay_at_the_largest)
{
    cr_expect_eq(iot_sum(IOT_SUM_MAX, 1), IOT_SUM_MAX);
    cr_expect_eq(iot_sum(IOT_SUM_MAX - 1, 1), IOT_SUM_MAX);
    cr_expect_eq(iot_sum(1, 2), 3);
}
