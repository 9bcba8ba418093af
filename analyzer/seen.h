/* The part of a run that was recorded. Where it is not all of it, what lies between is cut out of
 * the model's time: a figure is of what was seen, and never takes what was not for computing.
 */
#ifndef IOT_ANALYZER_SEEN_H
#define IOT_ANALYZER_SEEN_H

#include <stddef.h>
#include <stdint.h>

struct iot_trace;

struct iot_span {
    int64_t begin_ns, end_ns; /* of the run, as it was */
};

struct iot_seen {
    struct iot_span *spans; /* in order; NULL: all of the run */
    int64_t *cuts_ns;       /* by span: where it begins in the model's time */
    size_t n;
    int64_t run_ns;         /* the run as it was */
    uint64_t older_events;  /* made room for newer ones in the trace */
};

/* Narrows the trace to what was seen of the run: time that was not is taken out, and what lies in
 * it, but for the life of processes and threads and for what makes pipes and connections, which
 * stays as having taken no time. Does nothing to a run that was seen whole. Returns 0, or -1
 * without memory. */
int iot_seen_narrow(struct iot_trace *trace);

/* Whether something was cut out of the time after `a_ns` and up to `b_ns`, both of the model. Of
 * one side nothing follows for the other then: messages may have passed unseen. */
int iot_seen_cut(const struct iot_seen *seen, int64_t a_ns, int64_t b_ns);

void iot_seen_free(struct iot_seen *seen);

#endif
