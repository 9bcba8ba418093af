/* writes FOLDER COUNT: just that many writes and preads of one file, and what came of them. */
#include "tests/victims/hazard.h"

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    long count = atol(argv[2]);
    int fd = open_in(argv[1], "data");
    char buffer[16];
    for (long i = 0; i < count; i++) {
        CHECK(write(fd, "0123456789", 1 + (size_t)(i % 7)) == 1 + i % 7);
        CHECK(pread(fd, buffer, 1, i) == 1);
    }
    CHECK(close(fd) == 0);
    did("write", "data", count);
    did("pread", "data", count);
    return 0;
}
