/* How much of a file the page cache holds at the moment it is opened. */
#ifndef IOT_PRELOAD_RESIDENCY_H
#define IOT_PRELOAD_RESIDENCY_H

#include <stdint.h>
#include <sys/stat.h>

/* `wanted`: the value of IOTRACE_CACHE, or NULL. */
void iot_residency_start(const char *wanted);

/* From now on nothing is asked of the kernel, and nothing known. */
void iot_residency_stop(void);

/* What is resident of a regular file that was opened for reading, in thousandths, + 1; 0: not known.
 * At most about 5 us, whatever the size: of what is large, some places are looked at. */
uint16_t iot_residency(int fd, const struct stat *st, int flags);

#endif
