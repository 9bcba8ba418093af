#include "preload/lineage.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

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
