/* Where CPython keeps what its stacks are read from, by version: in tables here up to 3.12; later
 * ones publish their own
 * (_Py_DebugOffsets), of which only the order has to be known. */
#ifndef IOT_PRELOAD_PYTHON_LAYOUT_H
#define IOT_PRELOAD_PYTHON_LAYOUT_H

#include <stdint.h>

#include "preload/python_lines.h"

enum { IOT_PYTHON_NOWHERE = UINT16_MAX };

/* Offsets in bytes. */
struct iot_python_layout {
    uint16_t type; /* of an object */

    /* Of the state of a thread: its innermost frame; or, if `linked` is somewhere, a structure that
     * has that there. */
    uint16_t frame, linked;

    /* Of a frame. */
    uint16_t previous, code;
    uint16_t at;    /* its instruction */
    uint16_t owner; /* whether it is one of Python code; nowhere: all are */
    uint16_t copy;  /* which copy of the instructions it runs */

    /* Of a code object. */
    uint16_t filename, name, first_line, lines;
    uint16_t instructions; /* nowhere: `at` counts, and is no address */
    uint16_t copies;       /* nowhere: there is one */

    /* Of a string: its bytes are those of a string of ASCII, others have them `wide` later. */
    uint16_t length, state, bytes, wide;
    uint16_t kind_shift; /* in the state */

    uint16_t bytes_length, bytes_bytes; /* of a bytes object */

    uint16_t unit; /* bytes that `at` counts in */
    uint16_t last_owner;
    enum iot_python_lines line_table;
};

/* The layout of a version (0x030b = 3.11), of which `published` are the words that it has to say of
 * itself, `n` of them readable. Returns 0, or -1 if it is not known. */
int iot_python_layout(struct iot_python_layout *layout, unsigned version, const uint64_t *published,
                      unsigned n);

#endif
