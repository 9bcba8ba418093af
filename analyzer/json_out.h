/* Writes JSON to a stream as it is made; nothing is held back, so its size does not matter.
 *
 * Calls must nest as JSON does: a key before each value of an object and nowhere else, ends that
 * match. A breach is a bug of the caller and stops the program (assert). Each value at the top
 * ends with a newline, so a compact writer makes JSON Lines.
 *
 * Output is valid UTF-8. In a string, each byte 0xNN that is not part of valid
 * UTF-8 becomes \udcNN, which is what Python's surrogateescape maps it to: a path survives
 * exactly. Control characters (C0, DEL, C1) are escaped.
 */
#ifndef IOT_ANALYZER_JSON_OUT_H
#define IOT_ANALYZER_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define IOT_JSON_MAX_DEPTH 64

enum iot_json_style {
    IOT_JSON_PRETTY, /* one value a line, indented by 2 */
    IOT_JSON_COMPACT /* one line, no spaces */
};

/* The members belong to json_out.c. */
struct iot_json {
    FILE *out;
    enum iot_json_style style;
    int error;        /* errno of the first write that failed, or 0 */
    unsigned depth;   /* open objects and arrays */
    uint64_t objects; /* bit d: what is open at depth d + 1 is an object */
    bool empty;       /* nothing yet in what was opened last */
    bool keyed;       /* a key waits for its value */
};

void iot_json_init(struct iot_json *json, FILE *out, enum iot_json_style style);

/* Flushes the stream. Returns 0, or the errno of the first write that failed since init. */
int iot_json_finish(struct iot_json *json);

void iot_json_begin_object(struct iot_json *json);
void iot_json_end_object(struct iot_json *json);
void iot_json_begin_array(struct iot_json *json);
void iot_json_end_array(struct iot_json *json);
void iot_json_key(struct iot_json *json, const char *key);

void iot_json_int(struct iot_json *json, int64_t value);
void iot_json_uint(struct iot_json *json, uint64_t value);
/* The fewest digits that read back as the same double (at a few powers of two 17 where 16 would
 * do); always with a point or an exponent, so that the type stays visible. NaN and infinities,
 * which JSON does not have, become null. The numeric locale must be "C", as it is in the command.
 */
void iot_json_double(struct iot_json *json, double value);
void iot_json_bool(struct iot_json *json, bool value);
void iot_json_null(struct iot_json *json);
void iot_json_string(struct iot_json *json, const char *text);
/* The same for text that may hold NUL bytes. */
void iot_json_bytes(struct iot_json *json, const char *text, size_t n);

/* A key with its value. */
void iot_json_put_int(struct iot_json *json, const char *key, int64_t value);
void iot_json_put_uint(struct iot_json *json, const char *key, uint64_t value);
void iot_json_put_double(struct iot_json *json, const char *key, double value);
void iot_json_put_bool(struct iot_json *json, const char *key, bool value);
void iot_json_put_null(struct iot_json *json, const char *key);
void iot_json_put_string(struct iot_json *json, const char *key, const char *text); /* NULL: null */
void iot_json_put_strings(struct iot_json *json, const char *key, const char *const *texts,
                          size_t n);
/* A key, and what begins there. */
void iot_json_put_object(struct iot_json *json, const char *key);
void iot_json_put_array(struct iot_json *json, const char *key);

#endif
