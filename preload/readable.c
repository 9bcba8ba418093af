#include "preload/readable.h"

#include <limits.h>
#include <string.h>

#include "preload/sys.h"

enum { PAGE = 4096, WORD = sizeof(uint64_t), NO_WAY = -1, PAGES_KEPT = 1 << 10, ENDED_BITS = 16 };

/* By page: its number, and how many mappings had ended when it was there. Both fit, as addresses
 * have 57 bits. */
static uint64_t pages_kept[PAGES_KEPT];
static uint64_t ended = 1;

/* The kernel reads the set of signals before it refuses what is to be done with it: so nothing is
 * done, and no right is needed that a container may lack. */
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

static int is_kept(uintptr_t page, uint64_t now)
{
    uint64_t *place = &pages_kept[(page ^ page >> 10) % PAGES_KEPT];
    uint64_t wanted = page << ENDED_BITS | (now & ((1u << ENDED_BITS) - 1));
    if (__builtin_expect(__atomic_load_n(place, __ATOMIC_RELAXED) == wanted, 1))
        return 1;
    if (!is_there(page * PAGE))
        return 0;
    __atomic_store_n(place, wanted, __ATOMIC_RELAXED);
    return 1;
}

int iot_readable_kept(const void *at, size_t n)
{
    uint64_t now = __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
    uintptr_t first = (uintptr_t)at / PAGE, last = ((uintptr_t)at + n - 1) / PAGE;
    return is_kept(first, now) && (last == first || is_kept(last, now));
}

void iot_readable_ending(void)
{
    uint64_t now = __atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
    if (!(now & ((1u << ENDED_BITS) - 1))) /* the count comes round */
        for (unsigned i = 0; i < PAGES_KEPT; i++)
            __atomic_store_n(&pages_kept[i], 0, __ATOMIC_RELAXED);
}

int iot_readable_name(const char *name)
{
    size_t n = iot_readable(name, PATH_MAX);
    return n == PATH_MAX || strnlen(name, n) < n;
}
