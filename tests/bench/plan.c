#include "tests/bench/plan.h"

#include <stdlib.h>
#include <string.h>

const char *iot_plan_read(const struct iot_plan_number *numbers, size_t n, int argc, char **argv)
{
    for (int a = 2; a < argc; a++) {
        size_t k = 0, name = strcspn(argv[a], "=");
        while (k < n &&
               (strlen(numbers[k].name) != name || strncmp(argv[a], numbers[k].name, name)))
            k++;
        if (k == n || !argv[a][name])
            return NULL;
        *numbers[k].value = strtol(argv[a] + name + 1, NULL, 10);
        if (*numbers[k].value < numbers[k].least || *numbers[k].value > numbers[k].most)
            return NULL;
    }
    return argc < 2 ? NULL : argv[1];
}
