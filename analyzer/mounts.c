/* The mount points of /proc/self/mountinfo. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/report_parts.h"

static int octal(const char *p)
{
    for (int i = 0; i < 3; i++)
        if (p[i] < '0' || p[i] > '7')
            return -1;
    return (p[0] - '0') * 64 + (p[1] - '0') * 8 + p[2] - '0';
}

/* The kernel writes a blank, a tab, a line's end and a backslash as \NNN. */
static char *unescaped(struct iot_arena *arena, const char *text, size_t n)
{
    char *copy = iot_arena_text(arena, text, n), *to = copy;
    for (const char *from = copy; copy && *from; to++) {
        int c = *from == '\\' ? octal(from + 1) : -1;
        *to = c > 0 ? (char)c : *from;
        from += c > 0 ? 4 : 1;
    }
    if (copy)
        *to = '\0';
    return copy;
}

/* The next word of a line; its length is 0 at the line's end. */
static const char *word(const char **at, size_t *n)
{
    const char *start = *at + strspn(*at, " ");
    *n = strcspn(start, " \n");
    *at = start + *n;
    return start;
}

/* "36 35 98:0 /root /mnt/point options optional fields - type source …" Returns 1 for a mount,
 * 0 for a line that is none (the last one may be cut), -1 without memory. */
static int read_line(const char *line, struct iot_mount *mount, struct iot_arena *arena)
{
    const char *point = NULL, *type = NULL, *w;
    size_t n_point = 0, n = 1, n_type = 0;

    for (unsigned i = 0; n; i++) {
        w = word(&line, &n);
        if (i == 4) {
            point = w;
            n_point = n;
        } else if (i > 5 && n == 1 && *w == '-') {
            type = word(&line, &n_type);
            break;
        }
    }
    if (!point || !n_type)
        return 0;
    mount->point = unescaped(arena, point, n_point);
    mount->type = iot_arena_text(arena, type, n_type);
    if (!mount->point || !mount->type)
        return -1;
    mount->n_point = strlen(mount->point);
    return 1;
}

int iot_mounts_read(struct iot_mounts *mounts, const char *text, struct iot_arena *arena)
{
    *mounts = (struct iot_mounts){0};
    while (*text) {
        struct iot_mount mount;
        int found = read_line(text, &mount, arena);
        if (found < 0)
            return -1;
        if (found) {
            struct iot_mount *more =
                realloc(mounts->mounts, (mounts->n + 1) * sizeof *more);
            if (!more)
                return -1;
            mounts->mounts = more;
            more[mounts->n++] = mount;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return 0;
}

const struct iot_mount *iot_mounts_find(const struct iot_mounts *mounts, const char *path)
{
    const struct iot_mount *best = NULL;
    for (size_t i = 0; i < mounts->n; i++) {
        const struct iot_mount *m = &mounts->mounts[i];
        size_t n = m->n_point == 1 ? 0 : m->n_point; /* "/" is before every path */
        if (strncmp(path, m->point, n) || path[n] != '/' || (best && m->n_point < best->n_point))
            continue;
        best = m; /* of two on one point the later one hides the earlier */
    }
    return best;
}
