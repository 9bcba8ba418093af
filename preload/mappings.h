/* The files that are mapped into memory, as long as they are: what of each the page cache held when
 * it was mapped, and what when that ends. The rows are `resident`. */
#ifndef IOT_PRELOAD_MAPPINGS_H
#define IOT_PRELOAD_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "preload/record.h"

/* A file has been mapped. Programs, memory files and files in memory are left out. */
void iot_mappings_add(const void *at, size_t bytes, int protection, int fd, int64_t offset);

/* Before a stretch of memory is unmapped: says what is resident of the mappings that end. */
void iot_mappings_ending(struct iot_thread *t, const void *at, size_t bytes);
/* It was moved, or made longer or shorter. */
void iot_mappings_moved(const void *from, size_t bytes, const void *to, size_t new_bytes);

/* The process ends or becomes another program: says it of all. */
void iot_mappings_end(struct iot_thread *t);

/* Whether the address is in a mapping of a file. */
int iot_mappings_has(const void *at);

/* Whether there are mappings with pages to be fetched. */
int iot_mappings_cold(void);
/* Whether such a mapping got more of its file lately; `now_ns`: of the monotonic clock. */
int iot_mappings_growing(uint64_t now_ns);

#endif
