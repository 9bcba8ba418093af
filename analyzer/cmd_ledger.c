/* iotrace ledger: the service-time ledger of hand-written events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/json_out.h"
#include "analyzer/ledger.h"
#include "analyzer/ledger_json.h"

struct options {
    size_t format;
};

static const struct iot_option options[] = {
    {"format", 0, "text|json", "a table (the default), or JSON with all digits", IOT_OPTION_WORD,
     offsetof(struct options, format), iot_text_or_json, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_ledger = {
    .command = "ledger",
    .summary = "the service-time ledger of hand-written I/O events",
    .operands = "EVENTS.json",
    .about =
        "Says what I/O events cost, and how much of it a program waits for, by object.\n"
        "EVENTS.json ('-' for standard input) is an array of events, or an object with\n"
        "one as \"events\". The fields of an event:\n"
        "\n"
        "  object               input, artifact, state or output\n"
        "  bytes                of one I/O, an integer\n"
        "  bandwidth_gbps       10^9 bytes a second\n"
        "  fixed_latency_ms     of one I/O (0)\n"
        "  frequency            how many such I/Os, an integer (1)\n"
        "  overlap_window_ms    other work that one I/O can run beside (0)\n"
        "  blocking_dependency  the program waits whatever the window (true)\n"
        "  serialization_ms     encoding or decoding, a column of its own (0)\n"
        "  backpressure_ms      producers that wait, a column of its own (0)\n"
        "  phase                a word for people, which changes nothing\n"
        "\n"
        "service = bytes / bandwidth + latency; exposed = service if blocking, else what\n"
        "the window leaves of it; hidden = the rest. All are multiplied by frequency.\n",
    .options = options,
};

/* A time in at most 9 characters: three decimals while they fit, fewer while the integer part
 * does, an exponent beyond, and for what would look like zero. */
static const char *time_text(char text[16], double ms)
{
    if (ms == 0 || ms >= 0.001)
        for (int decimals = 3; decimals >= 0; decimals--)
            if (ms < 1e9 && snprintf(text, 16, "%.*f", decimals, ms) <= 9)
                return text;
    snprintf(text, 16, "%.2e", ms);
    return text;
}

static void print_row(const char *name, const struct io_ledger_row *row)
{
    char service[16], exposed[16], hidden[16], serialization[16], backpressure[16];

    printf("%-8s %19" PRId64 " %9s %9s %9s %9s %9s\n", name, row->bytes,
           time_text(service, row->service_ms), time_text(exposed, row->exposed_ms),
           time_text(hidden, row->hidden_ms), time_text(serialization, row->serialization_ms),
           time_text(backpressure, row->backpressure_ms));
}

static void print_text(const struct io_ledger *ledger)
{
    printf("%-8s %19s %9s %9s %9s %9s %9s\n", "object", "bytes", "service", "exposed", "hidden",
           "serialize", "back-pres");
    printf("%-8s %19s %9s %9s %9s %9s %9s\n", "", "", "ms", "ms", "ms", "ms", "ms");
    for (int object = 0; object < IO_LEDGER_OBJECTS; object++)
        print_row(iot_ledger_object_names[object], &ledger->objects[object]);
    print_row("total", &ledger->total);
}

static void write_figures(struct iot_json *json, const struct io_ledger_row *row)
{
    iot_json_put_int(json, "calls", row->calls);
    iot_json_put_int(json, "bytes", row->bytes);
    iot_json_put_double(json, "service_ms", row->service_ms);
    iot_json_put_double(json, "exposed_ms", row->exposed_ms);
    iot_json_put_double(json, "hidden_ms", row->hidden_ms);
    iot_json_put_double(json, "serialization_ms", row->serialization_ms);
    iot_json_put_double(json, "backpressure_ms", row->backpressure_ms);
}

static void print_json(const struct io_ledger *ledger)
{
    struct iot_json json;

    iot_json_init(&json, stdout, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", "iotrace-ledger/1");
    iot_json_put_array(&json, "objects");
    for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
        iot_json_begin_object(&json);
        iot_json_put_string(&json, "object", iot_ledger_object_names[object]);
        write_figures(&json, &ledger->objects[object]);
        iot_json_end_object(&json);
    }
    iot_json_end_array(&json);
    iot_json_put_object(&json, "total");
    write_figures(&json, &ledger->total);
    iot_json_end_object(&json);
    iot_json_end_object(&json);
}

/* Prints its own errors; returns an exit status. */
static int make_ledger(const char *path, struct io_ledger *ledger)
{
    struct iot_ledger_events list;
    struct io_ledger_fault fault;
    char message[IOT_LEDGER_JSON_MESSAGE];
    bool from_stdin = !strcmp(path, "-");
    FILE *in = from_stdin ? stdin : fopen(path, "re");

    if (!in) {
        iot_error("%s: cannot be opened: %s", path, strerror(errno));
        return IOT_EXIT_USAGE;
    }
    int failed = iot_ledger_json_read(in, &list, message);
    if (!from_stdin)
        fclose(in);
    if (!failed) {
        failed =
            io_critical_path_ledger(list.events, list.n_events, ledger, &fault) != IO_LEDGER_OK;
        if (failed)
            iot_ledger_fault_text(&fault, message, sizeof message);
        free(list.events);
    }
    if (!failed)
        return IOT_EXIT_OK;
    iot_error("%s: %s; see 'iotrace ledger --help'", from_stdin ? "standard input" : path, message);
    return IOT_EXIT_USAGE;
}

int iot_cmd_ledger(int argc, char **argv)
{
    struct options o = {0};
    struct io_ledger ledger;
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_ledger, argc, argv, &o);
    if (parsed.done)
        return parsed.status;
    if (parsed.n_operands != 1) {
        iot_error("ledger: needs one file of events ('-' for standard input), got %d; "
                  "see 'iotrace ledger --help'",
                  parsed.n_operands);
        return IOT_EXIT_USAGE;
    }
    int status = make_ledger(parsed.operands[0], &ledger);
    if (status)
        return status;
    if (o.format == IOT_FORMAT_JSON)
        print_json(&ledger);
    else
        print_text(&ledger);
    return iot_finish_stdout();
}
