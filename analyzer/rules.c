#include "analyzer/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/arena.h"
#include "analyzer/path_glob.h"

enum { ERROR_BYTES = 512 };

const char *const iot_object_names[IOT_OBJECTS] = {"input", "artifact", "state", "output", "other"};

/* Nearly every glob is a fixed text with a star at one end or both: no need for fnmatch, which
 * matters for a million files. Of any other, its longest fixed piece must be there. */
enum glob_kind { GLOB_ANY, GLOB_EXACT, GLOB_STARTS, GLOB_ENDS, GLOB_HOLDS };

enum {
    READ = 1 << IOT_READING,
    WRITE = 1 << IOT_WRITING,
    BOTH = READ | WRITE,
};

static const char special[] = "*?[\\";

/* Behind a set in brackets: a ']' that stands first in it is one of the set. */
static const char *behind_set(const char *at)
{
    at++;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    return at + strcspn(at, "]");
}

/* Nothing, if the glob escapes something. */
static void find_longest_piece(struct iot_rule *rule)
{
    rule->n_fixed = 0;
    for (const char *at = rule->glob; *at && !strchr(rule->glob, '\\');) {
        size_t n = strcspn(at, special);
        if (n > rule->n_fixed) {
            rule->fixed = at;
            rule->n_fixed = n;
        }
        at += n;
        if (*at == '[')
            at = behind_set(at);
        at += *at != '\0';
    }
}

/* A bit for each letter that occurs; letters share bits. */
static uint64_t letters_of(const char *text, size_t n)
{
    uint64_t letters = 0;
    for (size_t i = 0; i < n; i++)
        letters |= UINT64_C(1) << ((unsigned char)text[i] & 63);
    return letters;
}

static void compile(struct iot_rule *rule)
{
    const char *glob = rule->glob;
    size_t n = strlen(glob), plain = strcspn(glob, special);

    rule->whole_path = strchr(glob, '/') || !strncmp(glob, "anon:", 5);
    rule->kind = GLOB_ANY;
    rule->fixed = glob;
    rule->n_fixed = n;
    rule->anywhere = strchr(glob, '/') && *glob != '/' && *glob != '*';
    if (rule->anywhere) {
        find_longest_piece(rule);
    } else if (plain == n) {
        rule->kind = GLOB_EXACT;
    } else if (plain == n - 1 && glob[plain] == '*') {
        rule->kind = GLOB_STARTS;
        rule->n_fixed = plain;
    } else if (glob[0] == '*' && strcspn(glob + 1, special) == n - 1) {
        rule->kind = GLOB_ENDS;
        rule->fixed = glob + 1;
        rule->n_fixed = n - 1;
    } else if (n > 2 && glob[0] == '*' && glob[n - 1] == '*' &&
               strcspn(glob + 1, special) == n - 2) {
        rule->kind = GLOB_HOLDS;
        rule->fixed = glob + 1;
        rule->n_fixed = n - 2;
    } else {
        find_longest_piece(rule);
    }
    rule->letters = letters_of(rule->fixed, rule->n_fixed);
}

static int ends(const struct iot_rule *rule, const char *name, size_t n)
{
    if (n < rule->n_fixed || !n)
        return 0;
    const char *end = name + n - rule->n_fixed;
    if ((name[n - 1] ^ rule->fixed[rule->n_fixed - 1]) & ~('a' ^ 'A'))
        return 0; /* nearly all */
    return rule->any_case ? !strncasecmp(end, rule->fixed, rule->n_fixed)
                          : !memcmp(end, rule->fixed, rule->n_fixed);
}

static int holds(const struct iot_rule *rule, const char *name, size_t n, uint64_t letters)
{
    return !(rule->letters & ~letters) && memmem(name, n, rule->fixed, rule->n_fixed);
}

/* `letters`: of the whole path. */
static int matches(const struct iot_rule *rule, const char *name, size_t n, uint64_t letters)
{
    switch (rule->kind) {
    case GLOB_EXACT:
        return n == rule->n_fixed && !memcmp(name, rule->fixed, n);
    case GLOB_STARTS:
        return n >= rule->n_fixed && !memcmp(name, rule->fixed, rule->n_fixed);
    case GLOB_ENDS:
        return ends(rule, name, n);
    case GLOB_HOLDS:
        return holds(rule, name, n, letters);
    default:
        return holds(rule, name, n, letters) && (rule->anywhere ? iot_path_matches(name, rule->glob)
                                                                : !fnmatch(rule->glob, name, 0));
    }
}

const struct iot_rule *iot_rules_find(const struct iot_rules *rules, const char *path,
                                      enum iot_direction direction)
{
    return iot_rules_find_made(rules, path, direction, NULL, NULL);
}

const struct iot_rule *iot_rules_find_made(const struct iot_rules *rules, const char *path,
                                           enum iot_direction direction,
                                           int (*made_from)(const void *user, size_t rule),
                                           const void *user)
{
    const char *last = basename(path);
    size_t n_path = strlen(path), n_last = n_path - (size_t)(last - path);
    uint64_t letters = letters_of(path, n_path);

    for (size_t i = 0; i < rules->n; i++) {
        const struct iot_rule *rule = &rules->rules[i];
        if (!(rule->directions >> direction & 1) ||
            (rule->site && !(made_from && made_from(user, i))))
            continue;
        if (rule->whole_path ? matches(rule, path, n_path, letters)
                             : matches(rule, last, n_last, letters))
            return rule;
    }
    return NULL;
}

/* --- the built-in tables --- */

static struct iot_rule sure[] = {
#define IOT_SURE_RULE(which, of, pattern)                                                          \
    {.glob = pattern, .object = IOT_##which, .directions = of, .why = "rule " pattern},
#include "analyzer/rules.def"
#undef IOT_SURE_RULE
};

static struct iot_rule small[] = {
#define IOT_SMALL_RULE(which, of, pattern)                                                         \
    {.glob = pattern,                                                                              \
     .object = IOT_##which,                                                                        \
     .directions = of,                                                                             \
     .why = "small, named " pattern},
#include "analyzer/rules.def"
#undef IOT_SMALL_RULE
};

static struct iot_rule likely[] = {
#define IOT_LIKELY_RULE(which, of, pattern)                                                        \
    {.glob = pattern, .object = IOT_##which, .directions = of, .why = "probably, named " pattern},
#include "analyzer/rules.def"
#undef IOT_LIKELY_RULE
};

static const struct iot_rules *compiled(struct iot_rules *table)
{
    if (!table->rules[0].fixed)
        for (size_t i = 0; i < table->n; i++) {
            compile(&table->rules[i]);
            table->rules[i].any_case = 1;
        }
    return table;
}

const struct iot_rules *iot_rules_sure(void)
{
    static struct iot_rules table = {sure, sizeof sure / sizeof *sure, NULL};
    return compiled(&table);
}

const struct iot_rules *iot_rules_small(void)
{
    static struct iot_rules table = {small, sizeof small / sizeof *small, NULL};
    return compiled(&table);
}

const struct iot_rules *iot_rules_likely(void)
{
    static struct iot_rules table = {likely, sizeof likely / sizeof *likely, NULL};
    return compiled(&table);
}

/* --- a rules file --- */

struct line {
    const char *path; /* of the rules file */
    unsigned number;
    char *error;
};

static int refuse(const struct line *line, const char *what, const char *word)
{
    snprintf(line->error, ERROR_BYTES, "%s:%u: %s%s%s", line->path, line->number, what,
             word ? ": " : "", word ? word : "");
    return -1;
}

static int object_of(const char *word)
{
    for (int object = 0; object < IOT_OBJECTS; object++)
        if (!strcmp(word, iot_object_names[object]))
            return object;
    return -1;
}

#define SITE "site="

static int read_option(const struct line *line, const char *word, struct iot_rule *rule)
{
    if (!strcmp(word, "op=read"))
        rule->directions = READ;
    else if (!strcmp(word, "op=write"))
        rule->directions = WRITE;
    else if (!strncmp(word, SITE, sizeof SITE - 1) && word[sizeof SITE - 1])
        rule->site = word + sizeof SITE - 1;
    else
        return refuse(line,
                      "unknown word; what may follow the glob is op=read, op=write or site=", word);
    return 0;
}

/* Returns 1 for a rule, 0 for an empty line, -1 refused. */
static int read_line(const struct line *line, char *text, struct iot_rule *rule)
{
    static const char blank[] = " \t\r\n";
    char *rest, *word;
    int object;

    text[strcspn(text, "#")] = '\0';
    if (!(word = strtok_r(text, blank, &rest)))
        return 0;
    if ((object = object_of(word)) < 0)
        return refuse(line, "unknown object; it is input, artifact, state, output or other", word);
    *rule = (struct iot_rule){.object = (uint8_t)object, .directions = BOTH};
    if (!(rule->glob = strtok_r(NULL, blank, &rest)))
        return refuse(line, "no glob behind the object", NULL);
    while ((word = strtok_r(NULL, blank, &rest)))
        if (read_option(line, word, rule))
            return -1;
    return 1;
}

static int add(struct iot_rules *rules, const struct line *line, struct iot_rule *rule)
{
    char why[ERROR_BYTES];
    int n = snprintf(why, sizeof why, "rule %s, %s:%u", rule->glob, basename(line->path),
                     line->number);
    size_t n_why = n < 0 ? 0 : (size_t)n < sizeof why ? (size_t)n : sizeof why - 1;
    struct iot_rule *more = realloc(rules->rules, (rules->n + 1) * sizeof *more);
    if (more)
        rules->rules = more;
    if (!more ||
        (rule->site &&
         !(rule->site = iot_arena_text(rules->arena, rule->site, strlen(rule->site)))) ||
        !(rule->glob = iot_arena_text(rules->arena, rule->glob, strlen(rule->glob))) ||
        !(rule->why = iot_arena_text(rules->arena, why, n_why)))
        return refuse(line, "out of memory", NULL);
    compile(rule);
    rules->rules[rules->n++] = *rule;
    return 0;
}

int iot_rules_read(struct iot_rules *rules, const char *path, char error[512])
{
    struct line line = {.path = path, .error = error};
    FILE *in = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    int result = 0;

    *rules = (struct iot_rules){.arena = iot_arena_new()};
    if (!in || !rules->arena) {
        snprintf(error, ERROR_BYTES, "%s: cannot be read: %s", path, strerror(errno));
        result = -1;
    }
    while (!result && getline(&text, &room, in) >= 0) {
        struct iot_rule rule;
        line.number++;
        int found = read_line(&line, text, &rule);
        result = found > 0 ? add(rules, &line, &rule) : found;
    }
    if (!result && ferror(in)) {
        snprintf(error, ERROR_BYTES, "%s: cannot be read: %s", path, strerror(errno));
        result = -1;
    }
    free(text);
    if (in)
        fclose(in);
    return result;
}

void iot_rules_free(struct iot_rules *rules)
{
    if (!rules->arena)
        return;
    free(rules->rules);
    iot_arena_free(rules->arena);
    *rules = (struct iot_rules){0};
}
