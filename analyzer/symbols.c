#include "analyzer/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/debug_files.h"
#include "analyzer/demangle.h"
#include "analyzer/room.h"

struct iot_symbols_module {
    const char *module; /* the frame's */
    struct iot_symbol_table table;
    struct iot_source *source;
    int is_source_known; /* it was looked for */
};

static int by_from(const void *a, const void *b)
{
    const struct iot_symbol *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : strcmp(x->name, y->name);
}

/* --- perf maps --- */

int iot_symbols_of_map(struct iot_symbol_table *table, char *text)
{
    size_t room = 0;
    *table = (struct iot_symbol_table){.text = text};
    for (char *line = text, *next; line && *line; line = next) {
        char *end, *name;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        uint64_t from = strtoull(line, &end, 16);
        if (end == line || *end != ' ')
            continue;
        uint64_t size = strtoull(end, &name, 16);
        if (name == end || *name != ' ' || !name[1] || size > UINT64_MAX - from)
            continue;
        if (IOT_ROOM(table->symbols, table->n + 1, room))
            return -1;
        table->symbols[table->n++] = (struct iot_symbol){from, from + size, name + 1};
    }
    if (table->n)
        qsort(table->symbols, table->n, sizeof *table->symbols, by_from);
    return 0;
}

/* --- looking up --- */

/* Of those that begin last before it; one without a size reaches up to the next. */
const struct iot_symbol *iot_symbols_find(const struct iot_symbol_table *t, uint64_t address)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->symbols[middle].from <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct iot_symbol *s = &t->symbols[low - 1];
    return address < s->to || s->to == s->from ? s : NULL;
}

void iot_symbols_free(struct iot_symbol_table *table)
{
    free(table->symbols);
    free(table->text);
    *table = (struct iot_symbol_table){0};
}

/* --- the modules of a run --- */

/* What is known of its build, if anything is. */
static struct iot_debug_files files_of(const char *module)
{
    const char *space = strchr(module, ' ');
    return (struct iot_debug_files){.id = module,
                                    .n_id = space ? (size_t)(space - module) : 0,
                                    .path = space ? space + 1 : ""};
}

static void load_elf(struct iot_symbols *symbols, struct iot_symbols_module *m)
{
    struct iot_debug_files files = files_of(m->module);
    int none = -1, tried = 0;
    for (int fd; none && (fd = iot_debug_files_next(&files)) >= 0; tried++) {
        iot_symbols_free(&m->table);
        none = iot_symbols_of_elf(&m->table, fd, files.id, files.n_id);
        close(fd);
    }
    if (none < IOT_SYMBOLS_NONE && tried && !symbols->n_changed++)
        symbols->changed = m->module;
}

/* Written by the program at the place that all profilers know. */
static void load_map(struct iot_symbol_table *table, const char *pid)
{
    enum { BYTES_MAX = 256 << 20 };
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/tmp/perf-%.20s.map", pid);
    int fd = iot_debug_files_open(path);
    if (fd < 0)
        return;
    if (!fstat(fd, &st) && st.st_size > 0 && st.st_size < BYTES_MAX) {
        char *text = malloc((size_t)st.st_size + 1);
        ssize_t n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
        if (n >= 0) {
            text[n] = '\0';
            iot_symbols_of_map(table, text);
        } else {
            free(text);
        }
    }
    close(fd);
}

static struct iot_symbols_module *module_of(struct iot_symbols *s, const char *module)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->modules[i].module, module))
            return &s->modules[i];
    if (IOT_ROOM(s->modules, s->n + 1, s->room))
        return NULL;
    struct iot_symbols_module *m = &s->modules[s->n++];
    *m = (struct iot_symbols_module){.module = module};
    const char *space = strchr(module, ' ');
    if (space && !strncmp(module, "jit ", 4))
        load_map(&m->table, space + 1);
    else if (space && space[1] == '/')
        load_elf(s, m);
    return m;
}

static struct iot_source *source_of(struct iot_symbols_module *m)
{
    struct iot_debug_files files = files_of(m->module);
    if (m->is_source_known || *files.path != '/')
        return m->source;
    m->is_source_known = 1;
    for (int fd; !m->source && (fd = iot_debug_files_next(&files)) >= 0; close(fd))
        m->source = iot_source_open(fd, files.id, files.n_id);
    return m->source;
}

unsigned iot_symbols_lines(struct iot_symbols *symbols, const struct iot_frame *frame,
                           struct iot_source_line *lines, unsigned most)
{
    struct iot_symbols_module *m = module_of(symbols, frame->module);
    struct iot_source *source = m ? source_of(m) : NULL;
    return source ? iot_source_find(source, frame->offset, lines, most) : 0;
}

const char *iot_symbols_function(struct iot_symbols *symbols, const struct iot_frame *frame)
{
    const struct iot_symbols_module *m = module_of(symbols, frame->module);
    const struct iot_symbol *s = m ? iot_symbols_find(&m->table, frame->offset) : NULL;
    return s ? s->name : NULL;
}

void iot_symbols_name(struct iot_symbols *symbols, const struct iot_frame *frame, char *to,
                      size_t bytes)
{
    if (iot_frame_is_python(frame)) {
        struct iot_python_words p = iot_frame_python(frame);
        snprintf(to, bytes, "%s:%" PRIu64 " %.*s", basename(p.file), frame->offset, p.n_function,
                 p.function);
        return;
    }
    const struct iot_symbols_module *m = module_of(symbols, frame->module);
    const struct iot_symbol *s = m ? iot_symbols_find(&m->table, frame->offset) : NULL;
    const char *space = strchr(frame->module, ' ');
    const char *base = basename(space ? space + 1 : frame->module);
    int jit = !strncmp(frame->module, "jit ", 4);
    char plain[256];
    if (s && jit)
        snprintf(to, bytes, "%s", s->name);
    else if (s)
        snprintf(to, bytes, "%s+0x%" PRIx64 " (%s)", iot_demangle(s->name, plain, sizeof plain),
                 frame->offset - s->from, base);
    else if (jit)
        snprintf(to, bytes, "0x%" PRIx64, frame->offset);
    else
        snprintf(to, bytes, "%s+0x%" PRIx64, base, frame->offset);
}

void iot_symbols_free_all(struct iot_symbols *symbols)
{
    for (size_t i = 0; i < symbols->n; i++) {
        iot_symbols_free(&symbols->modules[i].table);
        iot_source_close(symbols->modules[i].source);
    }
    free(symbols->modules);
    *symbols = (struct iot_symbols){0};
}
