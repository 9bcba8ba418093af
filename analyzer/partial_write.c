/* Partial results as JSON: each row in one order of columns, nothing that is not said of the run.
 */
#include <stdlib.h>

#include "analyzer/json_out.h"
#include "analyzer/partial.h"
#include "analyzer/partial_json.h"
#include "analyzer/report_json_parts.h"

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

/* By object: [class, calls, median] each. */
static void put_unit_calls(struct iot_json *json, const struct iot_unit *u)
{
    size_t k = 0;
    iot_json_put_array(json, "calls");
    for (int o = 0; o < IOT_OBJECTS; o++) {
        iot_json_begin_array(json);
        for (; k < u->n_calls && u->calls[k].object == o; k++) {
            iot_json_begin_array(json);
            iot_json_int(json, u->calls[k].class_);
            iot_json_int(json, u->calls[k].calls);
            iot_json_int(json, u->calls[k].median_ns);
            iot_json_end_array(json);
        }
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
}

/* [path, storage, decode, placement] each; and when steps began. */
static void put_moments(struct iot_json *json, const struct iot_unit *u)
{
    iot_json_put_array(json, "ready");
    for (size_t k = 0; k < u->n_ready; k++) {
        iot_json_begin_array(json);
        iot_json_string(json, u->ready[k].path);
        iot_json_int(json, u->ready[k].storage_ns);
        iot_json_int(json, u->ready[k].decode_ns);
        iot_json_int(json, u->ready[k].placement_ns);
        iot_json_end_array(json);
    }
    iot_json_end_array(json);
    iot_json_put_array(json, "starts_ns");
    for (size_t k = 0; k < u->n_starts; k++)
        iot_json_int(json, u->starts_ns[k]);
    iot_json_end_array(json);
}

static void put_unit(struct iot_json *json, const struct iot_unit *u)
{
    iot_json_begin_object(json);
    iot_unit_put_head(json, u);
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
    put_unit_calls(json, u);
    iot_report_put_waits(json, u->waits, u->n_waits);
    put_moments(json, u);
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

static void put_bars(struct iot_json *json, const struct iot_histogram *times)
{
    for (size_t k = 0; k < times->n; k++) {
        iot_json_int(json, (int64_t)times->bars[k].bucket);
        iot_json_int(json, (int64_t)times->bars[k].count);
    }
}

static void put_class(struct iot_json *json, int number, const struct iot_call_class *class_)
{
    iot_json_begin_array(json);
    iot_json_int(json, number);
    iot_json_int(json, class_->bytes);
    put_bars(json, &class_->times);
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
        if (p->calls[o].classes[c].bytes || p->calls[o].classes[c].times.n)
            put_class(json, c, &p->calls[o].classes[c]);
    iot_json_end_array(json);
    iot_json_end_object(json);
}

static void put_times(struct iot_json *json, const struct iot_histogram *times)
{
    iot_json_begin_array(json);
    put_bars(json, times);
    iot_json_end_array(json);
}

/* --- rows with names --- */

static void put_row(struct iot_json *json, const struct iot_row_about *about,
                    const struct iot_named_row *row)
{
    iot_json_begin_array(json);
    for (size_t k = 0; about->texts[k]; k++)
        iot_json_string(json, row->texts[k]);
    if (about->flags & IOT_ROW_OBJECT && row->object == IOT_OBJECTS)
        iot_json_null(json);
    else if (about->flags & IOT_ROW_OBJECT)
        iot_json_string(json, iot_object_names[row->object]);
    for (size_t k = 0; about->numbers[k].name; k++)
        iot_json_int(json, row->numbers[k]);
    if (about->flags & IOT_ROW_TIMES)
        put_times(json, &row->times);
    if (about->flags & IOT_ROW_MORE)
        iot_json_string(json, row->shown);
    iot_json_end_array(json);
}

/* The first row has the names of texts and numbers. */
static void put_rows(struct iot_json *json, const struct iot_partial *p, enum iot_row_kind kind)
{
    const struct iot_row_about *about = &iot_rows_about[kind];
    iot_json_put_array(json, about->name);
    iot_json_begin_array(json);
    for (size_t k = 0; about->texts[k]; k++)
        iot_json_string(json, about->texts[k]);
    for (size_t k = 0; about->numbers[k].name; k++)
        iot_json_string(json, about->numbers[k].name);
    iot_json_end_array(json);
    for (size_t k = 0; k < p->named[kind].n; k++)
        put_row(json, about, &p->named[kind].rows[k]);
    iot_json_end_array(json);
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
        put_times(&json, &f->times);
        iot_json_end_array(&json);
    }
    iot_json_end_array(&json);
    for (enum iot_row_kind kind = 0; kind < IOT_ROW_KINDS; kind++)
        put_rows(&json, p, kind);
    iot_json_put_strings(&json, "unread", p->unread, p->n_unread);
    iot_json_end_object(&json);
    return iot_json_finish(&json);
}
