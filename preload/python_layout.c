#include "preload/python_layout.h"

#include <stddef.h>
#include <string.h>

#define NONE IOT_PYTHON_NOWHERE

/* From the headers of each release; none of them changes within one. */
static const struct {
    unsigned version;
    struct iot_python_layout layout;
} fixed[] = {
    {0x0309,
     {.type = 8, .frame = 24, .linked = NONE, .previous = 24, .code = 32, .at = 104,
      .owner = NONE, .copy = NONE,
      .filename = 104, .name = 112, .first_line = 40, .lines = 120, .instructions = NONE,
      .copies = NONE,
      .length = 16, .state = 32, .bytes = 48, .wide = 24, .kind_shift = 2, .bytes_length = 16,
      .bytes_bytes = 32,
      .unit = 1, .line_table = IOT_PYTHON_STEPS}},
    {0x030a,
     {.type = 8, .frame = 24, .linked = NONE, .previous = 24, .code = 32, .at = 96,
      .owner = NONE, .copy = NONE,
      .filename = 104, .name = 112, .first_line = 40, .lines = 120, .instructions = NONE,
      .copies = NONE,
      .length = 16, .state = 32, .bytes = 48, .wide = 24, .kind_shift = 2, .bytes_length = 16,
      .bytes_bytes = 32,
      .unit = 2, .line_table = IOT_PYTHON_RANGES}},
    {0x030b,
     {.type = 8, .frame = 56, .linked = 8, .previous = 48, .code = 32, .at = 56,
      .owner = 69, .copy = NONE,
      .filename = 112, .name = 128, .first_line = 72, .lines = 136, .instructions = 184,
      .copies = NONE,
      .length = 16, .state = 32, .bytes = 48, .wide = 24, .kind_shift = 2, .bytes_length = 16,
      .bytes_bytes = 32,
      .unit = 1, .last_owner = 2, .line_table = IOT_PYTHON_LOCATIONS}},
    {0x030c,
     {.type = 8, .frame = 56, .linked = 0, .previous = 8, .code = 0, .at = 56,
      .owner = 70, .copy = NONE,
      .filename = 112, .name = 128, .first_line = 68, .lines = 136, .instructions = 192,
      .copies = NONE,
      .length = 16, .state = 32, .bytes = 40, .wide = 16, .kind_shift = 2, .bytes_length = 16,
      .bytes_bytes = 32,
      .unit = 1, .last_owner = 2, .line_table = IOT_PYTHON_LOCATIONS}},
};

/* Which word of what is published says it (0: none does), and what is too far to be true. */
static const struct {
    size_t field;
    uint8_t word[2]; /* of 3.13, 3.14 */
    uint16_t most;
} published_at[] = {
#define AT(field, of_3_13, of_3_14, most)                                                          \
    {offsetof(struct iot_python_layout, field), {of_3_13, of_3_14}, most}
    AT(type, 45, 51, 56),          AT(frame, 23, 26, 248),      AT(previous, 29, 32, 120),
    AT(code, 30, 33, 120),         AT(at, 31, 34, 120),         AT(owner, 33, 36, 120),
    AT(copy, 0, 38, 120),          AT(filename, 35, 40, 248),   AT(name, 37, 42, 248),
    AT(lines, 38, 43, 248),        AT(first_line, 39, 44, 248), AT(instructions, 43, 48, 4096),
    AT(copies, 0, 49, 248),        AT(bytes_length, 65, 75, 56), AT(bytes_bytes, 66, 76, 4096),
    AT(state, 68, 78, 56),         AT(length, 69, 79, 48),      AT(bytes, 70, 80, 4096),
#undef AT
};

enum { COOKIE, VERSION, FREE_THREADED, FIRST_PUBLISHED = 0x030d, LAST_PUBLISHED = 0x030e };

static int from_published(struct iot_python_layout *layout, unsigned version, const uint64_t *words,
                          unsigned n)
{
    if (n <= FREE_THREADED || memcmp(&words[COOKIE], "xdebugpy", sizeof *words) ||
        words[VERSION] >> 16 != version)
        return -1;
    *layout = (struct iot_python_layout){.linked = NONE,
                                         .wide = 16,
                                         .kind_shift = version == FIRST_PUBLISHED ? 2 : 16,
                                         .unit = 1,
                                         .last_owner = 2,
                                         .line_table = IOT_PYTHON_LOCATIONS};
    for (size_t i = 0; i < sizeof published_at / sizeof *published_at; i++) {
        unsigned word = published_at[i].word[version - FIRST_PUBLISHED];
        if (word && (word >= n || words[word] > published_at[i].most))
            return -1;
        uint16_t value = word ? (uint16_t)words[word] : NONE;
        memcpy((char *)layout + published_at[i].field, &value, sizeof value);
    }
    if (!words[FREE_THREADED] || !layout->copies)
        layout->copies = layout->copy = NONE;
    return 0;
}

int iot_python_layout(struct iot_python_layout *layout, unsigned version, const uint64_t *published,
                      unsigned n)
{
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].version == version) {
            *layout = fixed[i].layout;
            return 0;
        }
    return version >= FIRST_PUBLISHED && version <= LAST_PUBLISHED
               ? from_published(layout, version, published, n)
               : -1;
}
