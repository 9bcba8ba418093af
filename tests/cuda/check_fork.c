/* Processes that start behind CUDA.
 *
 *     check_fork FILE
 *
 * copies, forks a child that writes FILE and ends, forks another that becomes this program
 * ("check_fork copy", which copies once, 5000 bytes), and copies again: 3 + 4 times 3000 bytes. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/check.h"

static void copy(size_t bytes, int times)
{
    char *host = host_memory(0, bytes), *device = device_memory(bytes);
    for (int k = 0; k < times; k++)
        GPU(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    GPU(cudaFree(device));
    free(host);
}

static void write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    MUST(fd >= 0);
    MUST(write(fd, "child\n", 6) == 6);
    MUST(!close(fd));
}

static void wait_for(pid_t child)
{
    int status;
    MUST(waitpid(child, &status, 0) == child);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    MUST(argc == 2);
    if (!strcmp(argv[1], "copy")) {
        copy(5000, 1);
        return 0;
    }
    copy(3000, 3);
    pid_t child = fork();
    MUST(child >= 0);
    if (!child) {
        write_file(argv[1]);
        exit(0);
    }
    wait_for(child);
    child = fork();
    MUST(child >= 0);
    if (!child) {
        execl("/proc/self/exe", "check_fork", "copy", (char *)NULL);
        _exit(127);
    }
    wait_for(child);
    copy(3000, 4);
    return 0;
}
