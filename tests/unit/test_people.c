#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/people.h"
#include "analyzer/text.h"

Test(people, times)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0"},
        {9999, "<0.01 ms"},
        {10000, "0.01 ms"},
        {4213000, "4.21 ms"},
        {9996000, "10.0 ms"},
        {412000000, "412 ms"},
        {999400000, "999 ms"},
        {999600000, "1.00 s"},
        {INT64_C(3100000000), "3.10 s"},
        {INT64_C(86400000000000), "86400 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(iot_people_time(cases[i].ns).text, cases[i].text);
}

Test(people, sizes_counts_shares)
{
    cr_expect_str_eq(iot_people_bytes(0).text, "0 B");
    cr_expect_str_eq(iot_people_bytes(999).text, "999 B");
    cr_expect_str_eq(iot_people_bytes(999999).text, "1.00 MB");
    cr_expect_str_eq(iot_people_bytes(INT64_C(67108864)).text, "67.1 MB");
    cr_expect_str_eq(iot_people_bytes(INT64_MAX).text, "9.22 EB");
    cr_expect_str_eq(iot_people_count(99999).text, "99999");
    cr_expect_str_eq(iot_people_count(1234567).text, "1.23 M");
    cr_expect_str_eq(iot_people_many(0, "call").text, "0 calls");
    cr_expect_str_eq(iot_people_many(1, "call").text, "1 call");
    cr_expect_str_eq(iot_people_many(1234567, "process").text, "1.23 M processes");
    cr_expect_str_eq(iot_people_share(13, 100).text, "13 %");
    cr_expect_str_eq(iot_people_share(1, 100).text, "1.0 %");
    cr_expect_str_eq(iot_people_share(1, 100000).text, "<0.1 %");
    cr_expect_str_eq(iot_people_share(1, 0).text, "0 %");
}

static char *shortened(const char *text, size_t columns, size_t *taken)
{
    char *written;
    size_t size;
    FILE *out = open_memstream(&written, &size);
    *taken = iot_write_shortened(out, text, strlen(text), columns);
    fclose(out);
    return written;
}

Test(people, long_paths_keep_their_end)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *shown;
    } cases[] = {
        {"/data/a.bin", 11, "/data/a.bin"},
        {"/data/training/a.bin", 15, "/da.../a.bin"},
        {"/data/training/a.bin", 19, "/dat...ining/a.bin"},
        {"\x1b[31m/data/a.bin", 16, "....../data/a.bin"},
    };
    for (size_t i = 0; i < 3; i++) {
        size_t taken;
        char *shown = shortened(cases[i].text, cases[i].columns, &taken);
        cr_expect_leq(strlen(shown), cases[i].columns);
        cr_expect_eq(taken, strlen(shown));
        cr_expect_str_eq(shown + strlen(shown) - 5, "a.bin");
        free(shown);
    }
}

Test(people, hostile_names_keep_their_columns)
{
    static const char *const names[] = {
        "/\x1b]0;title\a/\x1b[2J",
        "/\n\n\n\n/x\ty",
        "/\xff\xfe\xfd\xfc\xfb\xfa",
        "/\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
        "/\xc2\x9b\x31m",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t columns = 8; columns < 30; columns++) {
            size_t taken;
            char *shown = shortened(names[i], columns, &taken);
            cr_expect_leq(taken, columns);
            cr_expect_eq(taken, iot_printable_columns(shown, strlen(shown)));
            for (const char *p = shown; *p; p++)
                cr_expect_neq((unsigned char)*p < 0x20, 1);
            free(shown);
        }
}
