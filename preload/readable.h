/* Memory that a program names to the kernel need not be there: the kernel says EFAULT, or refuses
 * the call before it looks. Where a wrapper reads it before the call, or after one that failed, it
 * asks first. */
#ifndef IOT_PRELOAD_READABLE_H
#define IOT_PRELOAD_READABLE_H

#include <stddef.h>

/* Whether the calling thread can read all `bytes` bytes (at least one): asked of the kernel, about
 * 0.1 us a page. Where it must not be asked (a filter of system calls) the answer is yes. */
int iot_readable(const void *at, size_t bytes);

/* The same for a text up to its end, or its first `most` bytes. */
int iot_readable_text(const char *at, size_t most);

#endif
