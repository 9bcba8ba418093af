/* The functions of an ELF file. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/symbols.h"

/* Beyond this a table is no file's. */
enum { TABLE_BYTES_MAX = 1 << 30 };

struct file {
    int fd;
    uint64_t bytes;
    Elf64_Shdr *sections;
    size_t n;
};

/* A part of the file with a NUL behind it; NULL if it is not all there. */
static void *part(const struct file *f, uint64_t at, uint64_t n)
{
    if (at > f->bytes || n > f->bytes - at || n > TABLE_BYTES_MAX)
        return NULL;
    char *copy = malloc(n + 1);
    for (uint64_t done = 0; copy && done < n;) {
        ssize_t got = pread(f->fd, copy + done, n - done, (off_t)(at + done));
        if (got <= 0) {
            free(copy);
            return NULL;
        }
        done += (uint64_t)got;
    }
    if (copy)
        copy[n] = '\0';
    return copy;
}

static int read_sections(struct file *f)
{
    struct stat st;
    Elf64_Ehdr h;
    if (fstat(f->fd, &st) || st.st_size < (off_t)sizeof h ||
        pread(f->fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
        return -1;
    f->bytes = (uint64_t)st.st_size;
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_shentsize != sizeof(Elf64_Shdr) || !h.e_shnum)
        return -1;
    f->n = h.e_shnum;
    f->sections = part(f, h.e_shoff, f->n * sizeof(Elf64_Shdr));
    return f->sections ? 0 : -1;
}

static int is_id(const uint8_t *bytes, size_t n, const char *text, size_t n_text)
{
    if (n_text != 2 * n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if ("0123456789abcdef"[bytes[i] >> 4] != text[2 * i] ||
            "0123456789abcdef"[bytes[i] & 15] != text[2 * i + 1])
            return 0;
    return 1;
}

static int has_id(const struct file *f, const char *id, size_t n_id)
{
    int has = n_id == 1 && id[0] == '-';
    for (size_t i = 0; i < f->n && !has; i++) {
        const Elf64_Shdr *s = &f->sections[i];
        if (s->sh_type != SHT_NOTE)
            continue;
        uint8_t *notes = part(f, s->sh_offset, s->sh_size);
        Elf64_Nhdr note;
        for (uint64_t at = 0; notes && !has && s->sh_size - at >= sizeof note;) {
            memcpy(&note, notes + at, sizeof note);
            at += sizeof note;
            uint64_t name = (note.n_namesz + UINT64_C(3)) & ~UINT64_C(3);
            uint64_t bytes = (note.n_descsz + UINT64_C(3)) & ~UINT64_C(3);
            if (name > s->sh_size - at || bytes > s->sh_size - at - name)
                break;
            has = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                  !memcmp(notes + at, "GNU", 4) &&
                  is_id(notes + at + name, note.n_descsz, id, n_id);
            at += name + bytes;
        }
        free(notes);
    }
    return has;
}

static const Elf64_Shdr *of_type(const struct file *f, uint32_t type)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->sections[i].sh_type == type && f->sections[i].sh_size)
            return &f->sections[i];
    return NULL;
}

static int by_from(const void *a, const void *b)
{
    const struct iot_symbol *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : strcmp(x->name, y->name);
}

static int take(struct iot_symbol_table *table, const struct file *f, const Elf64_Shdr *s)
{
    if (s->sh_link >= f->n)
        return -1;
    const Elf64_Shdr *names = &f->sections[s->sh_link];
    Elf64_Sym *symbols = part(f, s->sh_offset, s->sh_size);
    size_t n = symbols ? s->sh_size / sizeof *symbols : 0;
    table->text = part(f, names->sh_offset, names->sh_size);
    table->symbols = malloc((n + 1) * sizeof *table->symbols);
    for (size_t i = 0; i < n && table->text && table->symbols; i++) {
        unsigned type = ELF64_ST_TYPE(symbols[i].st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbols[i].st_shndx == SHN_UNDEF ||
            symbols[i].st_name >= names->sh_size || !table->text[symbols[i].st_name] ||
            symbols[i].st_size > UINT64_MAX - symbols[i].st_value)
            continue;
        table->symbols[table->n++] =
            (struct iot_symbol){symbols[i].st_value, symbols[i].st_value + symbols[i].st_size,
                                table->text + symbols[i].st_name};
    }
    free(symbols);
    if (!table->n)
        return -1;
    qsort(table->symbols, table->n, sizeof *table->symbols, by_from);
    return 0;
}

int iot_symbols_of_elf(struct iot_symbol_table *table, int fd, const char *build_id, size_t n_id)
{
    struct file f = {.fd = fd};
    int failed = IOT_SYMBOLS_OTHER;
    *table = (struct iot_symbol_table){0};
    if (!read_sections(&f) && has_id(&f, build_id, n_id)) {
        failed = IOT_SYMBOLS_NONE;
        const Elf64_Shdr *s = of_type(&f, SHT_SYMTAB);
        if (s)
            failed = take(table, &f, s);
        if (failed && (s = of_type(&f, SHT_DYNSYM))) {
            iot_symbols_free(table);
            failed = take(table, &f, s);
        }
    }
    free(f.sections);
    return failed;
}
