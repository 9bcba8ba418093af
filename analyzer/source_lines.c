#include "analyzer/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct iot_source {
    int fd;
    Elf *elf;
    Dwarf *dwarf;
};

static int has_id(Elf *elf, const char *id, size_t n_id)
{
    const void *bits;
    ssize_t n = dwelf_elf_gnu_build_id(elf, &bits);
    const uint8_t *bytes = bits;
    if (n_id == 1 && id[0] == '-')
        return 1;
    if (n <= 0 || n_id != 2 * (size_t)n)
        return 0;
    for (size_t i = 0; i < (size_t)n; i++)
        if ("0123456789abcdef"[bytes[i] >> 4] != id[2 * i] ||
            "0123456789abcdef"[bytes[i] & 15] != id[2 * i + 1])
            return 0;
    return 1;
}

struct iot_source *iot_source_open(int fd, const char *build_id, size_t n_id)
{
    struct iot_source *s = calloc(1, sizeof *s);
    if (!s || (s->fd = dup(fd)) < 0) {
        free(s);
        return NULL;
    }
    elf_version(EV_CURRENT);
    s->elf = elf_begin(s->fd, ELF_C_READ_MMAP, NULL);
    if (s->elf && elf_kind(s->elf) == ELF_K_ELF && has_id(s->elf, build_id, n_id))
        s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
    Dwarf_Off next;
    size_t header;
    if (s->dwarf && !dwarf_nextcu(s->dwarf, 0, &next, &header, NULL, NULL, NULL))
        return s;
    iot_source_close(s);
    return NULL;
}

/* By the index of addresses; some compilers leave none. */
static Dwarf_Die *unit_of(struct iot_source *s, Dwarf_Addr address, Dwarf_Die *unit)
{
    if (dwarf_addrdie(s->dwarf, address, unit))
        return unit;
    Dwarf_Off at = 0, next;
    size_t header;
    for (; !dwarf_nextcu(s->dwarf, at, &next, &header, NULL, NULL, NULL); at = next)
        if (dwarf_offdie(s->dwarf, at + header, unit) && dwarf_haspc(unit, address) > 0)
            return unit;
    return NULL;
}

static const char *name_of(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
}

/* From where an inlined function was called. */
static int called_from(Dwarf_Die *inlined, Dwarf_Files *files, struct iot_source_line *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, number;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number))
        return -1;
    *line =
        (struct iot_source_line){NULL, dwarf_filesrc(files, file, NULL, NULL), (uint32_t)number};
    return line->file ? 0 : -1;
}

unsigned iot_source_find(struct iot_source *s, uint64_t address, struct iot_source_line *lines,
                         unsigned most)
{
    Dwarf_Die unit, *innermost = NULL, *scopes = NULL;
    Dwarf_Files *files;
    size_t n_files;
    int number = 0;
    if (!most || !unit_of(s, address, &unit))
        return 0;
    Dwarf_Line *at = dwarf_getsrc_die(&unit, address);
    const char *file = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
    if (!file || dwarf_lineno(at, &number) || dwarf_getsrcfiles(&unit, &files, &n_files))
        return 0;
    unsigned n = 1;
    lines[0] = (struct iot_source_line){NULL, file, (uint32_t)number};
    /* Around an inlined function the first gives what it was declared in, the second what it lies
     * in. */
    int n_scopes = dwarf_getscopes(&unit, address, &innermost);
    n_scopes = n_scopes > 0 ? dwarf_getscopes_die(&innermost[0], &scopes) : 0;
    for (int i = 0; i < n_scopes; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        lines[n - 1].function = name_of(&scopes[i]);
        if (tag == DW_TAG_subprogram || n == most || called_from(&scopes[i], files, &lines[n]))
            break;
        n++;
    }
    free(innermost);
    free(scopes);
    return n;
}

void iot_source_close(struct iot_source *s)
{
    if (!s)
        return;
    if (s->dwarf)
        dwarf_end(s->dwarf);
    if (s->elf)
        elf_end(s->elf);
    close(s->fd);
    free(s);
}
