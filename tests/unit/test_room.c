/* Arrays that grow, and what becomes of them where there is no memory. */
#include "analyzer/room.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

/* AddressSanitizer ends a program that asks for too much, unless it is told to say so. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

struct seven {
    unsigned char bytes[7];
};

Test(room, none_is_wanted)
{
    struct seven *items = NULL;
    size_t room = 0, none = 0;
    cr_assert_eq(IOT_ROOM(items, none, room), 0);
    cr_assert_null(items);
    cr_assert_eq(room, 0);
}

Test(room, what_is_there_stays_there)
{
    struct seven *items = NULL;
    size_t room = 0, grown = 0;
    for (size_t n = 0; n < 1000; n++) {
        size_t before = room;
        cr_assert_eq(IOT_ROOM(items, n + 1, room), 0);
        cr_assert_geq(room, n + 1);
        grown += room != before;
        items[n] = (struct seven){{(unsigned char)n, (unsigned char)(n >> 8)}};
    }
    for (size_t n = 0; n < 1000; n++)
        cr_assert_eq(items[n].bytes[0] | items[n].bytes[1] << 8, n);
    cr_assert_leq(grown, 16);
    free(items);
}

Test(room, many_at_once)
{
    uint32_t *items = NULL;
    size_t room = 0;
    cr_assert_eq(IOT_ROOM(items, 12345, room), 0);
    cr_assert_geq(room, 12345);
    items[12344] = 1;
    free(items);
}

/* More bytes than there are addresses, and more than fit into a size_t. */
Test(room, without_memory_nothing_changes)
{
    uint64_t *items = NULL;
    size_t room = 0;
    cr_assert_eq(IOT_ROOM(items, 3, room), 0);
    uint64_t *before = items;
    size_t had = room;
    cr_assert_eq(IOT_ROOM(items, SIZE_MAX / 64, room), -1);
    cr_assert_eq(IOT_ROOM(items, SIZE_MAX, room), -1);
    cr_assert_eq(items, before);
    cr_assert_eq(room, had);
    free(items);
}
