/* A call site in words: all frames where they fit, else the two ends of the stack. */
#include <criterion/criterion.h>
#include <string.h>

#include "analyzer/call_sites.h"

static struct iot_call_site site(const char *const *words, uint32_t n, uint32_t is_python)
{
    struct iot_call_site s = {.n_frames = n};
    for (uint32_t k = 0; k < n; k++)
        s.frames[k] = (struct iot_place){.words = words[k], .is_python = is_python >> k & 1};
    return s;
}

static const char *const words[] = {"read.py:9 fill", "load.py:5 batch", "load.py:3 next",
                                    "train.py:7 main", "train.py:9 <module>"};

Test(call_sites, all_that_fits)
{
    struct iot_call_site s = site(words, 5, 0x1f);
    char text[100];
    iot_call_site_words(&s, text, sizeof text);
    cr_expect_str_eq(text,
                     "train.py:9 <module> > train.py:7 main > load.py:3 next > load.py:5 batch > "
                     "read.py:9 fill");
}

Test(call_sites, the_middle_gives_way)
{
    struct iot_call_site s = site(words, 5, 0x1f);
    char text[90];
    iot_call_site_words(&s, text, sizeof text);
    cr_expect_str_eq(text, "train.py:9 <module> > train.py:7 main > ... > load.py:5 batch > "
                           "read.py:9 fill");
    iot_call_site_words(&s, text, 70);
    cr_expect_str_eq(text, "train.py:9 <module> > train.py:7 main > ... > read.py:9 fill");
    for (size_t bytes = 1; bytes <= sizeof text; bytes++) {
        memset(text, '#', sizeof text);
        iot_call_site_words(&s, text, bytes);
        cr_expect_not_null(memchr(text, '\0', bytes), "of %zu bytes", bytes);
        cr_expect(bytes == sizeof text || text[bytes] == '#', "beyond %zu bytes", bytes);
    }
}

Test(call_sites, native_code_below_python)
{
    struct iot_call_site s = site(words, 5, 0x18);
    char text[90];
    iot_call_site_words(&s, text, sizeof text);
    cr_expect_str_eq(text, "train.py:9 <module> > train.py:7 main > read.py:9 fill");
}
