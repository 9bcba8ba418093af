/* The options of a command as a table: what is parsed, and what --help prints, come from it.
 *
 * A row says where in the command's own struct its value goes. Every command has -h, --help without
 * a row. What is wrong with an option is one line on standard error and IOT_EXIT_USAGE.
 */
#ifndef IOT_ANALYZER_OPTIONS_H
#define IOT_ANALYZER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum iot_option_kind {
    IOT_OPTION_FLAG,     /* bool: it has no argument */
    IOT_OPTION_TEXT,     /* const char * */
    IOT_OPTION_TEXTS,    /* struct iot_texts: may be repeated */
    IOT_OPTION_WORD,     /* size_t: which one of `words` */
    IOT_OPTION_WORDS,    /* unsigned: bit k for the k-th of `words`; may be repeated */
    IOT_OPTION_COUNT,    /* size_t */
    IOT_OPTION_REAL,     /* double, not below 0 */
    IOT_OPTION_POSITIVE, /* double, above 0 */
    IOT_OPTION_TIME,     /* int64_t, ns: a number and its unit, below 10^15 ns */
};

/* The words "text" and "json", which most commands have as their formats, in this order. */
enum { IOT_FORMAT_TEXT, IOT_FORMAT_JSON };
extern const char *const iot_text_or_json[];

/* Free `texts`, not what it points to. */
struct iot_texts {
    const char **texts;
    size_t n;
};

struct iot_option {
    const char *name;     /* without its dashes; NULL ends a table */
    char letter;          /* of its short form; 0: it has none */
    const char *argument; /* its name in --help; NULL of a flag */
    const char *help;     /* words, wrapped when they are printed */
    enum iot_option_kind kind;
    size_t at;                /* offsetof the value, in the struct that is filled */
    const char *const *words; /* NULL-terminated */
    const char *heading;      /* a line in front of it in --help; NULL: none */
};

struct iot_synopsis {
    const char *command;
    const char *summary;              /* a line in the list of commands */
    const char *operands;             /* as in "DIR PATH" */
    const char *const *operand_words; /* what an operand may be, where it is no path; NULL */
    const char *about;                /* lines of at most 80 columns */
    const char *notes;                /* likewise, after the options; NULL: none */
    const struct iot_option *options;
    bool is_program;      /* of its own: iotrace-COMMAND */
    bool ends_at_operand; /* what follows the first operand is a command's own */
};

/* What became of the arguments. */
struct iot_parsed {
    bool done;       /* the command has nothing more to do than exit with `status` */
    int status;      /* after --help, or a fault that has been printed */
    char **operands; /* in argv, NULL-terminated */
    int n_operands;
};

/* argv[0] is the command's name. Sets what is given in `values`, and leaves the rest alone. */
struct iot_parsed iot_options_parse(const struct iot_synopsis *synopsis, int argc, char **argv,
                                    void *values);

#endif
