/* Times, sizes and counts as people read them: three digits that tell, in decimal units. */
#ifndef IOT_ANALYZER_PEOPLE_H
#define IOT_ANALYZER_PEOPLE_H

#include <stdint.h>

/* At most 9 columns each, with the unit; more where a noun is given. */
struct iot_words {
    char text[40];
};

struct iot_words iot_people_time(int64_t ns);     /* "412 ms", "3.10 s"; never below ms */
struct iot_words iot_people_bytes(int64_t bytes); /* "64 B", "1.07 GB" */
struct iot_words iot_people_count(int64_t n);     /* "48", "1.20 M" */
/* The count with its noun, which is given in the singular: "1 call", "48 calls", "2 processes". */
struct iot_words iot_people_many(int64_t n, const char *noun);
/* part of whole in per cent: "13 %", "0.4 %", "<0.1 %". */
struct iot_words iot_people_share(int64_t part, int64_t whole);

#endif
