/* A CUPTI without a GPU: libcupti.so.13 of the tests' own, compiled against NVIDIA's headers. The
 * subscriber under test is loaded by the stand-in driver (libcuda.c, cuInit) and finds this library
 * by LD_LIBRARY_PATH. What "happens on the GPU" a test says, by the functions below, from C, or by
 * a script that the program gpu_play reads (gpu_play.c describes it).
 *
 * STANDIN_CUPTI says what goes wrong:
 *     NAME     the function of that name returns 999; NAME@3: its third call does
 *     taken    another subscriber, "CUPTI for somebody", has it
 *
 * Whoever uses CUPTI as it must not be used is told so on standard error, and the program aborts.
 */
#ifndef IOT_TEST_CUDA_STANDIN_H
#define IOT_TEST_CUDA_STANDIN_H

#include <stddef.h>
#include <stdint.h>

/* The clock of the records, ns: CLOCK_MONOTONIC, by way of the subscriber where there is one. */
uint64_t standin_now(void);

/* Entry and return of a call that the program makes: numbers of CUPTI, parameters as in its
 * generated_cuda_runtime_api_meta.h and generated_cuda_meta.h. Nothing comes of it where nobody
 * asked for that call. `result` is what the call returns. */
void standin_enter(uint32_t domain, uint32_t id, const char *name, uint32_t correlation,
                   uint32_t context, const void *parameters);
void standin_exit(uint32_t domain, uint32_t id, const char *name, uint32_t correlation,
                  uint32_t context, const void *parameters, int result);

/* A stream comes to be (and goes): its handle, CUPTI's number of its context, its own within that.
 * Without any, handle 0 and 1 are stream 7 and handle 2 is stream 8 of each context. */
void standin_stream_created(uint64_t handle, uint32_t context, uint32_t id);
void standin_stream_destroyed(uint64_t handle);

/* Appends a record (CUpti_ActivityMemcpy6, …) if its kind was asked for; kinds that do not exist
 * count as asked for. */
void standin_record(const void *record, size_t bytes);

/* Hands over what there is, in a thread of its own; less `cut` bytes at the end. */
void standin_deliver(size_t cut);

/* So many records were dropped. */
void standin_drop(size_t n);

/* CUPTI shuts itself down. */
void standin_fatal(const char *message);

#endif
