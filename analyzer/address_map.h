/* What the memory of a process holds: ranges of addresses, each with what was put there last.
 *
 * Bounded: beyond so many ranges the older half of them is forgotten, whatever they are of. A
 * search takes log n; putting something in moves at most a block of ranges.
 */
#ifndef IOT_ANALYZER_ADDRESS_MAP_H
#define IOT_ANALYZER_ADDRESS_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Two of these become one range where they come to touch and have the same kind and subject. */
struct iot_extent {
    uint64_t begin, end; /* the first address, and the one behind the last */
    uint64_t age;        /* of what was put in: counts up */
    uint32_t kind, subject;
};

/* Zeroed but for `limit`, which is at least 2, it is an empty one. */
struct iot_address_map {
    struct iot_extents **blocks; /* by address */
    size_t n_blocks, room;
    size_t n, limit; /* ranges: there are, there may be */
    uint64_t puts;
    uint64_t forgotten; /* ranges that made room */
};

/* Whatever lay in the range before lies there no more. An empty range, or one that wraps around, is
 * nothing. 0, or -1 without memory. */
int iot_address_map_put(struct iot_address_map *map, uint64_t begin, uint64_t end, uint32_t kind,
                        uint32_t subject);
int iot_address_map_cut(struct iot_address_map *map, uint64_t begin, uint64_t end);

/* Calls for each range that overlaps, in order of the addresses, with the part that does. The map
 * is not to be changed meanwhile. */
typedef void iot_address_map_part(void *user, const struct iot_extent *part);
void iot_address_map_look(const struct iot_address_map *map, uint64_t begin, uint64_t end,
                          iot_address_map_part *part, void *user);

void iot_address_map_free(struct iot_address_map *map);

#endif
