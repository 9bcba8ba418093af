/* The kernel: what the recorder needs of it, and what makes reports better. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/doctor.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { CACHESTAT = 451, PAGE = 4096 };

static void check_wipe_on_fork(struct iot_doctor *d, const char *release)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && !madvise(page, PAGE, MADV_WIPEONFORK))
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "Linux %s", release);
    else
        iot_doctor_add(
            d, IOT_LEVEL_BAD, "use Linux 4.14 or newer",
            "Linux %s does not wipe pages on fork (MADV_WIPEONFORK): nothing is recorded", release);
    if (page != MAP_FAILED)
        munmap(page, PAGE);
}

static bool has_cachestat(int fd)
{
    uint64_t range[2] = {0, PAGE}, counts[5];
    return !syscall(CACHESTAT, fd, range, counts, 0);
}

static bool has_mincore(int fd)
{
    unsigned char resident;
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    bool has = page != MAP_FAILED && !mincore(page, PAGE, &resident);
    if (page != MAP_FAILED)
        munmap(page, PAGE);
    return has;
}

/* Asked of a file that is there. */
static void check_page_cache(struct iot_doctor *d)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (has_cachestat(fd))
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "the page cache tells what is warm: cachestat");
    else if (has_mincore(fd))
        iot_doctor_add(d, IOT_LEVEL_OK, NULL,
                       "the page cache tells what is warm: mincore (cachestat: %s)",
                       strerror(errno));
    else
        iot_doctor_add(d, IOT_LEVEL_NOTE, "Linux 6.5 has cachestat; a seccomp filter may forbid it",
                       "neither cachestat nor mincore: what was warm and what cold is not known");
    if (fd >= 0)
        close(fd);
}

static void check_seccomp(struct iot_doctor *d)
{
    char text[4096];
    iot_doctor_read("/proc/self/status", text, sizeof text);
    const char *at = strstr(text, "\nSeccomp:");
    long mode = at ? strtol(at + strlen("\nSeccomp:"), NULL, 10) : 0;
    if (mode)
        iot_doctor_add(d, IOT_LEVEL_NOTE,
                       "if the trial above left a trace it does no harm; else allow madvise, "
                       "mmap, ftruncate, prlimit64 and openat",
                       "a seccomp filter decides which system calls go through (mode %ld)", mode);
}

static void check_proc(struct iot_doctor *d)
{
    char text[512];
    if (!iot_doctor_read("/proc/self/maps", text, sizeof text))
        iot_doctor_add(d, IOT_LEVEL_NOTE, "mount proc on /proc",
                       "/proc is not there: programs, mounts and descriptors have no names");
    else if (!iot_doctor_read("/proc/self/io", text, sizeof text))
        iot_doctor_add(d, IOT_LEVEL_NOTE, "a kernel with CONFIG_TASK_IO_ACCOUNTING has it",
                       "/proc/self/io cannot be read: bytes of the storage are not known");
    else
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "/proc/self/io tells the bytes of the storage");
}

void iot_doctor_kernel(struct iot_doctor *d)
{
    struct utsname u = {0};
    uname(&u);
    check_wipe_on_fork(d, u.release);
    check_page_cache(d);
    check_proc(d);
    check_seccomp(d);
}
