/* Memory that the program handed over and the kernel has not looked at: a bad pointer is the
 * program's error to find out about, not ours to follow. */
#ifndef IOT_PRELOAD_READABLE_H
#define IOT_PRELOAD_READABLE_H

#include <stddef.h>
#include <stdint.h>

/* How many of the n bytes can be read before one that can't. 0 where the kernel may not be asked.
 */
size_t iot_readable(const void *at, size_t n);

/* Whether all n bytes can be read, of one of many things that lie close together: the kernel is
 * asked once a page. *known is that page; 0 before the first. */
int iot_readable_near(uintptr_t *known, const void *at, size_t n);

/* Whether all n bytes, at most a page of them, can be read, of what is looked at again and again:
 * the kernel is asked again only where a mapping has ended since. What nobody owns may end
 * unnoticed (inside libc), so this is for what the caller has reason to think alive. */
int iot_readable_kept(const void *at, size_t n);
/* Before a mapping ends. */
void iot_readable_ending(void);

/* Whether a name can be read to its end, or as far as names go. */
int iot_readable_name(const char *name);

#endif
