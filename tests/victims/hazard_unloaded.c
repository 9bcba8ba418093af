/* unloaded FOLDER: loads a library that uses liburing, uses it and lets go of both, again and
 * again, while other things come to lie where they were. Says nothing where there is no liburing.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <sys/mman.h>

#include "tests/victims/hazard.h"

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1 << 20, 64 << 10, 40 << 10, 16 << 10};
    char here[PATH_MAX] = "", path[PATH_MAX + 32];
    CHECK(argc == 2 && argv[1] && readlink("/proc/self/exe", here, sizeof here - 1) > 0);
    snprintf(path, sizeof path, "%s/libring_plugin.so", dirname(here));
    for (int i = 0; i < 5 && access(path, F_OK) == 0; i++) {
        void *plugin = dlopen(path, RTLD_NOW);
        CHECK(plugin);
        int (*once)(void) = (int (*)(void))dlsym(plugin, "ring_once");
        CHECK(once);
        printf("%d\n", once());
        CHECK(dlclose(plugin) == 0);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            mmap(NULL, sizes[k], PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    return 0;
}
