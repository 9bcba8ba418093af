/* The library: where it is, and whether it works, tried on a program that does nothing. */
#include <dirent.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/doctor.h"
#include "analyzer/library.h"
#include "format/file.h"

enum { LIMIT_MS = 10000, PATH_BYTES = 4096 };

/* --- a folder that is gone afterwards --- */

static int make_folder(char path[PATH_BYTES])
{
    const char *place = getenv("TMPDIR");
    int n =
        snprintf(path, PATH_BYTES, "%s/iotrace-doctor-XXXXXX", place && *place ? place : "/tmp");
    return n < PATH_BYTES && mkdtemp(path) ? 0 : -1;
}

/* With what it holds; it has no folders in it. */
static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(path);
}

/* The clock of the first trace file; 0 if there is none. */
static uint32_t clock_of_trace(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    uint32_t clock = 0;
    while (dir && (entry = readdir(dir))) {
        struct iot_file_header h;
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
            !memcmp(h.magic, IOT_FILE_MAGIC, sizeof h.magic))
            clock = h.clock;
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
    return clock;
}

/* --- the trials --- */

/* The first line of what was printed that is not empty. */
static const char *first_line(char *text)
{
    text += strspn(text, "\n");
    text[strcspn(text, "\n")] = '\0';
    return *text ? text : "it said nothing";
}

static char *preload_of(const struct iot_doctor *d)
{
    char *text;
    return asprintf(&text, "LD_PRELOAD=%s", d->library) < 0 ? NULL : text;
}

/* A trace of nothing. */
static void try_tracing(struct iot_doctor *d, const char *folder)
{
    char path[PATH_BYTES], out[1024], self[] = "/proc/self/exe", version[] = "--version";
    char into[PATH_BYTES + 16], fresh[] = "IOTRACE_RUN"; /* without a value: it is unset */
    char *preload = preload_of(d);
    /* Everybody has `true`; else ourselves. */
    int found = !iot_program_in_path("true", path);
    char *argv[] = {found ? path : self, found ? NULL : version, NULL};
    char *set[] = {preload, into, fresh, NULL};

    snprintf(into, sizeof into, "IOTRACE_DIR=%s", folder);
    int status = preload ? iot_doctor_run(argv, set, LIMIT_MS, out, sizeof out) : -1;
    free(preload);
    d->clock = clock_of_trace(folder);
    if (status == 0 && d->clock)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "a trial on %s left a trace", argv[0]);
    else if (status == 0)
        iot_doctor_add(d, IOT_LEVEL_BAD, "see the lines below: kernel, limits, folder",
                       "a trial on %s left no trace in %s: %s", argv[0], folder, first_line(out));
    else
        iot_doctor_add(d, IOT_LEVEL_BAD, "build or install the library anew",
                       "%s does not run with the library: %s", argv[0],
                       status == -1 ? "it took too long" : first_line(out));
}

/* The command's own loader lists what it would load; the command itself does not run. */
static void try_loading(struct iot_doctor *d)
{
    struct iot_program *p = &d->program;
    const char *slash = strrchr(p->elf.interpreter, '/');
    char out[16 * 1024], list[] = "--list", *preload = preload_of(d);
    char *argv[] = {p->elf.interpreter, list, p->binary, NULL};
    char *set[] = {preload, NULL};

    if (!slash || strncmp(slash, "/ld-linux", 9)) {
        iot_doctor_add(d, IOT_LEVEL_NOTE, "trace it and see whether a trace comes",
                       "its loader %s is not the one of glibc, and was not tried",
                       p->elf.interpreter);
        free(preload);
        return;
    }
    int status = preload ? iot_doctor_run(argv, set, LIMIT_MS, out, sizeof out) : -1;
    free(preload);
    const char *missing = strstr(out, " => not found");
    if (missing && !strstr(out, "cannot be preloaded")) {
        const char *start = missing;
        while (start > out && start[-1] != '\n' && start[-1] != '\t')
            start--;
        iot_doctor_add(d, IOT_LEVEL_NOTE, "set LD_LIBRARY_PATH, if the command does not do so",
                       "%s needs %.*s, which is not found", p->binary, (int)(missing - start),
                       start);
    } else if (status == 0 && strstr(out, "libiotrace") && !strstr(out, "cannot be preloaded")) {
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "its loader %s takes it", p->elf.interpreter);
    } else {
        iot_doctor_add(d, IOT_LEVEL_BAD, "build the library for the libc that the command uses",
                       "%s of the command does not take it: %s", p->elf.interpreter,
                       first_line(out));
    }
}

static int is_for_this_machine(struct iot_doctor *d)
{
    struct iot_elf elf = {0};
    int fd = open(d->library, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        iot_elf_read(fd, &elf);
        close(fd);
    }
    if (!elf.is_elf || elf.damage || elf.machine != iot_elf_machine_here()) {
        iot_doctor_add(d, IOT_LEVEL_BAD, "build or install it anew", "%s: %s", d->library,
                       elf.damage ? elf.damage : "no library for this processor");
        return 0;
    }
    iot_doctor_add(d, IOT_LEVEL_OK, NULL, "%s: needs glibc 2.%u or newer; this system has %s",
                   d->library, elf.glibc_minor, gnu_get_libc_version());
    return 1;
}

void iot_doctor_library(struct iot_doctor *d)
{
    const char *other = getenv("LD_PRELOAD");
    char error[512], folder[PATH_BYTES];

    if (iot_library_find(d->library, error)) {
        d->library[0] = '\0';
        iot_doctor_add(d, IOT_LEVEL_BAD, NULL, "%s", error);
        return;
    }
    if (!is_for_this_machine(d))
        return;
    if (make_folder(folder)) {
        iot_doctor_add(d, IOT_LEVEL_NOTE, "set TMPDIR to a folder that can be written to",
                       "no temporary folder can be made, so that nothing was tried");
    } else {
        try_tracing(d, folder);
        remove_folder(folder);
    }
    if (d->program_found)
        try_loading(d);
    if (other && *other)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL,
                       "LD_PRELOAD is set: 'iotrace run' keeps %s, behind the library", other);
}
