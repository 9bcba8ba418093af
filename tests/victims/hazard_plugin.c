/* A library that does I/O when it is loaded, when it is called and when it is unloaded: linked to a
 * program, preloaded before or behind the recorder, or dlopened. HAZARD_FOLDER says where. */
#include <pthread.h>

#include "tests/victims/hazard.h"

int plugin_writes(const char *folder, long count);

static const char *folder(void)
{
    const char *named = getenv("HAZARD_FOLDER");
    return named ? named : "/tmp";
}

int plugin_writes(const char *where, long count)
{
    write_in(where, "plugin", count);
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    write_in(folder(), "begin", 3);
}

__attribute__((destructor)) static void end(void)
{
    write_in(folder(), "end", 3);
}
