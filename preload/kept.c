#include "preload/kept.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/descriptors.h"
#include "preload/process.h"
#include "preload/strings.h"
#include "preload/sys.h"

/* One in so many segments may hold names. */
enum { SHARE_OF_NAMES = 4 };

/* What a segment of blocks has in it. */
struct filled {
    uint64_t until_ns; /* CLOCK_MONOTONIC: when its last block was made */
    uint32_t events;
};

/* One of each for every segment of the largest file. */
static struct filled *filled_by_segment;
static uint32_t *filled_blocks, *filled_names, segments;

uint64_t iot_kept_room(uint64_t bytes)
{
    enum { EACH = sizeof *filled_by_segment + sizeof *filled_blocks + sizeof *filled_names };
    for (uint64_t n = bytes / IOT_SEGMENT_BYTES; !segments && n; n /= 2) {
        long at = iot_sys(SYS_mmap, 0, n * EACH, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at < 0 && at > -4096)
            continue;
        iot_sys(SYS_madvise, at, n * EACH, MADV_WIPEONFORK);
        filled_by_segment = (void *)at;
        filled_blocks = (void *)(filled_by_segment + n);
        filled_names = filled_blocks + n;
        segments = (uint32_t)n;
    }
    uint64_t room = (uint64_t)segments * IOT_SEGMENT_BYTES;
    return bytes < room ? bytes / IOT_SEGMENT_BYTES * IOT_SEGMENT_BYTES : room;
}

static uint32_t *list_of(const struct iot_kept_ring *ring)
{
    return ring == &iot_process->kept.names ? filled_names : filled_blocks;
}

static void put(struct iot_kept_ring *ring, uint32_t segment)
{
    uint64_t at = __atomic_fetch_add(&ring->tail, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&list_of(ring)[at % segments], segment, __ATOMIC_RELEASE);
}

/* 0: there is none, or the next is just being put in. */
static uint32_t take(struct iot_kept_ring *ring)
{
    uint64_t at = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    for (;;) {
        if (at == __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE))
            return 0;
        uint32_t *place = &list_of(ring)[at % segments];
        uint32_t segment = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (!segment)
            return 0;
        if (!__atomic_compare_exchange_n(&ring->head, &at, at + 1, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        /* There are fewer segments to be filled than places, for the header takes one: nobody puts
         * one here before. */
        __atomic_store_n(place, 0, __ATOMIC_RELEASE);
        return segment;
    }
}

void iot_kept_filled(uint32_t kind, uint32_t segment)
{
    put(kind == IOT_SEGMENT_NAMES ? &iot_process->kept.names : &iot_process->kept.blocks, segment);
}

void iot_kept_block(uint32_t segment, uint32_t events, uint64_t at_ns)
{
    struct filled *filled = &filled_by_segment[segment];
    filled->events += events;
    filled->until_ns = at_ns;
}

/* What a reader is told comes before what it is told of: a process can be killed in between. */
static void count_older(const struct filled *filled)
{
    struct iot_file_header *h = iot_process->file;
    uint64_t until = __atomic_load_n(&h->older_until_ns, __ATOMIC_RELAXED);
    while (until < filled->until_ns &&
           !__atomic_compare_exchange_n(&h->older_until_ns, &until, filled->until_ns, 0,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    __atomic_fetch_add(&h->older_events, filled->events, __ATOMIC_RELEASE);
}

static void clear(uint32_t segment)
{
    uint8_t *at = (uint8_t *)iot_process->file + (size_t)segment * IOT_SEGMENT_BYTES;
    /* A hole is there at once, whether the pages are still in memory or not. */
    if (iot_sys(SYS_madvise, at, IOT_SEGMENT_BYTES, MADV_REMOVE))
        memset(at, 0, IOT_SEGMENT_BYTES);
}

uint32_t iot_kept_reuse_names(uint32_t limit)
{
    struct iot_kept *kept = &iot_process->kept;
    if (__atomic_load_n(&kept->names_taken, __ATOMIC_RELAXED) < limit / SHARE_OF_NAMES)
        return 0;
    uint32_t segment = take(&kept->names);
    if (!segment)
        return 0;
    iot_strings_forget();
    iot_descriptors_forget();
    clear(segment);
    return segment;
}

uint32_t iot_kept_reuse_blocks(void)
{
    struct iot_kept *kept = &iot_process->kept;
    uint32_t segment = take(&kept->blocks);
    if (!segment)
        return 0;
    struct filled *filled = &filled_by_segment[segment];
    count_older(filled);
    *filled = (struct filled){0, 0};
    clear(segment);
    return segment;
}

void iot_kept_names(void)
{
    __atomic_fetch_add(&iot_process->kept.names_taken, 1, __ATOMIC_RELAXED);
}
