#include "analyzer/json_out.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text.h"

static void put(struct iot_json *json, const char *text, size_t n)
{
    errno = 0;
    if (fwrite_unlocked(text, 1, n, json->out) != n && !json->error)
        json->error = errno ? errno : EIO;
}

static void put_text(struct iot_json *json, const char *text)
{
    put(json, text, strlen(text));
}

static bool in_object(const struct iot_json *json)
{
    return json->depth && (json->objects >> (json->depth - 1) & 1);
}

/* A comma if there is to be one, and the new line before a key, an element or an end. */
static void new_line(struct iot_json *json, bool comma)
{
    char text[2 + 2 * IOT_JSON_MAX_DEPTH];
    size_t n = 0;

    if (comma)
        text[n++] = ',';
    if (json->style != IOT_JSON_COMPACT) {
        text[n++] = '\n';
        memset(text + n, ' ', 2 * json->depth);
        n += 2 * json->depth;
    }
    if (n)
        put(json, text, n);
}

static void separate(struct iot_json *json)
{
    new_line(json, !json->empty);
    json->empty = false;
}

static void before_value(struct iot_json *json)
{
    assert(json->keyed == in_object(json));
    if (json->depth && !json->keyed)
        separate(json);
    json->keyed = false;
}

static void after_value(struct iot_json *json)
{
    if (!json->depth)
        put_text(json, "\n");
}

static void put_value(struct iot_json *json, const char *text)
{
    before_value(json);
    put_text(json, text);
    after_value(json);
}

static void begin(struct iot_json *json, bool object)
{
    before_value(json);
    assert(json->depth < IOT_JSON_MAX_DEPTH);
    uint64_t bit = UINT64_C(1) << json->depth;
    json->objects = object ? json->objects | bit : json->objects & ~bit;
    json->depth++;
    json->empty = true;
    put_text(json, object ? "{" : "[");
}

static void end(struct iot_json *json, bool object)
{
    assert(json->depth && in_object(json) == object && !json->keyed);
    json->depth--;
    if (!json->empty)
        new_line(json, false);
    json->empty = false;
    put_text(json, object ? "}" : "]");
    after_value(json);
}

static void put_escaped(struct iot_json *json, unsigned code)
{
    static const char *const short_forms[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\t'] = "\\t",
        ['\r'] = "\\r", ['\b'] = "\\b",  ['\f'] = "\\f",
    };
    char text[8];

    if (code < 128 && short_forms[code]) {
        put_text(json, short_forms[code]);
        return;
    }
    snprintf(text, sizeof text, "\\u%04x", code & 0xffff);
    put_text(json, text);
}

static void put_string(struct iot_json *json, const char *text, size_t n)
{
    size_t plain = 0; /* what is before i and not yet written starts here */

    put_text(json, "\"");
    for (size_t i = 0; i < n;) {
        if (text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\') {
            i++;
            continue;
        }
        size_t length = iot_utf8_length(text + i, n - i);
        if (length > 1 && !iot_utf8_is_control(text + i, length)) {
            i += length;
            continue;
        }
        put(json, text + plain, i - plain);
        unsigned char last = (unsigned char)text[i + (length ? length - 1 : 0)];
        /* A C1 control is c2 NN, and its code NN: the last byte is the code in all cases. */
        put_escaped(json, length ? last : 0xdc00u + last);
        i += length ? length : 1;
        plain = i;
    }
    put(json, text + plain, n - plain);
    put_text(json, "\"");
}

void iot_json_init(struct iot_json *json, FILE *out, enum iot_json_style style)
{
    *json = (struct iot_json){.out = out, .style = style};
}

int iot_json_finish(struct iot_json *json)
{
    assert(!json->depth);
    errno = 0;
    if ((fflush(json->out) || ferror(json->out)) && !json->error)
        json->error = errno ? errno : EIO;
    return json->error;
}

void iot_json_begin_object(struct iot_json *json)
{
    begin(json, true);
}

void iot_json_end_object(struct iot_json *json)
{
    end(json, true);
}

void iot_json_begin_array(struct iot_json *json)
{
    begin(json, false);
}

void iot_json_end_array(struct iot_json *json)
{
    end(json, false);
}

void iot_json_key(struct iot_json *json, const char *key)
{
    assert(in_object(json) && !json->keyed);
    separate(json);
    put_string(json, key, strlen(key));
    put_text(json, json->style == IOT_JSON_COMPACT ? ":" : ": ");
    json->keyed = true;
}

/* Millions of figures are written in one report: printf would take most of its time. */
static void put_digits(struct iot_json *json, bool negative, uint64_t value)
{
    char text[24], *first = text + sizeof text - 1;

    *first = '\0';
    do
        *--first = (char)('0' + value % 10);
    while (value /= 10);
    if (negative)
        *--first = '-';
    put_value(json, first);
}

void iot_json_int(struct iot_json *json, int64_t value)
{
    put_digits(json, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void iot_json_uint(struct iot_json *json, uint64_t value)
{
    put_digits(json, false, value);
}

void iot_json_double(struct iot_json *json, double value)
{
    /* A normal double that has a form of up to 15 digits gets it from "%.15g"; a subnormal one
     * has fewer digits of its own. */
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    char text[40];

    if (!isfinite(value)) {
        iot_json_null(json);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= DBL_DECIMAL_DIG);
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    put_value(json, text);
}

void iot_json_bool(struct iot_json *json, bool value)
{
    put_value(json, value ? "true" : "false");
}

void iot_json_null(struct iot_json *json)
{
    put_value(json, "null");
}

void iot_json_string(struct iot_json *json, const char *text)
{
    iot_json_bytes(json, text, strlen(text));
}

void iot_json_bytes(struct iot_json *json, const char *text, size_t n)
{
    before_value(json);
    put_string(json, text, n);
    after_value(json);
}
