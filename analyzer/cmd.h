/* The subcommands of `iotrace`, and what they share. */
#ifndef IOT_ANALYZER_CMD_H
#define IOT_ANALYZER_CMD_H

#include <stdio.h>

#include "analyzer/options.h"

struct iot_trace;

/* Exit statuses. */
enum {
    IOT_EXIT_OK = 0,
    IOT_EXIT_REGRESSION = 1,
    IOT_EXIT_USAGE = 2, /* also input that cannot be read or is damaged, and a full disk */
    IOT_EXIT_INCONCLUSIVE = 3
};

/* argv[0] is the subcommand's name; the exit status is what comes back. */
struct iot_command {
    const struct iot_synopsis *synopsis;
    int (*run)(int argc, char **argv);
};

/* All of them, by name. */
extern const struct iot_command iot_commands[];
extern const size_t iot_n_commands;

/* Prints "iotrace: " and the message as one line on standard error, control characters and bytes
 * that are not UTF-8 as \xNN. */
void iot_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One such line where the trace has more events than there was memory for. */
void iot_tell_part(const char *command, const struct iot_trace *trace);

/* Flushes a stream. Returns 0, or the errno of why something written to it was lost, even if long
 * ago; then one byte more may have been written, and the stream is only to be closed. */
int iot_stream_failure(FILE *stream);

/* Flushes standard output. Returns IOT_EXIT_OK, or IOT_EXIT_USAGE with an error printed if
 * anything written to it was lost. */
int iot_finish_stdout(void);

int iot_cmd_compare(int argc, char **argv);
int iot_cmd_completion(int argc, char **argv);
int iot_cmd_doctor(int argc, char **argv);
int iot_cmd_dump(int argc, char **argv);
int iot_cmd_experiment(int argc, char **argv);
int iot_cmd_explain(int argc, char **argv);
int iot_cmd_export(int argc, char **argv);
int iot_cmd_import(int argc, char **argv);
int iot_cmd_ledger(int argc, char **argv);
int iot_cmd_merge(int argc, char **argv);
int iot_cmd_report(int argc, char **argv);
int iot_cmd_run(int argc, char **argv);
int iot_cmd_top(int argc, char **argv);
int iot_cmd_whatif(int argc, char **argv);

/* What their arguments may be. */
extern const struct iot_synopsis iot_synopsis_compare;
extern const struct iot_synopsis iot_synopsis_completion;
extern const struct iot_synopsis iot_synopsis_doctor;
extern const struct iot_synopsis iot_synopsis_dump;
extern const struct iot_synopsis iot_synopsis_experiment;
extern const struct iot_synopsis iot_synopsis_explain;
extern const struct iot_synopsis iot_synopsis_export;
extern const struct iot_synopsis iot_synopsis_import;
extern const struct iot_synopsis iot_synopsis_ledger;
extern const struct iot_synopsis iot_synopsis_merge;
extern const struct iot_synopsis iot_synopsis_report;
extern const struct iot_synopsis iot_synopsis_run;
extern const struct iot_synopsis iot_synopsis_top;
extern const struct iot_synopsis iot_synopsis_whatif;

#endif
