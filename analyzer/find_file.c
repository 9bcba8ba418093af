#include "analyzer/find_file.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/path_glob.h"

enum { EXACT, GLOB, SUFFIX, WAYS };

/* Longer ones are compared by their first part. */
enum { COMPARED_BYTES = 64, ASKED_BYTES = 256, NEAREST = 3 };

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

/* Without the stars around it, which say nothing about a name. */
static void literal(const char *name, char text[ASKED_BYTES])
{
    size_t n;
    while (*name == '*')
        name++;
    n = strnlen(name, ASKED_BYTES - 1);
    while (n && name[n - 1] == '*')
        n--;
    memcpy(text, name, n);
    text[n] = '\0';
}

/* How far a name is from another one; one that it is a part of is no way off. */
static unsigned way_to(const char *path, const char *asked, unsigned limit)
{
    const char *wanted = basename(asked), *last = basename(path);
    size_t n_wanted = strnlen(wanted, COMPARED_BYTES), n_last = strnlen(last, COMPARED_BYTES);
    size_t differ = n_last > n_wanted ? n_last - n_wanted : n_wanted - n_last;
    if (*asked && strcasestr(path, asked))
        return 0;
    return differ > limit ? limit + 1 : distance(wanted, n_wanted, last, n_last);
}

static int is_named(const struct iot_trace *trace, const uint32_t *found, size_t n, uint32_t file)
{
    for (size_t k = 0; k < n; k++)
        if (!strcmp(trace->files[found[k]].name, trace->files[file].name))
            return 1;
    return 0;
}

size_t iot_files_nearest(const struct iot_trace *trace, const char *name, uint32_t *found,
                         size_t room)
{
    char asked[ASKED_BYTES];
    unsigned far[8];
    size_t n = 0;
    literal(name, asked);
    unsigned limit = (unsigned)strnlen(basename(asked), COMPARED_BYTES) / 2;
    room = room < sizeof far / sizeof *far ? room : sizeof far / sizeof *far;

    for (uint32_t f = 1; f < trace->n_files && room; f++) {
        if (n == room && !far[n - 1])
            break;
        unsigned most = n == room ? far[n - 1] - 1 : limit;
        unsigned d = way_to(trace->files[f].name, asked, most);
        if (d > most || is_named(trace, found, n, f)) /* copies of a GPU share a name */
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

size_t iot_files_near(const struct iot_trace *trace, const char *name, char *text, size_t room)
{
    uint32_t near[NEAREST];
    size_t n = iot_files_nearest(trace, name, near, NEAREST);
    iot_files_names(trace, near, n, text, room);
    return n;
}

void iot_files_names(const struct iot_trace *trace, const uint32_t *files, size_t n, char *text,
                     size_t room)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t k = 0; k < n && at < room; k++)
        at += (size_t)snprintf(text + at, room - at, "%s%s", k ? ", " : "",
                               trace->files[files[k]].name);
}
