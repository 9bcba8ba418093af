/* Without SQLite. */
#include <stdio.h>

#include "analyzer/export_tables.h"

int iot_export_sqlite(const struct iot_exported *x, const char *path, char error[512])
{
    (void)x;
    (void)path;
    snprintf(
        error, 512,
        "this iotrace was built without SQLite: install libsqlite3-dev, and build it again; or "
        "use --format parquet or csv");
    return -1;
}
