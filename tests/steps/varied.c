/* Sequences of 1 to 8 pieces: a step takes 4 to 11 ms, and as many reads at random places. */
#include <fcntl.h>

#include "tests/steps/truth.h"

enum { STEPS = 120, BYTES = 1 << 13 };

static char piece[BYTES];

int main(void)
{
    int64_t state = 7;
    truth_start();
    int fd = open("sequences.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (ftruncate(fd, (off_t)1 << 24))
        return 1;
    compute_ms(20);
    for (int i = 0; i < STEPS; i++) {
        truth_step();
        state = (state * 1103515245 + 12345) % (INT64_C(1) << 31);
        int64_t pieces = 1 + (state >> 16) % 8;
        for (int64_t k = 0; k < pieces; k++)
            if (pread(fd, piece, BYTES, ((state >> 8) % 1500 + k * 16) * BYTES) != BYTES)
                return 1;
        compute_ms((double)(3 + pieces));
    }
    return close(fd) || truth_write();
}
