/* System calls by number that put a filter in place, behind which others may be deadly. */
#ifndef IOT_PRELOAD_LIMITS_H
#define IOT_PRELOAD_LIMITS_H

int iot_confines(long number, long first);
/* Makes the call, prepared for its success. */
long iot_confining_syscall(long number, const long a[6]);

#endif
