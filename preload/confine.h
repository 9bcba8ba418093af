/* Programs that filter their system calls (seccomp): a call that a filter does not know may kill.
 */
#ifndef IOT_PRELOAD_CONFINE_H
#define IOT_PRELOAD_CONFINE_H

/* Whether this system call may put a filter in place. */
int iot_confines(long number, const long a[6]);

/* Before and after such a call. A filter that would kill for what the recorder asks of the kernel
 * is found out before; then what recording needs is made ready, and from then on nothing is asked.
 */
int iot_confine_before(long number, const long a[6]);
/* `confined`: what that returned; an earlier filter stays when a later one is refused. */
void iot_confine_after(int confined, long result);

#endif
