/* cachestat (Linux 6.5) says it for a range of a descriptor; before, mincore does for a mapping, of
 * files of our own: of others the kernel says that all is there. Both look at every page, so of
 * what is larger a few places are looked at.
 *
 * A filter of system calls may kill for one that it does not know: when the program makes one,
 * nothing is asked any more. Of one that is there already, as in most containers, a child finds out
 * what it does. */
#include "preload/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "preload/sys.h"

enum { CACHESTAT = 451, KNOWN = 1, WHOLE = 1000 };

/* Measured on 4 KiB pages: cachestat 0.2 us and 10 ns a page; mincore 20 ns a page beside 0.5 us,
 * and 3 us for the mapping. */
enum { CACHESTAT_PLACES = 8, CACHESTAT_PAGES = 16, MINCORE_PLACES = 4, MINCORE_PAGES = 4 };

enum { ASK_NOT, ASK_MINCORE, ASK_CACHESTAT };
static int ask = ASK_CACHESTAT;
static uint64_t page;

/* Whether a child that makes both calls lives to say so. It gives no SIGCHLD, and no wait of the
 * program's finds it. */
static int is_harmless(void)
{
    enum { WAIT_FOR_ALL_KINDS = 0x40000000 }; /* __WALL */
    int status = -1;
    long child = iot_sys(SYS_clone, 0);
    if (child == 0) {
        iot_sys(SYS_prctl, PR_SET_DUMPABLE, 0); /* no core */
        iot_sys(CACHESTAT, -1, 0, 0, 0);
        iot_sys(SYS_mincore, 0, 0, 0);
        iot_sys(SYS_exit_group, 0);
    }
    if (child < 0)
        return 0;
    while (iot_sys(SYS_wait4, child, &status, WAIT_FOR_ALL_KINDS, 0) == -EINTR)
        continue;
    return status == 0;
}

void iot_residency_start(const char *wanted)
{
    page = getauxval(AT_PAGESZ);
    if ((wanted && !strcmp(wanted, "off")) ||
        (iot_sys(SYS_prctl, PR_GET_SECCOMP) > 0 && !is_harmless()))
        ask = ASK_NOT;
}

void iot_residency_stop(void)
{
    __atomic_store_n(&ask, ASK_NOT, __ATOMIC_RELAXED);
}

/* The pages that are looked at: all, or places in the middle of as many equal parts. Not the first
 * pages, which are there where somebody has looked what kind of file it is. */
struct places {
    uint64_t first, step; /* page of the first place, and from one to the next */
    uint64_t each;        /* pages a place */
    int n;
};

static struct places places_of(uint64_t size, int n, uint64_t each)
{
    uint64_t pages = (size + page - 1) / page;
    if (pages <= each * (uint64_t)n)
        return (struct places){0, 0, pages, 1};
    uint64_t step = pages / (uint64_t)n;
    return (struct places){(step - each) / 2, step, each, n};
}

static uint64_t place(const struct places *p, int i)
{
    return (p->first + (uint64_t)i * p->step) * page;
}

static uint16_t share(const struct places *p, uint64_t resident)
{
    uint64_t looked = p->each * (uint64_t)p->n, part = resident * WHOLE / looked;
    return (uint16_t)((part > WHOLE ? WHOLE : part) + KNOWN);
}

static int64_t cached(int fd, uint64_t from, const struct places *p)
{
    int64_t resident = 0;
    for (int i = 0; i < p->n; i++) {
        struct {
            uint64_t at, bytes;
        } range = {from + place(p, i), p->each * page};
        struct {
            uint64_t cached, dirty, writeback, evicted, recently_evicted;
        } found = {0};
        long r = iot_sys(CACHESTAT, fd, &range, &found, 0);
        if (r == -ENOSYS)
            __atomic_store_n(&ask, ASK_MINCORE, __ATOMIC_RELAXED);
        if (r)
            return -1;
        resident += (int64_t)found.cached;
    }
    return resident;
}

static uint16_t by_cachestat(int fd, int64_t size)
{
    const struct places p = places_of((uint64_t)size, CACHESTAT_PLACES, CACHESTAT_PAGES);
    int64_t resident = cached(fd, 0, &p);
    return resident < 0 ? 0 : share(&p, (uint64_t)resident);
}

static uint16_t by_mincore(int fd, const struct stat *st)
{
    long user = iot_sys(SYS_geteuid);
    if (user && (uid_t)user != st->st_uid)
        return 0;
    const struct places p = places_of((uint64_t)st->st_size, MINCORE_PLACES, MINCORE_PAGES);
    unsigned char in[MINCORE_PAGES * MINCORE_PLACES];
    uint64_t resident = 0;
    long at = iot_sys(SYS_mmap, 0, st->st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (at < 0 && at > -4096)
        return 0;
    long failed = 0;
    for (int i = 0; i < p.n && !failed; i++) {
        failed = iot_sys(SYS_mincore, at + (long)place(&p, i), p.each * page, in);
        for (uint64_t k = 0; k < p.each && !failed; k++)
            resident += in[k] & 1u;
    }
    iot_sys(SYS_munmap, at, st->st_size);
    return failed ? 0 : share(&p, resident);
}

uint16_t iot_residency(int fd, const struct stat *st, int flags)
{
    int how = __atomic_load_n(&ask, __ATOMIC_RELAXED);
    if (how == ASK_NOT || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
        (flags & O_ACCMODE) == O_WRONLY || flags & O_PATH)
        return 0;
    uint16_t found = how == ASK_CACHESTAT ? by_cachestat(fd, st->st_size) : 0;
    return found ? found : by_mincore(fd, st);
}

/* --- mappings --- */

/* As many places whatever the number of pages: more pages make them wider. */
enum { MAPPED_PLACES = 16, MAPPED_CHUNK = 512 };

static struct iot_resident looked_at(const struct places *p, int64_t resident)
{
    if (resident < 0)
        return (struct iot_resident){0};
    return (struct iot_resident){(uint32_t)(p->each * (uint64_t)p->n), (uint32_t)resident};
}

struct iot_resident iot_residency_range(int fd, const struct stat *st, uint64_t from,
                                        uint64_t bytes)
{
    if (__atomic_load_n(&ask, __ATOMIC_RELAXED) != ASK_CACHESTAT || !S_ISREG(st->st_mode) || !bytes)
        return (struct iot_resident){0};
    const struct places p = places_of(bytes, MAPPED_PLACES, IOT_PAGES_AT_MAP / MAPPED_PLACES);
    return looked_at(&p, cached(fd, from, &p));
}

static int64_t in_core(uintptr_t at, uint64_t pages)
{
    unsigned char in[MAPPED_CHUNK]; /* we may be on a small stack */
    int64_t resident = 0;
    for (uint64_t done = 0; done < pages;) {
        uint64_t n = pages - done < MAPPED_CHUNK ? pages - done : MAPPED_CHUNK;
        if (iot_sys(SYS_mincore, at + done * page, n * page, in))
            return -1;
        for (uint64_t k = 0; k < n; k++)
            resident += in[k] & 1u;
        done += n;
    }
    return resident;
}

struct iot_resident iot_residency_mapped(uintptr_t at, uint64_t bytes, uint64_t pages)
{
    if (__atomic_load_n(&ask, __ATOMIC_RELAXED) == ASK_NOT || !bytes)
        return (struct iot_resident){0};
    const struct places p = places_of(bytes, MAPPED_PLACES, pages / MAPPED_PLACES);
    int64_t resident = 0;
    for (int i = 0; i < p.n && resident >= 0; i++) {
        int64_t here = in_core(at + place(&p, i), p.each);
        resident = here < 0 ? -1 : resident + here;
    }
    return looked_at(&p, resident);
}

int iot_residency_is_told(const struct stat *st, int flags)
{
    long user = iot_sys(SYS_geteuid);
    return !user || (uid_t)user == st->st_uid || (flags & O_ACCMODE) != O_RDONLY;
}
