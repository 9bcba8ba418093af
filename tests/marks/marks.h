/* The same run in C and in C++: five steps in an epoch, each with a range of I/O and one without.
 */
#ifndef IOT_TEST_MARKS_H
#define IOT_TEST_MARKS_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "include/iotrace.h"

enum { STEPS = 5, BYTES = 65536 };

static inline int load(void)
{
    static char data[BYTES];
    int fd = open("data.raw", O_RDONLY);
    int failed = fd < 0 || read(fd, data, BYTES) != BYTES;
    return close(fd) || failed;
}

static inline int run_marked(void)
{
    int failed = 0;
    char name[32];
    iot_mark("loaded");
    iot_range_begin("epoch");
    for (int i = 0; i < STEPS; i++) {
        iot_step();
        iot_range_begin("load");
        failed |= load();
        iot_range_end();
        snprintf(name, sizeof name, "compute %d", i);
        iot_range_begin(name);
        usleep(2000);
        iot_range_end();
    }
    iot_range_end();
    iot_range_end(); /* one too many does no harm */
    return failed;
}

#endif
