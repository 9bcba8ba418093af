/* What several processes may wait on: memory that they share. A semaphore or lock in it is known by
 * the memory's name and its offset there, elsewhere by its address alone. */
#ifndef IOT_PRELOAD_SHARED_H
#define IOT_PRELOAD_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include "preload/ours.h"
#include "preload/record.h"

/* Memory that was mapped shared. Forked children have it at the same address. */
void iot_shared_file(const void *at, size_t bytes, int fd, int64_t offset);
void iot_shared_anonymous(const void *at, size_t bytes);
/* A named semaphore that was opened. */
void iot_shared_semaphore(const void *at, const char *name);

/* What is unmapped is no longer shared: other memory may come to lie there. */
void iot_shared_forget(const void *at, size_t bytes);

/* What was mapped at one place is at another, and may be longer. */
void iot_shared_moved(const void *at, size_t bytes, const void *to, size_t wanted);

/* How many such memories are known. */
extern IOT_OURS uint32_t iot_shared_count;

/* What a row says of the address of a lock or semaphore. */
struct iot_place {
    uint32_t name; /* string of the trace; 0: of this process */
    uint64_t addr; /* address, or offset in the memory of that name */
};
struct iot_place iot_shared_find(struct iot_thread *t, const void *address);

static inline struct iot_place iot_place_of(struct iot_thread *t, const void *address)
{
    if (__builtin_expect(iot_shared_count != 0, 0))
        return iot_shared_find(t, address);
    return (struct iot_place){0, (uint64_t)(uintptr_t)address};
}

#endif
