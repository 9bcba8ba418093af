/* What the parts of gpu_play share. */
#ifndef IOT_TESTS_CUDA_GPU_PLAY_H
#define IOT_TESTS_CUDA_GPU_PLAY_H

#include <stddef.h>
#include <stdint.h>

#include "tests/cuda/standin.h"

enum { KEYS = 24 };

/* A line of the script. */
struct line {
    const char *word;
    char *rest; /* behind the word */
    size_t n;
    struct {
        const char *key, *value;
    } keys[KEYS];
};

const char *line_text(const struct line *line, const char *key);
uint64_t line_value(const struct line *line, const char *key, uint64_t otherwise);
#define V(key) line_value(line, key, 0)

/* Of CUPTI's stand-in; NULL where nobody has loaded it. */
extern __typeof__(&standin_enter) play_enter;
extern __typeof__(&standin_exit) play_exit;

/* Until so many ns after the start of the script. */
void play_wait_until(uint64_t ns);

/* The call that a line names: it enters, and returns. */
void play_call(const struct line *line);

#endif
