/* own_read FOLDER: a program that exports functions with libc's names. */
#include "tests/victims/hazard.h"

static int mine;

ssize_t read(int fd, void *buffer, size_t n)
{
    mine++;
    return pread(fd, buffer, n, 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    char buffer[4];
    int fd = open_in(argv[1], "data");
    write_to(fd, 4);
    for (int i = 0; i < 10; i++)
        CHECK(read(fd, buffer, 4) == 4);
    CHECK(mine == 10);
    did("pread", "data", 10);
    did("read", "data", 0);
    return 0;
}
