/* cuFile's calls, on a library that plays it: cufile WAY FOLDER; WAY is "all". Says what moved, as
 * async.c does. */
#include "preload/cufile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct iot_cufile_error cuFileHandleRegister(void **file, struct iot_cufile_descr *descr);
void cuFileHandleDeregister(void *file);
ssize_t cuFileRead(void *file, void *memory, size_t n, off_t at, off_t memory_at);
ssize_t cuFileWrite(void *file, const void *memory, size_t n, off_t at, off_t memory_at);
struct iot_cufile_error cuFileReadAsync(void *file, void *memory, size_t *n, off_t *at,
                                        off_t *memory_at, ssize_t *moved, void *stream);
struct iot_cufile_error cuFileBatchIOSubmit(void *batch, unsigned n,
                                            struct iot_cufile_request *requests, unsigned flags);
struct iot_cufile_error cuFileBatchIOGetStatus(void *batch, unsigned least, unsigned *n,
                                               struct iot_cufile_event *events,
                                               struct timespec *timeout);

static void need(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(99);
    }
}

static void *handle_of(int fd)
{
    struct iot_cufile_descr descr = {.type = IOT_CUFILE_DESCRIPTOR, .of.fd = fd};
    void *file = NULL;
    need(cuFileHandleRegister(&file, &descr).error == 0, "cuFileHandleRegister");
    return file;
}

int main(int argc, char **argv)
{
    static char data[8192];
    need(argc == 3 && chdir(argv[2]) == 0, "cufile all FOLDER");
    int in = open("in", O_RDWR | O_CREAT, 0600),
        out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(in >= 0 && out >= 0 && ftruncate(in, 8192) == 0, "files");
    void *from = handle_of(in), *to = handle_of(out);
    need(cuFileRead(from, data, 4096, 0, 0) == 4096, "cuFileRead");
    need(cuFileRead(from, data, 4096, 8000, 100) == 192, "cuFileRead");
    need(cuFileWrite(to, data, 500, 0, 0) == 500, "cuFileWrite");
    struct iot_cufile_request requests[2] = {
        {.batch = {data, 0, 0, 1000}, .file = from, .operation = IOT_CUFILE_READ, .cookie = &from},
        {.batch = {data, 0, 0, 2000}, .file = to, .operation = IOT_CUFILE_WRITE, .cookie = &to}};
    struct iot_cufile_event events[4];
    unsigned n = 4;
    need(cuFileBatchIOSubmit(NULL, 2, requests, 0).error == 0, "cuFileBatchIOSubmit");
    need(cuFileBatchIOGetStatus(NULL, 2, &n, events, NULL).error == 0 && n == 2,
         "cuFileBatchIOGetStatus");
    size_t bytes = 100;
    off_t none = 0;
    static ssize_t moved;
    need(cuFileReadAsync(from, data, &bytes, &none, &none, &moved, NULL).error == 0,
         "cuFileReadAsync");
    cuFileHandleDeregister(from);
    cuFileHandleDeregister(to);
    printf("moved cufile_read in %d\nmoved cufile_write out 500\n", 4096 + 192);
    printf("moved async_read in 1000\nmoved async_write out 2000\nopen 1\n");
    return 0;
}
