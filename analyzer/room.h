/* Arrays that grow. */
#ifndef IOT_ANALYZER_ROOM_H
#define IOT_ANALYZER_ROOM_H

#include <stddef.h>

/* Sees to it that `items`, a pointer that realloc can move, has room for n of them; `room`, a
 * size_t, says for how many it has. It grows by half: what is added one at a time is copied twice
 * each on the average, and at most a third is left free. 0; -1 without memory, and then both are as
 * they were. */
#define IOT_ROOM(items, n, room) \
    ((n) <= (room) ? 0 : iot_room_grow(&(items), (n), &(room), sizeof *(items)))

/* `items` is the address of the pointer, `size` bytes what it points to. */
int iot_room_grow(void *items, size_t n, size_t *room, size_t size);

#endif
