#include "analyzer/doctor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/room.h"

const char *const iot_level_names[] = {"ok", "note", "bad"};

static const struct {
    const char *name;
    void (*run)(struct iot_doctor *);
} checks[] = {
#define IOT_CHECK(name) {#name, iot_doctor_##name},
#include "analyzer/doctor.def"
#undef IOT_CHECK
};

int iot_doctor_examine(struct iot_doctor *d, char *const *command)
{
    *d = (struct iot_doctor){.command = command};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        d->check = checks[i].name;
        checks[i].run(d);
    }
    return d->out_of_memory ? -1 : 0;
}

void iot_doctor_free(struct iot_doctor *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->findings[i].what);
        free(d->findings[i].action);
    }
    free(d->findings);
}

enum iot_level iot_doctor_level(const struct iot_doctor *d)
{
    enum iot_level worst = IOT_LEVEL_OK;
    for (size_t i = 0; i < d->n; i++)
        if (d->findings[i].level > worst)
            worst = d->findings[i].level;
    return worst;
}

static struct iot_finding *new_finding(struct iot_doctor *d)
{
    if (IOT_ROOM(d->findings, d->n + 1, d->room))
        return NULL;
    return &d->findings[d->n];
}

void iot_doctor_add(struct iot_doctor *d, enum iot_level level, const char *action,
                    const char *format, ...)
{
    struct iot_finding *f = new_finding(d);
    va_list arguments;
    char *what, *copy = action ? strdup(action) : NULL;

    va_start(arguments, format);
    int n = vasprintf(&what, format, arguments);
    va_end(arguments);
    if (n < 0)
        what = NULL;
    if (!f || !what || (action && !copy)) {
        d->out_of_memory = true;
        free(what);
        free(copy);
        return;
    }
    *f = (struct iot_finding){.check = d->check, .level = level, .what = what, .action = copy};
    d->n++;
}

size_t iot_doctor_read(const char *path, char *to, size_t bytes)
{
    size_t n = 0;
    FILE *in = fopen(path, "re");
    if (in) {
        n = fread(to, 1, bytes - 1, in);
        fclose(in);
    }
    to[n] = '\0';
    return n;
}

/* --- programs that answer a question --- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void become(char *const argv[], char *const set[], int out)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setpgid(0, 0); /* so that its children end with it */
    for (; *set; set++)
        putenv(*set);
    execv(argv[0], argv);
    _exit(127);
}

/* Reads to the end, for as long as there is time. Returns 0 at the end. */
static int gather(int from, int64_t until_ms, char *out, size_t bytes)
{
    size_t n = 0;
    for (;;) {
        char rest[512];
        int64_t left = until_ms - now_ms();
        struct pollfd wait = {.fd = from, .events = POLLIN};
        out[n] = '\0';
        if (left <= 0 || poll(&wait, 1, (int)left) <= 0)
            return -1;
        int full = n + 1 >= bytes;
        ssize_t got = full ? read(from, rest, sizeof rest) : read(from, out + n, bytes - 1 - n);
        if (got <= 0)
            return got < 0 ? -1 : 0;
        n += full ? 0 : (size_t)got;
    }
}

int iot_doctor_run(char *const argv[], char *const set[], int limit_ms, char *out, size_t bytes)
{
    int ends[2], status = -1;
    *out = '\0';
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    pid_t child = fork();
    if (child == 0)
        become(argv, set, ends[1]);
    close(ends[1]);
    if (child > 0) {
        int late = gather(ends[0], now_ms() + limit_ms, out, bytes);
        if (late) {
            setpgid(child, child); /* if it has not come to that yet */
            kill(-child, SIGKILL);
        }
        if (waitpid(child, &status, 0) != child || late)
            status = -1;
    }
    close(ends[0]);
    return status;
}
