/* JSON of any size, a token at a time, from a file that may be compressed (gzip).
 *
 * Strict (RFC 8259), but for bytes that are not UTF-8, which pass. A key that an object has twice,
 * nesting deeper than IOT_JSON_IN_DEPTH and numbers that no double holds are errors. Memory is
 * bounded, however large the file is: of a string, IOT_JSON_IN_TEXT bytes are kept.
 */
#ifndef IOT_ANALYZER_JSON_IN_H
#define IOT_ANALYZER_JSON_IN_H

#include <stddef.h>
#include <stdint.h>

enum { IOT_JSON_IN_DEPTH = 64, IOT_JSON_IN_TEXT = 4096 };

enum iot_json_token {
    IOT_JSON_ERROR, /* `error` says what, `at` where; every further token is this one */
    IOT_JSON_END,   /* of the file, behind one value */
    IOT_JSON_OBJECT,
    IOT_JSON_OBJECT_END,
    IOT_JSON_ARRAY,
    IOT_JSON_ARRAY_END,
    IOT_JSON_KEY,    /* text */
    IOT_JSON_STRING, /* text */
    IOT_JSON_NUMBER, /* text, as it is written */
    IOT_JSON_TRUE,
    IOT_JSON_FALSE,
    IOT_JSON_NULL,
};

struct iot_json_in {
    char text[IOT_JSON_IN_TEXT + 8]; /* of the last key, string or number; NUL-terminated */
    size_t length;                   /* of it */
    uint64_t at;                     /* where the last token began: bytes of JSON, decompressed */
    unsigned depth;                  /* objects and arrays that are open */
    const char *error;
    struct iot_json_source *source;
};

/* Returns 0, or -errno. Close it in the first case. */
int iot_json_in_open(struct iot_json_in *in, const char *path);
/* The same from memory, which stays the caller's. */
int iot_json_in_open_memory(struct iot_json_in *in, const void *bytes, size_t n);
void iot_json_in_close(struct iot_json_in *in);

enum iot_json_token iot_json_in_next(struct iot_json_in *in);

/* Reads on to the end of the value that `token` began. Returns the last token of it. */
enum iot_json_token iot_json_in_skip(struct iot_json_in *in, enum iot_json_token token);

/* Ends the reading with an error of the caller's, at the last token. Returns IOT_JSON_ERROR. */
enum iot_json_token iot_json_in_fail(struct iot_json_in *in, const char *error);

/* So many bytes of JSON were read. */
uint64_t iot_json_in_bytes(const struct iot_json_in *in);

/* A number's text times 1000, rounded towards zero: microseconds to nanoseconds. -1 if that is not
 * within 2^62. */
int iot_json_thousandths(const char *text, int64_t *value);
/* A number's text, if it is a whole number within 2^63: else -1. */
int iot_json_whole(const char *text, int64_t *value);

#endif
