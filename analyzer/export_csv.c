/* A table as CSV: RFC 4180, with a heading; what is null is empty. A text that a spreadsheet would
 * take for a formula has an apostrophe before it, and so that this can be undone, one that begins
 * with an apostrophe as well. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export_tables.h"
#include "analyzer/progress.h"

/* A spreadsheet takes what begins so for a formula. The wide forms count in some languages. */
static int is_formula(const char *text)
{
    static const char *const begins[] = {"=",      "+",      "-",      "@",     "'",
                                         "\uff1d", "\uff0b", "\uff0d", "\uff20"};
    size_t k = 0;
    while (k < sizeof begins / sizeof *begins && strncmp(text, begins[k], strlen(begins[k])) != 0)
        k++;
    return k < sizeof begins / sizeof *begins;
}

static void put_text(const char *text, FILE *out)
{
    bool quoted = !*text || strpbrk(text, "\",\r\n");
    if (quoted)
        putc('"', out);
    if (is_formula(text))
        putc('\'', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    if (quoted)
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
