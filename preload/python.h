/* Where in a Python program a call was made: CPython's frames of the calling thread, from 3.9
 * to 3.14, read out of its memory. Nothing of the interpreter is called but the function that says
 * which state is the thread's, which every thread may call at any time; no lock of it is needed or
 * taken. What is read is checked first: an interpreter that is built otherwise than it says gives
 * no frames, and no fault.
 *
 * Frames of the import system that follow each other are one, the innermost.
 */
#ifndef IOT_PRELOAD_PYTHON_H
#define IOT_PRELOAD_PYTHON_H

#include <dlfcn.h>
#include <stdint.h>

struct iot_thread;

enum {
    IOT_PYTHON_FRAMES = 16,      /* that tell one call site from another */
    IOT_PYTHON_FRAMES_MAX = 32,  /* of a stack of one call */
    IOT_PYTHON_KEPT = 1 << 10, /* a power of two */
};

/* A place in a function, by what it is called there. */
struct iot_python_seen {
    uint64_t check; /* xor `means`: the place */
    uint64_t means; /* its string << 32 | line */
};

struct iot_python_frame {
    uint32_t function; /* string "python FUNCTION FILE" */
    uint32_t line;
};

/* A module that was not met before: it may be the interpreter. */
void iot_python_meet(const struct dl_find_object *module);
int iot_python_is(const struct dl_find_object *module);

/* A number for the innermost frames of the thread, equal for calls that come from the same lines;
 * 0: it runs no Python. */
uint64_t iot_python_signature(void);

/* The innermost frames, the innermost first, at most `most`. Returns how many. */
unsigned iot_python_frames(struct iot_thread *t, struct iot_python_frame *frames, unsigned most);

#endif
