#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/ledger_json.h"

static struct iot_ledger_events parse(const char *text)
{
    struct iot_ledger_events list = {0};
    char message[IOT_LEDGER_JSON_MESSAGE] = "";

    cr_assert_eq(iot_ledger_json_parse(text, strlen(text), &list, message), 0, "%s", message);
    return list;
}

static void refuses_bytes(const char *text, size_t n, const char *expected)
{
    struct iot_ledger_events list = {NULL, 4711};
    char message[IOT_LEDGER_JSON_MESSAGE] = "";

    cr_assert_eq(iot_ledger_json_parse(text, n, &list, message), -1, "taken: %s", text);
    cr_assert(strstr(message, expected), "'%s' is not in '%s'", expected, message);
    cr_assert_eq(list.n_events, 4711, "an error wrote a result");
}

static void refuses(const char *text, const char *expected)
{
    refuses_bytes(text, strlen(text), expected);
}

Test(ledger_json, all_fields)
{
    struct iot_ledger_events list =
        parse("{\"events\": [{\"object\": \"output\", \"bytes\": 9223372036854775807,"
              "\"bandwidth_gbps\": 0.25, \"fixed_latency_ms\": 1, \"frequency\": 3,"
              "\"overlap_window_ms\": 2.5, \"blocking_dependency\": false,"
              "\"serialization_ms\": 4e1, \"backpressure_ms\": 5.125}]}");

    cr_assert_eq(list.n_events, 1);
    const struct io_ledger_event *event = list.events;
    cr_assert_eq(event->object, IO_LEDGER_OUTPUT);
    cr_assert_eq(event->bytes, INT64_MAX);
    cr_assert_eq(event->bandwidth_gbps, 0.25);
    cr_assert_eq(event->fixed_latency_ms, 1);
    cr_assert_eq(event->frequency, 3);
    cr_assert_eq(event->overlap_window_ms, 2.5);
    cr_assert_not(event->blocking_dependency);
    cr_assert_eq(event->serialization_ms, 40);
    cr_assert_eq(event->backpressure_ms, 5.125);
    free(list.events);
}

Test(ledger_json, defaults_and_objects)
{
    static const char *const names[] = {"input", "artifact", "state", "output"};

    for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
        char text[100];
        snprintf(text, sizeof text, "[{\"object\":\"%s\",\"bytes\":1,\"bandwidth_gbps\":2}]",
                 names[object]);
        struct iot_ledger_events list = parse(text);
        struct io_ledger_event defaults = IO_LEDGER_EVENT_INIT;
        cr_assert_eq(list.n_events, 1);
        cr_assert_eq((int)list.events->object, object);
        cr_assert_eq(list.events->frequency, defaults.frequency);
        cr_assert_eq(list.events->blocking_dependency, defaults.blocking_dependency);
        cr_assert_eq(list.events->overlap_window_ms, 0);
        free(list.events);
    }
}

Test(ledger_json, no_events)
{
    cr_assert_eq(parse("[]").n_events, 0);
    cr_assert_eq(parse(" {\"events\": []}\n").n_events, 0);
}

/* Every field with every kind of value: what is not its type is refused by index and name. */
Test(ledger_json, every_wrong_type)
{
    static const struct {
        const char *text, *type;
        bool fits[4]; /* by enum io_ledger_kind */
    } values[] = {
        {"\"input\"", "a string", {[IO_LEDGER_KIND_OBJECT] = true}},
        {"\"1\"", "a string", {[IO_LEDGER_KIND_OBJECT] = true}},
        {"1", "an integer", {[IO_LEDGER_KIND_INTEGER] = true, [IO_LEDGER_KIND_REAL] = true}},
        {"1.0", "a real number", {[IO_LEDGER_KIND_REAL] = true}},
        {"1e0", "a real number", {[IO_LEDGER_KIND_REAL] = true}},
        {"true", "true", {[IO_LEDGER_KIND_BOOL] = true}},
        {"false", "false", {[IO_LEDGER_KIND_BOOL] = true}},
        {"null", "null", {false}},
        {"[1]", "an array", {false}},
        {"{\"a\":1}", "an object", {false}},
    };

    for (size_t f = 0; f < IO_LEDGER_FIELDS; f++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            const struct io_ledger_field *field = &iot_ledger_fields[f];
            char text[400], expected[80], not_type[40];
            int n = snprintf(text, sizeof text,
                             "[{\"object\":\"input\",\"bytes\":1,"
                             "\"bandwidth_gbps\":1},{\"%s\":%s",
                             field->name, values[v].text);
            for (size_t k = 0; k < IO_LEDGER_FIELDS; k++)
                if (k != f && iot_ledger_fields[k].required)
                    n += snprintf(
                        text + n, sizeof text - (size_t)n, ",\"%s\":%s", iot_ledger_fields[k].name,
                        iot_ledger_fields[k].kind == IO_LEDGER_KIND_OBJECT ? "\"input\"" : "1");
            snprintf(text + n, sizeof text - (size_t)n, "}]");
            if (values[v].fits[field->kind]) {
                free(parse(text).events);
                continue;
            }
            snprintf(expected, sizeof expected, "events[1].%s must be ", field->name);
            snprintf(not_type, sizeof not_type, ", not %s", values[v].type);
            refuses(text, expected);
            refuses(text, not_type);
        }
    }
}

Test(ledger_json, required_fields)
{
    refuses("[{\"bytes\":1,\"bandwidth_gbps\":1}]", "events[0].object is missing");
    refuses("[{\"object\":\"input\",\"bandwidth_gbps\":1}]", "events[0].bytes is missing");
    refuses("[{\"object\":\"input\",\"bytes\":1}]", "events[0].bandwidth_gbps is missing");
}

Test(ledger_json, a_phase_is_a_word_for_people)
{
    static const char text[] = "[{\"phase\":\"steady\",\"object\":\"state\",\"bytes\":3,"
                               "\"bandwidth_gbps\":1}]";
    struct iot_ledger_events list;
    char message[IOT_LEDGER_JSON_MESSAGE];
    cr_assert_eq(iot_ledger_json_parse(text, strlen(text), &list, message), 0, "%s", message);
    cr_assert_eq(list.n_events, 1);
    cr_expect_eq(list.events[0].object, IO_LEDGER_STATE);
    cr_expect_eq(list.events[0].bytes, 3);
    free(list.events);
    refuses("[{\"object\":\"input\",\"phase\":1}]", "events[0].phase must be a string");
}

Test(ledger_json, unknown_fields)
{
    refuses("[{\"object\":\"input\",\"bytes\":1,\"bandwidth_gbps\":1,\"frequenzy\":2}]",
            "events[0].frequenzy is not a field");
    refuses("[{\"Object\":\"input\"}]", "events[0].Object is not a field");
    refuses("[{\"\":1}]", "events[0]. is not a field");
    refuses("{\"events\":[],\"more\":1}", "expected an array of events");
    refuses("{\"event\":[]}", "expected an array of events");
    refuses("{\"events\":{}}", "expected an array of events");
    refuses("{}", "expected an array of events");
    refuses("[1]", "events[0] must be an object, not an integer");
    refuses("[[]]", "events[0] must be an object, not an array");
}

/* The ledger refuses it, as it does out of C. */
Test(ledger_json, unknown_object)
{
    struct iot_ledger_events list =
        parse("[{\"object\":\"other\",\"bytes\":1,\"bandwidth_gbps\":1}]");
    struct io_ledger ledger;
    struct io_ledger_fault fault = {0};

    cr_assert_eq(io_critical_path_ledger(list.events, list.n_events, &ledger, &fault),
                 IO_LEDGER_UNKNOWN_OBJECT);
    free(list.events);
}

Test(ledger_json, not_json)
{
    static const char *const texts[] = {
        "",
        " ",
        "null",
        "1",
        "[",
        "[}",
        "[] []",
        "[]x",
        "[],",
        "[{\"object\":\"input\",\"bytes\":1,\"bandwidth_gbps\":1},]",
        "[{\"bytes\":1,\"bytes\":1}]",
        "{\"events\":[],\"events\":[]}",
        "[{\"bytes\":9223372036854775808}]",
        "[{\"bytes\":NaN}]",
        "[{\"bandwidth_gbps\":Infinity}]",
        "[{\"bandwidth_gbps\":1e999}]",
        "[{\"bytes\":01}]",
        "[{\"bytes\":+1}]",
        "[{'bytes':1}]",
        "[{\"object\":\"in\\u0000put\"}]",
        "[{\"object\":\"\xff\"}]",
        "\xef\xbb\xbf[]",
        "// none\n[]",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        refuses(texts[i], "line ");
        refuses(texts[i], ", byte ");
    }
    refuses("[\n\n  x]", "line 3, column 3, byte 6");
    refuses_bytes("[]\0", 3, "line ");
}

Test(ledger_json, too_deep)
{
    char text[10000];

    memset(text, '[', sizeof text);
    refuses_bytes(text, sizeof text, "line ");
}

Test(ledger_json, long_names_are_cut)
{
    char text[2000];

    memset(text, 'n', sizeof text);
    memcpy(text, "[{\"", 3);
    memcpy(text + sizeof text - 5, "\":1}]", 5);
    refuses_bytes(text, sizeof text, "nnn is not a field");
}

Test(ledger_json, stream_limit)
{
    static char text[IOT_LEDGER_JSON_MAX_BYTES + 2];
    struct iot_ledger_events list = {0};
    char message[IOT_LEDGER_JSON_MESSAGE] = "";

    memset(text, ' ', sizeof text);
    memcpy(text, "[]", 2);
    FILE *in = fmemopen(text, IOT_LEDGER_JSON_MAX_BYTES, "r");
    cr_assert_eq(iot_ledger_json_read(in, &list, message), 0, "%s", message);
    fclose(in);
    in = fmemopen(text, IOT_LEDGER_JSON_MAX_BYTES + 1, "r");
    cr_assert_eq(iot_ledger_json_read(in, &list, message), -1);
    cr_assert(strstr(message, "larger than 4 MiB"), "%s", message);
    fclose(in);
}

Test(ledger_json, stream_cannot_be_read)
{
    struct iot_ledger_events list = {0};
    char message[IOT_LEDGER_JSON_MESSAGE] = "";
    FILE *in = fopen("/", "r");

    cr_assert_eq(iot_ledger_json_read(in, &list, message), -1);
    cr_assert(strstr(message, "cannot be read: "), "%s", message);
    fclose(in);
}
