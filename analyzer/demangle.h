/* Names of C++ functions as their source has them. */
#ifndef IOT_ANALYZER_DEMANGLE_H
#define IOT_ANALYZER_DEMANGLE_H

#include <stddef.h>

/* "_ZN5Queue4pushEi" as "Queue::push", without parameters and without what it returns, in `to`, cut
 * to what fits. Any other name as it is, and every name where no demangler is installed: it is that
 * of libstdc++, which is loaded when the first such name is met. */
const char *iot_demangle(const char *name, char *to, size_t bytes);

#endif
