/* Calls that may put a seccomp filter in place. */
#ifndef IOT_PRELOAD_CONFINE_H
#define IOT_PRELOAD_CONFINE_H

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/process.h"

/* Makes such a call, and is ready for what it brings; gives its result. */
#define IOT_CONFINING(type, call)                                                                  \
    ({                                                                                             \
        struct iot_thread *confined = iot_enter();                                                 \
        if (confined)                                                                              \
            iot_process_confine(confined);                                                         \
        type outcome = call;                                                                       \
        if (confined)                                                                              \
            iot_process_confined(outcome < 0);                                                     \
        outcome;                                                                                   \
    })

static inline int iot_confines(long number, long first)
{
    return (number == SYS_seccomp &&
            (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER)) ||
           (number == SYS_prctl && first == PR_SET_SECCOMP);
}

#endif
