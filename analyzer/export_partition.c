#include "analyzer/export_partition.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/out_file.h"
#include "analyzer/room.h"
#include "analyzer/text.h"

/* A name of a job is cut to so many bytes where it is the name of a folder; the table `units` has
 * it whole. */
enum { KEY_BYTES = 120 };

/* What Hive calls a value that is null. */
static const char null_key[] = "__HIVE_DEFAULT_PARTITION__";

static int refuse(const char *path, const char *what)
{
    iot_error("%s: %s: %s", path, what, strerror(errno));
    return IOT_EXIT_USAGE;
}

static int is_there(const char *path)
{
    iot_error("%s: this run is there already; give another folder, or remove its files first",
              path);
    return IOT_EXIT_USAGE;
}

static int out_of_memory(void)
{
    iot_error("export: out of memory");
    return IOT_EXIT_USAGE;
}

/* --- names --- */

/* As Hive escapes what may not stand in the name of a folder; no character is cut. */
static void key_of(const char *value, char key[KEY_BYTES + 1])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = 0, left = strlen(value), length;
    if (!left)
        strcpy(key, null_key);
    for (; left && n + 3 * (length = iot_utf8_length(value, left)) <= KEY_BYTES; left -= length)
        for (size_t k = 0; k < length; k++, value++)
            n += (size_t)sprintf(key + n, strchr(plain, *value) ? "%c" : "%%%02X",
                                 (unsigned char)*value);
}

/* The caller frees it; NULL without memory. */
static char *path_of(const struct iot_partition *to, const struct iot_exported *x,
                     const struct iot_export_table *table)
{
    const struct iot_identity *unit = &x->unit.identity;
    char key[KEY_BYTES + 1], rank[sizeof null_key], *path = NULL, *room = NULL;
    const char *job = iot_cell_text(unit->job, &room);
    if (job && table->keyed) {
        if (asprintf(&path, "%s/%s/unit-%" PRId64 ".parquet", to->folder, table->name,
                     x->unit.number) < 0)
            path = NULL;
    } else if (job) {
        key_of(job, key);
        if (unit->rank < 0)
            strcpy(rank, null_key);
        else
            snprintf(rank, sizeof rank, "%" PRId64, unit->rank);
        if (asprintf(&path, "%s/%s/job=%s/rank=%s/unit-%" PRId64 ".parquet", to->folder,
                     table->name, key, rank, x->unit.number) < 0)
            path = NULL;
    }
    free(room);
    return path;
}

static char *part_of(const struct iot_partition *to, const struct iot_export_table *table)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s.parquet", to->under_way, table->name) < 0 ? NULL : path;
}

/* --- folders --- */

/* Those between the partition's own and the file. */
static int make_folders(const struct iot_partition *to, char *path)
{
    for (char *at = path + strlen(to->folder) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        int failed = mkdir(path, 0777) && errno != EEXIST;
        *at = '/';
        if (failed)
            return -1;
    }
    return 0;
}

/* Those that are empty. */
static void remove_folders(const struct iot_partition *to, char *path)
{
    for (char *at; strlen(path) > strlen(to->folder) + 1 && (at = strrchr(path, '/'));) {
        *at = '\0';
        if (strlen(path) <= strlen(to->folder) || rmdir(path))
            return;
    }
}

/* Where it is not there. Not every file system knows the first way. */
static int move(const char *from, const char *path)
{
    if (!renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE))
        return 0;
    if ((errno != EINVAL && errno != ENOSYS) || link(from, path))
        return -1;
    unlink(from);
    return 0;
}

/* --- units --- */

static int write_table(const struct iot_exported *x, const struct iot_export_table *table,
                       const char *path)
{
    struct iot_out_file out;
    int status = iot_out_file_open(&out, path);
    if (status)
        return status;
    if (iot_export_parquet(x, table, out.stream) && !ferror(out.stream)) {
        iot_out_file_drop(&out);
        return out_of_memory();
    }
    return iot_out_file_close(&out);
}

static int remember(struct iot_partition *to, char *path)
{
    if (IOT_ROOM(to->files, to->n + 1, to->room))
        return -1;
    to->files[to->n++] = path;
    return 0;
}

/* Takes `path`. Another export that failed may take away a folder that it found empty. */
static int put_in_place(struct iot_partition *to, const char *part, char *path)
{
    int failed = -1;
    for (int k = 0; k < 3 && failed; k++) {
        failed = make_folders(to, path) || move(part, path);
        if (failed && errno != ENOENT)
            break;
    }
    if (failed) {
        int status = errno == EEXIST ? is_there(path) : refuse(path, "cannot be put in place");
        free(path);
        return status;
    }
    if (!remember(to, path))
        return IOT_EXIT_OK;
    unlink(path);
    free(path);
    return out_of_memory();
}

static void take_away(struct iot_partition *to, size_t from)
{
    while (to->n > from) {
        char *path = to->files[--to->n];
        unlink(path);
        remove_folders(to, path);
        free(path);
    }
}

/* Does `what` with the part of each table. Tables are listed with `units` last. */
static int for_tables(struct iot_partition *to, const struct iot_exported *x,
                      int (*what)(struct iot_partition *to, const struct iot_exported *x,
                                  const struct iot_export_table *table, const char *part))
{
    int status = IOT_EXIT_OK;
    for (const struct iot_export_table *t = iot_export_tables; t->name && !status; t++) {
        char *part = part_of(to, t);
        status = part ? what(to, x, t, part) : out_of_memory();
        free(part);
    }
    return status;
}

static int write_part(struct iot_partition *to, const struct iot_exported *x,
                      const struct iot_export_table *table, const char *part)
{
    char *path = path_of(to, x, table);
    int status = !path                 ? out_of_memory()
                 : !access(path, F_OK) ? is_there(path) /* said before the work is done */
                                       : write_table(x, table, part);
    free(path);
    return status;
}

static int place_part(struct iot_partition *to, const struct iot_exported *x,
                      const struct iot_export_table *table, const char *part)
{
    char *path = path_of(to, x, table);
    return path ? put_in_place(to, part, path) : out_of_memory();
}

static int remove_part(struct iot_partition *to, const struct iot_exported *x,
                       const struct iot_export_table *table, const char *part)
{
    (void)to;
    (void)x;
    (void)table;
    unlink(part);
    return IOT_EXIT_OK;
}

int iot_partition_add(struct iot_partition *to, const struct iot_exported *x)
{
    size_t before = to->n;
    if (asprintf(&to->under_way, "%s/.unit-XXXXXX", to->folder) < 0) {
        to->under_way = NULL;
        return out_of_memory();
    }
    int status =
        mkdtemp(to->under_way) ? IOT_EXIT_OK : refuse(to->folder, "cannot be written into");
    if (!status) {
        status = for_tables(to, x, write_part);
        if (!status)
            status = for_tables(to, x, place_part);
        if (status)
            take_away(to, before);
        for_tables(to, x, remove_part);
        rmdir(to->under_way);
    }
    free(to->under_way);
    to->under_way = NULL;
    return status;
}

int iot_partition_open(struct iot_partition *to, const char *folder)
{
    *to = (struct iot_partition){.folder = folder, .made = !mkdir(folder, 0777)};
    return to->made || errno == EEXIST ? IOT_EXIT_OK : refuse(folder, "cannot be made");
}

void iot_partition_close(struct iot_partition *to, bool keep)
{
    if (!keep)
        take_away(to, 0);
    if (to->made && !to->n)
        rmdir(to->folder);
    for (size_t k = 0; k < to->n; k++)
        free(to->files[k]);
    free(to->files);
    *to = (struct iot_partition){0};
}
