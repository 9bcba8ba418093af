#include "preload/requests.h"

void iot_request_made(struct iot_thread *t, uint64_t when, const struct iot_request *request)
{
    iot_event(t, &(struct iot_row){.t0 = when,
                                   .t1 = when,
                                   .result = request->bytes,
                                   .offset = request->offset,
                                   .addr = request->token,
                                   .obj = request->obj,
                                   .obj2 = request->obj2,
                                   .err = request->queue,
                                   .op = request->op});
}

void iot_request_done(struct iot_thread *t, uint16_t queue, uint64_t token, int64_t result,
                      int more, uint64_t since, uint64_t seen)
{
    iot_event(t, &(struct iot_row){.t0 = since,
                                   .t1 = seen,
                                   .result = result,
                                   .offset = more,
                                   .addr = token,
                                   .err = queue,
                                   .op = IOT_OP_ASYNC_DONE});
}

void iot_requests_unseen(struct iot_thread *t, uint16_t queue, uint64_t n, enum iot_unseen why)
{
    uint64_t now = iot_now();
    iot_event(t, &(struct iot_row){.t0 = now,
                                   .t1 = now,
                                   .result = (int64_t)n,
                                   .offset = why,
                                   .addr = queue,
                                   .op = IOT_OP_ASYNC_UNSEEN});
}

void iot_request_call(struct iot_thread *t, const struct iot_row *row, uint64_t t0, uint64_t t1,
                      int failure)
{
    struct iot_row timed = *row;
    timed.t0 = t0;
    timed.t1 = t1;
    timed.err = (uint16_t)failure;
    iot_event(t, &timed);
}
