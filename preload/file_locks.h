/* Locks on files: flock, and the record locks of lockf and fcntl. */
#ifndef IOT_PRELOAD_FILE_LOCKS_H
#define IOT_PRELOAD_FILE_LOCKS_H

#include <errno.h>

#include "preload/real.h"
#include "preload/wrap.h"

/* Of whom the lock is: an offset in the row of a wait for one. */
enum iot_file_lock { IOT_LOCK_OF_FLOCK = 0, IOT_LOCK_OF_RECORDS = 1 };

/* Whether the form that does not wait says that the lock is somebody's. */
static inline int iot_file_lock_taken(int err)
{
    return err == EWOULDBLOCK || err == EAGAIN || err == EACCES;
}

/* A call that took its lock at once, or let it go, is as it always was. One that finds it taken,
 * which is asked first by the form that does not wait, is a wait. Either makes the call; declares
 * `result`, `call` and `waited`. */
#define IOT_TIMED_FILE_LOCK(sym, waits, try_args, args)                                            \
    int saved = errno, waited = 0;                                                                 \
    struct iot_timed call = {.t0 = iot_now()};                                                     \
    int result = (waits) ? iot_real.sym try_args : iot_real.sym args;                              \
    if ((waits) && result == -1 && iot_file_lock_taken(errno)) {                                   \
        waited = 1;                                                                                \
        errno = saved;                                                                             \
        result = iot_real.sym args;                                                                \
    }                                                                                              \
    call.t1 = iot_now();                                                                           \
    call.err = result == -1 ? errno : 0;

#endif
