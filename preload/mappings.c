#include "preload/mappings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "preload/faults.h"
#include "preload/process.h"
#include "preload/residency.h"
#include "preload/sys.h"

enum {
    MAPPINGS = 512, /* more are not followed */
    /* When a mapping ends, this share of the time it lived may be spent on looking at its pages,
     * within these bounds: about 5 us and 0.5 ms. */
    LIFE_SHARE = 1000,
    NS_A_PAGE = 20,
    PAGES_AT_LEAST = 128,
    PAGES_AT_END = 16384,
    ENDS_NS = 2 * 1000 * 1000, /* for all mappings, when the process ends */
    GROWS_EVERY_NS = 50 * 1000 * 1000,
    GROWS_PAGES = 64,
    GROWS_MAPPINGS = 4,
    GROWN_NS = 1000 * 1000 * 1000,
};

/* Only who takes `state` from one value to the next changes the others. */
struct mapping {
    uint32_t state; /* FREE, BUSY or LIVE */
    uint32_t generation; /* of the process that mapped it: a forked child has it too */
    uintptr_t from, to;
    uint64_t length;    /* of it there is a file behind so much */
    uint64_t mapped_ns;
    struct iot_resident before;
    uint8_t told, cold;
};
enum { FREE, BUSY, LIVE };
static struct mapping mappings[MAPPINGS];
static uint32_t top;  /* none from here on was ever taken */
static uint32_t cold; /* how many are */
static uint64_t asked_ns, grown_ns;
static uint64_t resident_before;

static uint32_t generation(void)
{
    return *iot_generation & IOT_GENERATION_NUMBER;
}

static void watch(int change)
{
    uint32_t now = __atomic_add_fetch(&cold, (uint32_t)change, __ATOMIC_ACQ_REL);
    if (now)
        __atomic_or_fetch(&iot_process->generation, IOT_GENERATION_WATCHED, __ATOMIC_RELEASE);
    else
        __atomic_and_fetch(&iot_process->generation, ~IOT_GENERATION_WATCHED, __ATOMIC_RELEASE);
}

static struct mapping *take(void)
{
    for (uint32_t i = 0; i < MAPPINGS; i++) {
        uint32_t was = FREE;
        if (!__atomic_compare_exchange_n(&mappings[i].state, &was, BUSY, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        uint32_t seen = __atomic_load_n(&top, __ATOMIC_RELAXED);
        while (seen <= i && !__atomic_compare_exchange_n(&top, &seen, i + 1, 0, __ATOMIC_RELEASE,
                                                         __ATOMIC_RELAXED))
            continue;
        return &mappings[i];
    }
    return NULL;
}

static void give_back(struct mapping *m)
{
    int was_cold = m->cold;
    m->cold = 0;
    __atomic_store_n(&m->state, FREE, __ATOMIC_RELEASE);
    if (was_cold)
        watch(-1);
}

/* Files that lie in memory: no page of theirs is fetched. */
static int is_memory(int fd)
{
    enum { TMPFS = 0x01021994, HUGETLBFS = 0x958458f6, RAMFS = 0x858458f6 };
    struct statfs fs;
    if (iot_sys(SYS_fstatfs, fd, &fs))
        return 1;
    uint32_t type = (uint32_t)fs.f_type;
    return type == TMPFS || type == (uint32_t)HUGETLBFS || type == (uint32_t)RAMFS;
}

void iot_mappings_add(const void *at, size_t bytes, int protection, int fd, int64_t offset)
{
    struct stat st;
    if (protection & PROT_EXEC || iot_faults_stopped() || iot_sys(SYS_fstat, fd, &st) ||
        !S_ISREG(st.st_mode) || st.st_size <= offset || is_memory(fd))
        return;
    struct mapping *m = take();
    if (!m)
        return;
    uint64_t behind = (uint64_t)(st.st_size - offset);
    m->generation = generation();
    m->from = (uintptr_t)at;
    m->to = m->from + bytes;
    m->length = behind < bytes ? behind : bytes;
    m->mapped_ns = iot_clock_monotonic();
    m->told = (uint8_t)iot_residency_is_told(&st, (int)iot_sys(SYS_fcntl, fd, F_GETFL));
    m->before = iot_residency_range(fd, &st, (uint64_t)offset, m->length);
    if (!m->before.looked && m->told)
        m->before = iot_residency_mapped(m->from, m->length, IOT_PAGES_AT_MAP);
    /* Where all pages were looked at and are there, none is to be fetched. */
    m->cold = !m->before.looked || m->before.resident < m->before.looked ||
              m->length > (uint64_t)m->before.looked * 4096;
    int is_cold = m->cold;
    __atomic_store_n(&m->state, LIVE, __ATOMIC_RELEASE);
    if (is_cold) {
        __atomic_store_n(&grown_ns, m->mapped_ns, __ATOMIC_RELAXED);
        iot_faults_begin();
        watch(1);
    }
}

static uint64_t bytes_of(struct iot_resident r, uint64_t length)
{
    return r.looked ? (uint64_t)((double)length * r.resident / r.looked) : 0;
}

static void say(struct iot_thread *t, const struct mapping *m, uint64_t now_ns, uint64_t pages)
{
    struct iot_resident after = {0};
    uint64_t worth = (now_ns - m->mapped_ns) / LIFE_SHARE / NS_A_PAGE;
    if (worth < pages)
        pages = worth < PAGES_AT_LEAST ? PAGES_AT_LEAST : worth;
    if (m->told)
        after = iot_residency_mapped(m->from, m->length, pages);
    int64_t there = (int64_t)bytes_of(after, m->length);
    int known = after.looked && m->before.looked;
    uint64_t now = iot_now();
    iot_event(t, &(struct iot_row){.t0 = now,
                                   .t1 = now,
                                   .result = after.looked ? there : -1,
                                   .bytes = known ? there - (int64_t)bytes_of(m->before, m->length)
                                                  : 0,
                                   .offset = (int64_t)m->length,
                                   .addr = m->from,
                                   .op = IOT_OP_RESIDENT});
}

void iot_mappings_ending(struct iot_thread *t, const void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at, to = from + bytes;
    uint32_t n = __atomic_load_n(&top, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && !t->vfork_pid; i++) {
        struct mapping *m = &mappings[i];
        if (m->from >= to || m->to <= from)
            continue;
        uint32_t was = LIVE;
        if (!__atomic_compare_exchange_n(&m->state, &was, BUSY, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        if (from <= m->from && m->from + m->length <= to) {
            if (m->generation == generation())
                say(t, m, iot_clock_monotonic(), PAGES_AT_END);
            give_back(m);
            continue;
        }
        if (m->from < from && from < m->from + m->length && m->from + m->length <= to)
            m->length = from - m->from; /* its end is cut off; of another part nothing is told */
        __atomic_store_n(&m->state, LIVE, __ATOMIC_RELEASE);
    }
}

void iot_mappings_moved(const void *from, size_t bytes, const void *to, size_t new_bytes)
{
    uintptr_t old = (uintptr_t)from;
    uint32_t n = __atomic_load_n(&top, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++) {
        struct mapping *m = &mappings[i];
        uint32_t was = LIVE;
        if (m->from < old || m->from >= old + bytes ||
            !__atomic_compare_exchange_n(&m->state, &was, BUSY, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        m->from = m->from - old + (uintptr_t)to;
        m->to = (uintptr_t)to + new_bytes;
        if (m->length > m->to - m->from)
            m->length = m->to - m->from;
        __atomic_store_n(&m->state, LIVE, __ATOMIC_RELEASE);
    }
}

void iot_mappings_end(struct iot_thread *t)
{
    uint32_t n = __atomic_load_n(&top, __ATOMIC_ACQUIRE), mine = 0;
    if (t->vfork_pid)
        return;
    iot_faults_look(t);
    iot_faults_end(t);
    for (uint32_t i = 0; i < n; i++)
        mine += mappings[i].state == LIVE && mappings[i].generation == generation();
    uint64_t now_ns = mine ? iot_clock_monotonic() : 0;
    for (uint32_t i = 0; i < n && mine; i++)
        if (__atomic_load_n(&mappings[i].state, __ATOMIC_ACQUIRE) == LIVE &&
            mappings[i].generation == generation())
            say(t, &mappings[i], now_ns, ENDS_NS / NS_A_PAGE / mine);
}

int iot_mappings_has(const void *at)
{
    uintptr_t a = (uintptr_t)at;
    uint32_t n = __atomic_load_n(&top, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++)
        if (a >= mappings[i].from && a < mappings[i].to &&
            __atomic_load_n(&mappings[i].state, __ATOMIC_ACQUIRE) == LIVE)
            return 1;
    return 0;
}

int iot_mappings_cold(void)
{
    return __atomic_load_n(&cold, __ATOMIC_RELAXED) != 0;
}

/* Of a few that are cold, how much is there. */
static uint64_t resident_now(void)
{
    uint64_t resident = 0;
    uint32_t n = __atomic_load_n(&top, __ATOMIC_ACQUIRE), looked = 0;
    for (uint32_t i = 0; i < n && looked < GROWS_MAPPINGS; i++) {
        const struct mapping *m = &mappings[i];
        if (__atomic_load_n(&m->state, __ATOMIC_ACQUIRE) != LIVE || !m->cold || !m->told)
            continue;
        looked++;
        resident += iot_residency_mapped(m->from, m->length, GROWS_PAGES).resident;
    }
    return resident;
}

int iot_mappings_growing(uint64_t now_ns)
{
    uint64_t asked = __atomic_load_n(&asked_ns, __ATOMIC_RELAXED);
    if (now_ns - asked > GROWS_EVERY_NS &&
        __atomic_compare_exchange_n(&asked_ns, &asked, now_ns, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
        uint64_t resident = resident_now();
        if (resident > __atomic_exchange_n(&resident_before, resident, __ATOMIC_RELAXED))
            __atomic_store_n(&grown_ns, now_ns, __ATOMIC_RELAXED);
    }
    uint64_t grown = __atomic_load_n(&grown_ns, __ATOMIC_RELAXED);
    return now_ns < grown || now_ns - grown < GROWN_NS;
}
