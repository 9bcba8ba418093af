/* How much memory there is to be had. */
#ifndef IOT_ANALYZER_MEMORY_H
#define IOT_ANALYZER_MEMORY_H

#include <stdint.h>

/* Bytes that this process can still take without others being pushed out: what the system has
 * available, and what its control groups (version 2) and its own limit on address space leave. */
uint64_t iot_memory_available(void);
/* So many processes of this kind divide the machine among them: iot_memory_available says a share. */
void iot_memory_share(unsigned processes);

#endif
