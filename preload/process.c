#include "preload/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "format/checksum.h"
#include "preload/image.h"
#include "preload/sys.h"
#include "preload/text.h"

struct iot_process *iot_process;

static char file_path[IOT_PATH_BYTES];
static uint64_t file_bytes;     /* as made: sparse */
static uint32_t image_generation; /* not wiped by fork: the next one is always new */

enum { SPARE_SEGMENTS = 1 };
#define FILE_BYTES_MAX (UINT64_C(4) << 30)
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
    uintptr_t first = (uintptr_t)from / PAGE * PAGE;
    uintptr_t last = ((uintptr_t)from + bytes + PAGE - 1) / PAGE * PAGE;
    long r = iot_sys(SYS_madvise, first, last - first, MADV_POPULATE_WRITE);
    /* A kernel before 5.14 does not know it: there a full disk is not noticed in time. */
    return r == 0 || r == -EINVAL ? 0 : -1;
}

/* The segments handed out and their limit are one word, so that cutting the file at an exit and another
 * thread taking a segment at that moment do not miss each other. */
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

void *iot_segment_take(uint32_t kind, uint32_t slot, size_t bytes)
{
    struct segments now = segments_now();
    do {
        if (now.next >= now.limit)
            return NULL;
    } while (!segments_change(&now, (struct segments){now.next + 1, now.limit}));
    uint8_t *at = (uint8_t *)iot_process->file + (size_t)now.next * IOT_SEGMENT_BYTES;
    if (iot_pages_ready(at, bytes)) {
        struct segments taken = {now.next + 1, now.limit};
        segments_change(&taken, now); /* unless another was taken behind it */
        return NULL;
    }
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

/* Maps the whole of a sparse file, so that no descriptor is needed ever after. Smaller where limits on
 * file size or address space want it so. */
static struct iot_file_header *make_file(void)
{
    long fd = iot_sys(SYS_openat, AT_FDCWD, file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (failed(fd))
        return NULL;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    iot_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit);
    long at = -1;
    for (file_bytes = FILE_BYTES_MAX; file_bytes >= FILE_BYTES_MIN; file_bytes /= 2) {
        if (file_bytes > limit.rlim_cur || failed(iot_sys(SYS_ftruncate, fd, file_bytes)))
            continue;
        at = iot_sys(SYS_mmap, 0, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                     fd, 0);
        if (!failed(at))
            break;
    }
    iot_sys(SYS_close, fd);
    if (failed(at)) {
        iot_sys(SYS_unlinkat, AT_FDCWD, file_path, 0);
        return NULL;
    }
    iot_sys(SYS_madvise, at, file_bytes, MADV_RANDOM); /* there is nothing to read ahead */
    iot_sys(SYS_madvise, at, file_bytes, MADV_DONTFORK);
    iot_sys(SYS_madvise, at, file_bytes, MADV_DONTDUMP);
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
    struct iot_file_header *h = make_file();
    if (!h || iot_pages_ready(h, IOT_HEADER_BYTES + iot_image.facts_bytes)) {
        if (h) {
            iot_sys(SYS_munmap, h, file_bytes);
            iot_sys(SYS_unlinkat, AT_FDCWD, file_path, 0);
        }
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
    iot_image_usage(&h->usage_start);
    memcpy(h->boot_id, iot_image.boot_id, sizeof h->boot_id);
    memcpy((char *)h + IOT_HEADER_BYTES, iot_image.facts, iot_image.facts_bytes);
    h->next_segment = 1;
    h->segment_limit = (uint32_t)(file_bytes / IOT_SEGMENT_BYTES);
    h->last = start;
    h->checksum = iot_header_checksum(h);

    p->file = h;
    p->pid = pid;
    uint32_t generation = ++image_generation;
    __atomic_store_n(&p->generation, generation, __ATOMIC_RELEASE);
    return 0;
}

void iot_process_end(struct iot_thread *t, enum iot_end how)
{
    struct iot_file_header *h = iot_process->file;
    iot_flush(t);
    iot_thread_trim(t);
    iot_image_usage(&h->usage_end);
    h->last = iot_anchor_now();
    __atomic_store_n(&h->end, how, __ATOMIC_RELEASE);
    struct segments now = segments_now(), cut;
    do {
        cut = (struct segments){now.next, now.next + SPARE_SEGMENTS};
        if (cut.limit >= now.limit)
            return;
    } while (!segments_change(&now, cut));
    iot_sys(SYS_truncate, file_path, (uint64_t)cut.limit * IOT_SEGMENT_BYTES);
}

void iot_process_goes_on(void)
{
    struct iot_file_header *h = iot_process->file;
    h->end = IOT_END_OPEN;
    if (iot_sys(SYS_truncate, file_path, file_bytes))
        return;
    struct segments now = segments_now();
    while (!segments_change(
        &now, (struct segments){now.next, (uint32_t)(file_bytes / IOT_SEGMENT_BYTES)}))
        ;
}
