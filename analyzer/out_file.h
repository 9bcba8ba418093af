/* A file that is there whole or not at all: written under another name, then renamed. What is no
 * regular file (a pipe, /dev/stdout) is written to directly; no path means standard output. */
#ifndef IOT_ANALYZER_OUT_FILE_H
#define IOT_ANALYZER_OUT_FILE_H

#include <stdio.h>

struct iot_out_file {
    FILE *stream;
    const char *path; /* NULL: standard output */
    char *part;       /* the other name; NULL: written directly */
};

/* Both return an exit status, with an error printed if it is not IOT_EXIT_OK. */
int iot_out_file_open(struct iot_out_file *out, const char *path);
int iot_out_file_close(struct iot_out_file *out);

/* Instead of closing it: what was there before stays. */
void iot_out_file_drop(struct iot_out_file *out);

#endif
