/* What the program itself says about where it is (include/iotrace.h). */
#include <string.h>

#include "preload/record.h"

#define EXPORT __attribute__((visibility("default")))

enum { NAME_MAX_BYTES = 4096 };

EXPORT void iotrace_step(void);
EXPORT void iotrace_mark(const char *name);

static void mark(const char *name, int64_t step)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return;
    if (step)
        iot_window_step(t);
    uint32_t string = name ? iot_string(t, "", 0, name, strnlen(name, NAME_MAX_BYTES)) : 0;
    uint64_t now = iot_now();
    iot_event(t, &(struct iot_row){.t0 = now,
                                   .t1 = now,
                                   .result = step,
                                   .obj = string,
                                   .op = IOT_OP_MARK});
}

void iotrace_step(void)
{
    mark(NULL, 1);
}

void iotrace_mark(const char *name)
{
    mark(name, 0);
}
