/* Work on many things of one kind, by several threads. */
#ifndef IOT_ANALYZER_WORKERS_H
#define IOT_ANALYZER_WORKERS_H

#include <stddef.h>

enum { IOT_WORKERS_MAX = 16 };

/* Does thing number `index`. `worker` is below IOT_WORKERS_MAX, and 0 in the caller's thread: what
 * one worker alone touches may be kept under its number. Returns 0, or -1 to end all work. */
typedef int iot_work(void *user, size_t index, unsigned worker);

/* Calls `work` once for each index below n, in the caller's thread and in others beside it: one a
 * CPU that this process may use, or as many as IOTRACE_THREADS says. The lowest index left is
 * always the next. Threads that cannot be made are done without. Returns 0, or -1 if a call did. */
int iot_workers_run(size_t n, iot_work *work, void *user);
/* So many processes of this kind divide the CPUs among them, unless each is bound to its own. */
void iot_workers_share(unsigned processes);

#endif
