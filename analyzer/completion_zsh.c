/* Completion in zsh, by its own _arguments. */
#include <string.h>

#include "analyzer/completion.h"

/* Text inside '...' and a spec's brackets: its first clause, since the rest is for --help. */
static void put_text(FILE *to, const char *text)
{
    for (; *text && !strchr(";:", *text); text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else if (strchr("[]\\", *text))
            fprintf(to, "\\%c", *text);
        else
            putc(*text, to);
    }
}

static void put_values(FILE *to, const struct iot_option *o)
{
    fputc(':', to);
    put_text(to, o->argument);
    fputc(':', to);
    if (o->words) {
        fputc('(', to);
        iot_completion_words(to, o->words);
        fputc(')', to);
    } else if (!strcmp(o->argument, "DIR")) {
        fputs("_files -/", to);
    } else if (!strcmp(o->argument, "FILE")) {
        fputs("_files", to);
    } else {
        fputc(' ', to); /* something, but nothing that could be offered */
    }
}

static void put_option(FILE *to, const struct iot_option *o)
{
    int again = o->kind == IOT_OPTION_TEXTS || o->kind == IOT_OPTION_WORDS;
    const char *equals = o->argument ? "=" : "";

    fputs("        ", to);
    if (again)
        fputs("'*'", to);
    else if (o->letter)
        fprintf(to, "'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        fprintf(to, "{-%c%s,--%s%s}'[", o->letter, o->argument ? "+" : "", o->name, equals);
    else
        fprintf(to, "'--%s%s[", o->name, equals);
    put_text(to, o->help);
    fputc(']', to);
    if (o->argument)
        put_values(to, o);
    fputs("' \\\n", to);
}

void iot_completion_zsh(FILE *to, const struct iot_command *commands, size_t n)
{
    fputs("#compdef iotrace\n"
          "# zsh completion of iotrace, made by 'iotrace completion zsh'\n"
          "local -a commands=(\n",
          to);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "    '%s:", commands[i].synopsis->command);
        put_text(to, commands[i].synopsis->summary);
        fputs("'\n", to);
    }
    fputs(")\n"
          "if ((CURRENT == 2)); then\n"
          "    _describe -t commands command commands\n"
          "    _arguments '--help[print the commands]' '--version[print the version]' \\\n"
          "        '--library[print the path of the library]'\n"
          "    return\n"
          "fi\n"
          "shift words\n"
          "((CURRENT--))\n"
          "case $words[1] in\n",
          to);
    for (size_t i = 0; i < n; i++) {
        const struct iot_synopsis *s = commands[i].synopsis;
        fprintf(to, "%s)\n    _arguments -s -S \\\n", s->command);
        for (const struct iot_option *o = s->options; o->name; o++)
            put_option(to, o);
        fputs("        '(-h --help)'{-h,--help}'[print this text]' \\\n", to);
        if (s->operand_words) {
            fputs("        '1:operand:(", to);
            iot_completion_words(to, s->operand_words);
            fputs(")' ;;\n", to);
        } else {
            fputs(s->ends_at_operand ? "        '(-)*::command:_normal' ;;\n"
                                     : "        '*:operand:_files' ;;\n",
                  to);
        }
    }
    fputs("esac\n", to);
}
