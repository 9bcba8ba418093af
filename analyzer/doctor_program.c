/* What the command is, and what of it a preload library sees. */
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/doctor.h"

/* Commands that have another process start the program, elsewhere. */
static const struct {
    const char *name, *what, *action;
} launchers[] = {
    {"docker", "a daemon starts the program, in a container",
     "set it inside: docker run -v LIBRARY:/libiotrace.so:ro -v DIR:/trace "
     "-e LD_PRELOAD=/libiotrace.so -e IOTRACE_DIR=/trace IMAGE; the image needs glibc"},
    {"podman", "the program starts in a container, with an environment of its own",
     "set it inside: podman run -v LIBRARY:/libiotrace.so:ro -v DIR:/trace "
     "-e LD_PRELOAD=/libiotrace.so -e IOTRACE_DIR=/trace IMAGE; the image needs glibc"},
    {"nerdctl", "a daemon starts the program, in a container",
     "set LD_PRELOAD and IOTRACE_DIR inside, with -e, and mount the library and a folder with -v"},
    {"kubectl", "the program starts in a pod, maybe on another machine",
     "set LD_PRELOAD and IOTRACE_DIR in the pod's env, and mount the library and a volume"},
    {"ssh", "the program starts on another machine", "run iotrace there"},
    {"systemd-run", "systemd starts the program, with an environment of its own",
     "add -E LD_PRELOAD=LIBRARY -E IOTRACE_DIR=DIR"},
    {"sudo", "it takes LD_PRELOAD out of the environment",
     "the other way round: sudo iotrace run -- COMMAND"},
    {"su", "it takes LD_PRELOAD out of the environment",
     "the other way round: run iotrace as that user"},
};

/* Returns 1 if the program starts where no preload of ours reaches. */
static int look_at_launcher(struct iot_doctor *d)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (strcmp(basename(d->command[0]), launchers[i].name))
            continue;
        iot_doctor_add(d, IOT_LEVEL_BAD, launchers[i].action, "%s: %s: a preload does not reach it",
                       d->command[0], launchers[i].what);
        return 1;
    }
    return 0;
}

static void tell_way(struct iot_doctor *d)
{
    const struct iot_program *p = &d->program;
    if (p->plain)
        iot_doctor_add(d, IOT_LEVEL_NOTE, "begin it with \"#!\" and what shall run it",
                       "%s is no ELF file and has no \"#!\": /bin/sh runs it", p->path);
    else if (p->scripts)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "%s is a script, which %s runs", p->path, p->binary);
}

static unsigned glibc_minor_here(void)
{
    return (unsigned)strtoul(gnu_get_libc_version() + 2, NULL, 10);
}

/* Whether it can be started at all. */
static int lacks_something(struct iot_doctor *d)
{
    const struct iot_program *p = &d->program;
    if (access(p->elf.interpreter, F_OK)) {
        iot_doctor_add(d, IOT_LEVEL_BAD, "install the libc that it was built for",
                       "%s: its loader %s is missing", p->binary, p->elf.interpreter);
        return 1;
    }
    if (!strncmp(p->elf.interpreter, "/lib", 4) && p->elf.glibc_minor > glibc_minor_here()) {
        iot_doctor_add(d, IOT_LEVEL_BAD, "run it on a newer system",
                       "%s needs glibc 2.%u; this system has %s", p->binary, p->elf.glibc_minor,
                       gnu_get_libc_version());
        return 1;
    }
    return 0;
}

static void tell_own_calls(struct iot_doctor *d)
{
    const struct iot_elf *elf = &d->program.elf;
    char names[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < IOT_ELF_CALLS; i++)
        if (elf->own_calls >> i & 1)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                                  iot_elf_calls[i]);
    if (elf->sanitizer_inside || *elf->sanitizer)
        iot_doctor_add(d, IOT_LEVEL_NOTE, "measure a build without a sanitizer",
                       "%s is built with a sanitizer: its calls are seen, and are slower than "
                       "those of the real program",
                       d->program.binary);
    else if (n)
        iot_doctor_add(d, IOT_LEVEL_NOTE,
                       "they are seen if it asks for the next one (RTLD_NEXT); compare with strace",
                       "%s brings its own %s: they come before the library's%s", d->program.binary,
                       names, elf->symbolic ? ", and it binds to its own symbols first" : "");
}

static void tell_escapes(struct iot_doctor *d)
{
    const struct iot_elf *elf = &d->program.elf;
    if (!elf->needs_libc)
        iot_doctor_add(d, IOT_LEVEL_NOTE,
                       "see whether 'iotrace dump' has events; else link libc as "
                       "a shared library",
                       "%s does not need libc.so.6 itself: if libc is linked into it, its calls "
                       "are not seen",
                       d->program.binary);
    if (elf->imports_dlmopen)
        iot_doctor_add(
            d, IOT_LEVEL_NOTE, "compare with strace what matters",
            "%s calls dlmopen: libraries in a namespace of their own use a libc of their "
            "own, which is not seen",
            d->program.binary);
    if (elf->imports_dlopen)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL,
                       "it calls dlopen: what it opens is seen, except with RTLD_DEEPBIND, which "
                       "no file shows beforehand");
}

void iot_doctor_program(struct iot_doctor *d)
{
    const struct iot_program *p = &d->program;
    char error[512];

    if (!d->command || look_at_launcher(d))
        return;
    if (iot_program_find(&d->program, d->command[0], error)) {
        iot_doctor_add(d, IOT_LEVEL_BAD, "name a program that is there and may be executed", "%s",
                       error);
        return;
    }
    tell_way(d);
    if (p->obstacle) {
        if (p->elf.damage)
            iot_doctor_add(d, IOT_LEVEL_BAD, p->obstacle->action, "%s is %s: byte %llu: %s",
                           p->binary, p->obstacle->what, (unsigned long long)p->elf.damage_at,
                           p->elf.damage);
        else
            iot_doctor_add(d, IOT_LEVEL_BAD, p->obstacle->action, "%s is %s: %s", p->binary,
                           p->obstacle->what, p->obstacle->effect);
        return;
    }
    if (!p->readable) {
        iot_doctor_add(d, IOT_LEVEL_NOTE, "look as a user who may read it",
                       "%s may be executed, but not read: what it is is not known", p->binary);
        return;
    }
    if (!*p->elf.interpreter) {
        iot_doctor_add(d, IOT_LEVEL_NOTE, "ask about the program that it is to start",
                       "%s is the loader: what it starts is traced, if that can be", p->binary);
        return;
    }
    if (lacks_something(d))
        return;
    d->program_found = true;
    iot_doctor_add(d, IOT_LEVEL_OK, NULL, "%s: dynamic, %s, glibc 2.%u or newer", p->binary,
                   iot_elf_machine_name(p->elf.machine), p->elf.glibc_minor);
    tell_own_calls(d);
    tell_escapes(d);
}
