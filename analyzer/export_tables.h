/* A run as tables: what CSV, SQLite and Parquet hold is said once, here. */
#ifndef IOT_ANALYZER_EXPORT_TABLES_H
#define IOT_ANALYZER_EXPORT_TABLES_H

#include <stdbool.h>

#include "analyzer/export.h"

/* A value of a row; which of the two members counts, the column says. Text is UTF-8 where its
 * origin was; iot_cell_text makes it so in any case. */
struct iot_cell {
    bool null;
    int64_t number;
    const char *text;
};

struct iot_column {
    const char *name;
    bool text; /* else a number */
    bool nullable;
    struct iot_cell (*get)(const struct iot_exported *x, size_t row);
    const char *about; /* a line, for the schema of a database */
};

struct iot_export_table {
    const char *name;
    const char *about;
    const struct iot_column *columns; /* name NULL ends them */
    size_t (*rows)(const struct iot_exported *x);
    bool keyed; /* has the columns job and rank: a partitioned folder does not add them */
};

extern const struct iot_export_table iot_export_tables[]; /* name NULL ends them */

/* doc/sql/views.sql */
extern const char iot_export_views[];

/* Text of any bytes as UTF-8: control characters and what is not UTF-8 as \xNN. Points to `text`,
 * or to *room, which grows and which the caller frees; NULL without memory, also where `text` is
 * NULL for want of it. */
const char *iot_cell_text(const char *text, char **room);

/* One table each. 0; -1 with errno (ENOMEM, or of the write). */
int iot_export_csv(const struct iot_exported *x, const struct iot_export_table *table, FILE *out);
int iot_export_parquet(const struct iot_exported *x, const struct iot_export_table *table,
                       FILE *out);

/* All tables and the views on them, into a database file that is empty or not there. 0, or -1 with
 * one line in `error`, which does not name the file. */
int iot_export_sqlite(const struct iot_exported *x, const char *path, char error[512]);

#endif
