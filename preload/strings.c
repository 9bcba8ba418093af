#include "preload/strings.h"

#include <string.h>
#include <sys/auxv.h>

#include "format/checksum.h"
#include "preload/process.h"

static uint64_t key;

void iot_strings_start(void)
{
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes, from the kernel */
    if (random)
        memcpy(&key, random, sizeof key);
}

uint64_t iot_string_tag(const char *base, size_t base_bytes, const char *text, size_t text_bytes,
                        uint64_t **place)
{
    uint64_t hash = XXH64(text, text_bytes, base_bytes ? XXH64(base, base_bytes, key) : key);
    *place = &iot_process->strings[hash % IOT_STRINGS_KEPT];
    uint64_t tag = hash >> IOT_STRING_NUMBER_BITS;
    return tag ? tag : 1;
}

void iot_strings_forget(void)
{
    for (uint32_t i = 0; i < IOT_STRINGS_KEPT; i++)
        if (__atomic_load_n(&iot_process->strings[i], __ATOMIC_RELAXED))
            __atomic_store_n(&iot_process->strings[i], 0, __ATOMIC_RELAXED);
    iot_stacks_forget(); /* which are strings as well */
}
