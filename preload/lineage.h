/* Where in memory the bytes of a call lie, for processes in which that says something: copies to and
 * from a GPU are joined with the reads that filled their buffer and the writes that emptied it. All
 * others pay neither bytes nor more than a few instructions for it.
 */
#ifndef IOT_PRELOAD_LINEAGE_H
#define IOT_PRELOAD_LINEAGE_H

#include <stdint.h>
#include <sys/uio.h>

#include "format/row.h"
#include "preload/ours.h"

/* 1: rows have the address of their buffer. 0 until something asks for it. */
extern IOT_OURS uint8_t iot_lineage;

/* At the start of a process image: `asked` is the value of IOTRACE_LINEAGE (NULL: not set). 1
 * switches it on, 0 off whatever comes; else it is on where the process could use a GPU. */
void iot_lineage_start(const char *asked);
/* The process's GPUs are being traced, whatever their devices are called. */
void iot_lineage_of_gpus(void);

/* A row's `addr` for a buffer of the program. */
static inline uint64_t iot_buffer(const void *memory)
{
    return iot_lineage ? (uint64_t)(uintptr_t)memory : 0;
}

/* A row's `addr` and `obj2` for bytes that lie in several pieces of memory: of a call that moved `bytes`,
 * and so has read the list. */
uint64_t iot_pieces_addr(int64_t bytes, const struct iovec *pieces, size_t n);
uint32_t iot_pieces_length(int64_t bytes, const struct iovec *pieces, size_t n);

/* A row's obj2 where only `length` of its bytes lie at its addr. */
static inline uint32_t iot_buffer_length(int64_t bytes, uint64_t length)
{
    return length == (uint64_t)bytes ? 0 : length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

#endif
