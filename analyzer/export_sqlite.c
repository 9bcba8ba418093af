/* A run as a SQLite database: the tables, and the views of doc/sql/views.sql. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export_tables.h"
#include "analyzer/progress.h"
#include "analyzer/memstream.h"

/* What each column is stands in the schema, as comments. */
static void put_create(FILE *out, const struct iot_export_table *table)
{
    fprintf(out, "CREATE TABLE %s( -- %s", table->name, table->about);
    for (const struct iot_column *c = table->columns; c->name; c++)
        fprintf(out, "\n    %s %s%s%s -- %s", c->name, c->text ? "TEXT" : "INTEGER",
                c->nullable ? "" : " NOT NULL", c[1].name ? "," : "", c->about);
    fputs("\n)", out);
}

static void put_insert(FILE *out, const struct iot_export_table *table)
{
    fprintf(out, "INSERT INTO %s VALUES(", table->name);
    for (const struct iot_column *c = table->columns; c->name; c++)
        fputs(c[1].name ? "?, " : "?)", out);
}

/* The caller frees it; NULL without memory. */
static char *statement(const struct iot_export_table *table,
                       void (*put)(FILE *out, const struct iot_export_table *table))
{
    struct iot_memstream m;
    if (iot_memstream_open(&m))
        return NULL;
    put(m.stream, table);
    if (iot_memstream_close(&m)) {
        free(m.text);
        return NULL;
    }
    return m.text;
}

static int bind(sqlite3_stmt *insert, int k, const struct iot_column *c, struct iot_cell cell,
                char **room)
{
    if (cell.null)
        return sqlite3_bind_null(insert, k);
    if (!c->text)
        return sqlite3_bind_int64(insert, k, cell.number);
    const char *text = iot_cell_text(cell.text, room);
    return text ? sqlite3_bind_text(insert, k, text, -1, SQLITE_TRANSIENT) : SQLITE_NOMEM;
}

static int fill(sqlite3 *db, const struct iot_exported *x, const struct iot_export_table *table)
{
    char *create = statement(table, put_create), *insert = statement(table, put_insert),
         *room = NULL;
    sqlite3_stmt *row_in = NULL;
    size_t n = table->rows(x);
    int status = create && insert ? sqlite3_exec(db, create, NULL, NULL, NULL) : SQLITE_NOMEM;

    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(db, insert, -1, &row_in, NULL);
    for (size_t row = 0; row < n && status == SQLITE_OK; row++) {
        iot_progress(table->name, row, n);
        int k = 1;
        for (const struct iot_column *c = table->columns; c->name && status == SQLITE_OK; c++)
            status = bind(row_in, k++, c, c->get(x, row), &room);
        if (status == SQLITE_OK && sqlite3_step(row_in) != SQLITE_DONE)
            status = sqlite3_errcode(db);
        sqlite3_reset(row_in);
    }
    sqlite3_finalize(row_in);
    free(create);
    free(insert);
    free(room);
    return status;
}

int iot_export_sqlite(const struct iot_exported *x, const char *path, char error[512])
{
    /* Nothing is lost where the machine fails: the file is new, and gets its name when it is whole.
     */
    static const char pragmas[] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN";
    sqlite3 *db = NULL;
    int status = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

    if (status == SQLITE_OK)
        status = sqlite3_exec(db, pragmas, NULL, NULL, NULL);
    for (const struct iot_export_table *t = iot_export_tables; t->name && status == SQLITE_OK; t++)
        status = fill(db, x, t);
    if (status == SQLITE_OK)
        status = sqlite3_exec(db, iot_export_views, NULL, NULL, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (status != SQLITE_OK)
        snprintf(error, 512, "%s", db ? sqlite3_errmsg(db) : sqlite3_errstr(status));
    sqlite3_close(db);
    return status == SQLITE_OK ? 0 : -1;
}
