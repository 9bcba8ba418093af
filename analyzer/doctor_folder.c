/* The folder of the trace: whether files can be made, mapped and filled there as the recorder does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "analyzer/doctor.h"
#include "analyzer/people.h"
#include "format/file.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Below LEAST nothing fits; below FEW a long run may not. */
#define LEAST_BYTES (INT64_C(1) << 20)
#define FEW_BYTES (INT64_C(256) << 20)

static const char to_local[] = "set IOTRACE_DIR to a folder on a local disk";

static const struct {
    uint32_t magic;                   /* statfs's f_type */
    const char *name, *what, *action; /* `what` is NULL where there is nothing to say */
} systems[] = {
    {EXT4_SUPER_MAGIC, "ext4", NULL, NULL},
    {XFS_SUPER_MAGIC, "xfs", NULL, NULL},
    {BTRFS_SUPER_MAGIC, "btrfs", NULL, NULL},
    {0x2fc12fc1, "zfs", NULL, NULL},
    {TMPFS_MAGIC, "tmpfs", "the trace takes memory, and is gone after a restart", to_local},
    {RAMFS_MAGIC, "ramfs", "the trace takes memory, and is gone after a restart", to_local},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs", "in a container the trace goes when the container does",
     "set IOTRACE_DIR to a mounted volume"},
    {NFS_SUPER_MAGIC, "nfs", "writing the trace loads the network, beside what is measured",
     to_local},
    {SMB_SUPER_MAGIC, "smb", "writing the trace loads the network, beside what is measured",
     to_local},
    {SMB2_SUPER_MAGIC, "smb", "writing the trace loads the network, beside what is measured",
     to_local},
    {CEPH_SUPER_MAGIC, "ceph", "writing the trace loads the network, beside what is measured",
     to_local},
    {0x0bd00bd0, "lustre", "writing the trace loads the network, beside what is measured",
     to_local},
    {0x47504653, "gpfs", "writing the trace loads the network, beside what is measured", to_local},
    {V9FS_MAGIC, "9p", "shared mappings may be refused or slow", to_local},
    {FUSE_SUPER_MAGIC, "fuse", "shared mappings may be refused or slow", to_local},
};

/* The nearest folder of those in `wanted` that is there: the others are made. */
static int existing(const char *wanted, char path[PATH_MAX])
{
    struct stat st;
    int n = snprintf(path, PATH_MAX, "%s", wanted);
    if (n >= PATH_MAX)
        return -1;
    while (stat(path, &st)) {
        char *slash = strrchr(path, '/');
        if (!strcmp(path, ".") || !strcmp(path, "/"))
            return -1;
        if (!slash)
            strcpy(path, ".");
        else if (slash == path)
            strcpy(path, "/");
        else
            *slash = '\0';
    }
    return S_ISDIR(st.st_mode) ? 0 : -1;
}

static void tell_system(struct iot_doctor *d, const char *path)
{
    struct statfs fs;
    if (statfs(path, &fs))
        return;
    int64_t free_bytes = (int64_t)fs.f_bavail * fs.f_bsize;
    struct iot_words words = iot_people_bytes(free_bytes);
    const char *name = "a file system that is not known here", *what = NULL, *action = NULL;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (systems[i].magic == (uint32_t)fs.f_type) {
            name = systems[i].name;
            what = systems[i].what;
            action = systems[i].action;
        }
    iot_doctor_add(d, what ? IOT_LEVEL_NOTE : IOT_LEVEL_OK, action, "%s is on %s%s%s", path, name,
                   what ? ": " : "", what ? what : "");
    if (free_bytes < FEW_BYTES)
        iot_doctor_add(d, free_bytes < LEAST_BYTES ? IOT_LEVEL_BAD : IOT_LEVEL_NOTE,
                       "set IOTRACE_DIR to a folder with more room",
                       "%s is free there; when it is full, events are counted as dropped, and the "
                       "program goes on",
                       words.text);
    else
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "%s is free there", words.text);
}

static void try_mapping(struct iot_doctor *d, int fd)
{
    enum { BYTES = 2 * IOT_SEGMENT_BYTES };
    void *at = ftruncate(fd, BYTES)
                   ? MAP_FAILED
                   : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED) {
        iot_doctor_add(d, IOT_LEVEL_BAD, to_local,
                       "files there cannot be mapped and shared: %s: nothing is recorded",
                       strerror(errno));
        return;
    }
    int populated = !madvise(at, IOT_SEGMENT_BYTES, MADV_POPULATE_WRITE);
    int why = errno;
    int removed = !madvise(at, IOT_SEGMENT_BYTES, MADV_REMOVE);
    munmap(at, BYTES);
    if (!populated && why == EINVAL)
        iot_doctor_add(
            d, IOT_LEVEL_NOTE, "see that there is room, or use Linux 5.14 or newer",
            "pages cannot be made ready (MADV_POPULATE_WRITE): where the disk gets full, "
            "the program dies with SIGBUS");
    else if (!populated)
        iot_doctor_add(d, IOT_LEVEL_BAD, to_local,
                       "pages of files there cannot be made ready: %s: nothing is recorded",
                       strerror(why));
    if (!removed)
        iot_doctor_add(d, IOT_LEVEL_NOTE, to_local,
                       "holes cannot be made in files there (MADV_REMOVE): traces are larger than "
                       "need be");
    if (populated && removed)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "files there can be mapped, filled and cut");
}

void iot_doctor_folder(struct iot_doctor *d)
{
    const char *wanted = getenv("IOTRACE_DIR");
    char path[PATH_MAX], name[PATH_MAX + 32];

    if (!wanted || !*wanted)
        wanted = ".";
    if (existing(wanted, path)) {
        iot_doctor_add(d, IOT_LEVEL_BAD, "set IOTRACE_DIR to a folder, or to one that can be made",
                       "%s: is no folder, or its path is too long", wanted);
        return;
    }
    snprintf(name, sizeof name, "%s/.iotrace-doctor-XXXXXX", path);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        iot_doctor_add(d, IOT_LEVEL_BAD, "set IOTRACE_DIR to a folder that can be written to",
                       "%s: no file can be made there: %s", path, strerror(errno));
        return;
    }
    unlink(name);
    tell_system(d, path);
    try_mapping(d, fd);
    close(fd);
}
