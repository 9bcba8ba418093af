/* The life of processes and threads as rows. */
#ifndef IOT_PRELOAD_LIFE_H
#define IOT_PRELOAD_LIFE_H

#include <pthread.h>

#include "preload/record.h"

/* The first row of a thread: `start` for the first one of a process, else `thread_start`.
 * Also sees to it that the thread's end is noticed. */
void iot_life_began(struct iot_thread *t, uint32_t parent_lane);

int iot_life_start(void);

/* The kernel's number of a thread of this process; 0 if it has recorded nothing yet, or has ended.
 */
uint32_t iot_life_tid(pthread_t thread);

/* Where main has ended before, the process is ended by the last thread, which had ended too: it
 * records again. */
void iot_life_again(void);

/* The thread that ends the process: its `exit` row, then the file is closed. */
void iot_life_exit(int64_t status);

#endif
