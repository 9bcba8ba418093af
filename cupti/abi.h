/* What CUPTI and CUDA lay down, as far as the subscriber uses it: the starts of records and
 * parameters, which have stayed as they are since CUDA 11. So it is built without their headers,
 * and one build serves CUPTI 11.6 to 13. Where the headers are there, check_headers.c compares.
 */
#ifndef IOT_CUPTI_ABI_H
#define IOT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* --- results, domains, sites --- */

enum {
    CUPTI_OK = 0,
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_OTHER_SUBSCRIBER = 39,
};

enum {
    CUPTI_DOMAIN_DRIVER = 1,
    CUPTI_DOMAIN_RUNTIME = 2,
    CUPTI_DOMAIN_RESOURCE = 3,
    CUPTI_DOMAIN_STATE = 6,
};
enum { CUPTI_SITE_ENTER = 0, CUPTI_SITE_EXIT = 1 };
enum { CUPTI_RESOURCE_STREAM_CREATED = 3, CUPTI_RESOURCE_STREAM_DESTROY_STARTING = 4 };
/* What a call waits for. */
enum { CUPTI_SYNC_EVENT = 1, CUPTI_SYNC_STREAM = 3, CUPTI_SYNC_CONTEXT = 4 };
enum { CUPTI_STATE_FATAL_ERROR = 1 };
enum { CUPTI_THREAD_ID_SYSTEM = 1 };
enum { CUPTI_ATTRIBUTE_ZEROED_OUT = 5 };
enum { CUPTI_FLUSH_FORCED = 1 };

enum {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_KERNEL = 3,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_MEMCPY2 = 22,
};

/* --- records: packed, each at a multiple of 8 --- */

struct cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, source_kind, target_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
};
enum { CUPTI_MEMCPY_ASYNC = 1 };

/* Between devices: the same up to the stream. */
struct cupti_memcpy2 {
    uint32_t kind;
    uint8_t copy_kind, source_kind, target_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t source_device, source_context, target_device, target_context, correlation;
};

struct cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
};

/* Since CUDA 9 (CUpti_ActivityKernel4). */
struct cupti_kernel {
    uint32_t kind, unused[3];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], memory[4];
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
};

/* --- callbacks --- */

struct cupti_call {
    uint32_t site;
    const char *name;
    const void *parameters;
    const void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *own;
    uint32_t correlation;
};

struct cupti_resource {
    void *context;
    void *stream;
};

struct cupti_state {
    int result;
    const char *message;
};

struct cupti_subscriber {
    size_t bytes;
    const char *name;
    char *old_name;
    size_t old_name_bytes;
};
enum { CUPTI_NAME_BYTES = 64 };

typedef void cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                                    size_t valid);

/* --- CUDA's own structures that copies are described by --- */

/* cudaMemcpyKind */
enum { CUDA_HTOH = 0, CUDA_HTOD = 1, CUDA_DTOH = 2, CUDA_DTOD = 3, CUDA_DEFAULT = 4 };

/* struct cudaMemcpy3DParms */
struct cuda_pitched {
    uint64_t address, pitch, width, height;
};
struct cuda_place {
    uint64_t x, y, z;
};
struct cuda_copy_3d {
    uint64_t source_array;
    struct cuda_place source_at;
    struct cuda_pitched source;
    uint64_t target_array;
    struct cuda_place target_at;
    struct cuda_pitched target;
    uint64_t width, height, depth;
    uint32_t kind;
};

/* struct cudaMemcpy3DBatchOp and CUDA_MEMCPY3D_BATCH_OP: lengths are in elements, which are bytes
 * where both ends are pointers. */
enum { CUDA_OPERAND_POINTER = 1 };
struct cuda_operand {
    uint32_t type;
    uint64_t address, row, layer, unused; /* of a pointer */
};
struct cuda_batched_3d {
    struct cuda_operand source, target;
    uint64_t width, height, depth;
    uint32_t order, flags;
};

/* CUmemorytype */
enum { CU_MEMORY_HOST = 1, CU_MEMORY_UNIFIED = 4 };

/* One end of CUDA_MEMCPY2D, and of CUDA_MEMCPY3D. */
struct cu_end_2d {
    uint64_t x, y;
    uint32_t type;
    uint64_t host, device, array, pitch;
};
struct cu_copy_2d {
    struct cu_end_2d source, target;
    uint64_t width, height;
};
struct cu_end_3d {
    uint64_t x, y, z, level;
    uint32_t type;
    uint64_t host, device, array, unused, pitch, height;
};
struct cu_copy_3d {
    struct cu_end_3d source, target;
    uint64_t width, height, depth;
};

#endif
