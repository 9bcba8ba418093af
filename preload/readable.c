#include "preload/readable.h"

#include "preload/sys.h"

enum { SMALLEST_PAGE = 4096 };

/* A change of the signal mask that says no way of changing it: the kernel reads the set, and then
 * refuses. A filter that lets recording go on at all knows the call. */
static int is_word_readable(uintptr_t at)
{
    enum { NO_WAY = 99, WORD = 8 };
    uintptr_t set = at & ~(uintptr_t)(WORD - 1);
    return set && iot_sys(SYS_rt_sigprocmask, NO_WAY, set, 0, WORD) != -EFAULT;
}

static uintptr_t page_of(uintptr_t at)
{
    return at & ~(uintptr_t)(SMALLEST_PAGE - 1);
}

int iot_readable(const void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at, last = from + (bytes ? bytes - 1 : 0);
    if (last < from)
        return 0;
    for (;; from = page_of(from) + SMALLEST_PAGE) {
        if (!is_word_readable(from))
            return 0;
        if (page_of(from) == page_of(last))
            return 1;
    }
}

int iot_readable_text(const char *at, size_t most)
{
    for (size_t n = 0; n < most; n++) {
        if ((n == 0 || (uintptr_t)(at + n) % SMALLEST_PAGE == 0) &&
            !is_word_readable((uintptr_t)at + n))
            return 0;
        if (!at[n])
            break;
    }
    return 1;
}
