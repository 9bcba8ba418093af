/* Marks that a program leaves in its own trace.
 *
 * Header only: nothing to link with. In a program that is not traced every call is a no-op of a few
 * nanoseconds. From other languages, look up the symbols iotrace_step, iotrace_mark,
 * iotrace_range_begin, iotrace_range_end, iotrace_pause and iotrace_resume in the process (Python:
 * ctypes.CDLL(None)); where they are missing, the process is not traced.
 *
 *     for (int i = 0; i < steps; i++) {
 *         iot_step();
 *         ...
 *     }
 */
#ifndef IOTRACE_H
#define IOTRACE_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A step (of training: one batch; of serving: one request or token) begins here, in this thread. */
static inline void iot_step(void)
{
    static void (*step)(void);
    static int looked;
    if (!looked) {
        *(void **)&step = dlsym(RTLD_DEFAULT, "iotrace_step");
        looked = 1;
    }
    if (step)
        step();
}

/* Something happens here, in this thread. The name is copied; at most 4096 bytes of it. */
static inline void iot_mark(const char *name)
{
    static void (*mark)(const char *);
    static int looked;
    if (!looked) {
        *(void **)&mark = dlsym(RTLD_DEFAULT, "iotrace_mark");
        looked = 1;
    }
    if (mark)
        mark(name);
}

/* From here to its iot_range_end, this thread does what the name says. Ranges of a thread nest. The
 * name is copied; at most 4096 bytes of it. */
static inline void iot_range_begin(const char *name)
{
    static void (*begin)(const char *);
    static int looked;
    if (!looked) {
        *(void **)&begin = dlsym(RTLD_DEFAULT, "iotrace_range_begin");
        looked = 1;
    }
    if (begin)
        begin(name);
}

/* Ends the range that this thread began last. */
static inline void iot_range_end(void)
{
    static void (*end)(void);
    static int looked;
    if (!looked) {
        *(void **)&end = dlsym(RTLD_DEFAULT, "iotrace_range_end");
        looked = 1;
    }
    if (end)
        end();
}

/* Nothing is recorded from here on, in no process of the run, but for what it takes to go on: a
 * long job is traced only where it matters. Each is of the whole run, whichever process calls it.
 */
static inline void iot_pause(void)
{
    static void (*pause_)(void);
    static int looked;
    if (!looked) {
        *(void **)&pause_ = dlsym(RTLD_DEFAULT, "iotrace_pause");
        looked = 1;
    }
    if (pause_)
        pause_();
}

static inline void iot_resume(void)
{
    static void (*resume)(void);
    static int looked;
    if (!looked) {
        *(void **)&resume = dlsym(RTLD_DEFAULT, "iotrace_resume");
        looked = 1;
    }
    if (resume)
        resume();
}

#ifdef __cplusplus
}
#endif

#endif
