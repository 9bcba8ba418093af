#include "analyzer/find_file.h"

#include <string.h>

#include "analyzer/path_glob.h"

enum { EXACT, GLOB, SUFFIX, WAYS };

/* Longer ones are compared by their first part. */
enum { COMPARED_BYTES = 64 };

static int is_suffix(const char *path, const char *end)
{
    size_t n = strlen(path), n_end = strlen(end);
    return n > n_end && !memcmp(path + n - n_end, end, n_end) &&
           (path[n - n_end - 1] == '/' || *end == '/');
}

static int is_meant(int way, const char *path, const char *name)
{
    switch (way) {
    case EXACT:
        return !strcmp(path, name);
    case GLOB:
        return strpbrk(name, "*?[") && iot_path_matches(path, name);
    default:
        return *name && is_suffix(path, name);
    }
}

size_t iot_files_find(const struct iot_trace *trace, const char *name, uint32_t *found, size_t room)
{
    size_t n = 0;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    for (int way = EXACT; way < WAYS && !n; way++)
        for (uint32_t f = 1; f < trace->n_files; f++)
            if (is_meant(way, trace->files[f].name, name)) {
                if (n < room)
                    found[n] = f;
                n++;
            }
    return n;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters have to be changed, added or left out (Levenshtein's distance). */
static unsigned distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned row[COMPARED_BYTES + 1];
    for (size_t j = 0; j <= n_b; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned above = row[j];
            row[j] = least(least(above, row[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[n_b];
}

size_t iot_files_nearest(const struct iot_trace *trace, const char *name, uint32_t *found,
                         size_t room)
{
    const char *wanted = basename(name);
    size_t n_wanted = strnlen(wanted, COMPARED_BYTES), n = 0;
    unsigned limit = (unsigned)n_wanted / 2, far[8];
    room = room < sizeof far / sizeof *far ? room : sizeof far / sizeof *far;

    for (uint32_t f = 1; f < trace->n_files && room; f++) {
        const char *last = basename(trace->files[f].name);
        size_t n_last = strnlen(last, COMPARED_BYTES);
        size_t differ = n_last > n_wanted ? n_last - n_wanted : n_wanted - n_last;
        if (differ > limit || (n == room && differ >= far[n - 1]))
            continue;
        unsigned d = distance(wanted, n_wanted, last, n_last);
        if (d > limit || (n == room && d >= far[n - 1]))
            continue;
        size_t at = n < room ? n++ : n - 1;
        for (; at > 0 && far[at - 1] > d; at--) {
            far[at] = far[at - 1];
            found[at] = found[at - 1];
        }
        far[at] = d;
        found[at] = f;
    }
    return n;
}
