#include "analyzer/elf_file.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

const char *const iot_elf_calls[] = {
    "read",   "write",  "open",     "open64", "openat",  "close",  "pread",  "pread64",
    "pwrite", "lseek",  "pwrite64", "fopen",  "fopen64", "fread",  "fwrite", "fclose",
    "fsync",  "rename", "mmap",     "mmap64", "fork",    "execve",
};
_Static_assert(COUNT(iot_elf_calls) == IOT_ELF_CALLS, "as the header says");

/* Libraries whose names begin so. */
static const char *const sanitizers[] = {"libasan.", "libclang_rt.", "libhwasan.", "liblsan.",
                                         "libmsan.", "libtsan.",     "libubsan."};

static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    {EM_386, "i386"},        {EM_X86_64, "x86-64"}, {EM_ARM, "arm"},
    {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"},
    {EM_S390, "s390"},       {EM_MIPS, "mips"},     {EM_LOONGARCH, "loongarch"},
};

const char *iot_elf_machine_name(uint16_t machine)
{
    for (size_t i = 0; i < COUNT(machines); i++)
        if (machines[i].machine == machine)
            return machines[i].name;
    return NULL;
}

uint16_t iot_elf_machine_here(void)
{
#if defined(__x86_64__)
    return EM_X86_64;
#elif defined(__aarch64__)
    return EM_AARCH64;
#else
#error "no e_machine for this architecture"
#endif
}

/* --- reading within bounds --- */

struct reader {
    int fd;
    uint64_t size;
    struct iot_elf *elf;
    Elf64_Ehdr header;
    Elf64_Phdr *segments;
    Elf64_Shdr *sections;
    size_t n_segments, n_sections;
};

static int read_at(const struct reader *r, uint64_t at, void *to, size_t n)
{
    if (at > r->size || n > r->size - at)
        return -1;
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(r->fd, (char *)to + done, n - done, (off_t)(at + done));
        if (got <= 0)
            return -1;
        done += (size_t)got;
    }
    return 0;
}

/* A copy of a part of the file with a NUL behind it; NULL if it is not all there. The file's own
 * size limits how much memory that is. */
static void *part(const struct reader *r, uint64_t at, uint64_t n)
{
    if (at > r->size || n > r->size - at)
        return NULL;
    char *copy = malloc(n + 1);
    if (!copy || read_at(r, at, copy, n)) {
        free(copy);
        return NULL;
    }
    copy[n] = '\0';
    return copy;
}

static int damaged(struct reader *r, const char *what, uint64_t at)
{
    r->elf->damage = what;
    r->elf->damage_at = at;
    return -1;
}

static int starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* The text at `at` in a table of n bytes that ends with a NUL; empty outside it. */
static const char *text_in(const char *table, uint64_t n, uint64_t at)
{
    return at < n ? table + at : "";
}

/* Cut to what fits. */
static void copy_text(char *to, size_t bytes, const char *from)
{
    size_t n = strnlen(from, bytes - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

/* --- segments: what the kernel and the loader look at --- */

static int read_header(struct reader *r)
{
    unsigned char *ident = r->header.e_ident;
    if (read_at(r, 0, ident, EI_NIDENT) || memcmp(ident, ELFMAG, SELFMAG)) {
        char magic[SELFMAG];
        r->elf->is_elf = !read_at(r, 0, magic, SELFMAG) && !memcmp(magic, ELFMAG, SELFMAG);
        return r->elf->is_elf ? damaged(r, "the header is cut off", r->size) : -1;
    }
    r->elf->is_elf = true;
    r->elf->class_ = ident[EI_CLASS];
    r->elf->data = ident[EI_DATA];
    if (r->elf->data != ELFDATA2LSB && r->elf->data != ELFDATA2MSB)
        return damaged(r, "neither byte order", EI_DATA);
    /* Type and machine have the same place in both classes. */
    if (read_at(r, 0, &r->header, offsetof(Elf64_Ehdr, e_version)))
        return damaged(r, "the header is cut off", r->size);
    r->elf->type = r->header.e_type;
    r->elf->machine = r->header.e_machine;
    if (r->elf->data == ELFDATA2MSB) {
        r->elf->type = __builtin_bswap16(r->elf->type);
        r->elf->machine = __builtin_bswap16(r->elf->machine);
    }
    if (r->elf->class_ == ELFCLASS32 || r->elf->data != ELFDATA2LSB)
        return -1;
    if (r->elf->class_ != ELFCLASS64)
        return damaged(r, "neither 32 nor 64 bits", EI_CLASS);
    if (read_at(r, 0, &r->header, sizeof r->header))
        return damaged(r, "the header is cut off", r->size);
    return 0;
}

static int read_segments(struct reader *r)
{
    const Elf64_Ehdr *h = &r->header;
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return 0; /* the type says that it is no program */
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum)
        return damaged(r, "no program headers", offsetof(Elf64_Ehdr, e_phentsize));
    r->segments = part(r, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr));
    if (!r->segments)
        return damaged(r, "the program headers lie outside the file", h->e_phoff);
    r->n_segments = h->e_phnum;
    for (size_t i = 0; i < r->n_segments; i++) {
        const Elf64_Phdr *p = &r->segments[i];
        if (p->p_type == PT_LOAD && (p->p_offset > r->size || p->p_filesz > r->size - p->p_offset))
            return damaged(r, "a part that is to be loaded is cut off", r->size);
    }
    return 0;
}

static const Elf64_Phdr *segment(const struct reader *r, uint32_t type)
{
    for (size_t i = 0; i < r->n_segments; i++)
        if (r->segments[i].p_type == type)
            return &r->segments[i];
    return NULL;
}

static int read_interpreter(struct reader *r)
{
    enum { KERNEL_MAX = 4096 };
    const Elf64_Phdr *p = segment(r, PT_INTERP);
    if (!p)
        return 0;
    char *path =
        p->p_filesz >= 2 && p->p_filesz <= KERNEL_MAX ? part(r, p->p_offset, p->p_filesz) : NULL;
    int good = path && !path[p->p_filesz - 1];
    if (good)
        copy_text(r->elf->interpreter, sizeof r->elf->interpreter, path);
    free(path);
    if (!good || !*r->elf->interpreter)
        return damaged(r, "the name of its loader cannot be read", p->p_offset);
    return 0;
}

/* Where an address lies in the file, and how many bytes from there on are loaded. */
static uint64_t loaded_from(const struct reader *r, uint64_t address, uint64_t *n)
{
    for (size_t i = 0; i < r->n_segments; i++) {
        const Elf64_Phdr *p = &r->segments[i];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz) {
            *n = p->p_filesz - (address - p->p_vaddr);
            return p->p_offset + (address - p->p_vaddr);
        }
    }
    *n = 0;
    return 0;
}

static void look_at_needed(struct iot_elf *elf, const char *name)
{
    elf->needs_libc |= !strcmp(name, "libc.so.6");
    elf->needs_musl |= starts_with(name, "libc.musl-");
    for (size_t i = 0; i < COUNT(sanitizers); i++)
        if (!*elf->sanitizer && starts_with(name, sanitizers[i]))
            copy_text(elf->sanitizer, sizeof elf->sanitizer, name);
}

static uint64_t value_of(const Elf64_Dyn *list, size_t n, int64_t tag)
{
    for (size_t i = 0; i < n && list[i].d_tag != DT_NULL; i++)
        if (list[i].d_tag == tag)
            return list[i].d_un.d_val;
    return 0;
}

static int read_dynamic(struct reader *r)
{
    const Elf64_Phdr *p = segment(r, PT_DYNAMIC);
    if (!p)
        return 0;
    Elf64_Dyn *list = part(r, p->p_offset, p->p_filesz);
    size_t n = list ? p->p_filesz / sizeof *list : 0;
    uint64_t room, bytes = value_of(list, n, DT_STRSZ);
    uint64_t at = loaded_from(r, value_of(list, n, DT_STRTAB), &room);
    char *names = bytes <= room ? part(r, at, bytes) : NULL;
    for (size_t i = 0; i < n && names && list[i].d_tag != DT_NULL; i++) {
        const char *text = text_in(names, bytes, list[i].d_un.d_val);
        if (list[i].d_tag == DT_NEEDED)
            look_at_needed(r->elf, text);
        else if (list[i].d_tag == DT_SONAME)
            copy_text(r->elf->soname, sizeof r->elf->soname, text);
    }
    r->elf->symbolic = value_of(list, n, DT_FLAGS) & DF_SYMBOLIC;
    int bad = !list || !names;
    free(names);
    free(list);
    return bad ? damaged(r, "the names of its libraries lie outside the file", p->p_offset) : 0;
}

/* --- sections: what may be missing, and then nothing is known of it --- */

static void read_sections(struct reader *r)
{
    const Elf64_Ehdr *h = &r->header;
    if (h->e_shentsize == sizeof(Elf64_Shdr) && h->e_shnum)
        r->sections = part(r, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr));
    if (r->sections)
        r->n_sections = h->e_shnum;
}

/* The contents of a section; NULL without it. */
static void *section(const struct reader *r, size_t index, uint64_t *bytes)
{
    *bytes = 0;
    if (index >= r->n_sections || r->sections[index].sh_type == SHT_NOBITS)
        return NULL;
    void *contents = part(r, r->sections[index].sh_offset, r->sections[index].sh_size);
    if (contents)
        *bytes = r->sections[index].sh_size;
    return contents;
}

/* The first; there is one of those that are looked for. */
static const Elf64_Shdr *section_of_type(const struct reader *r, uint32_t type)
{
    for (size_t i = 0; i < r->n_sections; i++)
        if (r->sections[i].sh_type == type)
            return &r->sections[i];
    return NULL;
}

static void read_section_names(struct reader *r)
{
    uint64_t bytes;
    char *names = section(r, r->header.e_shstrndx, &bytes);
    for (size_t i = 0; i < r->n_sections && names; i++) {
        const char *name = text_in(names, bytes, r->sections[i].sh_name);
        r->elf->go |= !strcmp(name, ".go.buildinfo") || !strcmp(name, ".gopclntab");
    }
    free(names);
}

static void look_at_symbol(struct iot_elf *elf, const char *name, int defined)
{
    if (!defined) {
        elf->imports_dlopen |= !strcmp(name, "dlopen");
        elf->imports_dlmopen |= !strcmp(name, "dlmopen");
        /* gcc's run-times hide their own names when they are linked in, but ask for this one. */
        elf->sanitizer_inside |= !strcmp(name, "__sanitizer_symbolize_code");
        return;
    }
    elf->sanitizer_inside |= starts_with(name, "__sanitizer_");
    for (size_t i = 0; i < IOT_ELF_CALLS; i++)
        if (!strcmp(name, iot_elf_calls[i]))
            elf->own_calls |= UINT32_C(1) << i;
}

static void read_symbols(struct reader *r)
{
    const Elf64_Shdr *s = section_of_type(r, SHT_DYNSYM);
    if (!s)
        return;
    uint64_t bytes, n_names;
    Elf64_Sym *symbols = section(r, (size_t)(s - r->sections), &bytes);
    char *names = section(r, s->sh_link, &n_names);
    for (size_t i = 0; i < bytes / sizeof *symbols && names; i++) {
        unsigned bind = ELF64_ST_BIND(symbols[i].st_info);
        if (bind == STB_GLOBAL || bind == STB_WEAK)
            look_at_symbol(r->elf, text_in(names, n_names, symbols[i].st_name),
                           symbols[i].st_shndx != SHN_UNDEF);
    }
    free(names);
    free(symbols);
}

static unsigned glibc_minor(const char *version)
{
    return starts_with(version, "GLIBC_2.") ? (unsigned)strtoul(version + 8, NULL, 10) : 0;
}

/* One library's list of versions, from `at` on. Lists that share their parts do not make more of
 * them than there is room for: `left` counts down over all. */
static void read_versions_of(struct iot_elf *elf, const char *list, uint64_t bytes, uint64_t at,
                             const char *names, uint64_t n_names, uint64_t *left)
{
    Elf64_Vernaux version;
    while (at <= bytes && bytes - at >= sizeof version && *left) {
        --*left;
        memcpy(&version, list + at, sizeof version);
        unsigned minor = glibc_minor(text_in(names, n_names, version.vna_name));
        if (minor > elf->glibc_minor)
            elf->glibc_minor = minor;
        if (version.vna_next < sizeof version)
            return; /* only forward, so that it ends */
        at += version.vna_next;
    }
}

static void read_versions(struct reader *r)
{
    const Elf64_Shdr *s = section_of_type(r, SHT_GNU_verneed);
    if (!s)
        return;
    uint64_t bytes, n_names;
    char *list = section(r, (size_t)(s - r->sections), &bytes);
    char *names = section(r, s->sh_link, &n_names);
    uint64_t left = bytes / sizeof(Elf64_Vernaux);
    Elf64_Verneed need;
    for (uint64_t at = 0; list && names && at <= bytes && bytes - at >= sizeof need;) {
        memcpy(&need, list + at, sizeof need);
        if (!strcmp(text_in(names, n_names, need.vn_file), "libc.so.6"))
            read_versions_of(r->elf, list, bytes, at + need.vn_aux, names, n_names, &left);
        if (need.vn_next < sizeof need)
            break;
        at += need.vn_next;
    }
    free(names);
    free(list);
}

void iot_elf_read(int fd, struct iot_elf *elf)
{
    struct reader r = {.fd = fd, .elf = elf};
    struct stat st;

    *elf = (struct iot_elf){0};
    if (fstat(fd, &st))
        return;
    r.size = (uint64_t)st.st_size;
    if (!read_header(&r) && !read_segments(&r) && !read_interpreter(&r) && !read_dynamic(&r)) {
        read_sections(&r);
        read_section_names(&r);
        read_symbols(&r);
        read_versions(&r);
    }
    free(r.segments);
    free(r.sections);
}
