#include "preload/lineage.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "preload/readable.h"
#include "preload/record.h"
#include "preload/sys.h"

uint8_t iot_lineage;
static uint8_t forbidden;

/* A model is read before its program first speaks to a GPU, so what counts is that it could:
 * NVIDIA's driver has its device here, which a container without the GPU has not. */
static int could_use_gpus(void)
{
    return !iot_sys(SYS_faccessat, AT_FDCWD, "/dev/nvidiactl", F_OK);
}

void iot_lineage_start(const char *asked)
{
    int on = asked && asked[0] == '1' && !asked[1];
    forbidden = asked && asked[0] == '0' && !asked[1];
    iot_lineage = on || (!forbidden && could_use_gpus());
}

void iot_lineage_of_gpus(void)
{
    iot_lineage = !forbidden;
}

/* The first that holds any bytes; NULL: there is none, or nobody asks. */
static const struct iovec *first_of(int64_t bytes, const struct iovec *pieces, size_t n)
{
    for (size_t k = 0; iot_lineage && bytes > 0 && k < n; k++)
        if (pieces[k].iov_len)
            return &pieces[k];
    return NULL;
}

uint64_t iot_pieces_addr(int64_t bytes, const struct iovec *pieces, size_t n)
{
    const struct iovec *first = first_of(bytes, pieces, n);
    return first ? (uint64_t)(uintptr_t)first->iov_base : 0;
}

uint32_t iot_pieces_length(int64_t bytes, const struct iovec *pieces, size_t n)
{
    const struct iovec *first = first_of(bytes, pieces, n);
    return first && first->iov_len < (uint64_t)bytes ? iot_buffer_length(bytes, first->iov_len) : 0;
}

void iot_piece_tell(struct iot_thread *t, const struct iot_pieces *of, uint64_t addr,
                    uint64_t bytes)
{
    if (addr && bytes)
        iot_event(t, &(struct iot_row){.t0 = of->when,
                                       .t1 = of->when,
                                       .result = of->is_in != 0,
                                       .offset = (int64_t)bytes,
                                       .addr = addr,
                                       .obj2 = of->obj,
                                       .op = IOT_OP_BUFFER});
}

int64_t iot_pieces_tell(struct iot_thread *t, const struct iot_pieces *of, int64_t bytes,
                        const struct iovec *pieces, size_t n)
{
    for (size_t k = 0, told = 0; k < n && told < IOT_PIECES_TOLD && bytes > 0; k++) {
        if (!pieces[k].iov_len)
            continue;
        int64_t here = (uint64_t)bytes < pieces[k].iov_len ? bytes : (int64_t)pieces[k].iov_len;
        iot_piece_tell(t, of, (uint64_t)(uintptr_t)pieces[k].iov_base, (uint64_t)here);
        bytes -= here;
        told++;
    }
    return bytes;
}

void iot_pieces_tell_rest(struct iot_thread *t, const struct iot_pieces *of, int64_t bytes,
                          const struct iovec *pieces, size_t n)
{
    const struct iovec *first = first_of(bytes, pieces, n);
    if (first && first->iov_len < (uint64_t)bytes)
        iot_pieces_tell(t, of, bytes - (int64_t)first->iov_len, first + 1,
                        n - (size_t)(first + 1 - pieces));
}

void iot_pieces_ask(struct iot_thread *t, const struct iot_pieces *of, const struct iovec *pieces,
                    size_t n)
{
    size_t most = n < IOT_PIECES_TOLD ? n : IOT_PIECES_TOLD;
    iot_pieces_tell(t, of, INT64_MAX, pieces,
                    iot_readable(pieces, most * sizeof *pieces) / sizeof *pieces);
}

void iot_messages_tell(struct iot_thread *t, const struct iot_pieces *of,
                       const struct mmsghdr *messages, int n)
{
    for (int k = 0; k < n && k < IOT_PIECES_TOLD; k++)
        iot_pieces_tell(t, of, messages[k].msg_len, messages[k].msg_hdr.msg_iov,
                        messages[k].msg_hdr.msg_iovlen);
}
