/* What can and cannot be traced here, and why: findings, each with what to do. */
#ifndef IOT_ANALYZER_DOCTOR_H
#define IOT_ANALYZER_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/program.h"

/* How far a finding is from what tracing needs. */
enum iot_level {
    IOT_LEVEL_OK,
    IOT_LEVEL_NOTE, /* something is not seen, or works in another way */
    IOT_LEVEL_BAD,  /* nothing can be traced */
};

struct iot_finding {
    const char *check; /* the row of doctor.def that found it */
    enum iot_level level;
    char *what;
    char *action; /* what to do; NULL where there is nothing */
};

struct iot_doctor {
    /* Asked for. */
    char *const *command; /* NULL: the machine alone */
    /* Found on the way, for the checks that come later. */
    bool program_found;
    struct iot_program program; /* of command */
    char library[4096];         /* empty: none */
    uint32_t clock;             /* that the recorder took in the trial; 0: no trace came */
    char cupti[4096];           /* where Python has it; empty: not found */
    /* The findings, in the order of doctor.def. */
    const char *check; /* the one that runs */
    struct iot_finding *findings;
    size_t n, room;
    bool out_of_memory;
};

/* Runs every check. `command` ends with NULL, as argv does, or is NULL. Returns 0, or -1 without
 * memory; iot_doctor_free in either case. */
int iot_doctor_examine(struct iot_doctor *d, char *const *command);
void iot_doctor_free(struct iot_doctor *d);

/* The worst of the findings. */
enum iot_level iot_doctor_level(const struct iot_doctor *d);

/* "ok", "note", "bad" */
extern const char *const iot_level_names[];

void iot_doctor_write_text(const struct iot_doctor *d, FILE *out, bool colour);
void iot_doctor_write_json(const struct iot_doctor *d, FILE *out);

/* --- for the checks --- */

#define IOT_CHECK(name) void iot_doctor_##name(struct iot_doctor *d);
#include "analyzer/doctor.def"
#undef IOT_CHECK

/* Adds a finding. `action` is NULL, or in words; it is copied. */
void iot_doctor_add(struct iot_doctor *d, enum iot_level level, const char *action,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Runs a program for at most so long, in an environment with `set` (assignments, up to NULL)
 * added, and keeps the start of what it prints on both of its outputs, as text. Returns its wait
 * status, or -1 if it could not be started or had to be killed. */
int iot_doctor_run(char *const argv[], char *const set[], int limit_ms, char *out, size_t bytes);

/* A whole small file as text; empty without it. Returns its length. */
size_t iot_doctor_read(const char *path, char *to, size_t bytes);

/* The CUPTI subscriber of a libiotrace.so, which lies where that does; in a build tree, in the
 * folder beside. 0, or -1: it is not there, and `path` says where it should be. */
int iot_subscriber_find(const char *library, char *path, size_t size);

#endif
