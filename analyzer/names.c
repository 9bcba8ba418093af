#include "analyzer/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/room.h"

static int same_name(const void *user, uint32_t index)
{
    const void *const *look = user;
    const struct iot_files *files = look[0];
    return !strcmp(files->files[index].name, look[1]);
}

uint32_t iot_files_intern(struct iot_files *files, const char *name)
{
    const void *look[2] = {files, name};
    uint64_t hash = iot_table_hash(name, strlen(name));
    uint32_t index = iot_table_find(&files->by_name, hash, same_name, look);
    if (index != UINT32_MAX)
        return index;

    if (files->n >= IOT_NO_INDEX || IOT_ROOM(files->files, files->n + 1, files->room) ||
        iot_table_add(&files->by_name, hash, (uint32_t)files->n))
        return IOT_NO_INDEX;
    files->files[files->n] = (struct iot_file){.name = name, .size = -1};
    return (uint32_t)files->n++;
}

int iot_files_init(struct iot_files *files, struct iot_arena *arena)
{
    *files = (struct iot_files){.arena = arena};
    return iot_files_intern(files, "") == 0 ? 0 : -1;
}

void iot_files_free(struct iot_files *files)
{
    free(files->files);
    iot_table_free(&files->by_name);
    iot_table_free(&files->by_inode);
    files->files = NULL;
}

void iot_path_normalise(char *path)
{
    static const char anon[] = "anon_inode:";
    if (!strncmp(path, anon, sizeof anon - 1)) {
        const char *what = path + sizeof anon - 1;
        size_t n = strlen(what);
        if (n > 1 && what[0] == '[' && what[n - 1] == ']') {
            what++;
            n -= 2;
        }
        memmove(path + 5, what, n); /* behind "anon:" */
        path[4] = ':';
        path[5 + n] = 0;
        return;
    }
    if (path[0] != '/')
        return;

    char *to = path; /* behind the last component kept; each starts with its "/" */
    for (const char *from = path; *from;) {
        while (*from == '/')
            from++;
        size_t n = strcspn(from, "/");
        if (n == 2 && from[0] == '.' && from[1] == '.') {
            while (to > path && *--to != '/')
                continue;
        } else if (n && !(n == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    if (to == path)
        *to++ = '/';
    *to = 0;
}

static int same_string(const void *user, uint32_t index)
{
    const void *const *look = user;
    const struct iot_names *names = look[0];
    return names->strings[index].number == *(const uint32_t *)look[1];
}

static int same_desc(const void *user, uint32_t index)
{
    const void *const *look = user;
    const struct iot_names *names = look[0];
    return names->descs[index].number == *(const uint32_t *)look[1];
}

static struct iot_string *find_string(const struct iot_names *names, uint32_t number)
{
    const void *look[2] = {names, &number};
    uint32_t i = iot_table_find(&names->by_string, iot_table_hash(&number, sizeof number),
                                same_string, look);
    return i == UINT32_MAX ? NULL : &names->strings[i];
}

static int define_string(struct iot_names *names, struct iot_arena *arena,
                         const struct iot_definition *d)
{
    if (IOT_ROOM(names->strings, names->n_strings + 1, names->strings_room))
        return -1;
    char *text = iot_arena_text(arena, d->text ? d->text : "", d->text ? (size_t)d->row.bytes : 0);
    if (!text)
        return -1;
    iot_path_normalise(text);
    names->strings[names->n_strings] = (struct iot_string){d->row.obj, IOT_NO_INDEX, text};
    return iot_table_add(&names->by_string, iot_table_hash(&d->row.obj, sizeof d->row.obj),
                         (uint32_t)names->n_strings++);
}

static int define_desc(struct iot_names *names, const struct iot_row *r)
{
    if (IOT_ROOM(names->descs, names->n_descs + 1, names->descs_room))
        return -1;
    names->descs[names->n_descs] = (struct iot_desc){
        .number = r->obj,
        .name = r->obj2,
        .fd = r->site && r->site <= (uint32_t)INT32_MAX + 1 ? (int32_t)(r->site - 1) : -1,
        .addr = r->addr,
        .dev = (uint64_t)r->result,
        .ino = (uint64_t)r->bytes,
        .offset = r->offset,
        .resident = r->err,
    };
    return iot_table_add(&names->by_desc, iot_table_hash(&r->obj, sizeof r->obj),
                         (uint32_t)names->n_descs++);
}

int iot_names_define(struct iot_names *names, struct iot_arena *arena,
                     const struct iot_definition *definition)
{
    const struct iot_row *r = &definition->row;
    if (!r->obj)
        return 0;
    if (r->op == IOT_DEF_STRING)
        return find_string(names, r->obj) ? 0 : define_string(names, arena, definition);
    if (r->op == IOT_DEF_DESC)
        return iot_names_desc(names, r->obj) ? 0 : define_desc(names, r);
    return 0;
}

void iot_names_free(struct iot_names *names)
{
    free(names->strings);
    free(names->descs);
    iot_table_free(&names->by_string);
    iot_table_free(&names->by_desc);
}

const struct iot_desc *iot_names_desc(struct iot_names *names, uint32_t number)
{
    if (!number)
        return NULL;
    if (names->last_number != number) {
        const void *look[2] = {names, &number};
        uint32_t i = iot_table_find(&names->by_desc, iot_table_hash(&number, sizeof number),
                                    same_desc, look);
        if (i == UINT32_MAX)
            return NULL;
        names->last_number = number;
        names->last_desc = i;
    }
    return &names->descs[names->last_desc];
}

/* Paths relative to a descriptor may be many deep; a chain of definitions that leads back to itself
 * is damage, and so is one that makes a name longer than any recorder has room for. */
enum { CHAIN_MAX = 64, NAME_BYTES_MAX = 16 * 1024 };

static const char *text_of(struct iot_names *names, struct iot_arena *arena, struct iot_string *s,
                           int depth);

/* The descriptor whose open file this one shares: itself, unless it is a duplicate. */
static const struct iot_desc *original(struct iot_names *names, const struct iot_desc *d)
{
    for (int depth = 0; d && d->addr & IOT_DESC_DUP; depth++)
        d = depth < CHAIN_MAX && d->offset > 0 && d->offset <= UINT32_MAX
                ? iot_names_desc(names, (uint32_t)d->offset)
                : NULL;
    return d;
}

static const char *name_of_desc(struct iot_names *names, struct iot_arena *arena, uint32_t number,
                                int depth)
{
    const struct iot_desc *d = original(names, iot_names_desc(names, number));
    struct iot_string *s = d ? find_string(names, d->name) : NULL;
    return s ? text_of(names, arena, s, depth) : NULL;
}

/* A string as a path: one that starts with byte 1 is relative to the descriptor whose number
 * follows. Where that is not known, what is left is the part behind it. */
static const char *text_of(struct iot_names *names, struct iot_arena *arena, struct iot_string *s,
                           int depth)
{
    if (s->text[0] != '\1')
        return s->text;
    char *rest;
    unsigned long number = strtoul(s->text + 1, &rest, 10);
    const char *base = depth < CHAIN_MAX && number <= UINT32_MAX
                           ? name_of_desc(names, arena, (uint32_t)number, depth + 1)
                           : NULL;
    size_t n = base ? strlen(base) : 0, m = strlen(rest);
    char *whole = base && n + m < NAME_BYTES_MAX ? iot_arena_take(arena, n + m + 1) : NULL;
    if (whole) {
        memcpy(whole, base, n);
        memcpy(whole + n, rest, m + 1);
        iot_path_normalise(whole);
    }
    s->text = whole ? whole : rest + (*rest == '/');
    return s->text;
}

uint32_t iot_names_path(struct iot_names *names, struct iot_files *files, uint32_t number)
{
    struct iot_string *s = number ? find_string(names, number) : NULL;
    if (!s)
        return 0;
    if (s->file == IOT_NO_INDEX)
        s->file = iot_files_intern(files, text_of(names, files->arena, s, 0));
    return s->file;
}

/* Files are found by name, and a socket had none but its inode when it was made: so it is that
 * which finds it, and the address comes last, when all have been found. */
int iot_names_address(struct iot_names *names, struct iot_files *files, uint32_t file,
                      uint32_t number)
{
    const struct iot_string *s = number ? find_string(names, number) : NULL;
    struct iot_file *f = &files->files[file];
    if (!s || f->kind != IOT_FILE_SOCKET || f->address)
        return 0;
    f->address = s->text;
    return 0;
}

int iot_files_addresses(struct iot_files *files)
{
    for (size_t i = 1; i < files->n; i++) {
        struct iot_file *f = &files->files[i];
        size_t n = strlen(f->name), m = f->address ? strlen(f->address) : 0;
        if (!m)
            continue;
        char *whole = iot_arena_take(files->arena, n + m + 2);
        if (!whole)
            return -1;
        memcpy(whole, f->name, n);
        whole[n] = ' ';
        memcpy(whole + n + 1, f->address, m + 1);
        f->name = whole;
    }
    return 0;
}

/* The inode of a socket in brackets is what it is known by; an address may follow. */
static int split_address(struct iot_arena *arena, const char **name, const char **address)
{
    const char *end = strncmp(*name, "socket:[", 8) ? NULL : strchr(*name, ']');
    if (!end || end[1] != ' ')
        return 0;
    *address = end + 2;
    *name = iot_arena_text(arena, *name, (size_t)(end + 1 - *name));
    return *name ? 0 : -1;
}

/* Without what the kernel appends to the name of a file that has none any more. */
static const char *without_deleted(struct iot_arena *arena, const char *name)
{
    static const char deleted[] = " (deleted)";
    size_t n = strlen(name), tail = sizeof deleted - 1;
    if (n <= tail || strcmp(name + n - tail, deleted))
        return name;
    return iot_arena_text(arena, name, n - tail);
}

struct inode_look {
    const struct iot_files *files;
    const char *name;
    uint64_t dev, ino;
};

static int same_inode(const void *user, uint32_t index)
{
    const struct inode_look *look = user;
    const struct iot_file *f = &look->files->files[index];
    return f->dev == look->dev && f->ino == look->ino &&
           !strcmp(basename(f->name), basename(look->name));
}

static uint64_t inode_hash(const struct inode_look *look)
{
    const char *last = basename(look->name);
    uint64_t parts[3] = {look->dev, look->ino, iot_table_hash(last, strlen(last))};
    return iot_table_hash(parts, sizeof parts);
}

static enum iot_file_kind kind_of(uint32_t mode, const char *name)
{
    static const struct {
        const char *start;
        enum iot_file_kind kind;
    } names[] = {
        {"/memfd:", IOT_FILE_ANON},
        {"anon:", IOT_FILE_ANON},
        {"pipe:", IOT_FILE_PIPE},
        {"socket:", IOT_FILE_SOCKET},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i].start, strlen(names[i].start)))
            return names[i].kind;
    switch (mode & S_IFMT) {
    case S_IFREG:
        return IOT_FILE_REGULAR;
    case S_IFDIR:
        return IOT_FILE_DIRECTORY;
    case S_IFIFO:
        return IOT_FILE_PIPE;
    case S_IFSOCK:
        return IOT_FILE_SOCKET;
    case S_IFCHR:
        return IOT_FILE_CHARACTER;
    case S_IFBLK:
        return IOT_FILE_BLOCK;
    default:
        return IOT_FILE_UNKNOWN;
    }
}

static void describe_cache(struct iot_file *f, const struct iot_desc *d)
{
    enum { WHOLE = 1000 };
    int64_t bytes = d->offset;
    if (f->kind != IOT_FILE_REGULAR || !d->resident || d->resident > WHOLE + 1 ||
        bytes > ((int64_t)1 << 52) || f->opened_bytes > ((int64_t)1 << 62))
        return;
    f->opened_bytes += bytes;
    f->resident_bytes +=
        bytes / WHOLE * (d->resident - 1) + bytes % WHOLE * (d->resident - 1) / WHOLE;
}

/* What the definition says about its file. */
static void describe(struct iot_file *f, const struct iot_desc *d)
{
    int first = f->kind == IOT_FILE_UNKNOWN && !f->dev && !f->ino;
    if (first) {
        f->dev = d->dev;
        f->ino = d->ino;
    }
    if (f->kind == IOT_FILE_UNKNOWN)
        f->kind = (uint8_t)kind_of((uint32_t)(d->addr >> 32), f->name);
    if (d->addr & IOT_DESC_ADOPTED && d->fd >= 0 && d->fd <= 2)
        f->standard |= (uint8_t)(1u << d->fd);
    if (d->addr & IOT_DESC_PEER)
        f->peer_ino = (uint64_t)d->offset;
    else if (d->addr & IOT_DESC_DUP || d->offset < 0)
        return;
    else if (f->kind == IOT_FILE_PIPE)
        f->pipe_bytes = d->offset;
    else {
        if (d->offset > f->size)
            f->size = d->offset;
        describe_cache(f, d);
    }
}

/* Notes a file opened by path under its inode, unless it is there or the path has had another
 * inode before. */
static int remember_inode(struct iot_files *files, uint32_t index, const struct inode_look *look)
{
    const struct iot_file *f = &files->files[index];
    uint64_t hash = inode_hash(look);
    if (f->dev != look->dev || f->ino != look->ino ||
        iot_table_find(&files->by_inode, hash, same_inode, look) != UINT32_MAX)
        return 0;
    return iot_table_add(&files->by_inode, hash, index);
}

static int bind_desc(struct iot_desc *d, const char *name, struct iot_files *files)
{
    int adopted = !!(d->addr & IOT_DESC_ADOPTED);
    const char *address = NULL;
    if (adopted && !(name = without_deleted(files->arena, name)))
        return -1;
    if (split_address(files->arena, &name, &address))
        return -1;
    struct inode_look look = {files, name, d->dev, d->ino};
    int on_disk = name[0] == '/' && (d->dev || d->ino);
    uint32_t file = IOT_NO_INDEX;
    if (adopted && on_disk)
        file = iot_table_find(&files->by_inode, inode_hash(&look), same_inode, &look);
    if (file == IOT_NO_INDEX && (file = iot_files_intern(files, name)) == IOT_NO_INDEX)
        return -1;
    d->file = file;
    describe(&files->files[file], d);
    if (address)
        files->files[file].address = address;
    return !adopted && on_disk ? remember_inode(files, file, &look) : 0;
}

static void bind_duplicates(struct iot_names *image)
{
    for (size_t k = 0; k < image->n_descs; k++) {
        struct iot_desc *d = &image->descs[k];
        const struct iot_desc *of = d->addr & IOT_DESC_DUP ? original(image, d) : NULL;
        if (of)
            d->file = of->file;
    }
}

int iot_names_bind(struct iot_names *images, size_t n_images, struct iot_files *files)
{
    for (unsigned adopted = 0; adopted < 2; adopted++)
        for (size_t i = 0; i < n_images; i++)
            for (size_t k = 0; k < images[i].n_descs; k++) {
                struct iot_desc *d = &images[i].descs[k];
                struct iot_string *s = find_string(&images[i], d->name);
                if (!s || adopted != (d->addr & IOT_DESC_ADOPTED ? 1 : 0))
                    continue; /* no string: a duplicate, or lost with a damaged block */
                if (bind_desc(d, text_of(&images[i], files->arena, s, 0), files))
                    return -1;
            }
    for (size_t i = 0; i < n_images; i++)
        bind_duplicates(&images[i]);
    return 0;
}

const char *iot_names_text(struct iot_names *names, uint32_t number)
{
    const struct iot_string *s = number ? find_string(names, number) : NULL;
    return s ? s->text : NULL;
}
