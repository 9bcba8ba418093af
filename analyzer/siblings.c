#include "analyzer/siblings.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/room.h"
#include "analyzer/table.h"

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Each run of digits in the last component becomes one '0'. */
static size_t fold(char *to, const char *path)
{
    size_t n = (size_t)(basename(path) - path);
    memcpy(to, path, n);
    for (const char *p = path + n; *p; p++)
        if (!is_digit(*p))
            to[n++] = *p;
        else if (!is_digit(p[1]))
            to[n++] = '0';
    return n;
}

struct look {
    const struct iot_trace *trace;
    const struct iot_groups *groups;
    const char *name;
};

static int same_pattern(const void *user, uint32_t index)
{
    const struct look *look = user;
    const char *a = look->name, *b = look->trace->files[look->groups->groups[index].file].name;
    size_t n = (size_t)(basename(a) - a);
    if (n != (size_t)(basename(b) - b) || memcmp(a, b, n))
        return 0;
    for (a += n, b += n; *a && *b; a++, b++) {
        if (is_digit(*a) && is_digit(*b)) {
            while (is_digit(a[1]))
                a++;
            while (is_digit(b[1]))
                b++;
        } else if (*a != *b) {
            return 0;
        }
    }
    return !*a && !*b;
}

static uint32_t add_group(struct iot_groups *groups, uint32_t file)
{
    if (IOT_ROOM(groups->groups, groups->n + 1, groups->room))
        return IOT_NO_INDEX;
    groups->groups[groups->n] = (struct iot_group){.file = file,
                                                   .first_read_ns = INT64_MAX,
                                                   .last_read_ns = INT64_MIN,
                                                   .first_map_ns = INT64_MAX,
                                                   .last_map_ns = INT64_MIN};
    return (uint32_t)groups->n++;
}

static void add_file(struct iot_group *g, const struct iot_file *file, const struct iot_use *use,
                     int64_t read_back)
{
    if (use->maps > g->maps)
        g->maps = use->maps;
    if (use->maps && use->first_map_ns < g->first_map_ns)
        g->first_map_ns = use->first_map_ns;
    if (use->maps && use->last_map_ns > g->last_map_ns)
        g->last_map_ns = use->last_map_ns;
    if (use->read_bytes) {
        g->n_read++;
        g->reads += use->reads;
        g->read_bytes += use->read_bytes;
        if (use->first_read_ns < g->first_read_ns)
            g->first_read_ns = use->first_read_ns;
        if (use->last_read_ns > g->last_read_ns)
            g->last_read_ns = use->last_read_ns;
    } else if (use->flags & IOT_USE_MAPPED) {
        g->mapped++;
    }
    if ((use->read_bytes || use->flags & IOT_USE_MAPPED) && file->size > 0)
        g->size += file->size;
    if (use->written_bytes) {
        g->n_written++;
        g->synced += (use->flags & IOT_USE_SYNCED) != 0;
        g->written_bytes += use->written_bytes;
        if (read_back) {
            g->n_back++;
            g->back_bytes += use->written_bytes;
            g->back_read_bytes += read_back < use->written_bytes ? read_back : use->written_bytes;
        }
    }
}

/* By family: bytes read under any of its names after one of them had been written. */
static int64_t *families_read_back(const struct iot_trace *trace, const struct iot_uses *uses)
{
    int64_t *back = calloc(trace->n_files + 1, sizeof *back);
    for (size_t f = 1; back && f < trace->n_files; f++)
        back[uses->files[f].family] += uses->files[f].read_back_bytes;
    return back;
}

static int has_siblings(const struct iot_file *file)
{
    return file->name[0] == '/' &&
           (file->kind == IOT_FILE_REGULAR || file->kind == IOT_FILE_UNKNOWN);
}

static int place(struct iot_groups *groups, const struct iot_trace *trace, uint32_t f,
                 struct iot_table *table, char *folded)
{
    const char *name = trace->files[f].name;
    struct look look = {trace, groups, name};
    uint64_t hash = iot_table_hash(folded, fold(folded, name));
    uint32_t g = iot_table_find(table, hash, same_pattern, &look);
    if (g == IOT_NO_INDEX) {
        g = add_group(groups, f);
        if (g == IOT_NO_INDEX || iot_table_add(table, hash, g))
            return -1;
    }
    groups->of_file[f] = g;
    return 0;
}

int iot_groups_gather(struct iot_groups *groups, const struct iot_trace *trace,
                      const struct iot_uses *uses)
{
    struct iot_table table = {0};
    size_t longest = 0;
    for (size_t f = 1; f < trace->n_files; f++) {
        size_t n = strlen(trace->files[f].name);
        longest = n > longest ? n : longest;
    }
    char *folded = malloc(longest + 1);
    int64_t *back = families_read_back(trace, uses);

    *groups = (struct iot_groups){.of_file = calloc(trace->n_files + 1, sizeof(uint32_t))};
    int failed = !folded || !back || !groups->of_file || add_group(groups, 0) == IOT_NO_INDEX;
    for (uint32_t f = 1; f < trace->n_files && !failed; f++) {
        if (!has_siblings(&trace->files[f]))
            continue;
        failed = place(groups, trace, f, &table, folded);
        if (!failed)
            add_file(&groups->groups[groups->of_file[f]], &trace->files[f], &uses->files[f],
                     back[uses->files[f].family]);
    }
    iot_table_free(&table);
    free(folded);
    free(back);
    return failed ? -1 : 0;
}

void iot_groups_free(struct iot_groups *groups)
{
    free(groups->of_file);
    free(groups->groups);
    *groups = (struct iot_groups){0};
}
