/* iotrace doctor: what can and cannot be traced here, and why. */
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/doctor.h"
#include "analyzer/report_text.h"

static const char help[] =
    "Usage: iotrace doctor [--format text|json] [--] [COMMAND [ARGUMENT]...]\n"
    "\n"
    "Says what can and cannot be traced on this machine, by this user, in this\n"
    "folder, and why; with COMMAND (which is not run), also what it is and whether a\n"
    "preload library reaches it. Each line is OK, NOTE (something is not seen, or\n"
    "works in another way) or BAD (nothing can be traced), with what to do.\n"
    "\n"
    "The exit status is 0 if there is nothing BAD, else 2.\n"
    "\n"
    "  --format text|json   lines for people (the default), or JSON\n"
    "  -h, --help           this text\n";

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
    enum { FORMAT = IOT_LONG_OPTION, HELP };
    static const struct option options[] = {
        {"format", required_argument, NULL, FORMAT},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    bool json = false;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        switch (option) {
        case FORMAT:
            json = !strcmp(optarg, "json");
            if (!json && strcmp(optarg, "text")) {
                iot_error("doctor: --format is 'text' or 'json', not '%s'", optarg);
                return IOT_EXIT_USAGE;
            }
            break;
        case 'h':
        case HELP:
            fputs(help, stdout);
            return iot_finish_stdout();
        default:
            return iot_option_error(option, argv);
        }
    }
    return doctor(optind < argc ? argv + optind : NULL, json);
}
