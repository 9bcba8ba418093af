/* Ranges of memory, against an array that has a word for each address. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/address_map.h"

enum { SPACE = 2048 };

struct seen {
    uint32_t kind[SPACE], subject[SPACE];
    uint64_t at; /* behind the last part */
};

static void part(void *user, const struct iot_extent *x)
{
    struct seen *s = user;
    cr_assert(x->begin < x->end && x->begin >= s->at, "in order, and apart");
    s->at = x->end;
    for (uint64_t a = x->begin; a < x->end; a++) {
        s->kind[a] = x->kind;
        s->subject[a] = x->subject;
    }
}

static void check(const struct iot_address_map *m, const struct seen *want, uint64_t begin,
                  uint64_t end)
{
    static struct seen got;
    memset(&got, 0, sizeof got);
    iot_address_map_look(m, begin, end, part, &got);
    for (uint64_t a = 0; a < SPACE; a++) {
        int inside = a >= begin && a < end;
        cr_assert_eq(got.kind[a], inside ? want->kind[a] : 0, "kind at %lu", a);
        cr_assert_eq(got.subject[a], inside ? want->subject[a] : 0, "subject at %lu", a);
    }
}

Test(address_map, random_puts_and_cuts_are_as_in_an_array)
{
    static struct seen want;
    srand(7);
    for (int round = 0; round < 20; round++) {
        struct iot_address_map m = {.limit = 1 << 20};
        memset(&want, 0, sizeof want);
        for (int n = 0; n < 2000; n++) {
            uint64_t begin = (uint64_t)rand() % SPACE,
                     bytes = (uint64_t)rand() % (round % 2 ? 8 : 300);
            uint64_t end = begin + bytes < SPACE ? begin + bytes : SPACE;
            uint32_t kind = rand() % 3 ? 1 + (uint32_t)rand() % 2 : 0;
            uint32_t subject = kind ? 1 + (uint32_t)rand() % 5 : 0;
            cr_assert_eq(kind ? iot_address_map_put(&m, begin, end, kind, subject)
                              : iot_address_map_cut(&m, begin, end),
                         0);
            for (uint64_t a = begin; a < end; a++) {
                want.kind[a] = kind;
                want.subject[a] = subject;
            }
            if (n % 50 == 0) {
                check(&m, &want, 0, SPACE);
                check(&m, &want, begin, end);
            }
        }
        check(&m, &want, 0, SPACE);
        iot_address_map_free(&m);
    }
}

Test(address_map, what_touches_and_is_the_same_is_one)
{
    struct iot_address_map m = {.limit = 16};
    for (uint64_t k = 0; k < 1000; k++)
        cr_assert_eq(iot_address_map_put(&m, 100 * k, 100 * k + 100, 1, 5), 0);
    for (uint64_t k = 2000; k-- > 1000;)
        cr_assert_eq(iot_address_map_put(&m, 100 * k, 100 * k + 100, 1, 5), 0);
    cr_expect_eq(m.n, 1u);
    cr_expect_eq(m.forgotten, 0u);
    iot_address_map_free(&m);
}

static void count(void *user, const struct iot_extent *x)
{
    (void)x;
    ++*(size_t *)user;
}

Test(address_map, beyond_its_limit_the_oldest_go)
{
    enum { LIMIT = 1000 };
    struct iot_address_map m = {.limit = LIMIT};
    for (uint64_t k = 0; k < 10 * LIMIT; k++) {
        cr_assert_eq(iot_address_map_put(&m, 10 * k, 10 * k + 5, 1, (uint32_t)k), 0);
        cr_assert(m.n <= LIMIT);
    }
    size_t newest = 0, oldest = 0;
    iot_address_map_look(&m, 10 * (10 * LIMIT - LIMIT / 2), UINT64_MAX, count, &newest);
    iot_address_map_look(&m, 0, 10 * 8 * LIMIT, count, &oldest);
    cr_expect_eq(newest, LIMIT / 2u, "the newer half is there: %zu", newest);
    cr_expect_eq(oldest, 0u);
    cr_expect_eq(m.forgotten + m.n, 10u * LIMIT);
    iot_address_map_free(&m);
}

Test(address_map, pieces_of_one_do_not_grow_beyond_it)
{
    struct iot_address_map m = {.limit = 100};
    cr_assert_eq(iot_address_map_put(&m, 0, 1000000, 1, 1), 0);
    for (uint64_t k = 1; k < 2000; k++) {
        cr_assert_eq(iot_address_map_cut(&m, 100 * k, 100 * k + 10), 0);
        cr_assert(m.n <= 101);
    }
    iot_address_map_free(&m);
}
