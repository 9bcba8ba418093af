/* A text in memory while it is written. */
#ifndef IOT_ANALYZER_MEMSTREAM_H
#define IOT_ANALYZER_MEMSTREAM_H

#include <stdio.h>

struct iot_memstream {
    FILE *stream;
    char *text; /* ends with a zero byte behind n; whole once it is closed */
    size_t n;
};

/* Both return 0, or -1 if the text is not complete. The text is to be freed after
 * iot_memstream_close in either case. */
int iot_memstream_open(struct iot_memstream *m);
int iot_memstream_close(struct iot_memstream *m);

#endif
