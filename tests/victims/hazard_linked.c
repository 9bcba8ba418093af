/* linked FOLDER: uses a library whose constructor and destructor do I/O. */
#include "tests/victims/hazard.h"

int plugin_writes(const char *folder, long count);

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    CHECK(plugin_writes(argv[1], 5) == 0);
    did("write", "plugin", 5);
    did("write", "begin", 3);
    did("write", "end", 3);
    return 0;
}
