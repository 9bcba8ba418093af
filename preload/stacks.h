/* From where in the program a call was made, if IOTRACE_STACKS asks for it: `sites` looks once for
 * each place that calls a wrapper, `all` at every call.
 *
 * A stack is a string of the trace: a line a frame, the innermost first, each the number of the
 * string that names the module, a space, and the hexadecimal offset in it. A module's string is its
 * build id in hexadecimal ("-" if it has none), a space, and its path. Code of no module has 0 and
 * its address.
 *
 * libgcc's unwinder does it, loaded only then, and local to us. On the glibc that is needed for it
 * (2.35) it finds modules without a lock, and it takes no memory, so that it can run in signal
 * handlers and inside malloc.
 */
#ifndef IOT_PRELOAD_STACKS_H
#define IOT_PRELOAD_STACKS_H

#include <stdint.h>

#include "preload/ours.h"

struct iot_thread;

enum iot_stacks { IOT_STACKS_OFF, IOT_STACKS_SITES, IOT_STACKS_ALL };
extern IOT_OURS enum iot_stacks iot_stacks;

enum { IOT_SITES_KEPT = 1 << 12, IOT_MODULES_KEPT = 1 << 6 }; /* powers of two */

struct iot_module_seen {
    uintptr_t from;
    uint32_t number;
};

/* `wanted`: the variable; NULL: not set. Stacks there are from main() on. */
void iot_stacks_start(const char *wanted);

/* The stack of the calling thread, as a string of the trace; 0: it could not be had. `caller` is
 * where the wrapper returns to. */
uint32_t iot_stack(struct iot_thread *t, const void *caller);

/* What was kept of strings is no longer so. */
void iot_stacks_forget(void);

#endif
