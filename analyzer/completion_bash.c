/* Completion in bash. The script stands by itself, without the package bash-completion. */
#include <string.h>

#include "analyzer/completion.h"

static void put_names(FILE *to, const struct iot_synopsis *s)
{
    for (const struct iot_option *o = s->options; o->name; o++) {
        fprintf(to, " --%s", o->name);
        if (o->letter)
            fprintf(to, " -%c", o->letter);
    }
    fputs(" --help -h", to);
}

/* The pattern of case for an option in its command: "report:--output|report:-o". */
static void put_pattern(FILE *to, const struct iot_synopsis *s, const struct iot_option *o)
{
    fprintf(to, "    %s:--%s", s->command, o->name);
    if (o->letter)
        fprintf(to, " | %s:-%c", s->command, o->letter);
    fputs(") ", to);
}

static void put_values(FILE *to, const struct iot_option *o)
{
    if (o->words) {
        fputs("_iotrace_words '", to);
        iot_completion_words(to, o->words);
        fputs("'; return ;;\n", to);
    } else if (!strcmp(o->argument, "DIR")) {
        fputs("_iotrace_files -d; return ;;\n", to);
    } else if (!strcmp(o->argument, "FILE")) {
        fputs("_iotrace_files -f; return ;;\n", to);
    } else {
        fputs("return ;;\n", to);
    }
}

/* Where a command of the user's own begins, its own completion takes over. */
static void put_commands_of_others(FILE *to, const struct iot_synopsis *s)
{
    fprintf(to, "    %s)\n", s->command);
    fputs("        for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "            case ${COMP_WORDS[i]} in\n"
          "            --) ((i++)); break ;;\n",
          to);
    int any = 0;
    for (const struct iot_option *o = s->options; o->name; o++)
        if (o->argument) {
            fprintf(to, "%s--%s", any++ ? " | " : "            ", o->name);
            if (o->letter)
                fprintf(to, " | -%c", o->letter);
        }
    if (any)
        fputs(") ((i++)) ;;\n", to);
    fputs("            -*) ;;\n"
          "            *) break ;;\n"
          "            esac\n"
          "        done\n"
          "        if ((i < COMP_CWORD)) || { ((i == COMP_CWORD)) && [[ $cur != -* ]]; }; then\n"
          "            _iotrace_command $i; return\n"
          "        fi ;;\n",
          to);
}

static const char helpers[] =
    "# bash completion of iotrace, made by 'iotrace completion bash'\n"
    "_iotrace_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
    "_iotrace_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
    "}\n"
    "_iotrace_command() {\n"
    "    if declare -F _command_offset >/dev/null; then\n"
    "        _command_offset \"$1\"\n"
    "    elif (($1 == COMP_CWORD)); then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
    "    else\n"
    "        _iotrace_files -f\n"
    "    fi\n"
    "}\n"
    "_iotrace() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command=${COMP_WORDS[1]} i\n"
    "    COMPREPLY=()\n";

void iot_completion_bash(FILE *to, const struct iot_command *commands, size_t n)
{
    fputs(helpers, to);
    fputs("    if ((COMP_CWORD == 1)); then\n        _iotrace_words '", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s ", commands[i].synopsis->command);
    fputs("--help --version --library'\n        return\n    fi\n    case $command in\n", to);
    for (size_t i = 0; i < n; i++)
        if (commands[i].synopsis->ends_at_operand)
            put_commands_of_others(to, commands[i].synopsis);
    fputs("    esac\n    case $command:$prev in\n", to);
    for (size_t i = 0; i < n; i++)
        for (const struct iot_option *o = commands[i].synopsis->options; o->name; o++)
            if (o->argument) {
                put_pattern(to, commands[i].synopsis, o);
                put_values(to, o);
            }
    fputs("    esac\n    if [[ $cur != -* ]]; then\n        case $command in\n", to);
    for (size_t i = 0; i < n; i++)
        if (commands[i].synopsis->operand_words) {
            fprintf(to, "        %s) _iotrace_words '", commands[i].synopsis->command);
            iot_completion_words(to, commands[i].synopsis->operand_words);
            fputs("' ;;\n", to);
        }
    fputs("        *) _iotrace_files -f ;;\n        esac\n        return\n    fi\n"
          "    case $command in\n",
          to);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "    %s) _iotrace_words '", commands[i].synopsis->command);
        put_names(to, commands[i].synopsis);
        fputs(" ' ;;\n", to);
    }
    fputs("    esac\n}\ncomplete -F _iotrace iotrace\n", to);
}
