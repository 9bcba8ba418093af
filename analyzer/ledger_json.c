#include "analyzer/ledger_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int complain(char *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int complain(char *message, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, IOT_LEDGER_JSON_MESSAGE, format, arguments);
    va_end(arguments);
    return -1;
}

static const char *type_text(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a real number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

/* Puts a value of the right type into the event, whatever its range. Returns NULL, or what type
 * the field must have. */
static const char *set_field(struct io_ledger_event *event, const struct io_ledger_field *field,
                             const json_t *value)
{
    void *at = (char *)event + field->offset;

    switch (field->kind) {
    case IO_LEDGER_KIND_OBJECT:
        if (!json_is_string(value))
            return "a string";
        event->object = IO_LEDGER_OBJECTS;
        for (int object = 0; object < IO_LEDGER_OBJECTS; object++)
            if (!strcmp(json_string_value(value), iot_ledger_object_names[object]))
                event->object = (enum io_ledger_object)object;
        break;
    case IO_LEDGER_KIND_INTEGER:
        if (!json_is_integer(value))
            return "an integer";
        *(int64_t *)at = json_integer_value(value);
        break;
    case IO_LEDGER_KIND_REAL:
        if (!json_is_number(value))
            return "a number";
        *(double *)at = json_number_value(value);
        break;
    case IO_LEDGER_KIND_BOOL:
        if (!json_is_boolean(value))
            return "true or false";
        *(bool *)at = json_is_true(value);
        break;
    }
    return NULL;
}

static const struct io_ledger_field *find_field(const char *name)
{
    for (size_t f = 0; f < IO_LEDGER_FIELDS; f++)
        if (!strcmp(name, iot_ledger_fields[f].name))
            return &iot_ledger_fields[f];
    return NULL;
}

static int read_event(json_t *from, size_t index, struct io_ledger_event *event, char *message)
{
    const char *name;
    json_t *value;

    if (!json_is_object(from))
        return complain(message, "events[%zu] must be an object, not %s", index, type_text(from));
    *event = (struct io_ledger_event)IO_LEDGER_EVENT_INIT;
    json_object_foreach(from, name, value)
    {
        const struct io_ledger_field *field = find_field(name);
        if (!field && !strcmp(name, IOT_LEDGER_LABEL) && json_is_string(value))
            continue;
        if (!field && !strcmp(name, IOT_LEDGER_LABEL))
            return complain(message, "events[%zu].%s must be a string, not %s", index, name,
                            type_text(value));
        if (!field)
            return complain(message, "events[%zu].%.40s is not a field of an event", index, name);
        const char *type = set_field(event, field, value);
        if (type)
            return complain(message, "events[%zu].%s must be %s, not %s", index, name, type,
                            type_text(value));
    }
    for (size_t f = 0; f < IO_LEDGER_FIELDS; f++)
        if (iot_ledger_fields[f].required && !json_object_get(from, iot_ledger_fields[f].name))
            return complain(message, "events[%zu].%s is missing", index, iot_ledger_fields[f].name);
    return 0;
}

static int read_events(json_t *root, struct iot_ledger_events *events, char *message)
{
    json_t *array = root;

    if (json_is_object(root)) {
        array = json_object_get(root, "events");
        if (!json_is_array(array) || json_object_size(root) != 1)
            return complain(message, "expected an array of events, or an object with nothing but "
                                     "\"events\", an array");
    }

    size_t n = json_array_size(array);
    struct io_ledger_event *list = NULL;
    if (n && !(list = calloc(n, sizeof *list)))
        return complain(message, "out of memory for %zu events", n);
    for (size_t i = 0; i < n; i++) {
        if (read_event(json_array_get(array, i), i, &list[i], message)) {
            free(list);
            return -1;
        }
    }
    *events = (struct iot_ledger_events){list, n};
    return 0;
}

int iot_ledger_json_parse(const char *text, size_t n, struct iot_ledger_events *events,
                          char message[IOT_LEDGER_JSON_MESSAGE])
{
    json_error_t error;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);

    if (!root)
        return complain(message, "line %d, column %d, byte %d: %s", error.line, error.column,
                        error.position, error.text);
    int result = read_events(root, events, message);
    json_decref(root);
    return result;
}

int iot_ledger_json_read(FILE *in, struct iot_ledger_events *events,
                         char message[IOT_LEDGER_JSON_MESSAGE])
{
    char *text = malloc(IOT_LEDGER_JSON_MAX_BYTES + 1);
    int result;

    if (!text)
        return complain(message, "out of memory");
    errno = 0;
    size_t n = fread(text, 1, IOT_LEDGER_JSON_MAX_BYTES + 1, in);
    if (ferror(in))
        result = complain(message, "cannot be read: %s", strerror(errno ? errno : EIO));
    else if (n > IOT_LEDGER_JSON_MAX_BYTES)
        result = complain(message, "is larger than %u MiB, the most that is read",
                          IOT_LEDGER_JSON_MAX_BYTES >> 20);
    else
        result = iot_ledger_json_parse(text, n, events, message);
    free(text);
    return result;
}
