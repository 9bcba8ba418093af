/* Whether this is a container, and what that means. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/doctor.h"

/* Files that container engines leave. */
static const struct {
    const char *path, *name;
} files[] = {
    {"/.dockerenv", "docker"},
    {"/run/.containerenv", "podman"},
    {"/.singularity.d", "apptainer"},
};

/* Words in the first process's control group or among the mounts. */
static const struct {
    const char *word, *name;
} words[] = {
    {"kubepods", "kubernetes"},
    {"/docker", "docker"},
    {"/libpod", "podman"},
    {"/lxc", "lxc"},
};

static const char *engine(void)
{
    char text[8192];
    const char *variable = getenv("container");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!access(files[i].path, F_OK))
            return files[i].name;
    if (variable && *variable)
        return variable;
    iot_doctor_read("/proc/1/cgroup", text, sizeof text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i].word))
            return words[i].name;
    return NULL;
}

void iot_doctor_container(struct iot_doctor *d)
{
    const char *name = engine();
    if (!name)
        iot_doctor_add(d, IOT_LEVEL_OK, NULL, "none is seen");
    else if (!*d->library)
        iot_doctor_add(d, IOT_LEVEL_NOTE, "mount libiotrace.so into it and name it in LIBIOTRACE",
                       "this is a container (%s), and the library is not visible inside", name);
    else
        iot_doctor_add(
            d, IOT_LEVEL_OK, NULL,
            "this is a container (%s), and the library is visible inside; keep the trace "
            "on a volume",
            name);
}
