#include "preload/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "format/checksum.h"
#include "format/window.h"
#include "preload/descriptors.h"
#include "preload/image.h"
#include "preload/mappings.h"
#include "preload/sys.h"
#include "preload/text.h"

struct iot_process *iot_process;
enum iot_confinement iot_confined;

static char file_path[IOT_PATH_BYTES];
static uint64_t mapped_bytes;     /* the file's may be fewer: it grows into them, sparse */
static uint32_t image_generation; /* not wiped by fork: the next one is always new */

enum {
    /* For what comes after the end: destructors, threads that are still at it. */
    SPARE_SEGMENTS = 8,
    /* What a process behind a filter still can record: a few hundred thousand events. */
    CONFINED_SEGMENTS = 32,
};
#define MAPPED_BYTES_MAX IOT_KEPT_BYTES_MAX
#define FILE_STEP_BYTES (UINT64_C(4) << 30) /* what a file is made, and grows by: sparse */
#define FILE_BYTES_MIN (UINT64_C(1) << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static int failed(long result)
{
    return result < 0 && result > -4096;
}

int iot_pages_ready(void *from, size_t bytes)
{
    enum { PAGE = 4096 };
    if (iot_confined)
        return iot_confined == IOT_CONFINED ? 0 : -1;
    uintptr_t first = (uintptr_t)from / PAGE * PAGE;
    uintptr_t last = ((uintptr_t)from + bytes + PAGE - 1) / PAGE * PAGE;
    long r = iot_sys(SYS_madvise, first, last - first, MADV_POPULATE_WRITE);
    /* A kernel before 5.14 does not know it: there a full disk is not noticed in time. */
    return r == 0 || r == -EINVAL ? 0 : -1;
}

/* The segments handed out and their limit are one word, so that cutting the file at an exit and
 * another thread taking a segment at that moment do not miss each other. */
struct segments {
    uint32_t next, limit;
};
_Static_assert(offsetof(struct iot_file_header, segment_limit) ==
                       offsetof(struct iot_file_header, next_segment) + sizeof(uint32_t) &&
                   offsetof(struct iot_file_header, next_segment) % sizeof(uint64_t) == 0,
               "next_segment and segment_limit are one aligned word");

static struct segments segments_now(void)
{
    struct segments s;
    __atomic_load((struct segments *)&iot_process->file->next_segment, &s, __ATOMIC_RELAXED);
    return s;
}

static int segments_change(struct segments *from, struct segments to)
{
    return __atomic_compare_exchange((struct segments *)&iot_process->file->next_segment, from, &to,
                                     0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

uint32_t iot_segment_of(const void *at)
{
    return (uint32_t)((size_t)((const uint8_t *)at - (const uint8_t *)iot_process->file) /
                      IOT_SEGMENT_BYTES);
}

static uint8_t *segment_at(uint32_t segment)
{
    return (uint8_t *)iot_process->file + (size_t)segment * IOT_SEGMENT_BYTES;
}

static uint64_t limit_of(int resource)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    iot_sys(SYS_prlimit64, 0, resource, 0, &limit);
    return limit.rlim_cur;
}

/* The size of the file and of its mapping is one thread's to change: a second one, late with the
 * size that it took to be larger, would cut the file. No signal comes in meanwhile. */
static uint64_t resize_begin(void)
{
    uint64_t signals = iot_signals_hold();
    while (__atomic_exchange_n(&iot_process->resizing, 1, __ATOMIC_ACQUIRE)) {
        struct timespec moment = {0, 20000};
        iot_sys(SYS_nanosleep, &moment, 0);
    }
    return signals;
}

static void resize_end(uint64_t signals)
{
    __atomic_store_n(&iot_process->resizing, 0, __ATOMIC_RELEASE);
    iot_signals_release(signals);
}

/* By name, for no descriptor of it is open: so not behind a chroot. Nor beyond a limit on the size
 * of files: that ends in SIGXFSZ. 0: there is more room now; -1. */
static int grow(uint32_t from)
{
    if (iot_confined)
        return -1;
    uint64_t signals = resize_begin();
    struct segments now = segments_now();
    uint64_t bytes = (uint64_t)now.limit * IOT_SEGMENT_BYTES + FILE_STEP_BYTES;
    uint64_t most = limit_of(RLIMIT_FSIZE);
    if (most > mapped_bytes)
        most = mapped_bytes;
    if (bytes > most)
        bytes = most;
    struct segments grown = {0, (uint32_t)(bytes / IOT_SEGMENT_BYTES)};
    int done = now.limit > from;
    if (!done && iot_process->file->end == IOT_END_OPEN && grown.limit > now.limit &&
        !failed(iot_sys(SYS_truncate, file_path, (uint64_t)grown.limit * IOT_SEGMENT_BYTES)))
        do { /* unless an exit has cut it meanwhile */
            done = now.limit == from;
            grown.next = now.next;
        } while (done && !segments_change(&now, grown));
    resize_end(signals);
    return done ? 0 : -1;
}

/* The next of the file. */
static uint8_t *take_new(size_t bytes)
{
    struct segments now = segments_now();
    do {
        while (now.next >= now.limit) {
            if (grow(now.limit))
                return NULL;
            now = segments_now();
        }
    } while (!segments_change(&now, (struct segments){now.next + 1, now.limit}));
    if (iot_pages_ready(segment_at(now.next), bytes)) {
        struct segments taken = {now.next + 1, now.limit};
        segments_change(&taken, now); /* unless another was taken behind it */
        return NULL;
    }
    return segment_at(now.next);
}

/* The oldest of a trace that keeps the newest. On a disk that is full it may be lost. */
static uint8_t *take_again(uint32_t segment, size_t bytes)
{
    return segment && !iot_pages_ready(segment_at(segment), bytes) ? segment_at(segment) : NULL;
}

void *iot_segment_take(uint32_t kind, uint32_t slot, size_t bytes)
{
    uint8_t *at = NULL;
    int names = kind == IOT_SEGMENT_NAMES;
    if (names)
        at = take_again(iot_kept_reuse_names(segments_now().limit), bytes);
    int more = !at;
    if (!at)
        at = take_new(bytes);
    if (!at && iot_window->kept_bytes)
        at = take_again(iot_kept_reuse_blocks(), bytes);
    if (!at)
        return NULL;
    if (names && more)
        iot_kept_names();
    struct iot_segment_header *h = (struct iot_segment_header *)at;
    h->kind = kind;
    h->slot = slot;
    __atomic_store_n(&h->magic, IOT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    return at;
}

/* <folder>/<pid>-<start>.iot: no two images of a run have both the same. */
static void name_file(uint32_t pid, uint64_t start_ns)
{
    char *p = iot_text_put(file_path, iot_image.folder);
    *p++ = '/';
    p = iot_text_number(p, pid);
    *p++ = '-';
    p = iot_text_base(p, start_ns, 16);
    *iot_text_put(p, IOT_FILE_SUFFIX) = '\0';
}

/* Maps more than there ever will be of a sparse file, so that no descriptor is needed ever after.
 * Less where limits on file size or address space want it so. */
static struct iot_file_header *make_file(uint64_t *made)
{
    long fd = iot_sys(SYS_openat, AT_FDCWD, file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (failed(fd))
        return NULL;
    uint64_t most = limit_of(RLIMIT_FSIZE), space = limit_of(RLIMIT_AS) / IOT_SHARE_OF_SPACE;
    long at = -1;
    uint64_t kept = iot_window->kept_bytes;
    mapped_bytes = kept && kept < MAPPED_BYTES_MAX ? kept : MAPPED_BYTES_MAX;
    if (kept)
        mapped_bytes = iot_kept_room(mapped_bytes < space ? mapped_bytes : space);
    uint64_t bytes = FILE_STEP_BYTES;
    while (bytes >= FILE_BYTES_MIN && (bytes > most || failed(iot_sys(SYS_ftruncate, fd, bytes))))
        bytes /= 2;
    for (; bytes >= FILE_BYTES_MIN && mapped_bytes >= FILE_BYTES_MIN; mapped_bytes /= 2) {
        if (mapped_bytes > space)
            continue;
        at = iot_sys(SYS_mmap, 0, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                     fd, 0);
        if (!failed(at))
            break;
    }
    if (!failed(at) && mapped_bytes < bytes)
        iot_sys(SYS_ftruncate, fd, bytes = mapped_bytes);
    iot_sys(SYS_close, fd);
    if (failed(at)) {
        iot_sys(SYS_unlinkat, AT_FDCWD, file_path, 0);
        return NULL;
    }
    iot_sys(SYS_madvise, at, mapped_bytes, MADV_RANDOM); /* there is nothing to read ahead */
    iot_sys(SYS_madvise, at, mapped_bytes, MADV_DONTFORK);
    iot_sys(SYS_madvise, at, mapped_bytes, MADV_DONTDUMP);
    *made = bytes;
    return (struct iot_file_header *)at;
}

int iot_process_start(void)
{
    struct iot_process *p = iot_process;
    /* Only a child made by a raw clone can have two threads here. */
    if (__atomic_exchange_n(&p->starting, 1, __ATOMIC_ACQUIRE))
        return *iot_generation ? 0 : -1;

    struct iot_anchor start = iot_anchor_now();
    uint32_t pid = (uint32_t)iot_sys(SYS_getpid);
    name_file(pid, start.mono_ns);
    uint64_t bytes = 0;
    struct iot_file_header *h = make_file(&bytes);
    if (h && iot_pages_ready(h, IOT_HEADER_BYTES + iot_image.facts_bytes)) {
        iot_sys(SYS_munmap, h, mapped_bytes);
        iot_sys(SYS_unlinkat, AT_FDCWD, file_path, 0);
        h = NULL;
    }
    if (!h) {
        p->off = 1;
        return -1;
    }
    memcpy(h->magic, IOT_FILE_MAGIC, sizeof h->magic);
    h->major = IOT_FORMAT_MAJOR;
    h->minor = IOT_FORMAT_MINOR;
    h->header_bytes = IOT_HEADER_BYTES;
    h->segment_bytes = IOT_SEGMENT_BYTES;
    h->row_bytes = sizeof(struct iot_row);
    h->half_rows = IOT_HALF_ROWS;
    h->clock = iot_clock_kind;
    h->pid = pid;
    h->ppid = (uint32_t)iot_sys(SYS_getppid);
    h->parent_lane = image_generation ? iot_local.lane_plus_1 - 1 : UINT32_MAX;
    h->root = iot_image.root && !image_generation;
    h->start = start;
    h->start_realtime_ns = iot_clock_realtime();
    h->own_read_bytes = iot_image_usage(&h->usage_start, &h->called_start);
    h->usage_end = h->usage_start; /* should it not be asked again */
    h->called_end = h->called_start;
    h->called_end.read_bytes += h->own_read_bytes;
    memcpy(h->boot_id, iot_image.boot_id, sizeof h->boot_id);
    memcpy((char *)h + IOT_HEADER_BYTES, iot_image.facts, iot_image.facts_bytes);
    h->next_segment = 1;
    h->segment_limit = (uint32_t)(bytes / IOT_SEGMENT_BYTES);
    h->last = start;
    h->checksum = iot_header_checksum(h);

    p->file = h;
    p->pid = pid;
    uint32_t generation = ++image_generation;
    if (iot_mappings_cold()) /* the parent's are ours */
        generation |= IOT_GENERATION_WATCHED;
    __atomic_store_n(&p->generation, generation, __ATOMIC_RELEASE);
    return 0;
}

/* Lets only so many more segments be taken than are; returns the limit. */
static uint32_t limit_segments(uint32_t more)
{
    struct segments now = segments_now(), cut;
    do {
        cut = (struct segments){now.next, now.next + more};
        if (cut.limit >= now.limit)
            return now.limit;
    } while (!segments_change(&now, cut));
    return cut.limit;
}

static void set_limit(uint32_t limit)
{
    struct segments now = segments_now();
    while (!segments_change(&now, (struct segments){now.next, limit}))
        ;
}

static void ask_usage(struct iot_file_header *h)
{
    struct iot_usage usage;
    struct iot_called called;
    size_t own = iot_image_usage(&usage, &called);
    if (!own)
        return;
    h->usage_end = usage;
    h->own_read_bytes += own;
    h->called_end = (struct iot_called){called.read_bytes + own, called.write_bytes};
}

void iot_process_end(struct iot_thread *t, enum iot_end how)
{
    struct iot_file_header *h = iot_process->file;
    iot_flush(t);
    iot_thread_trim(t);
    ask_usage(h);
    h->last = iot_anchor_now();
    __atomic_store_n(&h->end, how, __ATOMIC_RELEASE);
    struct segments before = segments_now();
    uint32_t kept = limit_segments(SPARE_SEGMENTS);
    if (kept < before.limit &&
        failed(iot_sys(SYS_truncate, file_path, (uint64_t)kept * IOT_SEGMENT_BYTES)))
        set_limit(before.limit);
}

void iot_process_goes_on(void)
{
    iot_process->file->end = IOT_END_OPEN;
    grow(segments_now().limit);
}

void iot_process_fit(uint64_t bytes)
{
    uint64_t most = (UINT32_MAX / 2);
    uint32_t more = (uint32_t)(bytes / IOT_SEGMENT_BYTES < most ? bytes / IOT_SEGMENT_BYTES : most);
    if (more < SPARE_SEGMENTS)
        more = SPARE_SEGMENTS;
    uint64_t signals = resize_begin();
    limit_segments(more);
    struct segments now = segments_now();
    uint64_t kept = (uint64_t)now.next + more;
    if (kept < now.limit)
        kept = now.limit;
    kept *= IOT_SEGMENT_BYTES;
    if (kept < mapped_bytes) {
        iot_sys(SYS_munmap, (uint8_t *)iot_process->file + kept, mapped_bytes - kept);
        mapped_bytes = kept;
    }
    resize_end(signals);
}

/* The filter stays for the children too, so they inherit the state and get no file. */
static uint32_t limit_before_confinement;

void iot_process_confine(struct iot_thread *t)
{
    struct iot_file_header *h = iot_process->file;
    iot_descriptors_adopt(t);
    ask_usage(h);
    struct segments now = segments_now();
    uint32_t limit = limit_segments(CONFINED_SEGMENTS);
    limit_before_confinement = now.limit;
    int unready = iot_pages_ready((uint8_t *)h + (size_t)now.next * IOT_SEGMENT_BYTES,
                                  (size_t)(limit - now.next) * IOT_SEGMENT_BYTES) ||
                  iot_record_prepare();
    iot_confined = unready ? IOT_CONFINED_WITHOUT_ROOM : IOT_CONFINED;
}

void iot_process_free(void)
{
    iot_confined = IOT_FREE;
    set_limit(limit_before_confinement);
}
