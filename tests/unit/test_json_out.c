#include <criterion/criterion.h>
#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "analyzer/json_out.h"
#include "analyzer/text.h"

struct buffer {
    FILE *stream;
    char *text;
    size_t size;
    struct iot_json json;
};

static void start(struct buffer *buffer, enum iot_json_style style)
{
    buffer->stream = open_memstream(&buffer->text, &buffer->size);
    iot_json_init(&buffer->json, buffer->stream, style);
}

/* Ends the text; the caller frees buffer->text. */
static void stop(struct buffer *buffer)
{
    cr_assert_eq(iot_json_finish(&buffer->json), 0);
    fclose(buffer->stream);
}

static void expect(struct buffer *buffer, const char *text)
{
    stop(buffer);
    cr_assert_str_eq(buffer->text, text);
    free(buffer->text);
}

static void write_sample(struct iot_json *json)
{
    iot_json_begin_object(json);
    iot_json_key(json, "a");
    iot_json_begin_array(json);
    iot_json_int(json, -1);
    iot_json_begin_object(json);
    iot_json_end_object(json);
    iot_json_begin_array(json);
    iot_json_end_array(json);
    iot_json_bool(json, true);
    iot_json_end_array(json);
    iot_json_key(json, "b\"");
    iot_json_begin_object(json);
    iot_json_key(json, "c");
    iot_json_null(json);
    iot_json_end_object(json);
    iot_json_key(json, "d");
    iot_json_string(json, "x");
    iot_json_end_object(json);
}

Test(json_out, compact)
{
    struct buffer buffer;

    start(&buffer, IOT_JSON_COMPACT);
    write_sample(&buffer.json);
    expect(&buffer, "{\"a\":[-1,{},[],true],\"b\\\"\":{\"c\":null},\"d\":\"x\"}\n");
}

Test(json_out, pretty)
{
    struct buffer buffer;

    start(&buffer, IOT_JSON_PRETTY);
    write_sample(&buffer.json);
    expect(&buffer, "{\n"
                    "  \"a\": [\n"
                    "    -1,\n"
                    "    {},\n"
                    "    [],\n"
                    "    true\n"
                    "  ],\n"
                    "  \"b\\\"\": {\n"
                    "    \"c\": null\n"
                    "  },\n"
                    "  \"d\": \"x\"\n"
                    "}\n");
}

Test(json_out, values_at_the_top_are_lines)
{
    struct buffer buffer;

    start(&buffer, IOT_JSON_COMPACT);
    for (int i = 0; i < 2; i++) {
        iot_json_begin_array(&buffer.json);
        iot_json_int(&buffer.json, i);
        iot_json_end_array(&buffer.json);
    }
    iot_json_bool(&buffer.json, false);
    expect(&buffer, "[0]\n[1]\nfalse\n");
}

Test(json_out, integers)
{
    struct buffer buffer;

    start(&buffer, IOT_JSON_COMPACT);
    iot_json_begin_array(&buffer.json);
    iot_json_int(&buffer.json, INT64_MIN);
    iot_json_int(&buffer.json, INT64_MAX);
    iot_json_int(&buffer.json, 0);
    iot_json_uint(&buffer.json, UINT64_MAX);
    iot_json_end_array(&buffer.json);
    expect(&buffer, "[-9223372036854775808,9223372036854775807,0,18446744073709551615]\n");
}

Test(json_out, doubles)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0.0\n"},
        {-0.0, "-0.0\n"},
        {1, "1.0\n"},
        {0.1, "0.1\n"},
        {0.1 + 0.2, "0.30000000000000004\n"},
        {1e22, "1e+22\n"},
        {123456789012345, "123456789012345.0\n"},
        {9007199254740993.0, "9007199254740992.0\n"},
        {DBL_MAX, "1.7976931348623157e+308\n"},
        {DBL_MIN, "2.2250738585072014e-308\n"},
        {DBL_TRUE_MIN, "5e-324\n"},
        {(double)NAN, "null\n"},
        {HUGE_VAL, "null\n"},
        {-HUGE_VAL, "null\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer buffer;
        start(&buffer, IOT_JSON_COMPACT);
        iot_json_double(&buffer.json, cases[i].value);
        expect(&buffer, cases[i].text);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ (*state >> 29);
}

/* Random bit patterns, so all exponents: the text reads back as the same bits. */
Test(json_out, doubles_round_trip)
{
    uint64_t state = 42;

    for (int i = 0; i < 50000; i++) {
        struct buffer buffer;
        uint64_t bits = next_random(&state);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        start(&buffer, IOT_JSON_COMPACT);
        iot_json_double(&buffer.json, value);
        stop(&buffer);
        double back = strtod(buffer.text, NULL);
        cr_assert_eq(memcmp(&back, &value, sizeof value), 0, "%s", buffer.text);
        cr_assert(strpbrk(buffer.text, ".e"));
        free(buffer.text);
    }
}

Test(json_out, strings)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } cases[] = {
        {"", 0, ""},
        {"plain /path", 11, "plain /path"},
        {"\"\\/", 3, "\\\"\\\\/"},
        {"\b\f\n\r\t", 5, "\\b\\f\\n\\r\\t"},
        {"\0\1\x1f\x7f", 4, "\\u0000\\u0001\\u001f\\u007f"},
        {"a\0b", 3, "a\\u0000b"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", 6, "\\u0080\\u009f\xc2\xa0"}, /* C1, and the first after */
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xff", 1, "\\udcff"},
        {"a\x80z", 3, "a\\udc80z"},
        {"\xc0\x80", 2, "\\udcc0\\udc80"},                           /* overlong NUL */
        {"\xe0\x9f\xbf", 3, "\\udce0\\udc9f\\udcbf"},                /* overlong */
        {"\xed\xa0\x80", 3, "\\udced\\udca0\\udc80"},                /* surrogate */
        {"\xed\x9f\xbf\xee\x80\x80", 6, "\xed\x9f\xbf\xee\x80\x80"}, /* beside the surrogates */
        {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"},                 /* U+10FFFF */
        {"\xf4\x90\x80\x80", 4, "\\udcf4\\udc90\\udc80\\udc80"},     /* above */
        {"\xf0\x8f\xbf\xbf", 4, "\\udcf0\\udc8f\\udcbf\\udcbf"},     /* overlong */
        {"\xe2\x82", 2, "\\udce2\\udc82"},                           /* cut off */
        {"\xe2\x82"
         "A",
         3, "\\udce2\\udc82A"},
        {"\xf0\x9f\x98", 3, "\\udcf0\\udc9f\\udc98"},
        {"\xc3\xa4", 1, "\\udcc3"}, /* cut off by n */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer buffer;
        char expected[64];
        start(&buffer, IOT_JSON_COMPACT);
        iot_json_bytes(&buffer.json, cases[i].bytes, cases[i].n);
        snprintf(expected, sizeof expected, "\"%s\"\n", cases[i].text);
        expect(&buffer, expected);
    }
}

/* Every pair of bytes, as a value and as a key, is one line of JSON that another parser takes.
 * That parser refuses lone surrogates, so those pairs are only looked at for length. */
Test(json_out, all_pairs_of_bytes)
{
    for (int pair = 0x101; pair <= 0xffff; pair++) {
        struct buffer buffer;
        char bytes[3] = {(char)(pair >> 8), (char)pair, '\0'};
        if (!bytes[0] || !bytes[1])
            continue;
        start(&buffer, IOT_JSON_COMPACT);
        iot_json_begin_object(&buffer.json);
        iot_json_key(&buffer.json, bytes);
        iot_json_string(&buffer.json, bytes);
        iot_json_end_object(&buffer.json);
        stop(&buffer);
        cr_assert_eq(strcspn(buffer.text, "\n"), buffer.size - 1);
        json_t *root = json_loads(buffer.text, 0, NULL);
        if (strstr(buffer.text, "\\udc"))
            cr_assert_null(root);
        else
            cr_assert_str_eq(json_string_value(json_object_get(root, bytes)), bytes);
        json_decref(root);
        free(buffer.text);
    }
}

Test(json_out, deepest_nesting)
{
    struct buffer buffer;

    start(&buffer, IOT_JSON_PRETTY);
    for (int i = 0; i < IOT_JSON_MAX_DEPTH; i++) {
        if (i)
            iot_json_key(&buffer.json, "k");
        iot_json_begin_object(&buffer.json);
    }
    for (int i = 0; i < IOT_JSON_MAX_DEPTH; i++)
        iot_json_end_object(&buffer.json);
    stop(&buffer);
    json_t *root = json_loads(buffer.text, 0, NULL);
    cr_assert_not_null(root);
    json_decref(root);
    free(buffer.text);
}

Test(json_out, full_disk)
{
    FILE *full = fopen("/dev/full", "w");
    struct iot_json json;

    if (!full)
        cr_skip_test("no /dev/full here");
    iot_json_init(&json, full, IOT_JSON_COMPACT);
    iot_json_int(&json, 1);
    cr_assert_eq(iot_json_finish(&json), ENOSPC);
    /* What another writer of the stream lost is no less lost. */
    iot_json_init(&json, full, IOT_JSON_COMPACT);
    cr_assert_neq(iot_json_finish(&json), 0);
    fclose(full);
}

/* Fails with ENOSPC, then with EIO, ... */
static ssize_t failing_write(void *cookie, const char *text, size_t n)
{
    static const int errors[] = {ENOSPC, EIO, EBADF, EPIPE};
    size_t *calls = cookie;

    (void)text;
    (void)n;
    errno = errors[(*calls)++ % 4];
    return 0;
}

Test(json_out, first_error_stays)
{
    size_t calls = 0;
    FILE *out = fopencookie(&calls, "w", (cookie_io_functions_t){.write = failing_write});
    struct iot_json json;

    setvbuf(out, NULL, _IONBF, 0);
    iot_json_init(&json, out, IOT_JSON_COMPACT);
    iot_json_int(&json, 1);
    cr_assert_eq(json.error, ENOSPC);
    cr_assert(calls > 1);
    cr_assert_eq(iot_json_finish(&json), ENOSPC);
    fclose(out);
}

Test(text, printable_is_one_line)
{
    static const char bytes[] = "a\nb\x1b[31m\x7f\xc3\xa4\xc2\x9b\xff";
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    iot_write_printable(out, bytes, sizeof bytes - 1);
    fclose(out);
    cr_assert_str_eq(text, "a\\x0ab\\x1b[31m\\x7f\xc3\xa4\\xc2\\x9b\\xff");
    free(text);
}
