/* iot_columns_decode on hostile payloads; what it accepts must survive another round. Input: two
 * bytes each for events and definitions, then the payload. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/columns.h"
#include "format/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct iot_row rows[IOT_HALF_ROWS], again[IOT_HALF_ROWS];
    static struct iot_definition definitions[IOT_HALF_ROWS];
    static uint8_t payload[IOT_HALF_ROWS * IOT_ENCODED_ROW_MAX + IOT_ENCODED_FIXED_MAX];
    uint16_t n[2];

    if (size < sizeof n)
        return -1;
    memcpy(n, data, sizeof n);
    struct iot_counts counts = {n[0] % (IOT_HALF_ROWS + 1u), n[1] % (IOT_HALF_ROWS + 1u)};
    /* Behind the bytes that a sanitizer watches there must be nothing to read. */
    uint8_t *exact = malloc(size - sizeof n + 1);
    memcpy(exact, data + sizeof n, size - sizeof n);
    if (!iot_columns_decode(exact, size - sizeof n, &counts, rows, definitions)) {
        for (uint32_t i = 0; i < counts.definitions; i++)
            if (definitions[i].row.op == IOT_DEF_STRING && definitions[i].row.bytes)
                (void)*(const volatile char *)&definitions[i].text[definitions[i].row.bytes - 1];
        struct iot_counts now;
        size_t bytes = iot_columns_encode(rows, counts.events, payload, &now);
        if (now.events != counts.events ||
            iot_columns_decode(payload, bytes, &now, again, definitions) ||
            memcmp(rows, again, counts.events * sizeof *rows))
            abort();
    }
    free(exact);
    return 0;
}
