/* Call stacks of a run: FORMAT.md, "Call stacks". */
#ifndef IOT_ANALYZER_STACKS_H
#define IOT_ANALYZER_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/arena.h"
#include "analyzer/table.h"

struct iot_names;

enum { IOT_FRAMES_MAX = 64 };

struct iot_frame {
    /* "BUILD-ID PATH", the id "-" if it is not known; "jit PID" for code that is in no file;
     * "python FUNCTION FILE" for a function of Python. */
    const char *module;
    /* as the module's symbols count; without a file the address; of Python the line */
    uint64_t offset;
};

#define IOT_PYTHON_MODULE "python "
int iot_frame_is_python(const struct iot_frame *frame);

/* Of a frame of Python, in its module's text. */
struct iot_python_words {
    const char *function; /* n_function characters */
    int n_function;
    const char *file;
};
struct iot_python_words iot_frame_python(const struct iot_frame *frame);

/* Frames, the innermost first: frames[first] to frames[first + n - 1]. Those behind the last of
 * Python are left out: they are the interpreter's. */
struct iot_stack {
    size_t first;
    uint32_t n;
};

struct iot_stacks {
    struct iot_stack *list; /* [0] is none; no two are equal */
    struct iot_frame *frames;
    struct iot_numbered *numbered;
    size_t n, n_frames, n_numbered, room, frames_room, numbered_room;
    struct iot_table by_number, by_content;
};

/* The stack that a number means in an image with these names, of that pid: its index; 0 if there is
 * none that can be read; UINT32_MAX without memory. */
uint32_t iot_stacks_of(struct iot_stacks *stacks, struct iot_names *names, uint32_t number,
                       uint32_t pid, struct iot_arena *arena);
void iot_stacks_free(struct iot_stacks *stacks);

/* From text to frames, at most so many; a line that cannot be read ends it. `text_of` gives the
 * text of the string of a number, NULL if there is none. Returns how many. */
uint32_t iot_stack_parse(const char *text, const char *(*text_of)(void *user, uint32_t number),
                         void *user, struct iot_frame frames[IOT_FRAMES_MAX]);

#endif
