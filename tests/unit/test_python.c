/* Lines of Python code by its tables, and where an interpreter keeps what is read of it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "preload/python_layout.h"
#include "preload/python_lines.h"

Test(python, steps)
{
    /* 0 to 7 line 10, 8 to 299 line 12, then 11. */
    static const uint8_t table[] = {8, 2, 255, 0, 37, 0xff};
    static const int want[][2] = {{-1, 10},  {0, 10},   {7, 10},   {8, 12},
                                  {299, 12}, {300, 11}, {9999, 11}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect_eq(iot_python_line(IOT_PYTHON_STEPS, table, sizeof table, 10, want[i][0]),
                     want[i][1], "%d", want[i][0]);
    cr_expect_eq(iot_python_line(IOT_PYTHON_STEPS, table, 0, 10, 50), 10);
    cr_expect_eq(iot_python_line(IOT_PYTHON_STEPS, table, 1, 10, 50), 10, "half a pair");
}

Test(python, ranges)
{
    /* 0 to 3 line 5, 4 to 5 none, 6 to 9 line 4. */
    static const uint8_t table[] = {4, 0, 2, 0x80, 4, 0xff};
    static const int want[][2] = {{0, 5}, {3, 5}, {4, 5}, {6, 4}, {9, 4}, {100, 4}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect_eq(iot_python_line(IOT_PYTHON_RANGES, table, sizeof table, 5, want[i][0]),
                     want[i][1], "%d", want[i][0]);
}

Test(python, locations)
{
    enum { SHORT = 0, ONE = 11, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
#define HEAD(kind, units) (0x80 | (kind) << 3 | ((units) - 1))
    static const uint8_t table[] = {
        HEAD(NO_COLUMNS, 1), 0,             /* 0: the first line */
        HEAD(ONE, 2), 4, 9,                 /* 2 to 5: the next */
        HEAD(SHORT, 1), 0x21,               /* 6 to 7: the same */
        HEAD(LONG, 8), 0x40 | 0x08, 3, 1, 5, 9, /* 8 to 23: 100 lines on */
        HEAD(NONE, 1),                      /* 24: nobody's */
        HEAD(NO_COLUMNS, 1), 0x05,          /* 26: 2 back */
    };
    static const int want[][2] = {{-1, 7},  {0, 7},    {2, 8},    {5, 8},   {6, 8},
                                  {8, 108}, {22, 108}, {24, 108}, {26, 106}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect_eq(iot_python_line(IOT_PYTHON_LOCATIONS, table, sizeof table, 7, want[i][0]),
                     want[i][1], "%d", want[i][0]);
    for (size_t n = 0; n < sizeof table; n++) /* cut anywhere */
        iot_python_line(IOT_PYTHON_LOCATIONS, table, n, 7, 1000);
}

Test(python, layouts)
{
    struct iot_python_layout layout;
    static const unsigned known[] = {0x0309, 0x030a, 0x030b, 0x030c};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        cr_expect_eq(iot_python_layout(&layout, known[i], NULL, 0), 0, "%x", known[i]);
    cr_expect_eq(iot_python_layout(&layout, 0x0308, NULL, 0), -1);
    cr_expect_eq(iot_python_layout(&layout, 0x030f, NULL, 0), -1);
}

/* Each offset is its word's number. */
Test(python, published_layouts)
{
    struct iot_python_layout layout;
    uint64_t words[96];
    for (unsigned i = 0; i < 96; i++)
        words[i] = i < 48 ? i : 40;
    memcpy(words, "xdebugpy", 8);
    words[1] = 0x030d00f0;
    words[2] = 0;
    cr_assert_eq(iot_python_layout(&layout, 0x030d, words, 96), 0);
    cr_expect_eq(layout.frame, 23);
    cr_expect_eq(layout.first_line, 39);
    cr_expect_eq(layout.copies, IOT_PYTHON_NOWHERE, "one copy of the code");
    cr_expect_eq(iot_python_layout(&layout, 0x030e, words, 96), -1, "says another version");
    cr_expect_eq(iot_python_layout(&layout, 0x030d, words, 70), -1, "cut");
    words[30] = 100000;
    cr_expect_eq(iot_python_layout(&layout, 0x030d, words, 96), -1, "too far");
    words[30] = 30;
    words[0]++;
    cr_expect_eq(iot_python_layout(&layout, 0x030d, words, 96), -1, "no cookie");
    memcpy(words, "xdebugpy", 8);
    words[1] = 0x030e01f0;
    words[2] = 1;
    words[49] = 48;
    cr_assert_eq(iot_python_layout(&layout, 0x030e, words, 96), 0);
    cr_expect_eq(layout.frame, 26);
    cr_expect_eq(layout.copies, 48, "a copy for each thread");
    cr_expect_eq(layout.copy, 38);
}
