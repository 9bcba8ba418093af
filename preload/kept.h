/* A trace that keeps the newest: where its file may grow no more, the segments that were filled
 * longest ago make room. What their events were is counted in the file's header.
 *
 * Definitions are wanted for as long as events that use them: those of each block are written once
 * more into segments of their own (IOT_SEGMENT_NAMES), which make room for each other only, and
 * when one of those goes, whatever is in use is defined anew.
 */
#ifndef IOT_PRELOAD_KEPT_H
#define IOT_PRELOAD_KEPT_H

#include <stdint.h>

#include "format/file.h"

/* Segments in the order in which they were filled. Any thread puts one in and takes one out. The
 * list itself is elsewhere, as long as the file may have segments. */
struct iot_kept_ring {
    uint64_t head, tail;
};

struct iot_kept {
    struct iot_kept_ring blocks, names;
    uint32_t names_taken; /* segments that hold names */
};

/* Makes room for the lists of a file of so many bytes, once; a forked child finds them zeroed.
 * Returns for how many bytes there is room, at most those: fewer where address space is short, 0
 * where there is none. */
uint64_t iot_kept_room(uint64_t bytes);

/* A segment is full: its place comes. */
void iot_kept_filled(uint32_t kind, uint32_t segment);

/* A block was made in it. */
void iot_kept_block(uint32_t segment, uint32_t events, uint64_t at_ns);

/* A segment that may be used anew, emptied; 0: none. Of names only where there are enough of them
 * for a file of `limit` segments. */
uint32_t iot_kept_reuse_names(uint32_t limit);
uint32_t iot_kept_reuse_blocks(void);

/* One more segment holds names. */
void iot_kept_names(void);

#endif
