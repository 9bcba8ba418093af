/* What a command is, before it is run: whether a preload library reaches it. */
#ifndef IOT_ANALYZER_PROGRAM_H
#define IOT_ANALYZER_PROGRAM_H

#include <stdbool.h>

#include "analyzer/elf_file.h"

/* A reason why a program cannot be traced: a row of program.c's table. */
struct iot_obstacle {
    const char *what;   /* "X is …" */
    const char *effect; /* what becomes of a preload library */
    const char *action;
};

struct iot_program {
    char path[4096];    /* as found */
    char binary[4096];  /* what is executed in the end: itself, or the interpreter of its "#!" line,
                         * and of that one's */
    unsigned scripts;   /* how many such lines lie between */
    bool plain;         /* neither an ELF file nor "#!": execvp gives it to /bin/sh */
    bool readable;      /* else nothing is known of what it is */
    struct iot_elf elf; /* of binary */
    const struct iot_obstacle *obstacle; /* NULL if it can be traced, as far as can be told */
};

/* Looks a command up as execvp does, and says what it is. Returns 0, or -1 with one line in
 * `error` (no such file, not executable, an interpreter that is missing). */
int iot_program_find(struct iot_program *program, const char *name, char error[512]);

/* The first folder of PATH that has such a program. Returns 0, or -1 if none does. */
int iot_program_in_path(const char *name, char path[4096]);

#endif
