#include "analyzer/company.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"
#include "analyzer/table.h"

/* Beside an artifact, what is smaller describes it; beside so many files of a data set as well. */
enum { DESCRIPTION_BYTES = 1 << 20, DATA_SET_FILES = 3, FOLDERS_UP = 3 };

struct company {
    const struct iot_trace *trace;
    const struct iot_uses *uses;
    const struct iot_groups *groups;
    struct iot_classes *classes;
    struct iot_table names;
};

static int ends_with(const char *name, size_t n, const char *end)
{
    size_t n_end = strlen(end);
    return n > n_end && !memcmp(name + n - n_end, end, n_end);
}

static int is_read(const struct iot_use *use)
{
    return use->read_bytes || use->flags & IOT_USE_MAPPED;
}

/* What the files beside it may overrule. */
static int is_weak(const struct company *w, uint32_t f)
{
    unsigned by = w->classes->files[f].by[IOT_READING];
    const char *name = w->trace->files[f].name;
    return by == IOT_BY_SMALL || by == IOT_BY_GUESS ||
           (by == IOT_BY_LIKELY && ends_with(name, strlen(name), ".txt"));
}

/* --- companions --- */

static const struct {
    const char *end, *other;
} companions[] = {
#define IOT_COMPANION(end, other) {end, other},
#include "analyzer/companions.def"
#undef IOT_COMPANION
};

static const struct {
    enum iot_object object;
    const char *ends[2];
} pairs[] = {
#define IOT_PAIR(which, a, b) {IOT_##which, {a, b}},
#include "analyzer/companions.def"
#undef IOT_PAIR
};

struct look {
    const struct iot_trace *trace;
    const char *name;
};

static int same_name(const void *user, uint32_t index)
{
    const struct look *look = user;
    return !strcmp(look->trace->files[index].name, look->name);
}

static int add_names(struct company *w)
{
    for (uint32_t f = 1; f < w->trace->n_files; f++) {
        const char *name = w->trace->files[f].name;
        if (w->groups->of_file[f] &&
            iot_table_add(&w->names, iot_table_hash(name, strlen(name)), f))
            return -1;
    }
    return 0;
}

/* The file whose name has another end. *failed: without memory. */
static uint32_t find_other(struct company *w, const char *name, size_t n, const char *end,
                           const char *other, int *failed)
{
    size_t kept = n - strlen(end), n_other = strlen(other);
    char *wanted = malloc(kept + n_other + 1);
    uint32_t found = IOT_NO_INDEX;
    *failed |= !wanted || (!w->names.used && add_names(w));
    if (!*failed) {
        memcpy(wanted, name, kept);
        memcpy(wanted + kept, other, n_other + 1);
        struct look look = {w->trace, wanted};
        found = iot_table_find(&w->names, iot_table_hash(wanted, kept + n_other), same_name, &look);
    }
    free(wanted);
    return found;
}

static void settle(struct iot_file_class *c, int d, unsigned object, const char *why)
{
    c->object[d] = (uint8_t)object;
    c->by[d] = IOT_BY_COMPANY;
    c->why[d] = why;
}

static void join(struct company *w, uint32_t f, uint32_t principal)
{
    const struct iot_file_class *other = &w->classes->files[principal];
    struct iot_file_class *c = &w->classes->files[f];
    for (int d = 0; d < IOT_DIRECTIONS; d++)
        if (c->by[d] != IOT_BY_USER && other->object[other->main] < IOT_OBJECTS)
            settle(c, d, other->object[other->main], "part of the file beside it");
}

static void pair(struct company *w, uint32_t f, uint32_t partner, unsigned object)
{
    struct iot_file_class *c = &w->classes->files[f];
    int alone = c->by[IOT_READING] <= IOT_BY_BEHAVIOUR; /* says enough */
    if (!alone && is_read(&w->uses->files[f]) && is_read(&w->uses->files[partner]))
        settle(c, IOT_READING, object, "data and their index, beside each other");
}

static int judge_companions(struct company *w, uint32_t f)
{
    const char *name = w->trace->files[f].name;
    size_t n = strlen(name);
    int failed = 0;
    for (size_t k = 0; k < sizeof companions / sizeof *companions && !failed; k++) {
        if (!ends_with(name, n, companions[k].end))
            continue;
        uint32_t other = find_other(w, name, n, companions[k].end, companions[k].other, &failed);
        if (other != IOT_NO_INDEX)
            join(w, f, other);
    }
    for (size_t k = 0; k < 2 * (sizeof pairs / sizeof *pairs) && !failed; k++) {
        const char *const *ends = pairs[k / 2].ends;
        if (!ends_with(name, n, ends[k & 1]))
            continue;
        uint32_t other = find_other(w, name, n, ends[k & 1], ends[!(k & 1)], &failed);
        if (other != IOT_NO_INDEX)
            pair(w, f, other, pairs[k / 2].object);
    }
    return failed ? -1 : 0;
}

/* --- beside an artifact --- */

struct folder {
    const char *name; /* n bytes of the name of a file in it */
    size_t n;
    unsigned objects; /* bit o: files in it that were read are of that object, and more than small
                       * or guessed to be */
    unsigned below;   /* likewise, of files in it and in its folders, written ones too */
    uint32_t inputs;  /* read, in it and in its folders, by a sure rule or their use */
};

struct folders {
    struct folder *folders;
    size_t n, room;
    struct iot_table by_name;
};

struct folder_look {
    const struct folders *folders;
    const char *name;
    size_t n;
};

static int same_folder(const void *user, uint32_t index)
{
    const struct folder_look *look = user;
    const struct folder *folder = &look->folders->folders[index];
    return folder->n == look->n && !memcmp(folder->name, look->name, look->n);
}

static size_t folder_bytes(const char *name, size_t n)
{
    while (n && name[n - 1] != '/')
        n--;
    return n ? n - 1 : 0;
}

static struct folder *find_folder(const struct folders *all, const char *name, size_t n)
{
    struct folder_look look = {all, name, n};
    uint32_t k = iot_table_find(&all->by_name, iot_table_hash(name, n), same_folder, &look);
    return k == IOT_NO_INDEX ? NULL : &all->folders[k];
}

/* NULL without memory. */
static struct folder *take_folder(struct folders *all, const char *name, size_t n)
{
    struct folder *found = find_folder(all, name, n);
    if (found)
        return found;
    if (IOT_ROOM(all->folders, all->n + 1, all->room))
        return NULL;
    if (iot_table_add(&all->by_name, iot_table_hash(name, n), (uint32_t)all->n))
        return NULL;
    all->folders[all->n] = (struct folder){.name = name, .n = n};
    return &all->folders[all->n++];
}

static int note_below(struct folders *all, const char *name, unsigned object, uint32_t inputs)
{
    size_t n = strlen(name);
    for (int up = 0; up < FOLDERS_UP && (n = folder_bytes(name, n)) > 0; up++) {
        struct folder *folder = take_folder(all, name, n);
        if (!folder)
            return -1;
        folder->below |= 1u << object;
        folder->inputs += inputs;
    }
    return 0;
}

static int note_read(struct folders *all, const char *name, const struct iot_file_class *c)
{
    size_t n = folder_bytes(name, strlen(name));
    struct folder *folder = n ? take_folder(all, name, n) : NULL;
    if (!n)
        return 0;
    if (!folder)
        return -1;
    folder->objects |= 1u << c->object[IOT_READING];
    unsigned input = c->object[IOT_READING] == IOT_INPUT && c->by[IOT_READING] <= IOT_BY_BEHAVIOUR;
    return note_below(all, name, c->object[IOT_READING], input);
}

static int note_folders(struct company *w, struct folders *all)
{
    for (uint32_t f = 1; f < w->trace->n_files; f++) {
        const struct iot_file_class *c = &w->classes->files[f];
        const char *name = w->trace->files[f].name;
        if (!w->groups->of_file[f])
            continue;
        if (w->uses->files[f].written_bytes && note_below(all, name, IOT_OUTPUT, 0))
            return -1;
        if (is_read(&w->uses->files[f]) && !is_weak(w, f) && c->object[IOT_READING] < IOT_OBJECTS &&
            note_read(all, name, c))
            return -1;
    }
    return 0;
}

/* Its name says configuration: of the run, rather than of a model. */
static int is_configuration(const struct company *w, uint32_t f)
{
    const char *name = w->trace->files[f].name;
    return w->classes->files[f].by[IOT_READING] == IOT_BY_SMALL &&
           !ends_with(name, strlen(name), ".json");
}

/* In a folder where there are artifacts and nothing else, it is one wherever it stands: a model's
 * folder has folders. */
static int is_of_model(const struct company *w, const struct folders *all, uint32_t f)
{
    static const unsigned artifact = 1u << IOT_ARTIFACT;
    const char *name = w->trace->files[f].name;
    size_t n = strlen(name), n_folder = folder_bytes(name, n);
    if (is_configuration(w, f))
        return 0;
    const struct folder *folder = find_folder(all, name, n_folder);
    if (!folder)
        folder = find_folder(all, name, folder_bytes(name, n_folder));
    return folder && folder->below == artifact;
}

static int describes_artifact(const struct company *w, const struct folders *all, uint32_t f)
{
    const unsigned artifact = 1u << IOT_ARTIFACT, input = 1u << IOT_INPUT;
    const char *name = w->trace->files[f].name;
    const struct folder *folder = find_folder(all, name, folder_bytes(name, strlen(name)));
    if (folder && folder->objects == artifact)
        return folder->below == artifact || !is_configuration(w, f);
    if (w->groups->groups[w->groups->of_file[f]].last_read_ns >= w->uses->early_ns)
        return 0;
    return (folder && folder->objects & artifact && !(folder->objects & input)) ||
           is_of_model(w, all, f);
}

/* Beside a model its configuration is part of it, beside data it is the run's. */
static int is_settings(const char *name)
{
    static const char *const words[] = {"config", "setting", "plan", "options", "args"};
    const char *slash = strrchr(name, '/');
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcasestr(slash ? slash : name, words[k]))
            return 1;
    return 0;
}

/* Beside data, or above them where there is nothing else and its name is no configuration's. */
static int describes_data(const struct company *w, const struct folders *all, uint32_t f)
{
    const unsigned input = 1u << IOT_INPUT;
    const char *name = w->trace->files[f].name;
    const struct folder *folder = find_folder(all, name, folder_bytes(name, strlen(name)));
    return folder && folder->inputs >= DATA_SET_FILES && !is_settings(name) &&
           (folder->objects == input || (folder->below == input && !is_configuration(w, f))) &&
           w->groups->groups[w->groups->of_file[f]].last_read_ns < w->uses->early_ns;
}

static void judge_description(struct company *w, const struct folders *all, uint32_t f)
{
    struct iot_file_class *c = &w->classes->files[f];
    const struct iot_group *g = &w->groups->groups[w->groups->of_file[f]];
    if (!is_weak(w, f) || g->read_bytes >= DESCRIPTION_BYTES || !g->n_read)
        return;
    if (describes_artifact(w, all, f))
        settle(c, IOT_READING, IOT_ARTIFACT, "small, beside an artifact");
    else if (describes_data(w, all, f))
        settle(c, IOT_READING, IOT_INPUT, "small, beside a data set");
}

static int judge_descriptions(struct company *w)
{
    struct folders all = {0};
    int failed = note_folders(w, &all);
    for (uint32_t f = 1; f < w->trace->n_files && !failed; f++)
        if (w->groups->of_file[f] && w->uses->files[f].read_bytes)
            judge_description(w, &all, f);
    iot_table_free(&all.by_name);
    free(all.folders);
    return failed;
}

int iot_company_judge(struct iot_classes *classes, const struct iot_trace *trace,
                      const struct iot_uses *uses, const struct iot_groups *groups)
{
    struct company w = {trace, uses, groups, classes, {0}};
    int failed = 0;
    for (uint32_t f = 1; f < trace->n_files && !failed; f++)
        if (groups->of_file[f])
            failed = judge_companions(&w, f);
    if (!failed)
        failed = judge_descriptions(&w);
    iot_table_free(&w.names);
    return failed;
}
