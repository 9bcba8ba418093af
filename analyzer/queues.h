/* The queues of a run: hand-overs between lanes, and how full they were. */
#ifndef IOT_ANALYZER_QUEUES_H
#define IOT_ANALYZER_QUEUES_H

#include <stdint.h>

struct iot_report;

/* Found are: pipes and sockets within the run, in messages (writes whose bytes were not all read
 * yet); semaphores that start at nothing, in posts not yet taken; and pairs of conditions under one
 * mutex that two sides signal to each other, in signals of the first side that the second has not
 * answered; and locks whose waiters bring semaphores of their own, Python's queue.Queue
 * (queue_locks.h). Of fewer than IOT_QUEUE_MESSAGES, or within one lane, it is no queue. */
enum { IOT_QUEUE_MESSAGES = 10 };

struct iot_queue {
    const char *name;
    const char *producer, *consumer; /* names of lanes; "3 lanes" */
    uint8_t object; /* enum iot_object: what the (first) producer reads most of, else what the
                     * consumer writes most of, else state */
    int64_t messages;
    double mean_length; /* over the time from the first message to the last */
    int64_t max_length;
    /* The mean length of the last third of that time is at least one above that of the first, and
     * at least half as much again. */
    int growing;
};

/* Fills report->queues, those with the longest mean first. Returns 0, -1 without memory. */
int iot_report_queues(struct iot_report *report);

#endif
