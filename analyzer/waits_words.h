/* Who waited for whom, and what the other was doing: for the waits that I/O makes longer. */
#ifndef IOT_ANALYZER_WAITS_WORDS_H
#define IOT_ANALYZER_WAITS_WORDS_H

#include <stdint.h>

struct iot_report;

struct iot_waited {
    const char *waiter; /* the lane that carries the run */
    const char *other;  /* the lane whose calls it waited for, perhaps through further lanes */
    const char *doing;  /* "reading", "writing", "syncing", "opening" */
    const char *path;   /* a file, or several of one folder with '*' for what differs */
    uint8_t object;     /* enum iot_object */
    int64_t waited_ns;  /* exposed time of those calls: they add up to what is waited for */
    uint8_t batch;      /* the other is a DataLoader's worker that reads a batch ahead */
};

/* Fills report->waits, by time. An exposed call is waited for by the first lane that carries the
 * run and that the critical path comes to after it. Returns 0, -1 without memory. */
int iot_report_waits(struct iot_report *report);

#endif
