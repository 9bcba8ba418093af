/* What a shell needs to complete `iotrace` on the line: scripts made from the tables of options. */
#ifndef IOT_ANALYZER_COMPLETION_H
#define IOT_ANALYZER_COMPLETION_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/cmd.h"

/* Each writes the whole script for the commands; what it could not write, the stream says. */
void iot_completion_bash(FILE *to, const struct iot_command *commands, size_t n);
void iot_completion_zsh(FILE *to, const struct iot_command *commands, size_t n);

/* "text json markdown" */
static inline void iot_completion_words(FILE *to, const char *const *words)
{
    for (size_t k = 0; words[k]; k++)
        fprintf(to, "%s%s", k ? " " : "", words[k]);
}

#endif
