/* Partial results as JSON: each row in one order of columns, nothing that is not said of the run.
 */
#include <stdlib.h>

#include "analyzer/json_out.h"
#include "analyzer/partial.h"
#include "analyzer/partial_json.h"
#include "analyzer/report_json_parts.h"

static void put_number(struct iot_json *json, const char *key, int64_t value)
{
    if (value < 0)
        iot_json_put_null(json, key);
    else
        iot_json_put_int(json, key, value);
}

static void put_values(struct iot_json *json, const struct iot_sums *sums,
                       enum iot_column_group group)
{
    for (enum iot_sum_column c = 0; c < IOT_COLUMNS; c++)
        if (iot_column_is_in(c, group))
            iot_json_int(json, sums->at[c]);
}

static void put_names(struct iot_json *json, const char *key, enum iot_column_group group)
{
    iot_json_put_array(json, key);
    for (enum iot_sum_column c = 0; c < IOT_COLUMNS; c++)
        if (iot_column_is_in(c, group))
            iot_json_string(json, iot_column_names[c]);
    iot_json_end_array(json);
}

static void put_unit(struct iot_json *json, const struct iot_unit *u)
{
    iot_json_begin_object(json);
    iot_json_put_string(json, "job", u->identity.job);
    put_number(json, "rank", u->identity.rank);
    put_number(json, "local_rank", u->identity.local_rank);
    put_number(json, "world_size", u->identity.world_size);
    iot_json_put_string(json, "source", u->identity.source);
    iot_json_put_string(json, "host", u->host);
    iot_json_put_string(json, "boot_id", u->boot_id);
    iot_json_put_string(json, "command", u->command);
    iot_json_put_string(json, "damage", u->damage);
    iot_json_put_array(json, "ranks");
    for (size_t k = 0; k < u->n_ranks; k++)
        iot_json_int(json, u->ranks[k]);
    iot_json_end_array(json);
    for (int k = 0; k < IOT_UNIT_NUMBERS; k++)
        iot_json_put_int(json, iot_unit_number_names[k], u->numbers[k]);
    iot_json_put_array(json, "curve");
    for (int k = 0; k < IOT_UNIT_CURVE; k++)
        iot_json_int(json, u->curve[k]);
    iot_json_end_array(json);
    iot_json_put_array(json, "objects");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_array(json);
        put_values(json, &u->objects[o], IOT_COLUMN_UNIT);
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
    iot_report_put_waits(json, u->waits, u->n_waits);
    iot_json_end_object(json);
}

char *iot_partial_unit_text(const struct iot_unit *unit)
{
    struct iot_json json;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    iot_json_init(&json, out, IOT_JSON_COMPACT);
    put_unit(&json, unit);
    int failed = iot_json_finish(&json);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}

static void put_class(struct iot_json *json, int number, const struct iot_call_class *class_)
{
    iot_json_begin_array(json);
    iot_json_int(json, number);
    iot_json_int(json, class_->bytes);
    for (int b = 0; b < IOT_LATENCY_BUCKETS; b++)
        if (class_->counts[b]) {
            iot_json_int(json, b);
            iot_json_int(json, class_->counts[b]);
        }
    iot_json_end_array(json);
}

static void put_object(struct iot_json *json, const struct iot_partial *p, int o)
{
    iot_json_begin_object(json);
    iot_json_put_string(json, "object", iot_object_names[o]);
    iot_json_put_array(json, "rest");
    put_values(json, &p->rest[o], IOT_COLUMN_FILE);
    iot_json_end_array(json);
    iot_json_put_array(json, "calls");
    for (int c = 0; c < IOT_CALL_CLASSES; c++)
        if (p->calls[o].classes[c])
            put_class(json, c, p->calls[o].classes[c]);
    iot_json_end_array(json);
    iot_json_end_object(json);
}

int iot_partial_write(const struct iot_partial *p, FILE *out)
{
    struct iot_json json;

    iot_json_init(&json, out, IOT_JSON_COMPACT);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", IOT_PARTIAL_SCHEMA);
    put_names(&json, "unit_columns", IOT_COLUMN_UNIT);
    put_names(&json, "file_columns", IOT_COLUMN_FILE);
    iot_json_put_array(&json, "units");
    for (size_t k = 0; k < p->n_units; k++)
        put_unit(&json, &p->units[k]);
    iot_json_end_array(&json);
    iot_json_put_array(&json, "objects");
    for (int o = 0; o < IOT_OBJECTS; o++)
        put_object(&json, p, o);
    iot_json_end_array(&json);
    iot_json_put_array(&json, "files");
    for (size_t i = 0; i < p->n_files; i++) {
        const struct iot_partial_file *f = &p->files[i];
        iot_json_begin_array(&json);
        iot_json_string(&json, f->path);
        iot_json_string(&json, iot_object_names[f->object]);
        iot_json_string(&json, f->why);
        put_values(&json, &f->sums, IOT_COLUMN_FILE);
        iot_json_end_array(&json);
    }
    iot_json_end_array(&json);
    iot_json_end_object(&json);
    return iot_json_finish(&json);
}
