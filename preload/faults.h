/* The time that threads lose to page faults on mapped files. A fault makes no call: while a mapping
 * lives that may have pages to be fetched, each thread's clocks and counts of faults are looked at
 * as it enters and leaves calls, at most every millisecond; in a row `faults` the time between two
 * such looks in which it neither ran nor was ready to.
 *
 * No more is done for it elsewhere than one comparison that is made anyhow: as long as a thread has
 * to be looked at, its generation is not that of its process. */
#ifndef IOT_PRELOAD_FAULTS_H
#define IOT_PRELOAD_FAULTS_H

#include "preload/record.h"

/* The thread enters a call. */
void iot_faults_entering(struct iot_thread *t);
/* It has left one that went from t0 to t1. */
void iot_faults_left(struct iot_thread *t, uint64_t t0, uint64_t t1);
/* What was lost until now is none of what is to be told: it was not recorded. */
static inline void iot_faults_anew(struct iot_thread *t)
{
    t->generation &= ~IOT_GENERATION_LOOKING;
}
/* Looks now: before a mapping goes, and where thread or process end. */
void iot_faults_look(struct iot_thread *t);

/* There are pages to be fetched from now on, perhaps by threads that make no call. */
void iot_faults_begin(void);
/* Says how many faults of the process were never looked at: what these cost cannot be told from
 * other ways to wait without a call. */
void iot_faults_end(struct iot_thread *t);

/* From now on there are no looks, which ask the kernel for what a filter of system calls may kill
 * for; then mappings need not be followed either. */
void iot_faults_stop(void);
int iot_faults_stopped(void);

#endif
