#include "analyzer/escape.h"

#include <stdbool.h>
#include <string.h>

#include "analyzer/text.h"

const struct iot_escape iot_escapes_label[] = {{'\\', "\\\\"}, {'"', "\\\""}, {0}};

/* U+FFFE and U+FFFF are no characters, and XML refuses them. */
static bool is_no_character(const char *text, size_t length)
{
    return length == 3 && !memcmp(text, "\xef\xbf", 2) && (unsigned char)text[2] >= 0xbe;
}

void iot_write_escaped(FILE *out, const char *text, const struct iot_escape *table,
                       const char *backslash)
{
    size_t left = strlen(text);
    while (left) {
        size_t length = iot_utf8_length(text, left), n = length ? length : 1;
        const struct iot_escape *row = table;
        while (row->of && row->of != *text)
            row++;
        if (row->of) {
            fputs(row->as, out);
        } else if (!length || iot_utf8_is_control(text, length) ||
                   iot_utf8_is_hidden(text, length) || is_no_character(text, length)) {
            for (size_t i = 0; i < n; i++)
                fprintf(out, "%sx%02x", backslash, (unsigned char)text[i]);
        } else {
            fwrite(text, 1, n, out);
        }
        text += n;
        left -= n;
    }
}
