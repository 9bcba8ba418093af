#include "analyzer/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 256 };
#define CGROUPS "/sys/fs/cgroup"

static unsigned sharers = 1;

void iot_memory_share(unsigned processes)
{
    sharers = processes ? processes : 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t of_system(void)
{
    char line[LINE_BYTES];
    uint64_t kib = UINT64_MAX >> 10;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib << 10;
}

/* The number in a file of a group; UINT64_MAX: it says "max", or there is none. */
static uint64_t number_in(const char *group, const char *name)
{
    char path[PATH_BYTES + 64];
    uint64_t n = UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%" SCNu64, &n) != 1)
        n = UINT64_MAX;
    if (f)
        fclose(f);
    return n;
}

/* Its own group's, and those of the groups that one lies in. */
static uint64_t of_groups(void)
{
    char group[PATH_BYTES] = CGROUPS, line[PATH_BYTES - sizeof CGROUPS];
    uint64_t most = UINT64_MAX;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "0::/", 4))
            snprintf(group, sizeof group, CGROUPS "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (f)
        fclose(f);
    for (;;) {
        uint64_t limit = number_in(group, "memory.max"), used = number_in(group, "memory.current");
        if (limit != UINT64_MAX && used != UINT64_MAX)
            most = least(most, limit > used ? limit - used : 0);
        char *last = strrchr(group, '/');
        if (!last || strlen(group) <= strlen(CGROUPS))
            return most;
        *last = '\0';
    }
}

static uint64_t of_address_space(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_AS, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

uint64_t iot_memory_available(void)
{
    return least(least(of_system(), of_groups()) / sharers, of_address_space());
}
