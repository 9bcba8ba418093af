// Exceptions through nine frames, with calls in between: stacks_cxx FILE prints how many were caught.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

namespace deep {
volatile long kept;

__attribute__((noinline)) void throws_from(int fd, int depth)
{
    char byte;
    if (depth == 0) {
        kept = pread(fd, &byte, 1, 0);
        throw std::runtime_error("here");
    }
    throws_from(fd, depth - 1);
    kept = kept + 1;
}
} // namespace deep

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1, caught = 0;
    for (int k = 0; k < 100; k++) {
        try {
            deep::throws_from(fd, 9);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    std::printf("%d\n", caught);
    return fd < 0;
}
