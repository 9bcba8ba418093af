/* A token server: computes, then writes a token and makes it durable. */
#include <fcntl.h>

#include "tests/steps/truth.h"

int main(void)
{
    truth_start();
    int fd = open("tokens.out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    compute_ms(30);
    for (int i = 0; i < 150; i++) {
        truth_step();
        compute_ms(4);
        if (write(fd, "token ", 6) != 6 || fsync(fd))
            return 1;
    }
    return close(fd) || truth_write();
}
