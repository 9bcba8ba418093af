/* Findings for people (80 columns) and for programs. */
#include <string.h>

#include "analyzer/doctor.h"
#include "analyzer/json_out.h"
#include "analyzer/text.h"

enum { COLUMNS = 80, TEXT_AT = 16 };

static const struct {
    const char *word, *colour;
} levels[] = {
    [IOT_LEVEL_OK] = {"OK", "\033[32m"},
    [IOT_LEVEL_NOTE] = {"NOTE", "\033[33m"},
    [IOT_LEVEL_BAD] = {"BAD", "\033[31m"},
};

static size_t count(const struct iot_doctor *d, enum iot_level level)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += d->findings[i].level == level;
    return n;
}

static void put_verdict(const struct iot_doctor *d, FILE *out)
{
    char text[4096 + 128];
    size_t notes = count(d, IOT_LEVEL_NOTE), bad = count(d, IOT_LEVEL_BAD);
    const char *name = d->command ? d->command[0] : "What runs here";
    if (bad)
        snprintf(text, sizeof text, "%.4000s cannot be traced: see BAD below.", name);
    else
        snprintf(text, sizeof text, "%.4000s can be traced%s.", name,
                 notes ? "; see NOTE below" : "");
    iot_write_wrapped(out, text, 0, 0, COLUMNS);
}

static void put_finding(const struct iot_finding *f, FILE *out, bool named, bool colour)
{
    fprintf(out, "%-9s %s%-4s%s  ", named ? f->check : "", colour ? levels[f->level].colour : "",
            levels[f->level].word, colour ? "\033[0m" : "");
    iot_write_wrapped(out, f->what, TEXT_AT, TEXT_AT, COLUMNS);
    if (f->action) {
        fprintf(out, "%*s-> ", TEXT_AT, "");
        iot_write_wrapped(out, f->action, TEXT_AT + 3, TEXT_AT + 3, COLUMNS);
    }
}

void iot_doctor_write_text(const struct iot_doctor *d, FILE *out, bool colour)
{
    put_verdict(d, out);
    fputc('\n', out);
    for (size_t i = 0; i < d->n; i++)
        put_finding(&d->findings[i], out,
                    !i || strcmp(d->findings[i].check, d->findings[i - 1].check), colour);
}

void iot_doctor_write_json(const struct iot_doctor *d, FILE *out)
{
    struct iot_json json;
    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", "iotrace-doctor/1");
    iot_json_put_array(&json, "command");
    for (char *const *word = d->command; word && *word; word++)
        iot_json_string(&json, *word);
    iot_json_end_array(&json);
    iot_json_put_bool(&json, "traceable", iot_doctor_level(d) != IOT_LEVEL_BAD);
    iot_json_put_array(&json, "findings");
    for (size_t i = 0; i < d->n; i++) {
        const struct iot_finding *f = &d->findings[i];
        iot_json_begin_object(&json);
        iot_json_put_string(&json, "check", f->check);
        iot_json_put_string(&json, "level", iot_level_names[f->level]);
        iot_json_put_string(&json, "finding", f->what);
        iot_json_key(&json, "action");
        if (f->action)
            iot_json_string(&json, f->action);
        else
            iot_json_null(&json);
        iot_json_end_object(&json);
    }
    iot_json_end_array(&json);
    iot_json_end_object(&json);
}
