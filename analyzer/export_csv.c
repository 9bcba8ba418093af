/* A table as CSV: RFC 4180, with a heading; what is null is empty. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export_tables.h"
#include "analyzer/progress.h"

static void put_text(const char *text, FILE *out)
{
    if (!strpbrk(text, "\",\r\n") && *text) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

int iot_export_csv(const struct iot_exported *x, const struct iot_export_table *table, FILE *out)
{
    size_t n = table->rows(x);
    char *room = NULL;
    int failed = 0;

    for (const struct iot_column *c = table->columns; c->name; c++)
        fprintf(out, "%s%s", c == table->columns ? "" : ",", c->name);
    putc('\n', out);
    for (size_t row = 0; row < n && !failed && !ferror(out); row++) {
        iot_progress(table->name, row, n);
        for (const struct iot_column *c = table->columns; c->name && !failed; c++) {
            struct iot_cell cell = c->get(x, row);
            if (c != table->columns)
                putc(',', out);
            if (cell.null)
                continue;
            const char *text = c->text ? iot_cell_text(cell.text, &room) : NULL;
            failed = c->text && !text;
            if (text)
                put_text(text, out);
            else if (!failed)
                fprintf(out, "%" PRId64, cell.number);
        }
        putc('\n', out);
    }
    free(room);
    errno = failed ? ENOMEM : errno;
    return failed || ferror(out) ? -1 : 0;
}
