/* Names of CUDA that CUPTI's headers use, for where they are alone (the wheel nvidia-cuda-cupti
 * brings no cuda.h): enough to compile them, and no more. Any real cuda.h comes before this one. */
#ifndef IOT_CUPTI_WITHOUT_CUDA_H
#define IOT_CUPTI_WITHOUT_CUDA_H

typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUevent_st *CUevent;
typedef int CUdevice, CUdevice_attribute, CUresult, CUgraphNodeType, CUstreamAttrID;
typedef union CUstreamAttrValue_un CUstreamAttrValue;
typedef struct CUaccessPolicyWindow_st CUaccessPolicyWindow;
typedef struct {
    char bytes[16];
} CUuuid;

#endif
