/* One trace file: its header, its facts, and where its rows are. FORMAT.md is the document.
 *
 * The file may be damaged, cut, hostile, or still being written. Nothing is mapped: every
 * segment is read into memory of its own before it is looked at, so that what was checked
 * stays what it was.
 */
#ifndef IOT_ANALYZER_CONTAINER_H
#define IOT_ANALYZER_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

#include "format/columns.h"
#include "format/file.h"

/* A block, or a live half that no block has. */
struct iot_piece {
    uint64_t at; /* byte offset of its header */
    uint32_t lane, tid, slot, epoch;
    uint32_t rows; /* at most so many events and definitions */
    uint32_t events; /* at most so many of them */
    uint8_t live;
    struct iot_anchor anchor; /* of a block */
};

struct iot_container {
    struct iot_file_header header;
    struct iot_piece *pieces; /* by lane, then slot and epoch: the order they were recorded in */
    size_t n_pieces;
    struct iot_piece *names; /* blocks that are there for their definitions alone */
    size_t n_names;
    struct iot_piece *older; /* newest.h: not for the model */
    size_t n_older;
    uint64_t bytes; /* of the file */
    uint32_t damages;
    char damage[160]; /* the first of them: byte offset and what is wrong */
    int newer;        /* its MAJOR is above ours */
    int fd;           /* -1: closed */
};

/* What reading needs: buffers of fixed size, for one file after the other in one thread. */
struct iot_reader;
struct iot_reader *iot_reader_new(void); /* NULL: out of memory */
void iot_reader_free(struct iot_reader *reader);

/* Opens a file and checks its header. Returns 0, or -1 with `damage` (and `newer`) set if it
 * cannot be used; then nothing need be closed. */
int iot_container_open(struct iot_container *c, int folder, const char *name);
/* The same file again, after a close. */
int iot_container_reopen(struct iot_container *c, int folder, const char *name);
void iot_container_close(struct iot_container *c);
/* Closes it, and gives back its pieces. */
void iot_container_free(struct iot_container *c);

/* Finds the pieces. What is damaged is counted in `damages` and left out. Returns -1 if out
 * of memory. */
int iot_container_scan(struct iot_container *c, struct iot_reader *reader);

/* The rows of a piece, through `visitor`. What turns out to be damaged is counted. */
void iot_container_rows(struct iot_container *c, struct iot_reader *reader,
                        const struct iot_piece *piece, const struct iot_row_visitor *visitor);

/* The facts, in order; a value lies in the reader until the next call. */
void iot_container_facts(struct iot_container *c, struct iot_reader *reader,
                         void (*fact)(void *user, uint32_t tag, const char *value, size_t bytes),
                         void *user);

/* Counts a finding, and keeps it if it is the first. */
void iot_container_damage(struct iot_container *c, uint64_t at, const char *what);

#endif
