#include "analyzer/out_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cmd.h"

static int refuse(const char *path, const char *what)
{
    iot_error("%s: %s: %s", path, what, strerror(errno));
    return IOT_EXIT_USAGE;
}

/* With the permissions that a new file of this user has, or those of the file it replaces. */
static int set_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask);
}

static int open_part(struct iot_out_file *out, const struct stat *old)
{
    /* A link is followed: the file that it names is the one replaced. */
    char *target = old ? realpath(out->path, NULL) : strdup(out->path);
    if (!target || asprintf(&out->part, "%s.XXXXXX", target) < 0) {
        out->part = NULL;
        free(target);
        return refuse(out->path, "cannot be written");
    }
    free(target);
    int fd = mkstemp(out->part);
    if (fd >= 0 && !set_mode(fd, old) && (out->stream = fdopen(fd, "w")))
        return IOT_EXIT_OK;
    int status = refuse(out->path, "cannot be written");
    if (fd >= 0) {
        close(fd);
        unlink(out->part);
    }
    free(out->part);
    out->part = NULL;
    return status;
}

int iot_out_file_open(struct iot_out_file *out, const char *path)
{
    struct stat old;
    *out = (struct iot_out_file){.stream = stdout, .path = path};
    if (!path)
        return IOT_EXIT_OK;
    out->stream = NULL;
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error, as a full disk is */
    int there = !stat(path, &old);
    if (!there || S_ISREG(old.st_mode))
        return open_part(out, there ? &old : NULL);
    out->stream = fopen(path, "we");
    return out->stream ? IOT_EXIT_OK : refuse(path, "cannot be written");
}

/* The name without what mkstemp has put behind it. */
static int put_in_place(struct iot_out_file *out)
{
    char *target = strdup(out->part);
    int failed = !target;
    if (target) {
        target[strlen(target) - strlen(".XXXXXX")] = '\0';
        failed = rename(out->part, target);
    }
    free(target);
    return failed;
}

int iot_out_file_close(struct iot_out_file *out)
{
    if (!out->path)
        return iot_finish_stdout();
    int reason = iot_stream_failure(out->stream);
    if (fclose(out->stream) && !reason)
        reason = errno;
    if (out->part && !reason && put_in_place(out))
        reason = errno;
    errno = reason;
    int status = reason ? refuse(out->path, "cannot be written") : IOT_EXIT_OK;
    if (out->part && reason)
        unlink(out->part);
    free(out->part);
    out->part = NULL;
    return status;
}

void iot_out_file_drop(struct iot_out_file *out)
{
    if (!out->path)
        return;
    fclose(out->stream);
    if (out->part)
        unlink(out->part);
    free(out->part);
    out->part = NULL;
}
