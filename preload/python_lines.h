/* Tables of a code object that say which line an instruction is of. */
#ifndef IOT_PRELOAD_PYTHON_LINES_H
#define IOT_PRELOAD_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

enum iot_python_lines {
    IOT_PYTHON_STEPS,     /* up to 3.9: pairs of steps, in bytes and lines */
    /* 3.10: the same, but a pair is a range; there are ranges without a line */
    IOT_PYTHON_RANGES,
    IOT_PYTHON_LOCATIONS, /* from 3.11 on: lines and columns, entries of several kinds */
};

/* The line of the instruction at byte `at` (below 0: the function has not begun), in a function
 * whose first line is `first`. Any bytes give an answer. */
int iot_python_line(enum iot_python_lines kind, const uint8_t *table, size_t n, int first, int at);

#endif
