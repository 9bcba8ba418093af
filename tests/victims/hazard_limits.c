/* limits FOLDER WAY: what a program may take away from itself, and what it then still does. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/victims/hazard.h"

enum { CALLS = 5000, MIB = 1 << 20 };

static const char *folder;

static void limit(__rlimit_resource_t which, rlim_t to)
{
    struct rlimit both = {to, to};
    CHECK(setrlimit(which, &both) == 0);
}

/* What fits into the limit without a tracer fits with one. */
static void address_space(void)
{
    limit(RLIMIT_AS, 512 * MIB);
    for (int i = 0; i < 40; i++) {
        char *p = malloc(10 * MIB);
        CHECK(p);
        p[0] = 1;
    }
}

static void locked(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
        dprintf(2, "mlockall: errno %d\n", errno);
        return;
    }
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        sscanf(line, "VmLck: %ld", &kib);
    fclose(f);
    CHECK(kib >= 0 && kib < 128 * 1024);
}

static void other_user(void)
{
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
}

static void other_root(void)
{
    char empty[4096];
    snprintf(empty, sizeof empty, "%s/root", folder);
    CHECK(mkdir(empty, 0755) == 0);
    CHECK(chroot(empty) == 0 && chdir("/") == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    folder = argv[1];
    const char *way = argv[2];
    int fd = open_in(folder, "data");
    if (strcmp(way, "as") == 0)
        address_space();
    else if (strcmp(way, "data") == 0)
        limit(RLIMIT_DATA, 1 * MIB);
    else if (strcmp(way, "nofile") == 0)
        limit(RLIMIT_NOFILE, 3);
    else if (strcmp(way, "fsize") == 0)
        limit(RLIMIT_FSIZE, 64 * 1024);
    else if (strcmp(way, "mlockall") == 0)
        locked();
    else if (strcmp(way, "setuid") == 0)
        other_user();
    else if (strcmp(way, "chroot") == 0)
        other_root();
    else if (strcmp(way, "none") != 0)
        return 2;
    write_to(fd, CALLS);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        write_to(fd, CALLS);
        _exit(0);
    }
    ended_well(pid);
    CHECK(execl("/nowhere/at/all", "no", (char *)NULL) == -1);
    write_to(fd, CALLS);
    /* Where no file can be made any more, there is none for the child. */
    did("at_least:write", "data",
        (strcmp(way, "none") && strcmp(way, "as") && strcmp(way, "data") ? 2 : 3) * CALLS);
    did("at_most:write", "data", 3 * CALLS);
    return 0;
}
