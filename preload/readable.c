#include "preload/readable.h"

#include <limits.h>
#include <string.h>

#include "preload/sys.h"

enum { PAGE = 4096, WORD = sizeof(uint64_t), NO_WAY = -1 };

/* The kernel reads the set of signals before it refuses what is to be done with it: so nothing is done,
 * and no right is needed that a container may lack. */
static int is_there(uintptr_t at)
{
    return iot_sys(SYS_rt_sigprocmask, NO_WAY, at & ~(uintptr_t)(WORD - 1), NULL, WORD) == -EINVAL;
}

size_t iot_readable(const void *from, size_t n)
{
    size_t found = 0;
    while (found < n && is_there((uintptr_t)from + found))
        found += PAGE - ((uintptr_t)from + found) % PAGE;
    return found < n ? found : n;
}

int iot_readable_near(uintptr_t *known, const void *at, size_t n)
{
    uintptr_t first = (uintptr_t)at / PAGE, last = ((uintptr_t)at + n - 1) / PAGE;
    if (first != *known || last != *known) {
        if (iot_readable(at, n) < n)
            return 0;
        *known = last;
    }
    return 1;
}

int iot_readable_name(const char *name)
{
    size_t n = iot_readable(name, PATH_MAX);
    return n == PATH_MAX || strnlen(name, n) < n;
}
