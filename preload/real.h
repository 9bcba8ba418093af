/* The definitions behind ours: libc's, or those of the next preload library. */
#ifndef IOT_PRELOAD_REAL_H
#define IOT_PRELOAD_REAL_H

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
/* In C99 the header gives these names to __isoc99_fscanf and its kind; here they are themselves. */
#define fscanf iot_header_fscanf
#define scanf iot_header_scanf
#define vfscanf iot_header_vfscanf
#define vscanf iot_header_vscanf
#define fwscanf iot_header_fwscanf
#define wscanf iot_header_wscanf
#define vfwscanf iot_header_vfwscanf
#define vwscanf iot_header_vwscanf
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <wchar.h>
#undef fwscanf
#undef wscanf
#undef vfwscanf
#undef vwscanf
#undef fscanf
#undef scanf
#undef vfscanf
#undef vscanf
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <threads.h>
#include <time.h>
#include <utime.h>

#include "preload/ours.h"

struct iot_real {
#define EVERY(ret, sym, params, version) ret(*sym) params;
#include "preload/every.def"
};

/* Macros of an optimizing build. */
#undef fread_unlocked
#undef fwrite_unlocked

/* The header leaves it out where it should not be used any more. */
char *gets(char *to);

/* The wrappers, which are all that the library exports. */
#pragma GCC visibility push(default)
#define REAL(ret, sym, op, params)
#define EVERY(ret, sym, params, version) ret sym params;
#include "preload/every.def"
#pragma GCC visibility pop

extern IOT_OURS struct iot_real iot_real;

/* Looks all of them up. Whatever this libc lacks fails with ENOSYS. */
void iot_real_start(void);

#endif
