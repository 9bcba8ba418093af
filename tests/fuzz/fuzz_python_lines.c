/* Line tables of Python code, as a process's memory may hold them, on any bytes: it ends and keeps
 * within the table. The first bytes say which kind, and for which instruction. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/python_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    uint8_t *table = malloc(size - 3 + 1);
    if (!table)
        abort();
    memcpy(table, data + 3, size - 3);
    int line = iot_python_line((enum iot_python_lines)(data[0] % 3), table, size - 3, 1,
                               data[1] << 8 | data[2]);
    free(table);
    return line == INT32_MIN ? -1 : 0;
}
