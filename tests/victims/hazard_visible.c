/* visible FOLDER: prints what a program can see of itself: the same, traced or not. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>

#include "tests/victims/hazard.h"

extern char **environ;

static void print_folder(const char *path)
{
    DIR *dir = opendir(path);
    CHECK(dir);
    int own = dirfd(dir), count = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char link[300], target[300];
        snprintf(link, sizeof link, "%s/%s", path, e->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (n > 0 && atoi(e->d_name) != own)
            printf("%s %s\n", e->d_name, strncmp(target, "pipe:", 5) ? target : "a pipe");
        count++;
    }
    printf("%s: %d\n", path, count);
    closedir(dir);
}

static void print_lines(const char *path, const char *const *beginnings)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        for (const char *const *b = beginnings; *b; b++)
            if (strncmp(line, *b, strlen(*b)) == 0)
                fputs(line, stdout);
    fclose(f);
}

static int is_ours(const char *variable)
{
    return !strncmp(variable, "LD_PRELOAD=", 11) || !strncmp(variable, "IOTRACE_", 8);
}

int main(int argc, char **argv, char **envp)
{
    int at_start = errno;
    CHECK(argc == 2);
    printf("errno %d\n", at_start);
    CHECK(environ == envp);
    for (char **e = environ; *e; e++)
        if (!is_ours(*e))
            puts(*e);
    print_folder("/proc/self/fd");
    print_folder("/proc/self/task");
    print_lines("/proc/self/status",
                (const char *const[]){"Threads", "SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd",
                                      "FDSize", "NoNewPrivs", "Seccomp:", NULL});
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    for (int i = 1; i < 65; i++)
        if (sigismember(&mask, i))
            printf("blocked %d\n", i);
    fflush(stdout);
    write_in(argv[1], "data", 1);
    did("write", "data", 1);
    return 0;
}
