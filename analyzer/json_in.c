#include "analyzer/json_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_BYTES = 256 * 1024, LEAST_KEYS = 32 };

/* What may come next. */
enum state {
    VALUE,        /* a value */
    VALUE_OR_END, /* of an array that has just begun */
    KEY_OR_END,   /* of an object that has just begun */
    KEY,
    COLON,
    COMMA_OR_END,
    NOTHING, /* the value is whole */
};

/* The keys of the object that is open at one depth: hashes in an open table. What an earlier object
 * left there has another generation. */
struct keys {
    struct {
        uint64_t hash, generation;
    } * slots;
    size_t n, room; /* room: a power of two, or 0 */
};

struct level {
    bool object;
    uint64_t generation; /* of the object */
    struct keys keys;
};

struct iot_json_source {
    gzFile file; /* NULL: from memory */
    const unsigned char *buffer;
    unsigned char *own;
    size_t next, end;
    uint64_t before; /* bytes of JSON in front of the buffer */
    uint64_t generation, hash;
    enum state state;
    struct level levels[IOT_JSON_IN_DEPTH];
    enum iot_json_token last;
};

static int open_source(struct iot_json_in *in)
{
    memset(in, 0, sizeof *in);
    in->source = calloc(1, sizeof *in->source);
    if (in->source)
        in->source->last = IOT_JSON_END;
    return in->source ? 0 : -ENOMEM;
}

int iot_json_in_open(struct iot_json_in *in, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (open_source(in)) {
        close(fd);
        return -ENOMEM;
    }
    in->source->own = malloc(BUFFER_BYTES);
    in->source->buffer = in->source->own;
    in->source->file = in->source->own ? gzdopen(fd, "rb") : NULL;
    if (!in->source->file) {
        close(fd);
        iot_json_in_close(in);
        return -ENOMEM;
    }
    gzbuffer(in->source->file, BUFFER_BYTES);
    return 0;
}

int iot_json_in_open_memory(struct iot_json_in *in, const void *bytes, size_t n)
{
    if (open_source(in))
        return -ENOMEM;
    in->source->buffer = bytes;
    in->source->end = n;
    return 0;
}

void iot_json_in_close(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    if (!s)
        return;
    for (int k = 0; k < IOT_JSON_IN_DEPTH; k++)
        free(s->levels[k].keys.slots);
    if (s->file)
        gzclose_r(s->file);
    free(s->own);
    free(s);
    in->source = NULL;
}

uint64_t iot_json_in_bytes(const struct iot_json_in *in)
{
    return in->source->before + in->source->next;
}

static enum iot_json_token fail_here(struct iot_json_in *in, const char *error)
{
    if (!in->error) {
        in->error = error;
        in->at = iot_json_in_bytes(in);
    }
    return in->source->last = IOT_JSON_ERROR;
}

enum iot_json_token iot_json_in_fail(struct iot_json_in *in, const char *error)
{
    if (!in->error)
        in->error = error;
    return in->source->last = IOT_JSON_ERROR;
}

static int fill(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    if (!s->file)
        return -1;
    int n = gzread(s->file, s->own, BUFFER_BYTES), error = Z_OK;
    s->before += s->end;
    s->next = s->end = 0;
    if (n > 0) {
        s->end = (size_t)n;
        return 0;
    }
    gzerror(s->file, &error);
    if (error == Z_ERRNO)
        fail_here(in, "cannot be read");
    else if (error == Z_BUF_ERROR)
        fail_here(in, "the compressed file ends too early");
    else if (error != Z_OK && error != Z_STREAM_END)
        fail_here(in, "the compressed file is damaged");
    return -1;
}

/* The next byte, which stays; -1 at the end. */
static inline int peek(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    if (s->next == s->end && fill(in))
        return -1;
    return s->buffer[s->next];
}

static int skip_space(struct iot_json_in *in)
{
    int c;
    while ((c = peek(in)) == ' ' || c == '\n' || c == '\t' || c == '\r')
        in->source->next++;
    return c;
}

static inline void keep(struct iot_json_in *in, unsigned char c)
{
    if (in->length < IOT_JSON_IN_TEXT)
        in->text[in->length++] = (char)c;
    in->source->hash = (in->source->hash ^ c) * UINT64_C(0x100000001b3);
}

/* --- strings --- */

static int hex4(struct iot_json_in *in)
{
    int value = 0;
    for (int k = 0; k < 4; k++) {
        int c = peek(in);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
        in->source->next++;
    }
    return value;
}

static void keep_code(struct iot_json_in *in, unsigned code)
{
    if (code < 0x80) {
        keep(in, (unsigned char)code);
        return;
    }
    if (code < 0x800) {
        keep(in, (unsigned char)(0xc0 | code >> 6));
    } else {
        if (code < 0x10000) {
            keep(in, (unsigned char)(0xe0 | code >> 12));
        } else {
            keep(in, (unsigned char)(0xf0 | code >> 18));
            keep(in, (unsigned char)(0x80 | (code >> 12 & 0x3f)));
        }
        keep(in, (unsigned char)(0x80 | (code >> 6 & 0x3f)));
    }
    keep(in, (unsigned char)(0x80 | (code & 0x3f)));
}

/* \udcNN is what json_out.c makes of a byte NN that is no UTF-8: it becomes that byte again.
 * Another surrogate without its other half becomes U+FFFD; so does NUL, which no name can hold. */
static int unicode_escape(struct iot_json_in *in)
{
    enum { REPLACEMENT = 0xfffd };
    int code = hex4(in);
    while (code >= 0xd800 && code < 0xdc00) {
        if (peek(in) != '\\') {
            keep_code(in, REPLACEMENT);
            return 0;
        }
        in->source->next++;
        if (peek(in) != 'u') { /* another escape follows: it is read by the caller's loop */
            keep_code(in, REPLACEMENT);
            return 1;
        }
        in->source->next++;
        int low = hex4(in);
        if (low >= 0xdc00 && low < 0xe000) {
            keep_code(in, 0x10000 + ((unsigned)(code - 0xd800) << 10) + (unsigned)(low - 0xdc00));
            return 0;
        }
        keep_code(in, REPLACEMENT);
        code = low;
    }
    if (code < 0)
        return -1;
    if (code >= 0xdc80 && code <= 0xdcff) {
        keep(in, (unsigned char)code);
        return 0;
    }
    keep_code(in, code == 0 || (code >= 0xdc00 && code < 0xe000) ? REPLACEMENT : (unsigned)code);
    return 0;
}

static int escape(struct iot_json_in *in)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    for (;;) {
        int c = peek(in);
        if (c < 0)
            return -1;
        if (c != 'u') {
            const char *found = c ? strchr(from, c) : NULL;
            if (!found)
                return -1;
            in->source->next++;
            keep(in, (unsigned char)to[found - from]);
            return 0;
        }
        in->source->next++;
        int more = unicode_escape(in);
        if (more <= 0)
            return more;
    }
}

/* A stretch without anything special, as far as the buffer has it. */
static void keep_plain(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    const unsigned char *from = s->buffer + s->next, *end = s->buffer + s->end, *p = from;
    while (p < end && *p != '"' && *p != '\\' && *p >= ' ')
        p++;
    size_t n = (size_t)(p - from), room = IOT_JSON_IN_TEXT - in->length;
    memcpy(in->text + in->length, from, n < room ? n : room);
    in->length += n < room ? n : room;
    for (; from < p; from++)
        s->hash = (s->hash ^ *from) * UINT64_C(0x100000001b3);
    s->next += n;
}

/* Behind its first quote. */
static int read_string(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    in->length = 0;
    s->hash = UINT64_C(0xcbf29ce484222325);
    for (;;) {
        int c = peek(in);
        if (c < 0) {
            fail_here(in, "the file ends in a string");
            return -1;
        }
        if (c == '"')
            break;
        if (c < ' ') {
            fail_here(in, "a control character in a string");
            return -1;
        }
        if (c != '\\') {
            keep_plain(in);
            continue;
        }
        s->next++;
        if (escape(in)) {
            fail_here(in, "not an escape sequence");
            return -1;
        }
    }
    s->next++;
    in->text[in->length] = '\0';
    return 0;
}

/* --- keys --- */

/* -1 without memory, 1 if it is there already. */
static int add_key(struct keys *keys, uint64_t hash, uint64_t generation)
{
    if (2 * (keys->n + 1) > keys->room) {
        struct keys more = {.room = keys->room ? 2 * keys->room : LEAST_KEYS};
        more.slots = calloc(more.room, sizeof *more.slots);
        if (!more.slots)
            return -1;
        for (size_t k = 0; k < keys->room; k++)
            if (keys->slots[k].generation == generation)
                add_key(&more, keys->slots[k].hash, generation);
        free(keys->slots);
        *keys = more;
    }
    size_t k = (hash ^ hash >> 32) & (keys->room - 1);
    for (; keys->slots[k].generation == generation; k = (k + 1) & (keys->room - 1))
        if (keys->slots[k].hash == hash)
            return 1;
    keys->slots[k].hash = hash;
    keys->slots[k].generation = generation;
    keys->n++;
    return 0;
}

/* --- numbers --- */

/* Far beyond what 64 bits or a double need; so long a text fits. */
enum { DIGITS_MAX = 400 };

/* As far as each buffer has them. */
static size_t digits(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    size_t all = 0;
    while (peek(in) >= 0) {
        const unsigned char *from = s->buffer + s->next, *end = s->buffer + s->end, *p = from;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (in->length < IOT_JSON_IN_TEXT)
                in->text[in->length++] = (char)*p;
        s->next += (size_t)(p - from);
        all += (size_t)(p - from);
        if (p < end)
            break;
    }
    return all;
}

static int take(struct iot_json_in *in, int c)
{
    if (peek(in) != c)
        return 0;
    keep(in, (unsigned char)c);
    in->source->next++;
    return 1;
}

static enum iot_json_token read_number(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    in->length = 0;
    take(in, '-');
    size_t whole, fraction = 0, exponent = 0;
    int zero = peek(in) == '0';
    whole = digits(in);
    if (!whole || (zero && whole > 1))
        return fail_here(in, "not a number");
    if (take(in, '.') && !(fraction = digits(in)))
        return fail_here(in, "not a number");
    if (take(in, 'e') || take(in, 'E')) {
        if (!take(in, '+'))
            take(in, '-');
        if (!(exponent = digits(in)))
            return fail_here(in, "not a number");
    }
    in->text[in->length] = '\0';
    if (whole + fraction + exponent > DIGITS_MAX)
        return iot_json_in_fail(in, "a number out of range");
    if (whole > 300 || exponent) {
        double value = strtod(in->text, NULL);
        if (value - value != 0)
            return iot_json_in_fail(in, "a number out of range");
    }
    s->last = IOT_JSON_NUMBER;
    return IOT_JSON_NUMBER;
}

/* --- tokens --- */

static void value_ended(struct iot_json_in *in)
{
    in->source->state = in->depth ? COMMA_OR_END : NOTHING;
}

static enum iot_json_token begin(struct iot_json_in *in, bool object)
{
    struct iot_json_source *s = in->source;
    if (in->depth == IOT_JSON_IN_DEPTH)
        return iot_json_in_fail(in, "nested deeper than 64 levels");
    s->next++;
    struct level *level = &s->levels[in->depth++];
    level->object = object;
    level->keys.n = 0;
    level->generation = ++s->generation;
    s->state = object ? KEY_OR_END : VALUE_OR_END;
    return object ? IOT_JSON_OBJECT : IOT_JSON_ARRAY;
}

static enum iot_json_token end(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    bool object = s->levels[in->depth - 1].object;
    s->next++;
    in->depth--;
    value_ended(in);
    return object ? IOT_JSON_OBJECT_END : IOT_JSON_ARRAY_END;
}

static enum iot_json_token read_word(struct iot_json_in *in)
{
    static const struct {
        const char *word;
        enum iot_json_token token;
    } words[] = {{"true", IOT_JSON_TRUE}, {"false", IOT_JSON_FALSE}, {"null", IOT_JSON_NULL}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (peek(in) != words[k].word[0])
            continue;
        for (const char *c = words[k].word; *c; c++, in->source->next++)
            if (peek(in) != *c)
                return fail_here(in, "not a value");
        value_ended(in);
        return words[k].token;
    }
    return fail_here(in, "not a value");
}

static enum iot_json_token read_value(struct iot_json_in *in, int c)
{
    if (c == '{' || c == '[')
        return begin(in, c == '{');
    if (c == '"') {
        in->source->next++;
        if (read_string(in))
            return IOT_JSON_ERROR;
        value_ended(in);
        return IOT_JSON_STRING;
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        enum iot_json_token token = read_number(in);
        if (token != IOT_JSON_ERROR)
            value_ended(in);
        return token;
    }
    return read_word(in);
}

static enum iot_json_token read_key(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    struct level *level = &s->levels[in->depth - 1];
    s->next++;
    if (read_string(in))
        return IOT_JSON_ERROR;
    int there = add_key(&level->keys, s->hash, level->generation);
    if (there)
        return iot_json_in_fail(in,
                                there < 0 ? "out of memory" : "a key that its object has twice");
    s->state = COLON;
    return IOT_JSON_KEY;
}

static enum iot_json_token next(struct iot_json_in *in)
{
    struct iot_json_source *s = in->source;
    int c = skip_space(in);
    if (s->state == COLON) {
        if (c != ':')
            return fail_here(in, c < 0 ? "the file ends too early" : "a ':' is missing");
        s->next++;
        c = skip_space(in);
        s->state = VALUE;
    } else if (s->state == COMMA_OR_END && c == ',') {
        s->next++;
        c = skip_space(in);
        s->state = s->levels[in->depth - 1].object ? KEY : VALUE;
    }
    if (in->error)
        return IOT_JSON_ERROR;
    in->at = iot_json_in_bytes(in);
    if (c < 0)
        return s->state == NOTHING ? IOT_JSON_END : fail_here(in, "the file ends too early");
    switch (s->state) {
    case NOTHING:
        return fail_here(in, "something follows the end of the JSON");
    case COMMA_OR_END:
        if (c == (s->levels[in->depth - 1].object ? '}' : ']'))
            return end(in);
        return fail_here(in, "a ',' is missing");
    case VALUE_OR_END:
        if (c == ']')
            return end(in);
        return read_value(in, c);
    case KEY_OR_END:
        if (c == '}')
            return end(in);
        break;
    case KEY:
        break;
    default:
        return read_value(in, c);
    }
    if (c != '"')
        return fail_here(in, "a key is missing");
    return read_key(in);
}

enum iot_json_token iot_json_in_next(struct iot_json_in *in)
{
    if (in->error)
        return IOT_JSON_ERROR;
    return in->source->last = next(in);
}

enum iot_json_token iot_json_in_skip(struct iot_json_in *in, enum iot_json_token token)
{
    if (token != IOT_JSON_OBJECT && token != IOT_JSON_ARRAY)
        return token;
    unsigned outside = in->depth - 1;
    do
        token = iot_json_in_next(in);
    while (token != IOT_JSON_ERROR && token != IOT_JSON_END && in->depth > outside);
    return token;
}

/* --- numbers as they are written --- */

int iot_json_thousandths(const char *text, int64_t *value)
{
    static const int64_t LIMIT = INT64_C(1) << 62;
    const char *p = text + (*text == '-');
    int64_t sum = 0;
    int places = 3;
    if (strpbrk(text, "eE")) {
        double d = strtod(text, NULL) * 1000;
        if (!(d > -0x1p62 && d < 0x1p62))
            return -1;
        *value = (int64_t)d;
        return 0;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        if (sum >= LIMIT / 10000)
            return -1;
        sum = sum * 10 + (*p - '0');
    }
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9' && places > 0; p++, places--)
            sum = sum * 10 + (*p - '0');
    for (; places > 0; places--)
        sum *= 10;
    *value = *text == '-' ? -sum : sum;
    return 0;
}

int iot_json_whole(const char *text, int64_t *value)
{
    const char *p = text + (*text == '-');
    int64_t n = 0;
    if (!*p)
        return -1;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, *p - '0', &n))
            return -1;
    if (*p || (*text != '-' && n == INT64_MIN))
        return -1;
    *value = *text == '-' ? n : -n;
    return 0;
}
