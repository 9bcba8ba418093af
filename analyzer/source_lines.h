/* Functions and lines of the source, by what a compiler left about them (DWARF): of one ELF file.
 * Built without libdw there are none. */
#ifndef IOT_ANALYZER_SOURCE_LINES_H
#define IOT_ANALYZER_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct iot_source;

/* A place in the source; texts live as long as the iot_source. */
struct iot_source_line {
    const char *function; /* NULL: not known */
    const char *file;
    uint32_t line;
};

/* NULL if the file says nothing about its source, or has another build id ("-": any will do). */
struct iot_source *iot_source_open(int fd, const char *build_id, size_t n_id);

/* The place of an address, as the file's symbols count; where functions were put into each other
 * (inlined), the innermost first, at most `most` of them. Returns how many; 0: nothing is known. */
unsigned iot_source_find(struct iot_source *source, uint64_t address, struct iot_source_line *lines,
                         unsigned most);
void iot_source_close(struct iot_source *source);

#endif
