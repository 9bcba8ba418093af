#include "analyzer/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, ERROR_BYTES = 512 };

static int is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static int find_in_path(const char *name, char path[PATH_BYTES])
{
    const char *at = getenv("PATH");
    if (!at)
        at = "/bin:/usr/bin";
    for (;; at++) {
        size_t n = strcspn(at, ":");
        int length = snprintf(path, PATH_BYTES, "%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
        if (length < PATH_BYTES && is_program(path))
            return 0;
        at += n;
        if (!*at)
            return -1;
    }
}

/* The interpreter behind "#!", in place of the script. Returns 1 if there is one. */
static int interpreter_of(int fd, char path[PATH_BYTES])
{
    char line[256];
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return 0;
    line[n] = '\0';
    char *start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t\n")] = '\0';
    if (!*start)
        return 0;
    snprintf(path, PATH_BYTES, "%s", start);
    return 1;
}

static int has_interpreter_segment(int fd, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);
        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            return 0;
        if (segment.p_type == PT_INTERP)
            return 1;
    }
    return 0;
}

static const char *why_untraceable(int fd)
{
    struct stat st;
    Elf64_Ehdr header;

    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG))
        return NULL; /* no ELF file: the kernel or the shell says what it thinks of it */
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return "a 32-bit program";
    if (!has_interpreter_segment(fd, &header))
        return "a static program";
    if (!fstat(fd, &st) && st.st_mode & (S_ISUID | S_ISGID) && st.st_uid != geteuid())
        return "a set-user-id program";
    return NULL;
}

static const char *examine(const char *program)
{
    char path[PATH_BYTES];
    const char *why = NULL;
    snprintf(path, sizeof path, "%s", program);
    for (int depth = 0; depth < 4; depth++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return NULL; /* may be executed and not read */
        int script = interpreter_of(fd, path);
        if (!script)
            why = why_untraceable(fd);
        close(fd);
        if (!script)
            return why;
    }
    return NULL;
}

int iot_program_find(struct iot_program *program, const char *name, char error[512])
{
    struct stat st;
    if (strchr(name, '/')) {
        if (stat(name, &st)) {
            snprintf(error, ERROR_BYTES, "run: %s: %s", name, strerror(errno));
            return -1;
        }
        if (!is_program(name)) {
            snprintf(error, ERROR_BYTES, "run: %s: not a file that may be executed", name);
            return -1;
        }
        snprintf(program->path, sizeof program->path, "%s", name);
    } else if (!*name || find_in_path(name, program->path)) {
        snprintf(error, ERROR_BYTES, "run: '%s' is not in the folders of PATH", name);
        return -1;
    }
    program->untraceable = examine(program->path);
    return 0;
}

/* --- the library --- */

/* Relative to the folder of the command: build tree, then installed. IOT_LIBDIR is relative to
 * the prefix, whose bin/ holds the command. */
static const char *const places[] = {
    "../preload/libiotrace.so",
    "../" IOT_LIBDIR "/libiotrace.so",
};

static int is_usable(const char *path, char error[512])
{
    if (access(path, R_OK)) {
        snprintf(error, ERROR_BYTES, "%s: %s; LIBIOTRACE can name another libiotrace.so", path,
                 strerror(errno));
        return -1;
    }
    if (strpbrk(path, " :")) {
        snprintf(error, ERROR_BYTES,
                 "%s: a path with a blank or a colon cannot stand in LD_PRELOAD; move it, or name "
                 "another with LIBIOTRACE",
                 path);
        return -1;
    }
    return 0;
}

int iot_library_find(char path[4096], char error[512])
{
    const char *given = getenv("LIBIOTRACE");
    char self[PATH_BYTES], *whole;

    if (given && *given) {
        if (!(whole = realpath(given, NULL))) {
            snprintf(error, ERROR_BYTES, "LIBIOTRACE is %s: %s", given, strerror(errno));
            return -1;
        }
        snprintf(path, PATH_BYTES, "%s", whole);
        free(whole);
        return is_usable(path, error);
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char candidate[2 * PATH_BYTES];
        snprintf(candidate, sizeof candidate, "%s/%s", folder, places[i]);
        if (!(whole = realpath(candidate, NULL)))
            continue;
        snprintf(path, PATH_BYTES, "%s", whole);
        free(whole);
        return is_usable(path, error);
    }
    snprintf(error, ERROR_BYTES,
             "libiotrace.so is neither in %s/../preload nor in %s/../%s; LIBIOTRACE can name it",
             folder, folder, IOT_LIBDIR);
    return -1;
}
