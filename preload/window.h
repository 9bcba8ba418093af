/* What part of the run is recorded. One state for all processes of the run: a page of the file
 * `run` in the folder, mapped shared; or, where that cannot be had, a page of the process and what
 * it forks.
 *
 * Outside the window iot_enter() says no, and a wrapper passes the call through. Only what the part
 * behind cannot be understood without is recorded all the same (iot_enter_always): the life of
 * processes and threads, what makes pipes and connections, and marks. What a descriptor is, the
 * kernel is asked anew when recording goes on.
 */
#ifndef IOT_PRELOAD_WINDOW_H
#define IOT_PRELOAD_WINDOW_H

#include <stdint.h>

#include "preload/ours.h"

struct iot_thread;

/* The word of the window: a count of its changes above these. */
enum {
    IOT_WINDOW_PAUSED = 1, /* by the program */
    IOT_WINDOW_OUT = 2,    /* by the options: before it or behind it */
    IOT_WINDOW_TIMED = 4,  /* it begins or ends at a time that has not come */
    IOT_WINDOW_STACKS = 8, /* each call is to be looked at */
    IOT_WINDOW_ASKED = IOT_WINDOW_TIMED | IOT_WINDOW_STACKS,
    IOT_WINDOW_SHUT = IOT_WINDOW_PAUSED | IOT_WINDOW_OUT,
    IOT_WINDOW_CHANGE = 16,
};

struct iot_window {
    uint64_t magic;
    volatile uint32_t word;
    uint32_t reached;                /* 0 its beginning is to come, 1 its end, 2 none of them */
    uint32_t first_step, last_step;  /* 0: not by steps */
    uint64_t begin_ns, duration_ns;  /* on CLOCK_MONOTONIC; duration 0: to the end */
    volatile uint64_t end_ns;
    uint64_t kept_bytes;             /* of each trace file, the newest; 0: all */
};

extern IOT_OURS struct iot_window *iot_window;

/* `variable` gives the value of IOTRACE_STEPS and its kind, or NULL. The root lays the window down;
 * the processes it starts find it. */
void iot_window_start(const char *(*variable)(void *user, const char *name), void *user);

/* In the first process, once it records: a window that begins later has begun with a pause. */
void iot_window_begun(struct iot_thread *t);

/* Whether the thread is to record now; then it does so, unasked, until the window changes. */
int iot_window_look(struct iot_thread *t);

/* Whether the process has recorded its calls since the window's latest change. */
int iot_window_follows(void);

/* The calling process begins its next step. */
void iot_window_step(struct iot_thread *t);

#endif
