/* Names for places in code: from the symbols of the files that a run had mapped, if they are still
 * the same (by build id), and from what compilers at run time say of theirs (perf-PID.map). Neither
 * is trusted: any bytes give an answer. */
#ifndef IOT_ANALYZER_SYMBOLS_H
#define IOT_ANALYZER_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/source_lines.h"
#include "analyzer/stacks.h"

struct iot_symbol {
    uint64_t from, to;
    const char *name; /* in the table's text */
};

/* Of one module, by `from`. */
struct iot_symbol_table {
    struct iot_symbol *symbols;
    size_t n;
    char *text;
};

/* The functions of an ELF file, and of nothing that has another build id ("-": any will do).
 * Returns 0, IOT_SYMBOLS_NONE if there are none to be had, or IOT_SYMBOLS_OTHER if it is no such
 * file. Free in any case. */
enum { IOT_SYMBOLS_NONE = -1, IOT_SYMBOLS_OTHER = -2 };
int iot_symbols_of_elf(struct iot_symbol_table *table, int fd, const char *build_id, size_t n_id);

/* The lines "START SIZE NAME" of a perf map, numbers hexadecimal; other lines are left out. `text`
 * ends with a NUL and becomes the table's. Returns 0, or -1 without memory. */
int iot_symbols_of_map(struct iot_symbol_table *table, char *text);

/* The symbol that an address lies in; NULL if none does. */
const struct iot_symbol *iot_symbols_find(const struct iot_symbol_table *table, uint64_t address);
void iot_symbols_free(struct iot_symbol_table *table);

/* All modules of a run, each read when it is first asked for. */
struct iot_symbols {
    struct iot_symbols_module *modules;
    size_t n, room;
    /* the first of which another build is there now: "BUILD-ID PATH"; NULL: none */
    const char *changed;
    size_t n_changed;
};

/* The lines of the source that a frame is in: iot_source_find(). */
unsigned iot_symbols_lines(struct iot_symbols *symbols, const struct iot_frame *frame,
                           struct iot_source_line *lines, unsigned most);

/* The function that a frame is in, NULL if it is not known; lives as long as the symbols. */
const char *iot_symbols_function(struct iot_symbols *symbols, const struct iot_frame *frame);

/* "function+0x1f (library)", of Python "file.py:42 function", or what of it is known. Cut to what
 * fits. */
void iot_symbols_name(struct iot_symbols *symbols, const struct iot_frame *frame, char *to,
                      size_t bytes);
void iot_symbols_free_all(struct iot_symbols *symbols);

#endif
