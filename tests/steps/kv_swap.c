/* Each step writes blocks out, computes, and reads them back. */
#include <fcntl.h>

#include "tests/steps/truth.h"

enum { BLOCKS = 3, BYTES = 1 << 16 };

static char block[BYTES];

int main(void)
{
    truth_start();
    int fd = open("kv.swap", O_RDWR | O_CREAT | O_TRUNC, 0644);
    compute_ms(20);
    for (int i = 0; i < 100; i++) {
        truth_step();
        for (int k = 0; k < BLOCKS; k++)
            if (pwrite(fd, block, BYTES, (off_t)k * BYTES) != BYTES)
                return 1;
        compute_ms(5);
        for (int k = 0; k < BLOCKS; k++)
            if (pread(fd, block, BYTES, (off_t)k * BYTES) != BYTES)
                return 1;
    }
    return close(fd) || truth_write();
}
