/* Text made without libc's formatting, which allocates and takes locks. Each returns where the next
 * byte goes; nothing is terminated. */
#ifndef IOT_PRELOAD_TEXT_H
#define IOT_PRELOAD_TEXT_H

#include <stdint.h>
#include <string.h>

static inline char *iot_text_put(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n);
    return to + n;
}

static inline char *iot_text_base(char *to, uint64_t number, unsigned base)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[number % base];
    while (number /= base);
    while (n)
        *to++ = digits[--n];
    return to;
}

static inline char *iot_text_number(char *to, uint64_t number)
{
    return iot_text_base(to, number, 10);
}

#endif
