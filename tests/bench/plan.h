/* What a program that makes traces is asked for: FOLDER [name=N]... */
#ifndef IOT_TESTS_BENCH_PLAN_H
#define IOT_TESTS_BENCH_PLAN_H

#include <stddef.h>

struct iot_plan_number {
    const char *name;
    long *value, least, most;
};

/* Sets the numbers that the arguments behind FOLDER name. Returns FOLDER, NULL: refused. */
const char *iot_plan_read(const struct iot_plan_number *numbers, size_t n, int argc, char **argv);

#endif
