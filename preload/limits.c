/* What a program denies itself: address space, memory that may be paged, system calls. Its limits
 * are meant for it, so what the recorder holds of them is given back first. */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/confine.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/record.h"

enum { LOCKED_BYTES = 16 << 20 };

static void space_is_limited(uint64_t bytes)
{
    if (bytes != RLIM_INFINITY && iot_enter_always())
        iot_process_fit(bytes / IOT_SHARE_OF_SPACE);
}

#define SETRLIMIT(sym, limit_type)                                                                 \
    int sym(__rlimit_resource_t which, const struct limit_type *limit)                             \
    {                                                                                              \
        int result = iot_real.sym(which, limit);                                                   \
        if (result == 0 && which == RLIMIT_AS)                                                     \
            space_is_limited(limit->rlim_cur);                                                     \
        return result;                                                                             \
    }

SETRLIMIT(setrlimit, rlimit)
SETRLIMIT(setrlimit64, rlimit64)

#define PRLIMIT(sym, limit_type)                                                                   \
    int sym(pid_t pid, enum __rlimit_resource which, const struct limit_type *limit,               \
            struct limit_type *before)                                                             \
    {                                                                                              \
        int result = iot_real.sym(pid, which, limit, before);                                      \
        if (result == 0 && which == RLIMIT_AS && limit && (pid == 0 || pid == getpid()))           \
            space_is_limited(limit->rlim_cur);                                                     \
        return result;                                                                             \
    }

PRLIMIT(prlimit, rlimit)
PRLIMIT(prlimit64, rlimit64)

/* It would read in the whole of the trace's file, most of which is not there. */
int mlockall(int flags)
{
    if (iot_enter_always())
        iot_process_fit(LOCKED_BYTES);
    return iot_real.mlockall(flags);
}

int prctl(int option, ...)
{
    va_list ap;
    va_start(ap, option);
    unsigned long a = va_arg(ap, unsigned long), b = va_arg(ap, unsigned long),
                  c = va_arg(ap, unsigned long), d = va_arg(ap, unsigned long);
    va_end(ap);
    const long all[6] = {option, (long)a, (long)b, (long)c, (long)d, 0};
    if (!iot_confines(SYS_prctl, all))
        return iot_real.prctl(option, a, b, c, d);
    int confined = iot_confine_before(SYS_prctl, all);
    int result = iot_real.prctl(option, a, b, c, d);
    iot_confine_after(confined, result);
    return result;
}
