/* How often the labelled runs of samples.txt are judged right. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/classify.h"
#include "tests/unit/samples.h"

enum { REQUIRED_PER_CENT = 95, SAMPLES_MIN = 350 };

/* The samples of every third run of the first file were held out when the rules were made. The
 * later files were written before any of them was judged: how many were right then says how far
 * the rules carry; what they showed was mended since. */
static const struct {
    const char *name;
    unsigned held_out_every;
    unsigned right_at_first, n_at_first;
} files[] = {
    {"samples.txt", 3, 0, 0},
    {"samples_second.txt", 0, 170, 199},
    {"samples_third.txt", 0, 80, 85},
    {"samples_fourth.txt", 0, 45, 55},
};
enum { FILES = sizeof files / sizeof *files };

enum mode { WITH_MARKS, WITH_FOUND_STEPS, MODES };
static const char *const mode_names[MODES] = {"steps from marks", "steps from the period"};

struct score {
    unsigned right, n;
    unsigned confusion[IOT_OBJECTS][IOT_OBJECTS]; /* labelled, judged */
};

/* The first of its files and directions that is not what it should be, else the last. */
static int judged_as(const struct iot_sample_run *run, const struct iot_sample *s,
                     const struct iot_classes *classes, int *wanted, const char **why,
                     const char **path)
{
    int object = IOT_OTHER;
    for (size_t k = 0; k < s->n_files; k++) {
        const struct iot_file_class *c = &classes->files[s->files[k]];
        for (int d = 0; d < IOT_DIRECTIONS; d++) {
            int used = d == IOT_READING ? s->reads : s->writes;
            if (!used && (s->reads || s->writes || c->main != d))
                continue;
            object = c->object[d];
            *wanted = s->object[d];
            *why = c->why[d];
            *path = run->run->files[s->files[k]].name;
            if (object != *wanted)
                return object;
        }
    }
    return object;
}

/* Marks are taken away where the period is to be found. */
static void find_steps(const struct iot_sample_run *run, enum mode mode, struct iot_steps *steps)
{
    if (mode == WITH_MARKS) {
        iot_test_run_marked_steps(run->run, steps);
        return;
    }
    for (size_t i = 0; i < run->run->trace.events.n; i++)
        if (iot_is_step(&run->run->trace, i))
            run->run->result[i] = 0;
    cr_assert_eq(iot_steps_find(steps, &run->run->trace, &run->run->model), 0);
}

static void judge(const char *file, const struct iot_sample_run *run, enum mode mode,
                  struct score *score)
{
    struct iot_classes classes;
    struct iot_steps steps;
    find_steps(run, mode, &steps);
    cr_assert_eq(iot_classify(&classes, &run->run->trace, NULL, &steps), 0);
    for (size_t i = 0; i < run->n; i++) {
        const char *why = "", *path = "";
        int wanted = IOT_OTHER;
        int object = judged_as(run, &run->samples[i], &classes, &wanted, &why, &path);
        cr_expect(why && *why, "%s has no why", path);
        score->confusion[wanted][object]++;
        score->n++;
        score->right += object == wanted;
        if (object != wanted)
            printf("%s:%u %s is %s, judged %s: %s\n", file, run->samples[i].line, path,
                   iot_object_names[wanted], iot_object_names[object], why);
    }
    iot_classes_free(&classes);
    iot_steps_free(&steps);
}

static void print_score(const char *what, const struct score *s)
{
    printf("%s: %u of %u right, %.1f %%\n%10s", what, s->right, s->n, 100.0 * s->right / s->n,
           "judged:");
    for (int o = 0; o < IOT_OBJECTS; o++)
        printf(" %8s", iot_object_names[o]);
    putchar('\n');
    for (int wanted = 0; wanted < IOT_OBJECTS; wanted++) {
        printf("%10s", iot_object_names[wanted]);
        for (int o = 0; o < IOT_OBJECTS; o++)
            printf(" %8u", s->confusion[wanted][o]);
        putchar('\n');
    }
}

static void judge_file(size_t which, enum mode mode, struct score scores[2])
{
    char path[512];
    static struct iot_sample_run run;
    unsigned line = 0, every = files[which].held_out_every;
    const char *folder = getenv("IOT_SAMPLES");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "tests/unit", files[which].name);
    FILE *in = fopen(path, "re");
    cr_assert_not_null(in, "IOT_SAMPLES names the folder of %s", files[which].name);
    for (unsigned n = 1; iot_samples_next(in, &run, &line); n++) {
        judge(files[which].name, &run, mode, &scores[every && n % every == 0]);
        iot_samples_free(&run);
    }
    fclose(in);
    printf("--- %s, %s\n", files[which].name, mode_names[mode]);
    print_score(every ? "rules were made with" : "all", &scores[0]);
    if (every)
        print_score("held out", &scores[1]);
    if (files[which].n_at_first)
        printf("when first judged: %u of %u right, %.1f %%\n", files[which].right_at_first,
               files[which].n_at_first,
               100.0 * files[which].right_at_first / files[which].n_at_first);
    fflush(stdout);
}

Test(samples, are_judged_right)
{
    for (int mode = 0; mode < MODES; mode++) {
        unsigned n = 0;
        for (size_t f = 0; f < FILES; f++) {
            struct score scores[2] = {0};
            judge_file(f, (enum mode)mode, scores);
            for (int part = 0; part < 2; part++) {
                n += scores[part].n;
                cr_expect_geq(scores[part].right * 100, scores[part].n * REQUIRED_PER_CENT);
            }
        }
        cr_expect_geq(n, SAMPLES_MIN);
    }
}
