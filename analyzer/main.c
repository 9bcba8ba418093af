/* The command `iotrace`: a table of subcommands. */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/library.h"

const struct iot_command iot_commands[] = {
    {&iot_synopsis_compare, iot_cmd_compare},
    {&iot_synopsis_completion, iot_cmd_completion},
    {&iot_synopsis_doctor, iot_cmd_doctor},
    {&iot_synopsis_dump, iot_cmd_dump},
    {&iot_synopsis_experiment, iot_cmd_experiment},
    {&iot_synopsis_explain, iot_cmd_explain},
    {&iot_synopsis_export, iot_cmd_export},
    {&iot_synopsis_import, iot_cmd_import},
    {&iot_synopsis_ledger, iot_cmd_ledger},
    {&iot_synopsis_merge, iot_cmd_merge},
    {&iot_synopsis_report, iot_cmd_report},
    {&iot_synopsis_run, iot_cmd_run},
    {&iot_synopsis_top, iot_cmd_top},
    {&iot_synopsis_whatif, iot_cmd_whatif},
};

const size_t iot_n_commands = sizeof iot_commands / sizeof iot_commands[0];

static int print_help(void)
{
    printf("Usage: iotrace COMMAND [ARGUMENT]...\n"
           "\n"
           "Says which I/O, of which object, delays a program, and how much time fixing it\n"
           "would win.\n"
           "\n");
    for (size_t i = 0; i < iot_n_commands; i++)
        printf("  %-11s %s\n", iot_commands[i].synopsis->command,
               iot_commands[i].synopsis->summary);
    printf("\n"
           "'iotrace COMMAND --help' says more about one. 'iotrace --version' prints the\n"
           "version, 'iotrace --library' the path of the library for LD_PRELOAD.\n");
    return iot_finish_stdout();
}

static int print_library(void)
{
    char path[4096], error[512];
    if (iot_library_find(path, error)) {
        iot_error("%s", error);
        return IOT_EXIT_USAGE;
    }
    puts(path);
    return iot_finish_stdout();
}

/* A large trace needs room again and again, and what is given back to the kernel comes back page by
 * page: at ten million events that was a fifth of the time of a report. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char **argv)
{
    keep_memory();
    if (argc < 2) {
        iot_error("which command? 'iotrace --help' lists them");
        return IOT_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return print_help();
    if (!strcmp(argv[1], "--version")) {
        puts("iotrace " IOT_VERSION);
        return iot_finish_stdout();
    }
    if (!strcmp(argv[1], "--library"))
        return print_library();
    for (size_t i = 0; i < iot_n_commands; i++)
        if (!strcmp(argv[1], iot_commands[i].synopsis->command))
            return iot_commands[i].run(argc - 1, argv + 1);
    iot_error("'%s' is not a command; 'iotrace --help' lists them", argv[1]);
    return IOT_EXIT_USAGE;
}
