/* System calls by number that move bytes, or give descriptors and names a meaning. */
#ifndef IOT_PRELOAD_SYSCALL_IO_H
#define IOT_PRELOAD_SYSCALL_IO_H

#include "preload/record.h"

/* Whether the number is that of one which is recorded so. */
int iot_syscall_known(long number);

/* Makes the call and records it; gives what syscall() gives, and leaves errno as it does. */
long iot_syscall_io(struct iot_thread *t, long number, const long a[6]);

#endif
