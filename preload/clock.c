#include "preload/clock.h"

#include <fcntl.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "preload/sys.h"

enum iot_clock iot_clock_kind = IOT_CLOCK_MONOTONIC;

uint64_t iot_clock_coarse(void)
{
    return iot_clock_read(CLOCK_MONOTONIC_COARSE);
}

uint64_t iot_clock_realtime(void)
{
    return iot_clock_read(CLOCK_REALTIME);
}

#if defined(__x86_64__)
static int tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}

/* The kernel drops the TSC as its clock source when its watchdog catches it drifting, or when
 * the processors disagree: it has better means to find out than a process has. */
static int kernel_trusts_tsc(void)
{
    char name[16] = "";
    long fd = iot_sys(SYS_openat, AT_FDCWD,
                      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    iot_sys(SYS_read, fd, name, sizeof name - 1);
    iot_sys(SYS_close, fd);
    return strcmp(name, "tsc\n") == 0;
}
#endif

void iot_clock_start(const char *wanted)
{
    iot_clock_kind = IOT_CLOCK_MONOTONIC;
#if defined(__x86_64__)
    if (wanted && strcmp(wanted, "monotonic") == 0)
        return;
    if (tsc_is_invariant() && ((wanted && strcmp(wanted, "tsc") == 0) || kernel_trusts_tsc()))
        iot_clock_kind = IOT_CLOCK_TSC;
#else
    (void)wanted;
#endif
}
