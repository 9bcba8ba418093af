/* The clock: which one the recorder takes, why, and what a reading costs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "analyzer/doctor.h"
#include "format/file.h"

/* Above this a reading of the clock is a system call. */
enum { SLOW_NS = 200 };

static bool tsc_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#else
    return false;
#endif
}

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long reading_ns(void)
{
    enum { READINGS = 2000, ROUNDS = 5 };
    int64_t best = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start = nanoseconds();
        for (int i = 0; i < READINGS; i++)
            nanoseconds();
        int64_t took = nanoseconds() - start;
        best = took < best ? took : best;
    }
    return (long)(best / READINGS);
}

static void check_variable(struct iot_doctor *d, const char *wanted)
{
    int tsc = !strcmp(wanted, "tsc");
    if (!tsc && strcmp(wanted, "monotonic"))
        iot_doctor_add(d, IOT_LEVEL_NOTE, "set it to tsc or monotonic, or unset it",
                       "IOTRACE_CLOCK is '%s', which is ignored", wanted);
    else if (tsc && !tsc_is_invariant())
        iot_doctor_add(d, IOT_LEVEL_NOTE, "unset it",
                       "IOTRACE_CLOCK is tsc, but this processor's TSC changes its speed or stops: "
                       "monotonic is used");
    else
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "IOTRACE_CLOCK forces %s", wanted);
}

void iot_doctor_clock(struct iot_doctor *d)
{
    const char *wanted = getenv("IOTRACE_CLOCK");
    char source[64];
    bool invariant = tsc_is_invariant();
    long ns = reading_ns();

    iot_doctor_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
                    sizeof source);
    source[strcspn(source, "\n")] = '\0';
    if (wanted)
        check_variable(d, wanted);
    const char *tsc = invariant ? "the TSC is invariant" : "the TSC is not invariant";
    const char *used = d->clock == IOT_CLOCK_TSC         ? "tsc is used"
                       : d->clock == IOT_CLOCK_MONOTONIC ? "monotonic is used"
                                                         : "which is used is not known";
    bool slow = d->clock != IOT_CLOCK_TSC && ns >= SLOW_NS;
    iot_doctor_add(d, slow ? IOT_LEVEL_NOTE : IOT_LEVEL_OK,
                   slow ? "each event takes two readings: have the kernel use a clock source that "
                          "needs no system call (tsc, kvm-clock)"
                        : NULL,
                   "%s: %s, the kernel's clock source is %s, and a reading of the monotonic clock "
                   "takes %ld ns",
                   used, tsc, *source ? source : "unknown", ns);
}
