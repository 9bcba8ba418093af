/* What the stand-in for CUDA tells the stand-in for CUPTI. */
#ifndef IOT_TESTS_CUDA_STANDIN_CUPTI_H
#define IOT_TESTS_CUDA_STANDIN_CUPTI_H

#include <cupti.h>
#include <stddef.h>

void standin_cupti_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData *data);
void standin_cupti_record(const void *record, size_t bytes);

#endif
