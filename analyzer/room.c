#include "analyzer/room.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Small, since some structs that there are many of have such an array each. */
enum { FEWEST = 4 };

int iot_room_grow(void *items, size_t n, size_t *room, size_t size)
{
    size_t wanted = *room + *room / 2;
    wanted = wanted > n ? wanted : n;
    wanted = wanted > FEWEST ? wanted : FEWEST;
    /* Of whatever type the pointer is: what it holds is copied, and not read as a void *. */
    void *old, *more;
    memcpy(&old, items, sizeof old);
    if (!(more = reallocarray(old, wanted, size)))
        return -1;
    memcpy(items, &more, sizeof more);
    *room = wanted;
    return 0;
}
