#include "preload/environment.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/image.h"
#include "preload/readable.h"
#include "preload/sys.h"

#define VARIABLE "IOTRACE_RUN="

/* Whether as much of a variable can be read as is looked at. */
static int is_there(uintptr_t *known, const char *variable)
{
    return iot_readable_near(known, variable, sizeof VARIABLE) || iot_readable_name(variable);
}

/* Behind a filter of system calls nobody is asked whether the list is there. */
static int wants_addition(char *const envp[], size_t *count)
{
    size_t n = 0, preload = 0;
    uintptr_t list = 0, texts = 0;
    for (; envp; n++) {
        if (!iot_confined && !iot_readable_near(&list, &envp[n], sizeof envp[n]))
            return 0; /* the call will say so */
        if (!envp[n])
            break;
        if (!iot_confined && !is_there(&texts, envp[n]))
            return 0;
        if (strncmp(envp[n], VARIABLE, sizeof VARIABLE - 1) == 0)
            return 0;
        preload |= strncmp(envp[n], "LD_PRELOAD=", sizeof "LD_PRELOAD=" - 1) == 0;
    }
    *count = n;
    return preload != 0;
}

/* The list with one more, in pages of its own; NULL without memory. */
static char **extended(char *const envp[], size_t n, size_t *bytes)
{
    *bytes = (n + 2) * sizeof *envp + sizeof VARIABLE + strlen(iot_image.folder);
    long at =
        iot_sys(SYS_mmap, 0, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096)
        return NULL;
    char **list = (char **)at;
    char *text = (char *)(list + n + 2);
    memcpy(text, VARIABLE, sizeof VARIABLE - 1);
    strcpy(text + sizeof VARIABLE - 1, iot_image.folder);
    memcpy(list, envp, n * sizeof *envp);
    list[n] = text;
    return list;
}

char *const *iot_environment_for_child(struct iot_thread *t, char *const envp[])
{
    size_t n;
    if (!wants_addition(envp, &n))
        return envp;
    iot_environment_done(t);
    char **list = extended(envp, n, &t->lent_bytes);
    if (!list)
        return envp;
    t->lent = list;
    return list;
}

void iot_environment_done(struct iot_thread *t)
{
    if (t->lent)
        iot_sys(SYS_munmap, t->lent, t->lent_bytes);
    t->lent = NULL;
}

void iot_environment_extend(void)
{
    size_t n, bytes;
    if (!wants_addition(environ, &n))
        return;
    char **list = extended(environ, n, &bytes);
    if (list)
        environ = list; /* setenv makes a copy of a list that it did not make itself */
}
