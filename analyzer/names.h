/* What the numbers in rows stand for: strings and descriptors of a process image, and the
 * files of the run that they come down to. */
#ifndef IOT_ANALYZER_NAMES_H
#define IOT_ANALYZER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/arena.h"
#include "analyzer/table.h"
#include "analyzer/trace.h"
#include "format/columns.h"

/* The files of a run, by name. files[0] is nothing. */
struct iot_files {
    struct iot_file *files;
    size_t n, room;
    struct iot_table by_name;
    struct iot_table by_inode; /* of what was opened by path: see iot_names_bind */
    struct iot_arena *arena;   /* where names lie */
};

struct iot_string {
    uint32_t number;
    uint32_t file; /* IOT_NO_INDEX: not asked for yet */
    const char *text;
};

struct iot_desc {
    uint32_t number, name; /* its own, and that of the string that names it */
    uint32_t file;
    int32_t fd;    /* -1 not known */
    uint64_t addr; /* st_mode and flags, as in the row */
    uint64_t dev, ino;
    int64_t offset;
    uint16_t resident; /* in thousandths, + 1; 0 not known */
};

/* The numbers of one process image. All zero is an empty one. */
struct iot_names {
    struct iot_string *strings;
    struct iot_desc *descs;
    size_t n_strings, n_descs, strings_room, descs_room;
    struct iot_table by_string, by_desc;
    uint32_t last_number, last_desc; /* the latest look-up, and its index */
};

/* The functions that return int: 0, or -1 if out of memory. */
int iot_files_init(struct iot_files *files, struct iot_arena *arena);
void iot_files_free(struct iot_files *files); /* all but the names */
/* Gives sockets their addresses; from then on no name finds them. */
int iot_files_addresses(struct iot_files *files);
/* The index of the file of that name, which is kept (not copied); IOT_NO_INDEX: out of memory. */
uint32_t iot_files_intern(struct iot_files *files, const char *name);

/* Resolves ".", "..", "//" and a "/" at the end of an absolute path, in place and by its letters
 * alone. What does not start with "/" stays as it is, apart from anon_inode:[x], which
 * becomes anon:x. */
void iot_path_normalise(char *path);

/* The first definition of a number counts. */
int iot_names_define(struct iot_names *names, struct iot_arena *arena,
                     const struct iot_definition *definition);
void iot_names_free(struct iot_names *names);

/* Finds the file of every descriptor of all images of a run. A file that the kernel named is
 * taken for one that was opened by path if device, inode and last component are the
 * same: then a folder on its way is a symbolic link. */
int iot_names_bind(struct iot_names *images, size_t n_images, struct iot_files *files);

/* The file that a string names; 0 if the number has no definition; IOT_NO_INDEX: out of memory. */
uint32_t iot_names_path(struct iot_names *names, struct iot_files *files, uint32_t number);
/* The text of a string; NULL if the number has no definition. */
const char *iot_names_text(struct iot_names *names, uint32_t number);
/* The address of a socket becomes part of its name: the string `number`, if it has none yet. */
int iot_names_address(struct iot_names *names, struct iot_files *files, uint32_t file,
                      uint32_t number);
/* The definition of a descriptor number; NULL if it has none. */
const struct iot_desc *iot_names_desc(struct iot_names *names, uint32_t number);

#endif
