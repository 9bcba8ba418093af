/* A folder of Parquet files of many units, by table, job and rank, as engines of SQL read it:
 *
 *     FOLDER/TABLE/job=JOB/rank=N/unit-NUMBER.parquet
 *     FOLDER/units/unit-NUMBER.parquet
 *
 * A unit is added whole or not at all, its row of the table `units` last; what is there already is
 * never replaced. Several processes may add to one folder at the same time.
 */
#ifndef IOT_ANALYZER_EXPORT_PARTITION_H
#define IOT_ANALYZER_EXPORT_PARTITION_H

#include "analyzer/export_tables.h"

struct iot_partition {
    const char *folder;
    bool made;       /* by this export */
    char *under_way; /* a hidden folder in it, in which a unit's files are until they are whole */
    char **files;    /* that were added */
    size_t n, room;
};

/* All return an exit status, with an error printed if it is not IOT_EXIT_OK. */
int iot_partition_open(struct iot_partition *to, const char *folder);
int iot_partition_add(struct iot_partition *to, const struct iot_exported *x);
/* `keep` false: takes away what was added. */
void iot_partition_close(struct iot_partition *to, bool keep);

#endif
