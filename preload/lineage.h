/* Where in memory the bytes of a call lie, for processes in which that says something: copies to
 * and from a GPU are joined with the reads that filled their buffer and the writes that emptied it.
 * All others pay neither bytes nor more than a few instructions for it.
 */
#ifndef IOT_PRELOAD_LINEAGE_H
#define IOT_PRELOAD_LINEAGE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "format/row.h"
#include "preload/ours.h"

struct iot_thread;

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

/* A row's `addr` and `obj2` for bytes that lie in several pieces of memory: of a call that moved
 * `bytes`, and so has read the list. */
uint64_t iot_pieces_addr(int64_t bytes, const struct iovec *pieces, size_t n);
uint32_t iot_pieces_length(int64_t bytes, const struct iovec *pieces, size_t n);

/* Rows of their own for pieces that a row has no room for: of `bytes` that were read (is_in), or
 * written, at `when`. To be called where iot_lineage is 1. */
enum { IOT_PIECES_TOLD = 64 }; /* of more, the first so many are known */
struct iot_pieces {
    uint32_t obj; /* the descriptor */
    int is_in;
    uint64_t when;
};
/* All of a list that the kernel has read; how many bytes are left over for another. */
int64_t iot_pieces_tell(struct iot_thread *t, const struct iot_pieces *of, int64_t bytes,
                        const struct iovec *pieces, size_t n);
/* All but the first that has bytes, which the call's own row names. */
void iot_pieces_tell_rest(struct iot_thread *t, const struct iot_pieces *of, int64_t bytes,
                          const struct iovec *pieces, size_t n);
/* Of messages, each with the bytes that it says. */
void iot_messages_tell(struct iot_thread *t, const struct iot_pieces *of,
                       const struct mmsghdr *messages, int n);
/* Of a request that the kernel has not looked at yet: what of the list can be read. */
void iot_pieces_ask(struct iot_thread *t, const struct iot_pieces *of, const struct iovec *pieces,
                    size_t n);
void iot_piece_tell(struct iot_thread *t, const struct iot_pieces *of, uint64_t addr,
                    uint64_t bytes);

/* A row's obj2 where only `length` of its bytes lie at its addr. */
static inline uint32_t iot_buffer_length(int64_t bytes, uint64_t length)
{
    return length == (uint64_t)bytes ? 0 : length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

#endif
