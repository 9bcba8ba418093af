/* Resource limits that make a trace smaller, or none. */
#include <sys/resource.h>

#include "analyzer/doctor.h"
#include "analyzer/people.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* The recorder makes a sparse file of 4 GiB for each process and maps 256, or halves of these down
 * to 1 MiB. */
static const struct {
    int resource;
    uint64_t least, wanted; /* below these: nothing, less */
    bool is_bytes;
    const char *name, *what, *action;
} limits[] = {
    {RLIMIT_FSIZE, MIB, 4 * GIB, true, "file size (RLIMIT_FSIZE)",
     "the trace of a process cannot be larger; what does not fit is counted as dropped",
     "ulimit -f unlimited"},
    {RLIMIT_AS, 64 * MIB, 64 * GIB, true, "address space (RLIMIT_AS)",
     "the trace's file takes a sixteenth of it, and cannot be larger",
     "ulimit -v unlimited"},
    {RLIMIT_DATA, 32 * MIB, 64 * MIB, true, "data (RLIMIT_DATA)",
     "each process needs 24 MB of it, though it uses little", "ulimit -d unlimited"},
    {RLIMIT_NOFILE, 4, 16, false, "descriptors (RLIMIT_NOFILE)",
     "each process needs one for a moment at its start", "ulimit -n 1024"},
};

void iot_doctor_limits(struct iot_doctor *d)
{
    size_t before = d->n;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i].resource, &limit) ||
            limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= limits[i].wanted)
            continue;
        iot_doctor_add(d, limit.rlim_cur < limits[i].least ? IOT_LEVEL_BAD : IOT_LEVEL_NOTE,
                       limits[i].action, "%s is limited to %s: %s", limits[i].name,
                       limits[i].is_bytes ? iot_people_bytes((int64_t)limit.rlim_cur).text
                                          : iot_people_count((int64_t)limit.rlim_cur).text,
                       limits[i].what);
    }
    if (d->n == before)
        iot_doctor_add(
            d, IOT_LEVEL_OK, NULL,
            "none of file size, address space, data and descriptors is in the way; locked "
            "memory is not used");
}
