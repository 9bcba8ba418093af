/* What the program itself says about where it is (include/iotrace.h). */
#include "preload/marks.h"

#include <string.h>

#include "preload/record.h"

#define EXPORT __attribute__((visibility("default")))

enum { NAME_MAX_BYTES = 4096 };

EXPORT void iotrace_step(void);
EXPORT void iotrace_mark(const char *name);
EXPORT void iotrace_range_begin(const char *name);
EXPORT void iotrace_range_end(void);

void iot_mark_record(const char *name, enum iot_mark_kind kind, uint64_t id)
{
    struct iot_thread *t = iot_enter_always();
    if (!t)
        return;
    if (kind == IOT_MARK_STEP)
        iot_window_step(t);
    uint32_t string = name ? iot_string(t, "", 0, name, strnlen(name, NAME_MAX_BYTES)) : 0;
    uint64_t now = iot_now();
    iot_event(t, &(struct iot_row){.t0 = now,
                                   .t1 = now,
                                   .result = kind,
                                   .offset = (int64_t)id,
                                   .obj = string,
                                   .op = IOT_OP_MARK});
}

void iotrace_step(void)
{
    iot_mark_record(NULL, IOT_MARK_STEP, 0);
}

void iotrace_mark(const char *name)
{
    iot_mark_record(name, IOT_MARK_NAMED, 0);
}

void iotrace_range_begin(const char *name)
{
    iot_mark_record(name, IOT_MARK_BEGIN, 0);
}

void iotrace_range_end(void)
{
    iot_mark_record(NULL, IOT_MARK_END, 0);
}
