/* What an ELF file says about itself, as far as it tells whether a preload library reaches it. The
 * file is not trusted: any bytes give an answer. */
#ifndef IOT_ANALYZER_ELF_FILE_H
#define IOT_ANALYZER_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Calls of which a program may bring its own: those come before a preload library's. */
extern const char *const iot_elf_calls[];
enum { IOT_ELF_CALLS = 22 };

struct iot_elf {
    bool is_elf;
    /* What makes it no program that can be started, with the offset in the file; NULL if nothing.
     * Where there is damage, what follows is known only in part. */
    const char *damage;
    uint64_t damage_at;
    /* e_ident[EI_CLASS], e_ident[EI_DATA], e_type, e_machine. Of a file that is not for 64 bits and
     * this byte order, nothing more is known. */
    uint8_t class_, data;
    uint16_t type, machine;
    char interpreter[256]; /* PT_INTERP: the loader; empty for a static program */
    char soname[64];
    char sanitizer[64];    /* a sanitizer's run-time among the needed libraries */
    bool sanitizer_inside; /* or linked in */
    bool needs_libc;       /* libc.so.6 is among them */
    bool needs_musl;
    bool symbolic; /* DF_SYMBOLIC: binds to its own symbols first */
    bool go;
    bool imports_dlopen, imports_dlmopen;
    uint32_t own_calls;   /* bit i: it exports iot_elf_calls[i] */
    unsigned glibc_minor; /* the newest GLIBC_2.N that it asks libc.so.6 for; 0: none */
};

/* Of an open file. What could not be read is damage as well. */
void iot_elf_read(int fd, struct iot_elf *elf);

/* The name of an e_machine, or NULL for one that is rare. */
const char *iot_elf_machine_name(uint16_t machine);

/* The e_machine of this command. */
uint16_t iot_elf_machine_here(void);

#endif
