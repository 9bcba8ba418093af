#include "analyzer/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/text.h"

enum { OPTIONS_MAX = 32, COLUMNS = 80, HELP_AT_MOST = 24 };

/* getopt's value of row k; below it are letters. */
enum { ROW = 256 };

const char *const iot_text_or_json[] = {"text", "json", NULL};

static const struct iot_option help_row = {
    .name = "help", .letter = 'h', .help = "print this text", .kind = IOT_OPTION_FLAG};

/* --- help --- */

static int left_side(const struct iot_option *o, char text[64])
{
    char letter[8] = "";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return snprintf(text, 64, "  %s--%s%s%s", letter, o->name, o->argument ? " " : "",
                    o->argument ? o->argument : "");
}

static int help_column(const struct iot_synopsis *synopsis)
{
    char text[64];
    int widest = left_side(&help_row, text);
    for (const struct iot_option *o = synopsis->options; o->name; o++) {
        int n = left_side(o, text);
        if (n + 2 <= HELP_AT_MOST && n > widest)
            widest = n;
    }
    return widest + 2;
}

static void put_option(const struct iot_option *o, int column)
{
    char left[64];
    int n = left_side(o, left);
    if (n + 2 > column)
        printf("%s\n%*s", left, column, "");
    else
        printf("%-*s", column, left);
    iot_write_wrapped(stdout, o->help, (size_t)column, (size_t)column, COLUMNS);
}

/* A part of the line "Usage:", or of the next one. */
static int put_part(const char *part, int column, int indent)
{
    int n = (int)strlen(part);
    if (column + 1 + n > COLUMNS) {
        printf("\n%*s%s", indent, "", part);
        return indent + n;
    }
    printf(" %s", part);
    return column + 1 + n;
}

/* An option that is needed stands among the operands, and is not in brackets again. */
static bool stated(const char *operands, const char *part)
{
    size_t n = strlen(part) - 2;
    const char *at = strstr(operands, " -");
    return at && !strncmp(at + 1, part + 1, n) && !at[1 + n];
}

/* Between "iotrace" and the command's name. */
static char joint(const struct iot_synopsis *synopsis)
{
    return synopsis->is_program ? '-' : ' ';
}

static void put_usage(const struct iot_synopsis *synopsis)
{
    int column = printf("Usage: iotrace%c%s", joint(synopsis), synopsis->command);
    int indent = column + 1;
    if (!synopsis->ends_at_operand && *synopsis->operands)
        column = put_part(synopsis->operands, column, indent);
    for (const struct iot_option *o = synopsis->options; o->name; o++) {
        int again = o->kind == IOT_OPTION_TEXTS || o->kind == IOT_OPTION_WORDS;
        char part[80], letter[3] = {'-', o->letter, '\0'};
        snprintf(part, sizeof part, "[%s%s%s%s]%s", o->letter ? letter : "--",
                 o->letter ? "" : o->name, o->argument ? " " : "", o->argument ? o->argument : "",
                 again ? "..." : "");
        if (stated(synopsis->operands, part))
            continue;
        column = put_part(part, column, indent);
    }
    if (synopsis->ends_at_operand)
        put_part(synopsis->operands, column, indent);
    putchar('\n');
}

/* Lines of at most 80 columns. */
static void put_help(const struct iot_synopsis *synopsis)
{
    int column = help_column(synopsis);
    put_usage(synopsis);
    printf("\n%s\n", synopsis->about);
    for (const struct iot_option *o = synopsis->options; o->name; o++) {
        if (o->heading)
            printf("%s%s\n", o == synopsis->options ? "" : "\n", o->heading);
        put_option(o, column);
    }
    put_option(&help_row, column);
    if (synopsis->notes)
        printf("\n%s", synopsis->notes);
}

/* --- values --- */

static int bad(const struct iot_synopsis *synopsis, const struct iot_option *o, const char *is,
               const char *text)
{
    iot_error("%s: --%s is %s, not '%s'", synopsis->command, o->name, is, text);
    return -1;
}

/* Which word it is; -1 with an error printed. */
static int read_word(const struct iot_synopsis *synopsis, const struct iot_option *o,
                     const char *text)
{
    char list[160];
    size_t n = 0;
    for (int k = 0; o->words[k]; k++)
        if (!strcmp(o->words[k], text))
            return k;
    for (int k = 0; o->words[k] && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                              !k                ? ""
                              : o->words[k + 1] ? ", "
                                                : " or ",
                              o->words[k]);
    return bad(synopsis, o, list, text);
}

static int read_count(const char *text, size_t *count)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-')
        return -1;
    *count = n;
    return 0;
}

static int read_real(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return errno || end == text || *end || !isfinite(*value) ? -1 : 0;
}

static int read_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (end != text && !strcmp(end, units[k].unit) && value >= 0 &&
            value * units[k].ns < 1e15) {
            *ns = (int64_t)(value * units[k].ns + 0.5);
            return 0;
        }
    return -1;
}

static int add_text(struct iot_texts *to, const char *text)
{
    const char **more = realloc(to->texts, (to->n + 1) * sizeof *more);
    if (!more) {
        iot_error("out of memory");
        return -1;
    }
    to->texts = more;
    to->texts[to->n++] = text;
    return 0;
}

static int take(const struct iot_synopsis *synopsis, const struct iot_option *o, const char *text,
                void *values)
{
    void *at = (char *)values + o->at;
    double real;
    int word;

    switch (o->kind) {
    case IOT_OPTION_FLAG:
        *(bool *)at = true;
        return 0;
    case IOT_OPTION_TEXT:
        *(const char **)at = text;
        return 0;
    case IOT_OPTION_TEXTS:
        return add_text(at, text);
    case IOT_OPTION_WORD:
    case IOT_OPTION_WORDS:
        if ((word = read_word(synopsis, o, text)) < 0)
            return -1;
        if (o->kind == IOT_OPTION_WORD)
            *(size_t *)at = (size_t)word;
        else
            *(unsigned *)at |= 1u << word;
        return 0;
    case IOT_OPTION_COUNT:
        return read_count(text, at) ? bad(synopsis, o, "a whole number", text) : 0;
    case IOT_OPTION_REAL:
        if (read_real(text, &real) || real < 0)
            return bad(synopsis, o, "a number not below 0", text);
        *(double *)at = real;
        return 0;
    case IOT_OPTION_POSITIVE:
        if (read_real(text, &real) || real <= 0)
            return bad(synopsis, o, "a number above 0", text);
        *(double *)at = real;
        return 0;
    case IOT_OPTION_TIME:
        return read_time(text, at)
                   ? bad(synopsis, o, "a time with its unit (500ns, 80us, 2ms, 1s)", text)
                   : 0;
    }
    return -1;
}

/* --- the line of arguments --- */

/* What getopt goes by. */
struct rows {
    struct option rows[OPTIONS_MAX + 2];
    char letters[2 * OPTIONS_MAX + 4];
};

static void add_row(struct rows *rows, size_t k, const struct iot_option *o)
{
    size_t n = strlen(rows->letters);
    rows->rows[k] = (struct option){
        o->name, o->kind == IOT_OPTION_FLAG ? no_argument : required_argument, NULL,
        ROW + (int)k};
    if (o->letter)
        snprintf(rows->letters + n, sizeof rows->letters - n, "%c%s", o->letter,
                 o->kind == IOT_OPTION_FLAG ? "" : ":");
}

/* For getopt_long's '?' and ':'. */
static int fault(const struct iot_synopsis *synopsis, int found, char **argv)
{
    const char *problem = found == ':' ? "needs a value" : "is not understood here";
    char letter[] = {'-', (char)optopt, '\0'};
    /* In the middle of "-ab" optind has not moved on; after a long option it has. */
    const char *option = optopt > 0 && optopt < ROW ? letter : argv[optind - 1];

    iot_error("%s: option '%s' %s; see 'iotrace%c%s --help'", synopsis->command, option, problem,
              joint(synopsis), synopsis->command);
    return IOT_EXIT_USAGE;
}

static const struct iot_option *found_row(const struct iot_synopsis *synopsis, size_t n, int found)
{
    if (found == 'h' || found == ROW + (int)n)
        return &help_row;
    if (found >= ROW)
        return &synopsis->options[found - ROW];
    for (const struct iot_option *o = synopsis->options; o->name; o++)
        if (o->letter == found)
            return o;
    return NULL;
}

struct iot_parsed iot_options_parse(const struct iot_synopsis *synopsis, int argc, char **argv,
                                    void *values)
{
    struct rows rows = {.letters = ":"};
    size_t n = 0;
    int found;

    if (synopsis->ends_at_operand)
        strcpy(rows.letters, "+:");
    for (; synopsis->options[n].name && n < OPTIONS_MAX; n++)
        add_row(&rows, n, &synopsis->options[n]);
    add_row(&rows, n, &help_row);
    opterr = 0;
    optind = 0; /* also where other arguments were parsed before */
    while ((found = getopt_long(argc, argv, rows.letters, rows.rows, NULL)) != -1) {
        const struct iot_option *o = found_row(synopsis, n, found);
        if (!o)
            return (struct iot_parsed){.done = true, .status = fault(synopsis, found, argv)};
        if (o == &help_row) {
            put_help(synopsis);
            return (struct iot_parsed){.done = true, .status = iot_finish_stdout()};
        }
        if (take(synopsis, o, optarg, values))
            return (struct iot_parsed){.done = true, .status = IOT_EXIT_USAGE};
    }
    return (struct iot_parsed){.operands = argv + optind, .n_operands = argc - optind};
}
