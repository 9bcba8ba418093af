/* Text of unknown origin in formats that give some characters a meaning. */
#ifndef IOT_ANALYZER_ESCAPE_H
#define IOT_ANALYZER_ESCAPE_H

#include <stdio.h>

/* What stands for a character; a table ends with a row of 0. */
struct iot_escape {
    char of;
    const char *as;
};

extern const struct iot_escape iot_escapes_label[]; /* a label's value of OpenMetrics */

/* What the table says; of the rest, bytes of control characters, of what is no UTF-8, and of what
 * XML does not take as \xNN (with `backslash` for the backslash). */
void iot_write_escaped(FILE *out, const char *text, const struct iot_escape *table,
                       const char *backslash);

#endif
