#include "analyzer/classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/behaviour.h"
#include "analyzer/company.h"
#include "analyzer/rule_sites.h"
#include "analyzer/table.h"

/* A file as large is data, whatever its name is. */
enum { CONFIGURATION_BYTES = 256 * 1024 };

enum { UNDECIDED = 255 };

struct work {
    const struct iot_trace *trace;
    const struct iot_rules *user;
    struct iot_rule_sites sites; /* of its rules */
    struct iot_classes *classes;
    struct iot_uses uses;
    struct iot_groups groups;
    const struct iot_steps *steps;
    struct iot_step_use step_use;
    const char **counted_why; /* by group */
    uint8_t *group_object;    /* by group: of its files that moved bytes; UNDECIDED none did */
    uint8_t *family_object;   /* by family, likewise */
};

static int is_used(const struct iot_use *use, enum iot_direction direction)
{
    return direction == IOT_READING ? use->read_bytes || use->flags & IOT_USE_MAPPED
                                    : use->written_bytes || use->flags & IOT_USE_TO_WRITE;
}

static int settle(struct iot_file_class *c, enum iot_direction d, int object, enum iot_by by,
                  const char *why)
{
    c->object[d] = (uint8_t)object;
    c->by[d] = (uint8_t)by;
    c->why[d] = why;
    return 1;
}

static int by_rules(const struct iot_rules *rules, enum iot_by by, const char *name,
                    enum iot_direction d, struct iot_file_class *c)
{
    const struct iot_rule *rule = iot_rules_find(rules, name, d);
    return rule ? settle(c, d, rule->object, by, rule->why) : 0;
}

struct made {
    const struct iot_rule_sites *sites;
    uint32_t file;
    enum iot_direction direction;
};

static int made_from(const void *user, size_t rule)
{
    const struct made *m = user;
    return m->sites->of_rule[rule][m->file] >> m->direction & 1;
}

static int by_user(struct work *w, uint32_t f, enum iot_direction d)
{
    struct made made = {&w->sites, f, d};
    const struct iot_rule *rule =
        w->user ? iot_rules_find_made(w->user, w->trace->files[f].name, d, made_from, &made) : NULL;
    return rule ? settle(&w->classes->files[f], d, rule->object, IOT_BY_USER, rule->why) : 0;
}

/* The words for a group are made once. */
static const char *words(struct work *w, uint32_t group, const struct iot_judgement *j)
{
    char text[96];
    if (!j->counts)
        return j->why;
    if (!w->counted_why[group]) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int n = snprintf(text, sizeof text, j->why, w->groups.groups[group].n_read);
#pragma GCC diagnostic pop
        w->counted_why[group] = iot_arena_text(w->classes->arena, text, n > 0 ? (size_t)n : 0);
    }
    return w->counted_why[group] ? w->counted_why[group] : "one of many alike, read in turn";
}

static int by_judgement(struct work *w, uint32_t f, struct iot_judgement j, enum iot_by by,
                        enum iot_direction d)
{
    if (j.object < 0)
        return 0;
    return settle(&w->classes->files[f], d, j.object, by, words(w, w->groups.of_file[f], &j));
}

static int by_likely_rules(const struct iot_group *g, const char *name, enum iot_direction d,
                           struct iot_file_class *c)
{
    int64_t bytes = g->size > g->read_bytes ? g->size : g->read_bytes;
    return (bytes < CONFIGURATION_BYTES && by_rules(iot_rules_small(), IOT_BY_SMALL, name, d, c)) ||
           by_rules(iot_rules_likely(), IOT_BY_LIKELY, name, d, c);
}

static int by_use(struct work *w, uint32_t f, enum iot_direction d)
{
    const struct iot_file *file = &w->trace->files[f];
    const struct iot_use *use = &w->uses.files[f];
    const struct iot_group *g = &w->groups.groups[w->groups.of_file[f]];

    if (d == IOT_WRITING)
        return by_judgement(w, f, iot_judge_written(&w->uses, g, use), IOT_BY_BEHAVIOUR, d);
    const struct iot_rule *likely = iot_rules_find(iot_rules_likely(), file->name, d);
    int artifact = likely && likely->object == IOT_ARTIFACT;
    if (by_judgement(w, f, iot_judge_read(&w->uses, g, use, artifact), IOT_BY_BEHAVIOUR, d) ||
        by_judgement(w, f, iot_judge_steps(&w->groups, w->groups.of_file[f], &w->step_use),
                     IOT_BY_BEHAVIOUR, d) ||
        by_likely_rules(g, file->name, d, &w->classes->files[f]))
        return 1;
    return by_judgement(w, f, iot_guess_read(&w->uses, g), IOT_BY_GUESS, d);
}

static void decide(struct work *w, uint32_t f, enum iot_direction d)
{
    const struct iot_file *file = &w->trace->files[f];
    const struct iot_use *use = &w->uses.files[f];
    struct iot_file_class *c = &w->classes->files[f];

    if (by_user(w, f, d) ||
        by_judgement(w, f, iot_judge_channel(&w->uses, file, use, d), IOT_BY_KIND, d))
        return;
    /* A disk below /dev is data, unlike the other things there. */
    if (file->kind != IOT_FILE_BLOCK && by_rules(iot_rules_sure(), IOT_BY_SURE, file->name, d, c))
        return;
    if (d == IOT_READING && use->flags & IOT_USE_PROGRAM) {
        settle(c, d, IOT_OTHER, IOT_BY_KIND, "a program of the run");
        return;
    }
    if (is_used(use, d) && by_use(w, f, d))
        return;
    settle(c, d, UNDECIDED, IOT_BY_NOTHING, NULL);
}

/* The direction that metadata and syncs go with. */
static enum iot_direction main_direction(const struct iot_file *file, const struct iot_use *use)
{
    const unsigned in = 1;
    if (use->read_bytes != use->written_bytes)
        return use->written_bytes > use->read_bytes ? IOT_WRITING : IOT_READING;
    if (use->flags & IOT_USE_TO_WRITE || (file->standard && !(file->standard & in)))
        return IOT_WRITING;
    return IOT_READING;
}

/* A direction that was not used takes the other one's object: a file has two rows only where both
 * its objects moved bytes. */
static void finish_used(struct work *w, uint32_t f)
{
    const struct iot_use *use = &w->uses.files[f];
    struct iot_file_class *c = &w->classes->files[f];

    for (int d = 0; d < IOT_DIRECTIONS; d++) {
        int other = !d;
        if (is_used(use, (enum iot_direction)d) || !is_used(use, (enum iot_direction)other))
            continue;
        c->object[d] = c->object[other];
        c->by[d] = c->by[other];
        c->why[d] = c->why[other];
    }
    if (!is_used(use, IOT_READING) && !is_used(use, IOT_WRITING))
        return;
    w->family_object[use->family] = c->object[c->main];
    if (w->groups.of_file[f])
        w->group_object[w->groups.of_file[f]] = c->object[c->main];
}

/* Files that were only asked about: like their siblings, or what they were before a rename; else
 * other. */
static void finish_unused(struct work *w, uint32_t f)
{
    struct iot_file_class *c = &w->classes->files[f];
    uint8_t siblings = w->group_object[w->groups.of_file[f]];
    uint8_t family = w->family_object[w->uses.files[f].family];

    if (c->object[c->main] == UNDECIDED && family != UNDECIDED)
        settle(c, c->main, family, IOT_BY_COMPANY, "renamed from such a file");
    else if (c->object[c->main] == UNDECIDED && siblings != UNDECIDED)
        settle(c, c->main, siblings, IOT_BY_COMPANY, "like the files beside it");
    else if (c->object[c->main] == UNDECIDED)
        settle(c, c->main, IOT_OTHER, IOT_BY_NOTHING,
               w->trace->files[f].kind == IOT_FILE_DIRECTORY ? "a folder" : "no bytes moved");
    if (c->object[!c->main] == UNDECIDED)
        settle(c, !c->main, c->object[c->main], (enum iot_by)c->by[c->main], c->why[c->main]);
}

/* --- folders: what is looked for in them --- */

struct look {
    const struct iot_trace *trace;
    const char *name;
    size_t n;
};

static int same_name(const void *user, uint32_t index)
{
    const struct look *look = user;
    const char *name = look->trace->files[index].name;
    return strlen(name) == look->n && !memcmp(name, look->name, look->n);
}

static int add_folders(struct work *w, struct iot_table *folders)
{
    for (uint32_t f = 1; f < w->trace->n_files; f++) {
        const char *name = w->trace->files[f].name;
        if (w->trace->files[f].kind == IOT_FILE_DIRECTORY &&
            w->classes->files[f].object[IOT_READING] == UNDECIDED &&
            iot_table_add(folders, iot_table_hash(name, strlen(name)), f))
            return -1;
    }
    return 0;
}

enum { MIXED = 254, FOLDERS_UP = 3 };

/* The folders above the file that were listed, so many levels up. */
static void tell_folders(struct work *w, const struct iot_table *folders, uint32_t f,
                         uint8_t object, int levels)
{
    const char *name = w->trace->files[f].name;
    size_t n = strlen(name);
    for (int up = 0; up < levels; up++) {
        while (n && name[n - 1] != '/')
            n--;
        if (n <= 1)
            return;
        struct look look = {w->trace, name, --n};
        uint32_t folder = iot_table_find(folders, iot_table_hash(name, n), same_name, &look);
        if (folder == IOT_NO_INDEX)
            continue;
        uint8_t *its = &w->classes->files[folder].object[IOT_READING];
        *its = *its == UNDECIDED || *its == object ? object : MIXED;
    }
}

/* A folder whose files are all of one object, those in its folders too, is of that object. Not one
 * that programs are read from: interpreters list it to find them. */
static int judge_folders(struct work *w)
{
    struct iot_table folders = {0};
    if (add_folders(w, &folders)) {
        iot_table_free(&folders);
        return -1;
    }
    for (uint32_t f = 1; f < w->trace->n_files && folders.used; f++) {
        const struct iot_file_class *c = &w->classes->files[f];
        uint8_t object = c->object[c->main];
        if (w->groups.of_file[f] && object != UNDECIDED && object != IOT_OTHER)
            tell_folders(w, &folders, f, object, FOLDERS_UP);
        else if (object == IOT_OTHER && c->by[c->main] == IOT_BY_SURE &&
                 w->uses.files[f].read_bytes)
            tell_folders(w, &folders, f, MIXED, 1);
    }
    for (uint32_t f = 1; f < w->trace->n_files; f++) {
        struct iot_file_class *c = &w->classes->files[f];
        if (c->object[IOT_READING] == MIXED)
            c->object[IOT_READING] = UNDECIDED;
        else if (c->object[IOT_READING] != UNDECIDED && !c->why[IOT_READING])
            c->why[IOT_READING] = "the folder of such files";
    }
    iot_table_free(&folders);
    return 0;
}

/* --- copies of GPUs: they are of the object whose bytes they carry --- */

static const char *carried_why(struct work *w, const struct iot_file *f)
{
    static const char *const memory[] = {"", ", pageable", ", pinned", ", some pageable"};
    const char *name = w->trace->files[f->carried].name, *slash = strrchr(name, '/');
    char text[320];
    int n = snprintf(text, sizeof text, "%s%s %.255s%s", f->several ? "mostly " : "",
                     f->kind == IOT_FILE_GPU_OUT ? "written to" : "read from",
                     slash && slash[1] ? slash + 1 : name, memory[f->memory & IOT_HOST_MIXED]);
    const char *why = iot_arena_text(w->classes->arena, text,
                                     n < 0                       ? 0
                                     : (size_t)n < sizeof text ? (size_t)n
                                                                 : sizeof text - 1);
    return why ? why : "by the file that it carries bytes of";
}

static void judge_carried(struct work *w)
{
    for (uint32_t f = 1; f < w->trace->n_files; f++) {
        const struct iot_file *file = &w->trace->files[f];
        struct iot_file_class *c = &w->classes->files[f];
        if (!file->carried || c->by[c->main] == IOT_BY_USER)
            continue;
        const struct iot_file_class *of = &w->classes->files[file->carried];
        int object = of->object[file->kind == IOT_FILE_GPU_OUT ? IOT_WRITING : IOT_READING];
        const char *why = carried_why(w, file);
        settle(c, IOT_READING, object, IOT_BY_CARRIED, why);
        settle(c, IOT_WRITING, object, IOT_BY_CARRIED, why);
    }
}

static int start(struct work *w)
{
    size_t n_files = w->trace->n_files;
    w->classes->files = calloc(n_files + 1, sizeof *w->classes->files);
    w->classes->arena = iot_arena_new();
    if (!w->classes->files || !w->classes->arena ||
        (w->user && iot_rule_sites_gather(&w->sites, w->user, w->trace)) ||
        iot_uses_gather(&w->uses, w->trace, w->steps) ||
        iot_groups_gather(&w->groups, w->trace, &w->uses) ||
        iot_step_use_gather(&w->step_use, w->trace, &w->groups, w->steps))
        return -1;
    w->counted_why = calloc(w->groups.n, sizeof *w->counted_why);
    w->group_object = malloc(w->groups.n);
    w->family_object = malloc(n_files + 1);
    if (!w->counted_why || !w->group_object || !w->family_object)
        return -1;
    memset(w->group_object, UNDECIDED, w->groups.n);
    memset(w->family_object, UNDECIDED, n_files + 1);
    return 0;
}

static int classify(struct work *w)
{
    uint32_t n = (uint32_t)w->trace->n_files;
    settle(&w->classes->files[0], IOT_READING, IOT_OTHER, IOT_BY_NOTHING, "without a name");
    settle(&w->classes->files[0], IOT_WRITING, IOT_OTHER, IOT_BY_NOTHING, "without a name");
    for (uint32_t f = 1; f < n; f++) {
        decide(w, f, IOT_READING);
        decide(w, f, IOT_WRITING);
        w->classes->files[f].main = (uint8_t)main_direction(&w->trace->files[f], &w->uses.files[f]);
    }
    if (iot_company_judge(w->classes, w->trace, &w->uses, &w->groups))
        return -1;
    for (uint32_t f = 1; f < n; f++)
        finish_used(w, f);
    if (judge_folders(w))
        return -1;
    for (uint32_t f = 1; f < n; f++)
        finish_unused(w, f);
    judge_carried(w);
    return 0;
}

int iot_classify(struct iot_classes *classes, const struct iot_trace *trace,
                 const struct iot_rules *rules, const struct iot_steps *steps)
{
    struct work w = {.trace = trace, .user = rules, .steps = steps, .classes = classes};
    *classes = (struct iot_classes){0};
    int result = start(&w) || classify(&w) ? -1 : 0;
    iot_rule_sites_free(&w.sites);
    iot_uses_free(&w.uses);
    iot_groups_free(&w.groups);
    iot_step_use_free(&w.step_use);
    free(w.counted_why);
    free(w.group_object);
    free(w.family_object);
    return result;
}

void iot_classes_free(struct iot_classes *classes)
{
    free(classes->files);
    iot_arena_free(classes->arena);
    *classes = (struct iot_classes){0};
}
