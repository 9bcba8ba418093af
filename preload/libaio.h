/* The kernel's asynchronous I/O (io_setup and its kind), called through libaio or by number. */
#ifndef IOT_PRELOAD_LIBAIO_H
#define IOT_PRELOAD_LIBAIO_H

#include "preload/record.h"

/* The same calls by number: makes the call behind the wrapper, and sets errno as libc's syscall
 * does. */
int iot_libaio_number(long number);
long iot_libaio_syscall(struct iot_thread *t, long number, const long a[6]);

#endif
