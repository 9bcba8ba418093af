/* How often the labelled runs of samples.txt are judged right. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/classify.h"
#include "tests/unit/samples.h"

/* Of the fewer held out, chance alone moves the share by some per cent. */
enum { REQUIRED_PER_CENT = 95, REQUIRED_HELD_OUT_PER_CENT = 90, HELD_OUT_EVERY = 3 };

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

static void judge(const struct iot_sample_run *run, struct score *score)
{
    struct iot_classes classes;
    struct iot_steps steps;
    iot_test_run_marked_steps(run->run, &steps);
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
            printf("samples.txt:%u %s is %s, judged %s: %s\n", run->samples[i].line, path,
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

Test(samples, are_judged_right)
{
    const char *path = getenv("IOT_SAMPLES");
    FILE *in = fopen(path ? path : "tests/unit/samples.txt", "re");
    static struct iot_sample_run run;
    struct score scores[2] = {0};
    unsigned line = 0;

    cr_assert_not_null(in, "IOT_SAMPLES names samples.txt");
    for (unsigned n = 1; iot_samples_next(in, &run, &line); n++) {
        judge(&run, &scores[n % HELD_OUT_EVERY == 0]);
        iot_samples_free(&run);
    }
    fclose(in);
    print_score("rules were made with", &scores[0]);
    print_score("held out", &scores[1]);
    fflush(stdout);
    unsigned n = scores[0].n + scores[1].n, right = scores[0].right + scores[1].right;
    cr_expect_geq(n, 90);
    cr_expect_geq(right * 100, n * REQUIRED_PER_CENT);
    cr_expect_geq(scores[1].right * 100, scores[1].n * REQUIRED_HELD_OUT_PER_CENT);
}
