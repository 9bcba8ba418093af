/* iotrace run: a command with the preload library, and a short report after it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/library.h"
#include "analyzer/program.h"
#include "analyzer/report_text.h"
#include "analyzer/reporting.h"
#include "analyzer/run_folder.h"
#include "format/window.h"

static const char help[] =
    "Usage: iotrace run [-o DIR] [options] [--] COMMAND [ARGUMENT]...\n"
    "\n"
    "Runs COMMAND and every process that it starts with libiotrace.so, prints a short\n"
    "report on standard error, and exits with COMMAND's own status (128 + n for\n"
    "signal n). An LD_PRELOAD that is set stays, behind the library.\n"
    "\n"
    "  -o DIR           where the trace goes; $IOTRACE_DIR, else\n"
    "                   iotrace-PROGRAM-PID. If it holds a run already, a numbered\n"
    "                   folder beside it\n"
    "  --clock CLOCK    the clock to read, instead of the one chosen: tsc, monotonic\n"
    "  --steps A-B      record from where step A begins to where step B ends, as\n"
    "                   iotrace_step() counts them in each process; A- to the end\n"
    "  --after TIME     record from so long after the start: 90, 90s, 250ms, 5m, 1h\n"
    "  --duration TIME  record for so long\n"
    "  --stacks WHICH   from where calls were made: sites (looked at once for each place\n"
    "                   that calls), all (at each call) or off\n"
    "  --max-size SIZE  keep the newest SIZE (16M, 1G) of each process's trace\n"
    "  -h, --help       this text\n"
    "\n"
    "LIBIOTRACE names a libiotrace.so to use instead of the one that came with this\n"
    "command.\n";

/* Options that are variables of the recorder. */
static const struct {
    const char *option, *variable;
} variables[] = {
    {"clock", "IOTRACE_CLOCK"},       {"steps", "IOTRACE_STEPS"},
    {"after", "IOTRACE_AFTER"},       {"duration", "IOTRACE_DURATION"},
    {"max-size", "IOTRACE_MAX_SIZE"}, {"stacks", "IOTRACE_STACKS"},
};
enum { CLOCK, STEPS, AFTER, DURATION, MAX_SIZE, STACKS, VARIABLES };

struct options {
    const char *folder;
    const char *values[VARIABLES]; /* NULL: as the environment has it */
    char **command;
};

/* What the child tells its parent before it becomes the command. */
struct shared {
    char folder[4096]; /* empty: none was taken */
    int failed;        /* the command was not started, and the reason has been printed */
};

/* --- in the child --- */

static int set_preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char *list;
    if (!before || !*before)
        return setenv("LD_PRELOAD", library, 1);
    if (asprintf(&list, "%s:%s", library, before) < 0)
        return -1;
    int failed = setenv("LD_PRELOAD", list, 1);
    free(list);
    return failed;
}

static int set_environment(const char *folder, const char *library, const struct options *options)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    for (int k = 0; k < VARIABLES; k++)
        if (options->values[k] && setenv(variables[k].variable, options->values[k], 1))
            return -1;
    return set_preload(library) || setenv("IOTRACE_RUN", folder, 1) ||
           setenv("IOTRACE_ROOT", pid, 1) || unsetenv("IOTRACE_DIR");
}

static int take_folder(struct shared *shared, const struct options *options, const char *program)
{
    const char *wanted = options->folder ? options->folder : getenv("IOTRACE_DIR");
    const char *slash = strrchr(program, '/');
    char own[300], error[512], folder[4096];

    snprintf(own, sizeof own, "iotrace-%.200s-%ld", slash ? slash + 1 : program, (long)getpid());
    if (iot_run_folder_take(folder, wanted && *wanted ? wanted : own, error)) {
        iot_error("%s", error);
        return -1;
    }
    strcpy(shared->folder, folder);
    return 0;
}

static void become(struct shared *shared, const struct options *options,
                   const struct iot_program *program, const char *library)
{
    shared->failed = 1;
    if (take_folder(shared, options, program->path))
        return;
    if (set_environment(shared->folder, library, options)) {
        iot_error("run: the environment cannot be set: %s", strerror(errno));
        return;
    }
    shared->failed = 0;
    execvp(program->path, options->command);
    shared->failed = 1;
    iot_error("run: %s: %s", program->path, strerror(errno));
}

/* --- in the parent --- */

/* A terminal sends its signals to the command as well: who started it stays until it ends. What is
 * sent to us alone is handed on. */
static const int ignored[] = {SIGINT, SIGQUIT};
static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { N_IGNORED = sizeof ignored / sizeof *ignored };
enum { N_FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile sig_atomic_t child_pid;

static void forward(int number)
{
    int saved = errno;
    if (child_pid > 0)
        kill(child_pid, number);
    errno = saved;
}

struct handlers {
    struct sigaction old[N_IGNORED + N_FORWARDED];
    sigset_t mask;
};

/* Signals are held back until the child is known. */
static void set_handlers(struct handlers *h)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &h->mask);
    for (int i = 0; i < N_IGNORED; i++)
        sigaction(ignored[i], &(struct sigaction){.sa_handler = SIG_IGN}, &h->old[i]);
    for (int i = 0; i < N_FORWARDED; i++) {
        struct sigaction *old = &h->old[N_IGNORED + i];
        sigaction(forwarded[i], NULL, old);
        if (old->sa_handler != SIG_IGN)
            sigaction(forwarded[i],
                      &(struct sigaction){.sa_handler = forward, .sa_flags = SA_RESTART}, NULL);
    }
}

static void restore_handlers(const struct handlers *h)
{
    for (int i = 0; i < N_IGNORED; i++)
        sigaction(ignored[i], &h->old[i], NULL);
    for (int i = 0; i < N_FORWARDED; i++)
        sigaction(forwarded[i], &h->old[N_IGNORED + i], NULL);
    sigprocmask(SIG_SETMASK, &h->mask, NULL);
}

/* Returns the command's wait status, or -1 with an error printed. */
static int run_child(struct shared *shared, const struct options *options,
                     const struct iot_program *program, const char *library)
{
    struct handlers handlers;
    int status = 0;
    pid_t ended;

    fflush(NULL);
    set_handlers(&handlers);
    pid_t child = fork();
    if (child == 0) {
        restore_handlers(&handlers);
        become(shared, options, program, library);
        _exit(IOT_EXIT_USAGE);
    }
    if (child < 0) {
        restore_handlers(&handlers);
        iot_error("run: no process can be started: %s", strerror(errno));
        return -1;
    }
    child_pid = child;
    sigprocmask(SIG_SETMASK, &handlers.mask, NULL);
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    child_pid = 0;
    restore_handlers(&handlers);
    return status;
}

/* --- afterwards --- */

static void print_report(const char *folder)
{
    struct iot_reporting reporting;
    char error[512];
    struct iot_text_style style = {.colour = iot_text_wants_colour(stderr), .brief = true};

    if (iot_reporting_make(&reporting, folder, NULL, SIZE_MAX, error)) {
        iot_error("run: no report: %s", error);
    } else {
        fputc('\n', stderr);
        iot_report_write_text(&reporting.report, stderr, &style);
        fprintf(stderr, "\ntrace: %s\n", folder);
    }
    iot_reporting_free(&reporting);
}

static void tell(const struct shared *shared, const struct iot_program *program)
{
    iot_run_folder_trim(shared->folder);
    if (iot_run_folder_files(shared->folder))
        print_report(shared->folder);
    else
        iot_error("run: nothing was recorded in %s: %s%s", shared->folder, program->path,
                  program->obstacle ? " cannot be traced"
                                    : " did not load libiotrace.so, or could not write there");
}

static int run(const struct options *options)
{
    struct iot_program program;
    char library[4096], error[512];

    if (iot_program_find(&program, options->command[0], error)) {
        iot_error("run: %s", error);
        return IOT_EXIT_USAGE;
    }
    if (iot_library_find(library, error)) {
        iot_error("%s", error);
        return IOT_EXIT_USAGE;
    }
    if (program.obstacle)
        iot_error("run: %s is %s: %s; it is run all the same", program.binary,
                  program.obstacle->what, program.obstacle->effect);
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        iot_error("run: out of memory");
        return IOT_EXIT_USAGE;
    }
    int status = run_child(shared, options, &program, library);
    int started = status != -1 && !shared->failed;
    if (started)
        tell(shared, &program);
    munmap(shared, sizeof *shared);
    if (!started)
        return IOT_EXIT_USAGE;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whether the recorder understands the value. */
static int check(int which, const char *value)
{
    uint64_t n;
    uint32_t first, last;
    switch (which) {
    case CLOCK:
        if (!strcmp(value, "tsc") || !strcmp(value, "monotonic"))
            return 0;
        iot_error("run: --clock is 'tsc' or 'monotonic', not '%s'", value);
        return -1;
    case STEPS:
        if (!iot_window_steps(value, &first, &last))
            return 0;
        iot_error("run: --steps is A-B, A- or A, steps from 1, not '%s'", value);
        return -1;
    case STACKS:
        if (!strcmp(value, "off") || !strcmp(value, "sites") || !strcmp(value, "all"))
            return 0;
        iot_error("run: --stacks is 'off', 'sites' or 'all', not '%s'", value);
        return -1;
    case MAX_SIZE:
        if (!iot_window_size(value, &n) && n >= IOT_KEPT_BYTES_MIN && n <= IOT_KEPT_BYTES_MAX)
            return 0;
        iot_error("run: --max-size is a size from 4M to 4G, not '%s'", value);
        return -1;
    default:
        if (!iot_window_time(value, &n))
            return 0;
        iot_error("run: --%s is a time like 90, 250ms, 5m or 1h, not '%s'", variables[which].option,
                  value);
        return -1;
    }
}

int iot_cmd_run(int argc, char **argv)
{
    enum { FIRST = IOT_LONG_OPTION, HELP = FIRST + VARIABLES };
    struct option long_options[VARIABLES + 3] = {
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, HELP},
    };
    struct options options = {0};
    int option;

    for (int k = 0; k < VARIABLES; k++)
        long_options[2 + k] =
            (struct option){variables[k].option, required_argument, NULL, FIRST + k};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:ho:", long_options, NULL)) != -1) {
        switch (option) {
        case 'o':
            options.folder = optarg;
            break;
        case 'h':
        case HELP:
            fputs(help, stdout);
            return iot_finish_stdout();
        default:
            if (option < FIRST || option >= FIRST + VARIABLES)
                return iot_option_error(option, argv);
            if (check(option - FIRST, optarg))
                return IOT_EXIT_USAGE;
            options.values[option - FIRST] = optarg;
        }
    }
    if (options.values[STEPS] && options.values[AFTER]) {
        iot_error("run: --steps and --after are two ways to say where recording begins; give one");
        return IOT_EXIT_USAGE;
    }
    if (optind == argc) {
        iot_error("run: which command? see 'iotrace run --help'");
        return IOT_EXIT_USAGE;
    }
    options.command = argv + optind;
    return run(&options);
}
