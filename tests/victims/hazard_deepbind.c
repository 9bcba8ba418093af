/* deepbind FOLDER PLUGIN: a library bound to its own copies first, and to ours in the ordinary way.
 */
#include <dlfcn.h>

#include "tests/victims/hazard.h"

typedef int writes(const char *folder, long count);

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    setenv("HAZARD_FOLDER", argv[1], 1);
    void *deep = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    CHECK(deep);
    CHECK(((writes *)dlsym(deep, "plugin_writes"))(argv[1], 4) == 0); /* seen or not: it works */
    CHECK(dlclose(deep) == 0);

    void *plain = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    CHECK(plain);
    CHECK(((writes *)dlsym(plain, "plugin_writes"))(argv[1], 4) == 0);
    CHECK(dlclose(plain) == 0);
    CHECK(!dlopen("/nowhere/libnothing.so", RTLD_NOW) && dlerror());

    ssize_t (*found)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    CHECK(found);
    int fd = open_in(argv[1], "data");
    CHECK(found(fd, "x", 1) == 1);
    did("write", "data", 1);
    return 0;
}
