#include "analyzer/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, ERROR_BYTES = 512, LINE_BYTES = 256 };

/* As many scripts as the kernel follows. */
enum { SCRIPTS_MAX = 5 };

static const char shell[] = "/bin/sh";

/* --- why a program cannot be traced --- */

static int is_damaged(const struct iot_program *p)
{
    return p->elf.damage != NULL;
}

static int is_narrow(const struct iot_program *p)
{
    return p->elf.class_ == ELFCLASS32;
}

static int is_foreign(const struct iot_program *p)
{
    return p->elf.machine != iot_elf_machine_here() || p->elf.data != ELFDATA2LSB;
}

static int is_no_program(const struct iot_program *p)
{
    return p->elf.type != ET_EXEC && p->elf.type != ET_DYN;
}

/* The loader is static itself, and preloads into what it is told to start. */
static int is_loader(const struct iot_program *p)
{
    return !strncmp(p->elf.soname, "ld-linux", 8);
}

static int is_static(const struct iot_program *p)
{
    return !*p->elf.interpreter && !is_loader(p);
}

static int is_static_go(const struct iot_program *p)
{
    return is_static(p) && p->elf.go;
}

static int is_library(const struct iot_program *p)
{
    return is_static(p) && p->elf.type == ET_DYN && *p->elf.soname;
}

static int is_static_pie(const struct iot_program *p)
{
    return is_static(p) && p->elf.type == ET_DYN;
}

static int is_go(const struct iot_program *p)
{
    return p->elf.go;
}

static int is_musl(const struct iot_program *p)
{
    return p->elf.needs_musl || !strncmp(basename(p->elf.interpreter), "ld-musl", 7);
}

/* Whether execution may change who we are at all. */
static int may_gain_rights(const struct iot_program *p)
{
    struct statvfs fs;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
           (statvfs(p->binary, &fs) || !(fs.f_flag & ST_NOSUID));
}

static int is_set_id(const struct iot_program *p)
{
    struct stat st;
    if (stat(p->binary, &st) || !may_gain_rights(p))
        return 0;
    return (st.st_mode & S_ISUID && st.st_uid != getuid()) ||
           ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st.st_gid != getgid());
}

static int has_capabilities(const struct iot_program *p)
{
    return getuid() && may_gain_rights(p) &&
           getxattr(p->binary, "security.capability", NULL, 0) > 0;
}

static int wants_sanitizer_first(const struct iot_program *p)
{
    const char *options = getenv("ASAN_OPTIONS");
    return (!strncmp(p->elf.sanitizer, "libasan.", 8) ||
            !strncmp(p->elf.sanitizer, "libclang_rt.asan", 16)) &&
           !(options && strstr(options, "verify_asan_link_order=0"));
}

/* The first row that holds is the one that is told. */
static const struct {
    int (*holds)(const struct iot_program *);
    bool outside; /* it shows from outside: of a file that cannot be read as well */
    struct iot_obstacle obstacle;
} obstacles[] = {
    {is_damaged, false, {"a damaged ELF file", "it cannot be started", "build or copy it anew"}},
    {is_narrow,
     false,
     {"a 32-bit program", "a 64-bit library cannot be loaded into it",
      "build it for 64 bits; other processes of the run are traced"}},
    {is_foreign,
     false,
     {"a program for another processor", "the library cannot be loaded into it",
      "trace it on such a machine"}},
    {is_no_program,
     false,
     {"an ELF file, but no program", "it cannot be started", "name the program that it is for"}},
    {is_library,
     false,
     {"a shared library", "it cannot be started", "name the program that loads it"}},
    {is_static_go,
     false,
     {"a static Go program", "it ignores a preload library, and makes system calls of its own",
      "there is no way to preload into it; trace the processes around it"}},
    {is_static_pie,
     false,
     {"a static program (static-pie)", "it ignores a preload library",
      "link it without -static-pie"}},
    {is_static,
     false,
     {"a static program", "it ignores a preload library", "link it without -static"}},
    {is_musl,
     false,
     {"a program for musl", "it dies with \"Error relocating\" if the library is preloaded",
      "build it for glibc, or use an image that has glibc"}},
    {is_set_id,
     true,
     {"a set-user-id program", "it ignores a preload library",
      "run it as the user and group that own it, for whom it gains no rights"}},
    {has_capabilities,
     true,
     {"a program with file capabilities", "it ignores a preload library",
      "run it as root, or a copy of it without capabilities"}},
    {is_go,
     false,
     {"a Go program", "its I/O is system calls of its own, which a preload library does not see",
      "trace the processes around it"}},
    {wants_sanitizer_first,
     false,
     {"built with AddressSanitizer", "it refuses to start where its run-time does not come first",
      "set ASAN_OPTIONS=verify_asan_link_order=0, or LD_PRELOAD=\"libasan.so:libiotrace.so\""}},
};

static const struct iot_obstacle not_executable = {"neither an ELF file nor a script",
                                                   "it cannot be started", "name a program"};

static const struct iot_obstacle *obstacle_of(const struct iot_program *p)
{
    for (size_t i = 0; i < sizeof obstacles / sizeof *obstacles; i++)
        if ((p->elf.is_elf || obstacles[i].outside) && obstacles[i].holds(p))
            return &obstacles[i].obstacle;
    return NULL;
}

/* --- finding it --- */

static int is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int iot_program_in_path(const char *name, char path[PATH_BYTES])
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

static int find_path(struct iot_program *program, const char *name, char *error)
{
    struct stat st;
    if (!strchr(name, '/')) {
        if (*name && !iot_program_in_path(name, program->path))
            return 0;
        snprintf(error, ERROR_BYTES, "'%s' is not in the folders of PATH", name);
        return -1;
    }
    if (stat(name, &st)) {
        snprintf(error, ERROR_BYTES, "%s: %s", name, strerror(errno));
        return -1;
    }
    if (!is_program(name) || strlen(name) >= sizeof program->path) {
        snprintf(error, ERROR_BYTES, "%s: not a file that may be executed", name);
        return -1;
    }
    strcpy(program->path, name);
    return 0;
}

/* The next word of a line, which it cuts; NULL at the line's end. */
static char *word(char **line)
{
    char *start = *line + strspn(*line, " \t");
    char *end = start + strcspn(start, " \t");
    *line = end + (*end != '\0');
    *end = '\0';
    return *start ? start : NULL;
}

/* What `env` is told to start: behind options and assignments. */
static char *started_by_env(char *line)
{
    char *w;
    while ((w = word(&line)))
        if (*w != '-' && !strchr(w, '='))
            break;
    return w;
}

static int is_env(const char *path)
{
    return !strcmp(basename(path), "env");
}

/* What stands behind "#!", in place of the script in `binary`. */
static int follow(struct iot_program *program, char *line, char *error)
{
    char script[PATH_BYTES];
    strcpy(script, program->binary);
    line[strcspn(line, "\n")] = '\0';
    char *interpreter = word(&line);
    if (++program->scripts > SCRIPTS_MAX) {
        snprintf(error, ERROR_BYTES, "%.300s: interpreters that are scripts, too many in a row",
                 program->path);
        return -1;
    }
    if (!interpreter || !is_program(interpreter)) {
        snprintf(error, ERROR_BYTES, "%.200s: its interpreter '%.200s' %s", script,
                 interpreter ? interpreter : "",
                 interpreter && !access(interpreter, F_OK) ? "may not be executed" : "is missing");
        return -1;
    }
    snprintf(program->binary, sizeof program->binary, "%s", interpreter);
    char *name = is_env(interpreter) ? started_by_env(line) : NULL;
    if (!name)
        return 0;
    if (strchr(name, '/') ? !is_program(name) : iot_program_in_path(name, program->binary)) {
        snprintf(error, ERROR_BYTES, "%.200s: its interpreter '%.200s' is missing", script, name);
        return -1;
    }
    if (strchr(name, '/'))
        snprintf(program->binary, sizeof program->binary, "%s", name);
    return 0;
}

/* --- what it is --- */

/* Returns 1 for a script, with the start of its first line. */
static int read_start(int fd, char line[LINE_BYTES], ssize_t *n)
{
    *n = pread(fd, line, LINE_BYTES - 1, 0);
    line[*n > 0 ? *n : 0] = '\0';
    return *n > 2 && line[0] == '#' && line[1] == '!';
}

/* Shells refuse what has a NUL in its first line or so. */
static int is_text(const char *start, ssize_t n)
{
    return n >= 0 && strlen(start) == (size_t)n;
}

static int examine(struct iot_program *program, char *error)
{
    for (;;) {
        char line[LINE_BYTES];
        ssize_t n;
        int fd = open(program->binary, O_RDONLY | O_CLOEXEC);
        program->readable = fd >= 0;
        if (fd < 0) {
            program->obstacle = obstacle_of(program); /* may be executed and not read */
            return 0;
        }
        int script = read_start(fd, line, &n);
        if (!script)
            iot_elf_read(fd, &program->elf);
        close(fd);
        if (script) {
            if (follow(program, line + 2, error))
                return -1;
        } else if (program->elf.is_elf) {
            program->obstacle = obstacle_of(program);
            return 0;
        } else if (program->plain || !is_text(line, n)) {
            program->obstacle = &not_executable;
            return 0;
        } else {
            program->plain = true;
            strcpy(program->binary, shell);
        }
    }
}

int iot_program_find(struct iot_program *program, const char *name, char error[512])
{
    *program = (struct iot_program){0};
    if (find_path(program, name, error))
        return -1;
    strcpy(program->binary, program->path);
    return examine(program, error);
}
