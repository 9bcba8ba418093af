/* Which rank reads what: each thing once, by a rank that sees it, whatever the nodes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/divide.h"

enum { RANKS = 12, THINGS = 20, SEEN_MAX = THINGS * RANKS };

static unsigned below(unsigned n)
{
    return (unsigned)rand() % n;
}

static struct iot_mpi_seen seen_as(uint32_t operand, bool is_operand, const char *path, int node,
                                   uint64_t identity)
{
    return (struct iot_mpi_seen){identity, 100, operand, is_operand, node, path};
}

/* Who reads it of those with that path and identity; -1: nobody, -2: several. */
static int reader_of(const struct iot_mpi_seen *seen, const int *reader, size_t n, const char *path,
                     uint64_t identity)
{
    int found = -1;
    for (size_t k = 0; k < n; k++)
        if (!strcmp(seen[k].path, path) && seen[k].identity == identity && reader[k] >= 0)
            found = found == -1 ? reader[k] : -2;
    return found;
}

Test(divide, a_shared_folder_is_read_once_and_local_ones_of_one_name_each)
{
    const int nodes[] = {0, 0, 2, 2};
    struct iot_mpi_seen seen[] = {seen_as(0, true, "shared", 0, 7),
                                  seen_as(0, true, "shared", 2, 7), seen_as(1, true, "local", 0, 8),
                                  seen_as(1, true, "local", 2, 9)};
    int reader[4];
    cr_assert_eq(iot_mpi_divide(seen, 4, nodes, 4, reader), 0);
    int first = reader_of(seen, reader, 4, "local", 8),
        second = reader_of(seen, reader, 4, "local", 9);
    cr_expect(first == 0 || first == 1);
    cr_expect(second == 2 || second == 3);
    cr_expect(reader_of(seen, reader, 4, "shared", 7) >= 0);
}

Test(divide, what_one_node_cannot_read_is_left_to_those_that_can)
{
    const int nodes[] = {0, 1};
    struct iot_mpi_seen seen[] = {
        seen_as(0, true, "job", 1, 0),    seen_as(0, false, "job/rank-0", 0, 5),
        seen_as(1, true, "absent", 0, 0), seen_as(1, true, "absent", 1, 0),
        seen_as(2, true, "part", 0, 0),   seen_as(2, true, "part", 1, 6)};
    int reader[6];
    cr_assert_eq(iot_mpi_divide(seen, 6, nodes, 2, reader), 0);
    cr_expect_eq(reader_of(seen, reader, 6, "job", 0), -1);
    cr_expect_eq(reader_of(seen, reader, 6, "job/rank-0", 5), 0);
    cr_expect_geq(reader_of(seen, reader, 6, "absent", 0), 0, "somebody says that it is not there");
    cr_expect_eq(reader_of(seen, reader, 6, "part", 0), -1);
    cr_expect_eq(reader_of(seen, reader, 6, "part", 6), 1);
}

/* The same thing given twice is read twice, as without MPI: the report says so. */
Test(divide, an_operand_given_twice_counts_twice)
{
    const int nodes[] = {0, 0};
    struct iot_mpi_seen seen[] = {seen_as(0, true, "a", 0, 5), seen_as(1, true, "a", 0, 5)};
    int reader[2];
    cr_assert_eq(iot_mpi_divide(seen, 2, nodes, 2, reader), 0);
    cr_expect_neq(reader[0], reader[1], "and by both ranks: each has one");
    cr_expect(reader[0] >= 0 && reader[1] >= 0);
}

Test(divide, at_random_each_is_read_once_by_who_sees_it)
{
    srand(1);
    for (int round = 0; round < 200; round++) {
        char paths[THINGS][16];
        struct iot_mpi_seen seen[SEEN_MAX];
        int nodes[RANKS], reader[SEEN_MAX];
        size_t n = 0;
        for (int r = 0; r < RANKS; r++)
            nodes[r] = r && below(2) ? nodes[r - 1] : r;
        for (uint64_t t = 0; t < THINGS; t++) {
            uint64_t bytes = below(1000);
            snprintf(paths[t], sizeof paths[t], "thing-%d", (int)t);
            for (int r = 0; r < RANKS; r++)
                if (nodes[r] == r && (!r || below(3)))
                    seen[n++] = (struct iot_mpi_seen){t + 1, bytes, 0, 0, r, paths[t]};
        }
        cr_assert_eq(iot_mpi_divide(seen, n, nodes, RANKS, reader), 0);
        for (uint64_t t = 0; t < THINGS; t++)
            cr_expect_geq(reader_of(seen, reader, n, paths[t], t + 1), 0);
        for (size_t k = 0; k < n; k++)
            if (reader[k] >= 0)
                cr_expect_eq(nodes[reader[k]], seen[k].node);
    }
}

Test(divide, ranks_have_about_the_same_to_read)
{
    char paths[THINGS][16];
    struct iot_mpi_seen seen[THINGS];
    const int nodes[4] = {0};
    int reader[THINGS];
    uint64_t load[4] = {0}, least = UINT64_MAX, most = 0;
    for (uint64_t t = 0; t < THINGS; t++) {
        snprintf(paths[t], sizeof paths[t], "thing-%d", (int)t);
        seen[t] = (struct iot_mpi_seen){t + 1, 10 * (t % 7) + 1, 0, 0, 0, paths[t]};
    }
    cr_assert_eq(iot_mpi_divide(seen, THINGS, nodes, 4, reader), 0);
    for (size_t k = 0; k < THINGS; k++)
        load[reader[k]] += seen[k].bytes;
    for (int r = 0; r < 4; r++) {
        least = load[r] < least ? load[r] : least;
        most = load[r] > most ? load[r] : most;
    }
    cr_expect_leq(most - least, 21, "%d to %d", (int)least, (int)most);
}
