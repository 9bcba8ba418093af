/* Rules say which object a file is by its name; the user's come before the built-in ones
 * (rules.def). The first that matches wins.
 *
 * A rules file has one a line, `#` starts a comment:
 *     <object> <glob> [op=read|write] [site=<function, file or library>]
 * The glob is as everywhere (path_glob.h). A site is a glob likewise: the rule is for files that
 * have a call made from there (rule_sites.h).
 */
#ifndef IOT_ANALYZER_RULES_H
#define IOT_ANALYZER_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/objects.h"

struct iot_rule {
    const char *glob;
    const char *fixed; /* a piece of the glob that must be in the name */
    size_t n_fixed;
    uint64_t letters; /* that are in it */
    const char *why;  /* in words */
    const char *site; /* NULL: from anywhere */
    uint8_t object;
    uint8_t directions; /* bit d: for that direction */
    uint8_t kind;
    uint8_t whole_path; /* else its last component */
    uint8_t anywhere;   /* in it, behind any slash */
    uint8_t any_case; /* of an ending; built-in rules: DATA.CSV is data.csv */
};

struct iot_rules {
    struct iot_rule *rules;
    size_t n;
    struct iot_arena *arena; /* the texts; NULL for the built-in tables */
};

/* Reads a rules file. Returns 0, or -1 with one line in `error` (file, line, what is wrong). Free
 * in either case. */
int iot_rules_read(struct iot_rules *rules, const char *path, char error[512]);
void iot_rules_free(struct iot_rules *rules);

/* The built-in tables; never NULL. */
const struct iot_rules *iot_rules_sure(void);
const struct iot_rules *iot_rules_small(void);
const struct iot_rules *iot_rules_likely(void);

/* Of a file with that name; `made_from` says whether the rule of an index asks for a site that it
 * has (NULL: it has none). NULL: none matches. */
const struct iot_rule *iot_rules_find_made(const struct iot_rules *rules, const char *path,
                                           enum iot_direction direction,
                                           int (*made_from)(const void *user, size_t rule),
                                           const void *user);

/* The same without sites. */
const struct iot_rule *iot_rules_find(const struct iot_rules *rules, const char *path,
                                      enum iot_direction direction);

#endif
