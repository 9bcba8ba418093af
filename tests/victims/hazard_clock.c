/* clock FOLDER: how long the time between two of its calls took, by its own clock. */
#include <time.h>

#include "tests/victims/hazard.h"

static long now_us(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    int fd = open_in(argv[1], "data");
    write_to(fd, 1);
    long began = now_us();
    do
        usleep((useconds_t)write(fd, "x", 1));
    while (now_us() < began + 300000);
    long took = now_us() - began;
    write_in(argv[1], "took", 1);
    dprintf(1, "took %ld\n", took);
    return 0;
}
