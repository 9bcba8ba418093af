/* Compares what abi.h, copies.c and calls.def say with the headers of CUPTI and, where they are
 * there as well, with CUDA's (IOT_HAVE_CUDA). It has no code. */
#ifdef IOT_HAVE_CUDA
#include <cupti.h>
#else
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>
#endif

#include "cupti/abi.h"

#define SAME(ours, field, theirs, their_field)                                                     \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) &&                \
                       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->their_field),    \
                   #ours "." #field)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

/* --- numbers of calls: an older CUPTI does not have all of them --- */

#if CUPTI_API_VERSION >= 130000
#define CALL(domain, id, name, what, argument) VALUE(id, CUPTI_##domain##_TRACE_CBID_##name);
#include "cupti/calls.def"
#undef CALL
#endif

VALUE(CUPTI_OK, CUPTI_SUCCESS);
VALUE(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
VALUE(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
VALUE(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
VALUE(CUPTI_RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED);
VALUE(CUPTI_RESOURCE_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
VALUE(CUPTI_STATE_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(CUPTI_ATTRIBUTE_ZEROED_OUT, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
VALUE(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_MEMCPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
VALUE(CUPTI_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
VALUE(CUPTI_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
VALUE(CUPTI_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);

/* --- records: the newest of each. Those before start the same --- */

#define MEMCPY(type)                                                                               \
    SAME(cupti_memcpy, kind, type, kind);                                                          \
    SAME(cupti_memcpy, copy_kind, type, copyKind);                                                 \
    SAME(cupti_memcpy, source_kind, type, srcKind);                                                \
    SAME(cupti_memcpy, target_kind, type, dstKind);                                                \
    SAME(cupti_memcpy, flags, type, flags);                                                        \
    SAME(cupti_memcpy, bytes, type, bytes);                                                        \
    SAME(cupti_memcpy, start, type, start);                                                        \
    SAME(cupti_memcpy, end, type, end);                                                            \
    SAME(cupti_memcpy, device, type, deviceId);                                                    \
    SAME(cupti_memcpy, context, type, contextId);                                                  \
    SAME(cupti_memcpy, stream, type, streamId);                                                    \
    SAME(cupti_memcpy, correlation, type, correlationId)
MEMCPY(CUpti_ActivityMemcpy4);
MEMCPY(CUpti_ActivityMemcpy5);
MEMCPY(CUpti_ActivityMemcpy6);

#define MEMCPY2(type)                                                                              \
    SAME(cupti_memcpy2, copy_kind, type, copyKind);                                                \
    SAME(cupti_memcpy2, flags, type, flags);                                                       \
    SAME(cupti_memcpy2, bytes, type, bytes);                                                       \
    SAME(cupti_memcpy2, start, type, start);                                                       \
    SAME(cupti_memcpy2, end, type, end);                                                           \
    SAME(cupti_memcpy2, device, type, deviceId);                                                   \
    SAME(cupti_memcpy2, context, type, contextId);                                                 \
    SAME(cupti_memcpy2, stream, type, streamId);                                                   \
    SAME(cupti_memcpy2, source_device, type, srcDeviceId);                                         \
    SAME(cupti_memcpy2, target_device, type, dstDeviceId);                                         \
    SAME(cupti_memcpy2, correlation, type, correlationId)
MEMCPY2(CUpti_ActivityMemcpyPtoP3);
MEMCPY2(CUpti_ActivityMemcpyPtoP4);

#define MEMSET(type)                                                                               \
    SAME(cupti_memset, bytes, type, bytes);                                                        \
    SAME(cupti_memset, start, type, start);                                                        \
    SAME(cupti_memset, end, type, end);                                                            \
    SAME(cupti_memset, device, type, deviceId);                                                    \
    SAME(cupti_memset, context, type, contextId);                                                  \
    SAME(cupti_memset, stream, type, streamId);                                                    \
    SAME(cupti_memset, correlation, type, correlationId)
MEMSET(CUpti_ActivityMemset3);
MEMSET(CUpti_ActivityMemset4);

#define KERNEL(type)                                                                               \
    SAME(cupti_kernel, start, type, start);                                                        \
    SAME(cupti_kernel, end, type, end);                                                            \
    SAME(cupti_kernel, device, type, deviceId);                                                    \
    SAME(cupti_kernel, context, type, contextId);                                                  \
    SAME(cupti_kernel, stream, type, streamId);                                                    \
    SAME(cupti_kernel, correlation, type, correlationId);                                          \
    SAME(cupti_kernel, name, type, name)
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel9);

/* --- callbacks --- */

SAME(cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call, parameters, CUpti_CallbackData, functionParams);
SAME(cupti_call, result, CUpti_CallbackData, functionReturnValue);
SAME(cupti_call, context, CUpti_CallbackData, context);
SAME(cupti_call, context_id, CUpti_CallbackData, contextUid);
SAME(cupti_call, correlation, CUpti_CallbackData, correlationId);
SAME(cupti_resource, context, CUpti_ResourceData, context);
SAME(cupti_resource, stream, CUpti_ResourceData, resourceHandle.stream);
SAME(cupti_state, result, CUpti_StateData, notification.result);
SAME(cupti_state, message, CUpti_StateData, notification.message);

#ifdef IOT_HAVE_CUDA

/* --- copies that a structure describes --- */

VALUE(CUDA_HTOH, cudaMemcpyHostToHost);
VALUE(CUDA_HTOD, cudaMemcpyHostToDevice);
VALUE(CUDA_DTOH, cudaMemcpyDeviceToHost);
VALUE(CUDA_DTOD, cudaMemcpyDeviceToDevice);
VALUE(CUDA_DEFAULT, cudaMemcpyDefault);
VALUE(CU_MEMORY_HOST, CU_MEMORYTYPE_HOST);
VALUE(CU_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);

SAME(cuda_copy_3d, source_at.y, struct cudaMemcpy3DParms, srcPos.y);
SAME(cuda_copy_3d, source.address, struct cudaMemcpy3DParms, srcPtr.ptr);
SAME(cuda_copy_3d, source.height, struct cudaMemcpy3DParms, srcPtr.ysize);
SAME(cuda_copy_3d, target_at.z, struct cudaMemcpy3DParms, dstPos.z);
SAME(cuda_copy_3d, target.address, struct cudaMemcpy3DParms, dstPtr.ptr);
SAME(cuda_copy_3d, target.pitch, struct cudaMemcpy3DParms, dstPtr.pitch);
SAME(cuda_copy_3d, width, struct cudaMemcpy3DParms, extent.width);
SAME(cuda_copy_3d, depth, struct cudaMemcpy3DParms, extent.depth);
SAME(cuda_copy_3d, kind, struct cudaMemcpy3DParms, kind);

SAME(cu_copy_2d, source.x, CUDA_MEMCPY2D, srcXInBytes);
SAME(cu_copy_2d, source.type, CUDA_MEMCPY2D, srcMemoryType);
SAME(cu_copy_2d, source.host, CUDA_MEMCPY2D, srcHost);
SAME(cu_copy_2d, source.pitch, CUDA_MEMCPY2D, srcPitch);
SAME(cu_copy_2d, target.type, CUDA_MEMCPY2D, dstMemoryType);
SAME(cu_copy_2d, target.host, CUDA_MEMCPY2D, dstHost);
SAME(cu_copy_2d, target.device, CUDA_MEMCPY2D, dstDevice);
SAME(cu_copy_2d, target.pitch, CUDA_MEMCPY2D, dstPitch);
SAME(cu_copy_2d, width, CUDA_MEMCPY2D, WidthInBytes);
SAME(cu_copy_2d, height, CUDA_MEMCPY2D, Height);

SAME(cu_copy_3d, source.type, CUDA_MEMCPY3D, srcMemoryType);
SAME(cu_copy_3d, source.host, CUDA_MEMCPY3D, srcHost);
SAME(cu_copy_3d, source.pitch, CUDA_MEMCPY3D, srcPitch);
SAME(cu_copy_3d, source.height, CUDA_MEMCPY3D, srcHeight);
SAME(cu_copy_3d, target.z, CUDA_MEMCPY3D, dstZ);
SAME(cu_copy_3d, target.type, CUDA_MEMCPY3D, dstMemoryType);
SAME(cu_copy_3d, target.host, CUDA_MEMCPY3D, dstHost);
SAME(cu_copy_3d, target.device, CUDA_MEMCPY3D, dstDevice);
SAME(cu_copy_3d, target.height, CUDA_MEMCPY3D, dstHeight);
SAME(cu_copy_3d, width, CUDA_MEMCPY3D, WidthInBytes);
SAME(cu_copy_3d, depth, CUDA_MEMCPY3D, Depth);

#if CUPTI_API_VERSION >= 130000
#define BATCHED(theirs, pointer)                                                                   \
    _Static_assert(sizeof(struct cuda_batched_3d) == sizeof(theirs), #theirs);                     \
    VALUE(CUDA_OPERAND_POINTER, pointer);                                                          \
    SAME(cuda_batched_3d, source.type, theirs, src.type);                                          \
    SAME(cuda_batched_3d, source.address, theirs, src.op.ptr.ptr);                                 \
    SAME(cuda_batched_3d, source.row, theirs, src.op.ptr.rowLength);                               \
    SAME(cuda_batched_3d, target.address, theirs, dst.op.ptr.ptr);                                 \
    SAME(cuda_batched_3d, target.layer, theirs, dst.op.ptr.layerHeight);                           \
    SAME(cuda_batched_3d, width, theirs, extent.width);                                            \
    SAME(cuda_batched_3d, depth, theirs, extent.depth)
BATCHED(struct cudaMemcpy3DBatchOp, cudaMemcpyOperandTypePointer);
BATCHED(CUDA_MEMCPY3D_BATCH_OP, CU_MEMCPY_OPERAND_TYPE_POINTER);
#endif

/* --- parameters: the n-th of them --- */

#define PARAMETER(function, name, n)                                                               \
    _Static_assert(offsetof(function##_params, name) == 8 * (n), #function "." #name)
PARAMETER(cudaMemcpy_v3020, dst, 0);
PARAMETER(cudaMemcpyAsync_v3020, src, 1);
PARAMETER(cudaMemcpyAsync_v3020, count, 2);
PARAMETER(cudaMemcpyAsync_v3020, kind, 3);
PARAMETER(cudaMemcpyToSymbol_v3020, src, 1);
PARAMETER(cudaMemcpyToSymbol_v3020, kind, 4);
PARAMETER(cudaMemcpyFromSymbol_v3020, dst, 0);
PARAMETER(cudaMemcpyFromSymbol_v3020, count, 2);
PARAMETER(cudaMemcpyToArray_v3020, src, 3);
PARAMETER(cudaMemcpyToArray_v3020, kind, 5);
PARAMETER(cudaMemcpyFromArray_v3020, count, 4);
PARAMETER(cudaMemcpy2D_v3020, spitch, 3);
PARAMETER(cudaMemcpy2D_v3020, height, 5);
PARAMETER(cudaMemcpy2D_v3020, kind, 6);
PARAMETER(cudaMemcpy2DToArray_v3020, spitch, 4);
PARAMETER(cudaMemcpy2DToArray_v3020, kind, 7);
PARAMETER(cudaMemcpy2DFromArray_v3020, dpitch, 1);
PARAMETER(cudaMemcpy2DFromArray_v3020, width, 5);
PARAMETER(cudaMemcpy2DFromArray_v3020, kind, 7);
PARAMETER(cudaMemcpy3D_v3020, p, 0);
#if CUPTI_API_VERSION >= 130000
PARAMETER(cudaMemcpyBatchAsync_v13000, dsts, 0);
PARAMETER(cudaMemcpyBatchAsync_v13000, srcs, 1);
PARAMETER(cudaMemcpyBatchAsync_v13000, sizes, 2);
PARAMETER(cudaMemcpyBatchAsync_v13000, count, 3);
PARAMETER(cuMemcpyBatchAsync, srcs, 1);
PARAMETER(cuMemcpyBatchAsync_v2, count, 3);
PARAMETER(cudaMemcpy3DBatchAsync_v13000, numOps, 0);
PARAMETER(cudaMemcpy3DBatchAsync_v13000, opList, 1);
PARAMETER(cuMemcpy3DBatchAsync, opList, 1);
PARAMETER(cuMemcpy3DBatchAsync_v2, opList, 1);
#endif
PARAMETER(cuMemcpyHtoDAsync_v2, srcHost, 1);
PARAMETER(cuMemcpyHtoD_v2, ByteCount, 2);
PARAMETER(cuMemcpyDtoH_v2, dstHost, 0);
PARAMETER(cuMemcpyHtoA_v2, srcHost, 2);
PARAMETER(cuMemcpyAtoH_v2, ByteCount, 3);
PARAMETER(cuMemcpyAsync, src, 1);
PARAMETER(cuMemcpy2D_v2, pCopy, 0);
PARAMETER(cudaEventRecord_v3020, event, 0);
PARAMETER(cudaEventRecord_v3020, stream, 1);
PARAMETER(cudaStreamWaitEvent_v3020, stream, 0);
PARAMETER(cudaStreamWaitEvent_v3020, event, 1);
PARAMETER(cudaStreamSynchronize_v3020, stream, 0);
PARAMETER(cudaEventSynchronize_v3020, event, 0);
PARAMETER(cuEventRecord, hStream, 1);
PARAMETER(cuStreamWaitEvent, hEvent, 1);

#endif
