/* iotrace completion: what a shell needs to complete the commands and their options. */
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/completion.h"

static const struct iot_option options[] = {{0}};

const struct iot_synopsis iot_synopsis_completion = {
    .command = "completion",
    .summary = "a script that completes iotrace in bash or zsh",
    .operands = "bash|zsh",
    .operand_words = (const char *const[]){"bash", "zsh", NULL},
    .about = "Prints what the shell needs to complete commands, options and their values.\n",
    .notes = "bash, in ~/.bashrc:   source <(iotrace completion bash)\n"
             "zsh, once:            iotrace completion zsh > \"${fpath[1]}/_iotrace\"\n",
    .options = options,
};

static const struct {
    const char *shell;
    void (*write)(FILE *to, const struct iot_command *commands, size_t n);
} shells[] = {{"bash", iot_completion_bash}, {"zsh", iot_completion_zsh}};

int iot_cmd_completion(int argc, char **argv)
{
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_completion, argc, argv, NULL);
    if (parsed.done)
        return parsed.status;
    for (size_t i = 0; parsed.n_operands == 1 && i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(parsed.operands[0], shells[i].shell)) {
            shells[i].write(stdout, iot_commands, iot_n_commands);
            return iot_finish_stdout();
        }
    iot_error("completion: for which shell, bash or zsh?");
    return IOT_EXIT_USAGE;
}
