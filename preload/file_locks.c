#include "preload/file_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static int record(struct iot_thread *t, struct iot_timed call, uint32_t obj, int result,
                  uint16_t op, int64_t offset)
{
    return (int)iot_timed_event(
        t, call, &(struct iot_row){.result = result, .offset = offset, .obj = obj, .op = op});
}

int flock(int fd, int operation)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.flock(fd, operation);
    uint32_t obj = iot_descriptor(t, fd);
    IOT_TIMED_FILE_LOCK(flock, !(operation & (LOCK_NB | LOCK_UN)), (fd, operation | LOCK_NB),
                        (fd, operation))
    return waited ? record(t, call, obj, result, IOT_OP_FILE_LOCK, IOT_LOCK_OF_FLOCK)
                  : record(t, call, obj, result, IOT_OP_FLOCK, operation);
}

#define LOCKF(sym, place)                                                                          \
    int sym(int fd, int command, place n)                                                          \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym(fd, command, n);                                                   \
        uint32_t obj = iot_descriptor(t, fd);                                                      \
        IOT_TIMED_FILE_LOCK(sym, command == F_LOCK, (fd, F_TLOCK, n), (fd, command, n))            \
        return waited ? record(t, call, obj, result, IOT_OP_FILE_LOCK, IOT_LOCK_OF_RECORDS)        \
                      : record(t, call, obj, result, IOT_OP_LOCKF, command);                       \
    }

LOCKF(lockf, off_t)
LOCKF(lockf64, off64_t)
