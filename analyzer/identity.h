/* Which rank of which job a process is: fact 10 of its file. */
#ifndef IOT_ANALYZER_IDENTITY_H
#define IOT_ANALYZER_IDENTITY_H

#include <stdint.h>

struct iot_identity {
    const char *job, *source;             /* "": not known; source: who named the rank */
    int64_t rank, local_rank, world_size; /* -1: not known */
};

#define IOT_NO_IDENTITY ((struct iot_identity){"", "", -1, -1, -1})

/* Sets what `text`, the fact's value, says; it is cut into pieces, and has to live as long. Keys
 * that are not known and values that are no numbers are left out. */
void iot_identity_read(struct iot_identity *identity, char *text);

/* By job, then rank, local rank and world size; 0: they say the same. */
int iot_identity_order(const struct iot_identity *a, const struct iot_identity *b);

#endif
