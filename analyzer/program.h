/* What a command is, before it is run: whether a preload library reaches it. */
#ifndef IOT_ANALYZER_PROGRAM_H
#define IOT_ANALYZER_PROGRAM_H

struct iot_program {
    char path[4096];
    /* In words, of itself or of the interpreter that its first line names; NULL if it can be
     * traced. */
    const char *untraceable;
};

/* Looks a command up as execvp does. Returns 0, or -1 with one line in `error`. */
int iot_program_find(struct iot_program *program, const char *name, char error[512]);

/* Where libiotrace.so is: as $LIBIOTRACE says, else beside this command, in the build tree or
 * as installed. Returns 0, or -1 with one line in `error`. */
int iot_library_find(char path[4096], char error[512]);

#endif
