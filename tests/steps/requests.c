/* A server: a client process sends requests at times of its own; each is answered after work that
 * varies by a factor of five, looked up in a file. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/steps/truth.h"

enum { REQUESTS = 80, BYTES = 1 << 14 };

static char page[BYTES];

static void client(int fd)
{
    char answer[64];
    for (int i = 0; i < REQUESTS; i++) {
        compute_ms(1 + i * 7 % 4);
        if (write(fd, "request", 7) != 7 || read(fd, answer, sizeof answer) != 6)
            _exit(1);
    }
    _exit(0);
}

int main(void)
{
    int ends[2];
    char request[64];
    truth_start();
    int fd = open("pages.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (ftruncate(fd, (off_t)1 << 22) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    compute_ms(25);
    pid_t pid = fork();
    if (!pid)
        client(ends[1]);
    for (int i = 0; i < REQUESTS; i++) {
        truth_step();
        if (read(ends[0], request, sizeof request) != 7)
            return 1;
        for (int k = 0; k < 1 + i * 5 % 3; k++)
            if (pread(fd, page, BYTES, (off_t)((i * 37 + k * 11) % 200) * BYTES) != BYTES)
                return 1;
        compute_ms(2 + i * 3 % 9);
        if (write(ends[0], "answer", 6) != 6)
            return 1;
    }
    waitpid(pid, NULL, 0);
    return truth_write();
}
