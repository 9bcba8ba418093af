#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/path_glob.h"
#include "analyzer/rules.h"

static int sure(const char *path, enum iot_direction d)
{
    const struct iot_rule *rule = iot_rules_find(iot_rules_sure(), path, d);
    return rule ? rule->object : -1;
}

Test(rules, sure_ones)
{
    static const struct {
        const char *path;
        int read, written;
    } cases[] = {
        {"/models/a.safetensors", IOT_ARTIFACT, -1},
        {"/models/tokenizer.json", IOT_ARTIFACT, -1},
        {"/models/my-tokenizer.json", -1, -1},
        {"/app/tokenizers.py", IOT_OTHER, -1},
        {"/usr/lib/x/tokenizer_config.json", IOT_ARTIFACT, -1},
        {"/data/a.tfrecord", IOT_INPUT, -1},
        {"/usr/share/doc/a.jpg", IOT_INPUT, -1},
        {"/usr/share/doc/a.gif", IOT_OTHER, -1},
        {"/tmp/a.log", -1, IOT_OUTPUT},
        {"/tmp/events.out.tfevents.17", -1, IOT_OUTPUT},
        {"/dev/shm/psm_1", IOT_STATE, IOT_STATE},
        {"/tmp/#10953000", IOT_STATE, -1},
        {"/tmp/#1-notes", -1, -1},
        {"/dev/null", IOT_OTHER, IOT_OTHER},
        {"/dev/pts/3", IOT_INPUT, IOT_OUTPUT},
        {"/proc/self/maps", IOT_OTHER, IOT_OTHER},
        {"/etc/localtime", IOT_OTHER, IOT_OTHER},
        {"/home/u/venv/lib/python3.11/site-packages/a/b.dat", IOT_OTHER, -1},
        {"/home/u/x/__pycache__/m.cpython-311.pyc.14", IOT_OTHER, IOT_OTHER},
        {"/opt/libx.so.1", IOT_OTHER, -1},
        {"/library/x.bin", -1, -1},
        {"anon:eventfd", IOT_STATE, IOT_STATE},
        {"/data/A.JPG", IOT_INPUT, -1},
        {"/m/x.data-00000-of-00002", IOT_ARTIFACT, -1},
        {"/m/x.data-of", -1, -1},
        {"/home/u/.nv/ComputeCache/1/2/3", IOT_OTHER, IOT_OTHER},
        {"/tmp/torchinductor_u/ab/c.py", IOT_OTHER, IOT_OTHER},
        {"/tmp/torchinductor/c.txt", -1, -1},
        {"anon:inotify", IOT_OTHER, IOT_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(sure(cases[i].path, IOT_READING), cases[i].read, "%s, read", cases[i].path);
        cr_expect_eq(sure(cases[i].path, IOT_WRITING), cases[i].written, "%s, written",
                     cases[i].path);
    }
}

Test(rules, likely_ones)
{
    const struct iot_rule *rule = iot_rules_find(iot_rules_likely(), "/m/a.pt", IOT_READING);
    cr_assert_not_null(rule);
    cr_expect_eq(rule->object, IOT_ARTIFACT);
    cr_expect_str_eq(rule->why, "probably, named *.pt");
    cr_expect_null(iot_rules_find(iot_rules_likely(), "/m/a.pt", IOT_WRITING));
    cr_expect_eq(iot_rules_find(iot_rules_likely(), "/m/x_train.bin", IOT_READING)->object,
                 IOT_INPUT, "what it is part of says more than its ending");
    cr_expect_eq(iot_rules_find(iot_rules_small(), "/m/a.json", IOT_READING)->object, IOT_OTHER);
    cr_expect_eq(iot_rules_find(iot_rules_small(), "/home/u/.x/y", IOT_READING)->object, IOT_OTHER);
    cr_expect_eq(iot_rules_find(iot_rules_likely(), "/m/a.npy", IOT_READING)->object, IOT_INPUT);
}

/* Writes a rules file and reads it. */
static int read_text(struct iot_rules *rules, const char *text, char error[512])
{
    char path[] = "/tmp/iotrace-rules-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    error[0] = '\0';
    int result = iot_rules_read(rules, path, error);
    unlink(path);
    return result;
}

static int found(const struct iot_rules *rules, const char *path, enum iot_direction d)
{
    const struct iot_rule *rule = iot_rules_find(rules, path, d);
    return rule ? rule->object : -1;
}

Test(rules, a_file_of_them)
{
    struct iot_rules rules;
    char error[512];
    cr_assert_eq(read_text(&rules,
                           "# mine\n"
                           "\n"
                           "input *.dat op=read   # samples\n"
                           "state /scratch/*/swap? \n"
                           "output *.dat\n"
                           "artifact model[0-9].x",
                           error),
                 0, "%s", error);
    cr_expect_eq(rules.n, 4);
    cr_expect_eq(found(&rules, "/a/b.dat", IOT_READING), IOT_INPUT, "first match wins");
    cr_expect_eq(found(&rules, "/a/b.dat", IOT_WRITING), IOT_OUTPUT);
    cr_expect_eq(found(&rules, "/scratch/a/b/swap1", IOT_READING), IOT_STATE, "* crosses slashes");
    cr_expect_eq(found(&rules, "/scratch/a/swap12", IOT_READING), -1);
    cr_expect_eq(found(&rules, "/x/model3.x", IOT_WRITING), IOT_ARTIFACT, "the last component");
    cr_expect_eq(found(&rules, "/x/model33.x", IOT_WRITING), -1);
    cr_expect_not_null(strstr(iot_rules_find(&rules, "/a/b.dat", IOT_READING)->why, ":3"));
    iot_rules_free(&rules);
}

static int only_the_second(const void *user, size_t rule)
{
    (void)user;
    return rule == 1;
}

Test(rules, sites)
{
    struct iot_rules rules;
    char error[512];
    cr_assert_eq(read_text(&rules,
                           "state *.x site=save_*\ninput *.x op=read site=train.py\noutput *.x\n",
                           error),
                 0, "%s", error);
    cr_expect_str_eq(rules.rules[0].site, "save_*");
    cr_expect_eq(found(&rules, "/a.x", IOT_READING), IOT_OUTPUT,
                 "without sites no rule that asks for one");
    cr_expect_eq(iot_rules_find_made(&rules, "/a.x", IOT_READING, only_the_second, NULL)->object,
                 IOT_INPUT);
    cr_expect_eq(iot_rules_find_made(&rules, "/a.x", IOT_WRITING, only_the_second, NULL)->object,
                 IOT_OUTPUT);
    iot_rules_free(&rules);
}

/* Most globs take a short cut around fnmatch. */
Test(rules, globs_are_what_fnmatch_says)
{
    static const char *const globs[] = {
        "*",     "**",        "a*",  "*a",       "*mid*", "m?d", "[]a]b",  "[!]a]b",
        "a\\*b", "x[0-9]*yy", "[ab", "*[mn]id*", "a",     "?",   "*.*.gz", "[^a]bc*"};
    static const char *const names[] = {"a",   "ab",  "]b",   "cb",      "mid",  "a mid b",
                                        "a*b", "axb", "x1yy", "x12abyy", "[ab",  "x.y.gz",
                                        ".gz", "bc",  "xbcd", "abcd",    "amid", "b"};
    for (size_t g = 0; g < sizeof globs / sizeof *globs; g++) {
        struct iot_rules rules;
        char error[512], text[64];
        snprintf(text, sizeof text, "input %s", globs[g]);
        cr_assert_eq(read_text(&rules, text, error), 0, "%s", error);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            char path[64];
            snprintf(path, sizeof path, "/folder/%s", names[k]);
            cr_expect_eq(found(&rules, path, IOT_READING) == IOT_INPUT,
                         !fnmatch(globs[g], names[k], 0), "%s, %s", globs[g], names[k]);
        }
        iot_rules_free(&rules);
    }
}

/* A glob means the same paths to a rule as to explain, whatif and compare. */
Test(rules, globs_with_a_slash)
{
    static const struct {
        const char *glob, *path;
        bool matches;
    } cases[] = {
        {"data/*.bin", "/home/a/data/x.bin", true},  {"data/*.bin", "/home/a/data/sub/x.bin", true},
        {"data/*.bin", "/home/mydata/x.bin", false}, {"/data/*.bin", "/home/data/x.bin", false},
        {"/data/*.bin", "/data/x.bin", true},        {"*/data/*", "/a/data/x", true},
        {"a/b", "/a/b", true},                       {"a/b", "/a/b/c", false},
        {"a/b", "/x/a/b", true},                     {"?/b*", "/x/a/bc", true},
        {"[ab]/c", "/x/b/c", true},                  {"a\\*/c", "/a*/c", true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct iot_rules rules;
        char error[512], text[64];
        snprintf(text, sizeof text, "state %s", cases[k].glob);
        cr_assert_eq(read_text(&rules, text, error), 0, "%s", error);
        cr_expect_eq(found(&rules, cases[k].path, IOT_READING) == IOT_STATE, cases[k].matches,
                     "%s, %s", cases[k].glob, cases[k].path);
        cr_expect_eq(iot_path_matches(cases[k].path, cases[k].glob), cases[k].matches, "%s, %s",
                     cases[k].glob, cases[k].path);
        iot_rules_free(&rules);
    }
}

Test(rules, what_is_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"input *.a\nimput *.b\n", ":2: unknown object; it is input, artifact, state, output or "
                                   "other: imput"},
        {"input\n", ":1: no glob"},
        {"\n\nstate *.x op=append\n", ":3: unknown word"},
        {"state *.x site=\n", ":1: unknown word"},
        {"other *.x read\n", ":1: unknown word"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct iot_rules rules;
        char error[512];
        cr_expect_eq(read_text(&rules, cases[i].text, error), -1, "%s", cases[i].text);
        cr_expect_not_null(strstr(error, cases[i].says), "%s: %s", cases[i].text, error);
        cr_expect_null(strchr(error, '\n'));
        iot_rules_free(&rules);
    }
    struct iot_rules rules;
    char error[512];
    cr_expect_eq(iot_rules_read(&rules, "/nowhere/rules", error), -1);
    cr_expect_not_null(strstr(error, "/nowhere/rules: cannot be read"));
    iot_rules_free(&rules);
}
