/* Members of an object: what json_out.c writes, with a key in front. */
#include "analyzer/json_out.h"

void iot_json_put_int(struct iot_json *json, const char *key, int64_t value)
{
    iot_json_key(json, key);
    iot_json_int(json, value);
}

void iot_json_put_uint(struct iot_json *json, const char *key, uint64_t value)
{
    iot_json_key(json, key);
    iot_json_uint(json, value);
}

void iot_json_put_double(struct iot_json *json, const char *key, double value)
{
    iot_json_key(json, key);
    iot_json_double(json, value);
}

void iot_json_put_bool(struct iot_json *json, const char *key, bool value)
{
    iot_json_key(json, key);
    iot_json_bool(json, value);
}

void iot_json_put_null(struct iot_json *json, const char *key)
{
    iot_json_key(json, key);
    iot_json_null(json);
}

void iot_json_put_string(struct iot_json *json, const char *key, const char *text)
{
    iot_json_key(json, key);
    if (text)
        iot_json_string(json, text);
    else
        iot_json_null(json);
}

void iot_json_put_strings(struct iot_json *json, const char *key, const char *const *texts,
                          size_t n)
{
    iot_json_put_array(json, key);
    for (size_t i = 0; i < n; i++)
        iot_json_string(json, texts[i]);
    iot_json_end_array(json);
}

void iot_json_put_object(struct iot_json *json, const char *key)
{
    iot_json_key(json, key);
    iot_json_begin_object(json);
}

void iot_json_put_array(struct iot_json *json, const char *key)
{
    iot_json_key(json, key);
    iot_json_begin_array(json);
}
