/* Which strings the trace has already: by the tag of a keyed hash, so that file names chosen
 * to collide do not. Two different names share a tag once in 2^40 at one place of 2^14. */
#ifndef IOT_PRELOAD_STRINGS_H
#define IOT_PRELOAD_STRINGS_H

#include <stddef.h>
#include <stdint.h>

enum { IOT_STRING_NUMBER_BITS = 24 };

void iot_strings_start(void);

/* The tag of base followed by text (never 0), and where its number is kept. */
uint64_t iot_string_tag(const char *base, size_t base_bytes, const char *text, size_t text_bytes,
                        uint64_t **place);

/* Each is to be defined anew. */
void iot_strings_forget(void);

#endif
