/* iotrace doctor: what can and cannot be traced here, and why. */
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/doctor.h"
#include "analyzer/report_text.h"

struct options {
    size_t format;
};

static const struct iot_option options[] = {
    {"format", 0, "text|json", "lines for people (the default), or JSON", IOT_OPTION_WORD,
     offsetof(struct options, format), iot_text_or_json, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_doctor = {
    .command = "doctor",
    .summary = "what can and cannot be traced here, and why",
    .operands = "[--] [COMMAND [ARGUMENT]...]",
    .about =
        "Says what can and cannot be traced on this machine, by this user, in this\n"
        "folder, and why; with COMMAND (which is not run), also what it is and whether a\n"
        "preload library reaches it. Each line is OK, NOTE (something is not seen, or\n"
        "works in another way) or BAD (nothing can be traced), with what to do.\n"
        "\n"
        "The exit status is 0 if there is nothing BAD, else 2.\n",
    .options = options,
    .ends_at_operand = true,
};

static int doctor(char *const *command, bool json)
{
    struct iot_doctor d;
    int status = IOT_EXIT_USAGE;

    if (iot_doctor_examine(&d, command)) {
        iot_error("doctor: out of memory");
    } else {
        if (json)
            iot_doctor_write_json(&d, stdout);
        else
            iot_doctor_write_text(&d, stdout, iot_text_wants_colour(stdout));
        status = iot_finish_stdout();
        if (iot_doctor_level(&d) == IOT_LEVEL_BAD)
            status = IOT_EXIT_USAGE;
    }
    iot_doctor_free(&d);
    return status;
}

int iot_cmd_doctor(int argc, char **argv)
{
    struct options o = {0};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_doctor, argc, argv, &o);
    if (parsed.done)
        return parsed.status;
    return doctor(parsed.n_operands ? parsed.operands : NULL, o.format == IOT_FORMAT_JSON);
}
