/* Names that differ in their numbers alone are one family: each run of digits counts as one 0. */
#ifndef IOT_ANALYZER_FAMILY_H
#define IOT_ANALYZER_FAMILY_H

#include <stdint.h>

static inline uint64_t iot_family_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static inline uint64_t iot_family_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *p = name; *p; p++) {
        int digit = *p >= '0' && *p <= '9';
        if (digit && p > name && p[-1] >= '0' && p[-1] <= '9')
            continue;
        hash = iot_family_mix(hash, digit ? '0' : (unsigned char)*p);
    }
    return hash;
}

#endif
