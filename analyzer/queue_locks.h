/* Queues behind a lock whose waiters each bring a semaphore of their own: Python's queue.Queue. */
#ifndef IOT_ANALYZER_QUEUE_LOCKS_H
#define IOT_ANALYZER_QUEUE_LOCKS_H

#include "analyzer/queue_moves.h"

/* As iot_queue_moves, of such queues alone.
 *
 * A lock here is a semaphore made with 1 that only its holder posts. Who has to wait for something
 * to change under it releases it, waits for a semaphore of its own, and takes the lock again; who
 * changes something posts that semaphore while it holds the lock. So each of the two is on a side
 * of its own. Holding the lock once, waits included, is one message in or out; the side of the
 * first one puts in. It is no queue where a lane is on both sides or on none, or more is taken than
 * was put. */
int iot_queue_locks(const struct iot_trace *trace, struct iot_arena *arena, iot_queue_found *found,
                    void *user);

#endif
