/* cuFile (GPUDirect Storage), as far as its functions move bytes: what its header declares, in our
 * words. */
#ifndef IOT_PRELOAD_CUFILE_H
#define IOT_PRELOAD_CUFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct iot_cufile_error {
    int error, cuda;
};

enum { IOT_CUFILE_DESCRIPTOR = 1 }; /* the type of a descr that names one */

struct iot_cufile_descr {
    int type;
    union {
        int fd;
        void *handle;
    } of;
    const void *operations;
};

enum { IOT_CUFILE_READ = 0, IOT_CUFILE_WRITE = 1 }; /* of a request */

struct iot_cufile_request {
    int mode;
    struct {
        void *memory;
        off_t offset, memory_offset;
        size_t bytes;
    } batch;
    void *file;
    int operation;
    void *cookie;
};

enum { IOT_CUFILE_WAITING = 1, IOT_CUFILE_PENDING = 2, IOT_CUFILE_COMPLETE = 16 };

struct iot_cufile_event {
    void *cookie;
    int status;
    size_t result;
};

#endif
