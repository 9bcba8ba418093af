#include "analyzer/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernel writes a line feed in a name as \012, and nothing else so. */
static void unescape(char *name)
{
    char *to = name;
    for (const char *from = name; *from; to++) {
        int feed = !strncmp(from, "\\012", 4);
        *to = feed ? '\n' : *from;
        from += feed ? 4 : 1;
    }
    *to = 0;
}

/* The folder of a trace file that a line of /proc/PID/maps names; NULL if it names none. */
static char *folder_in(char *line)
{
    char *name = strchr(line, '/'), *end = strrchr(line, '\n');
    if (!name || !end)
        return NULL;
    *end = 0;
    unescape(name);
    char *slash = strrchr(name, '/'), *suffix = strrchr(slash, '.');
    if (!suffix || strcmp(suffix, ".iot") || slash == name)
        return NULL;
    *slash = 0;
    return strdup(name);
}

static FILE *open_maps(size_t pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%zu/maps", pid);
    return fopen(path, "re");
}

char *iot_live_folder(size_t pid, char error[512])
{
    char *line = NULL, *folder = NULL;
    size_t room = 0;

    FILE *file = open_maps(pid);
    errno = file ? 0 : errno;
    while (file && !folder && getline(&line, &room, file) > 0)
        folder = folder_in(line);
    if (!folder && (errno == EACCES || errno == EPERM))
        snprintf(error, 512,
                 "process %zu may not be looked at by you: it is another user's, or has more "
                 "privileges; "
                 "run this as that user or as root, or give the folder of its trace instead of -p",
                 pid);
    else if (!file || (!folder && errno))
        snprintf(error, 512, "process %zu: %s", pid,
                 errno == ENOENT ? "there is none" : strerror(errno));
    else if (!folder)
        snprintf(error, 512,
                 "process %zu is not traced: it was not started by iotrace run, nor "
                 "with libiotrace.so in LD_PRELOAD",
                 pid);
    free(line);
    if (file)
        fclose(file);
    return folder;
}

/* Its number alone may be another process's by now. */
static int is_live(const struct iot_process *p)
{
    char *line = NULL;
    size_t room = 0;
    int found = 0;
    FILE *file = p->end == IOT_END_OPEN && *p->source ? open_maps(p->pid) : NULL;
    while (file && !found && getline(&line, &room, file) > 0)
        found = strstr(line, p->source) != NULL;
    free(line);
    if (file)
        fclose(file);
    return found;
}

size_t iot_live_processes(const struct iot_trace *trace)
{
    size_t n = 0;
    for (size_t i = 0; i < trace->n_processes; i++)
        n += (size_t)is_live(&trace->processes[i]);
    return n;
}
