/* How much of a file the page cache holds at the moment it is opened. */
#ifndef IOT_PRELOAD_RESIDENCY_H
#define IOT_PRELOAD_RESIDENCY_H

#include <stdint.h>
#include <sys/stat.h>

/* `wanted`: the value of IOTRACE_CACHE, or NULL. */
void iot_residency_start(const char *wanted);

/* From now on nothing is asked of the kernel, and nothing known. */
void iot_residency_stop(void);

/* What is resident of a regular file that was opened for reading, in thousandths, + 1; 0: not
 * known. At most about 5 us, whatever the size: of what is large, some places are looked at. */
uint16_t iot_residency(int fd, const struct stat *st, int flags);

/* Of a stretch of a file or of memory: pages that were looked at, and those of them that are there.
 */
struct iot_resident {
    uint32_t looked, resident; /* looked 0: not known */
};

/* Of `bytes` bytes of a file from `from` on: the places that iot_residency_mapped looks at with as
 * many pages. At most about 10 us. */
struct iot_resident iot_residency_range(int fd, const struct stat *st, uint64_t from,
                                        uint64_t bytes);

/* Of a mapping of a file, at most about `pages` of it; 20 ns a page. Of a file that is neither ours
 * nor to be written by us the kernel says that all is there: not to be asked about. */
struct iot_resident iot_residency_mapped(uintptr_t at, uint64_t bytes, uint64_t pages);

/* Whether the kernel tells about mappings of such a file, open with these flags. */
int iot_residency_is_told(const struct stat *st, int flags);

enum { IOT_PAGES_AT_MAP = 256 };

#endif
