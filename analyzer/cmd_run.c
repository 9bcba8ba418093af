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
#include "analyzer/doctor.h"
#include "analyzer/library.h"
#include "analyzer/program.h"
#include "analyzer/repeat.h"
#include "analyzer/report_text.h"
#include "analyzer/reporting.h"
#include "analyzer/run_folder.h"
#include "analyzer/text.h"
#include "format/file.h"
#include "format/identity.h"
#include "format/window.h"

enum { TSC, MONOTONIC, NO_CLOCK };
static const char *const clocks[] = {[TSC] = "tsc", [MONOTONIC] = "monotonic", NULL};

enum { OFF, SITES, ALL, NO_STACKS };
static const char *const stacks[] = {[OFF] = "off", [SITES] = "sites", [ALL] = "all", NULL};

enum { GPU_OFF, GPU_COPIES, GPU_KERNELS, NO_GPU };
static const char *const gpu[] = {
    [GPU_OFF] = "off", [GPU_COPIES] = "copies", [GPU_KERNELS] = "kernels", NULL};

/* Which part of the run: handed on as variables, as they are. */
enum { STEPS, AFTER, DURATION, MAX_SIZE, PARTS };
static const char *const variables[PARTS] = {
    [STEPS] = "IOTRACE_STEPS",
    [AFTER] = "IOTRACE_AFTER",
    [DURATION] = "IOTRACE_DURATION",
    [MAX_SIZE] = "IOTRACE_MAX_SIZE",
};

#define NOT_REPEATED SIZE_MAX

struct options {
    const char *folder;
    size_t clock;  /* NO_CLOCK: not given */
    size_t stacks; /* NO_STACKS: not given */
    size_t gpu;    /* NO_GPU: not given */
    const char *parts[PARTS];
    bool nvtx;
    struct iot_repeat repeat;
    char **command;
};

static const struct iot_option options_of_run[] = {
    {"output", 'o', "DIR",
     "where the trace goes; $IOTRACE_DIR, else iotrace-PROGRAM-PID. If it holds a run already, a "
     "numbered folder beside it",
     IOT_OPTION_TEXT, offsetof(struct options, folder), NULL, NULL},
    {"clock", 0, "tsc|monotonic", "the clock to read, instead of the one chosen", IOT_OPTION_WORD,
     offsetof(struct options, clock), clocks, NULL},
    {"stacks", 0, "off|sites|all",
     "from where calls are made: looked at once for each place that calls, or at each call",
     IOT_OPTION_WORD, offsetof(struct options, stacks), stacks, NULL},
    {"steps", 0, "A-B",
     "record from where step A begins to where step B ends, as iotrace_step() counts them in each "
     "process; A- to the end",
     IOT_OPTION_TEXT, offsetof(struct options, parts[STEPS]), NULL, NULL},
    {"after", 0, "TIME", "record from so long after the start: 90, 90s, 250ms, 5m, 1h",
     IOT_OPTION_TEXT, offsetof(struct options, parts[AFTER]), NULL, NULL},
    {"duration", 0, "TIME", "record for so long", IOT_OPTION_TEXT,
     offsetof(struct options, parts[DURATION]), NULL, NULL},
    {"max-size", 0, "SIZE", "keep the newest SIZE (16M, 1G) of each process's trace",
     IOT_OPTION_TEXT, offsetof(struct options, parts[MAX_SIZE]), NULL, NULL},
    {"gpu", 0, "off|copies|kernels",
     "what of CUDA's work on a GPU: copies are recorded unasked, and their waits; kernels "
     "adds those, which costs more",
     IOT_OPTION_WORD, offsetof(struct options, gpu), gpu, NULL},
    {"nvtx", 0, NULL,
     "record what COMMAND marks with NVTX also where no NVIDIA driver is installed",
     IOT_OPTION_FLAG, offsetof(struct options, nvtx), NULL, NULL},
    {"repeat", 0, "N",
     "run it N times, into 01, 02, ... in DIR, which 'iotrace compare' takes; no reports",
     IOT_OPTION_COUNT, offsetof(struct options, repeat.runs), NULL, NULL},
    {"warmup", 0, "N", "with --repeat: N runs before, whose traces do not stay", IOT_OPTION_COUNT,
     offsetof(struct options, repeat.warmup), NULL, NULL},
    {"drop-caches", 0, NULL,
     "with --repeat: before each run, take COMMAND's own files out of the page cache",
     IOT_OPTION_FLAG, offsetof(struct options, repeat.drop_caches), NULL, NULL},
    {"interleave-with", 0, "LINE",
     "with --repeat: take turns with this command line of a shell; COMMAND goes to DIR/a, LINE to "
     "DIR/b",
     IOT_OPTION_TEXT, offsetof(struct options, repeat.other), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_run = {
    .command = "run",
    .summary = "a command, traced, and a short report after it",
    .operands = "[--] COMMAND [ARGUMENT]...",
    .about = "Runs COMMAND and every process that it starts with libiotrace.so, prints a short\n"
             "report on standard error, and exits with COMMAND's own status (128 + n for\n"
             "signal n). An LD_PRELOAD that is set stays, behind the library. Of a job's ranks\n"
             "none prints a report; rank 0 says how to get the job's.\n",
    .notes = "LIBIOTRACE names a libiotrace.so to use instead of the one that came with this\n"
             "command.\n",
    .options = options_of_run,
    .ends_at_operand = true,
};

/* What the child tells its parent before it becomes the command. */
struct shared {
    char folder[4096]; /* empty: none was taken */
    bool made;         /* it was not there before */
    bool is_of_job;    /* it is that of a rank in the folder of its job */
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

static bool has_driver(void)
{
    return !access("/proc/driver/nvidia/version", F_OK);
}

/* Another tool's stays. */
static int set_nvtx(const char *library, bool always)
{
    return always || has_driver() ? setenv("NVTX_INJECTION64_PATH", library, 0) : 0;
}

/* The library answers a driver that asks by getenv, as those do that were looked at; this is for
 * one that looks by itself. */
static int set_cuda(const char *library, const char *asked)
{
    const char *wish = asked ? asked : getenv("IOTRACE_CUDA");
    char path[4096 + 64];
    if (wish ? !strcmp(wish, "0") || !strcmp(wish, "off") : !has_driver())
        return 0;
    return iot_subscriber_find(library, path, sizeof path)
               ? 0
               : setenv("CUDA_INJECTION64_PATH", path, 0);
}

static int set_environment(const struct options *options, const char *folder, const char *library)
{
    char pid[24];
    const char *clock = clocks[options->clock], *of_stacks = stacks[options->stacks],
               *of_gpu = gpu[options->gpu];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    for (int k = 0; k < PARTS; k++)
        if (options->parts[k] && setenv(variables[k], options->parts[k], 1))
            return -1;
    return set_preload(library) || set_nvtx(library, options->nvtx) || set_cuda(library, of_gpu) ||
           setenv("IOTRACE_RUN", folder, 1) || setenv("IOTRACE_ROOT", pid, 1) ||
           unsetenv("IOTRACE_DIR") || (clock && setenv("IOTRACE_CLOCK", clock, 1)) ||
           (of_stacks && setenv("IOTRACE_STACKS", of_stacks, 1)) ||
           (of_gpu && setenv("IOTRACE_CUDA", of_gpu, 1));
}

static const char *of_environment(void *unused, const char *name)
{
    (void)unused;
    return getenv(name);
}

static int take_folder(struct shared *shared, const struct options *options, const char *program)
{
    const char *wanted = options->folder ? options->folder : getenv("IOTRACE_DIR");
    char own[4096], error[512], folder[4096];
    size_t n = 0;
    const char *rank = iot_identity_rank(&n, of_environment, NULL);

    /* What the recorder does itself where it is preloaded by hand. */
    if (!wanted || !*wanted)
        snprintf(own, sizeof own, "iotrace-%.200s-%ld", basename(program), (long)getpid());
    else if ((shared->is_of_job = rank != NULL))
        snprintf(own, sizeof own, "%s/" IOT_RANK_FOLDER "%.*s", wanted, (int)n, rank);
    else
        snprintf(own, sizeof own, "%s", wanted);
    if (iot_run_folder_take(folder, &shared->made, own, error)) {
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
    if (set_environment(options, shared->folder, library)) {
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
static const int from_terminal[] = {SIGINT, SIGQUIT};
static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { N_FROM_TERMINAL = sizeof from_terminal / sizeof *from_terminal };
enum { N_FORWARDED = sizeof forwarded / sizeof *forwarded };

static volatile sig_atomic_t child_pid, interrupted;

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void forward(int number)
{
    int saved = errno;
    if (child_pid > 0)
        kill(child_pid, number);
    errno = saved;
}

struct handlers {
    struct sigaction old[N_FROM_TERMINAL + N_FORWARDED];
    sigset_t mask;
};

/* What is ignored stays so. */
static void set_handler(int number, void (*handler)(int), struct sigaction *old)
{
    sigaction(number, NULL, old);
    if (old->sa_handler != SIG_IGN)
        sigaction(number, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART}, NULL);
}

/* Signals are held back until the child is known. */
static void set_handlers(struct handlers *h)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &h->mask);
    for (int i = 0; i < N_FROM_TERMINAL; i++)
        set_handler(from_terminal[i], note_interrupt, &h->old[i]);
    for (int i = 0; i < N_FORWARDED; i++)
        set_handler(forwarded[i], forward, &h->old[N_FROM_TERMINAL + i]);
}

static void restore_handlers(const struct handlers *h)
{
    for (int i = 0; i < N_FROM_TERMINAL; i++)
        sigaction(from_terminal[i], &h->old[i], NULL);
    for (int i = 0; i < N_FORWARDED; i++)
        sigaction(forwarded[i], &h->old[N_FROM_TERMINAL + i], NULL);
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

static void tell_to_report(const char *first, const char *folder)
{
    fprintf(stderr, "%siotrace report", first);
    iot_write_word(stderr, folder);
    fputc('\n', stderr);
}

static void print_report(const char *folder)
{
    struct iot_reporting reporting;
    char error[512];
    struct iot_text_style style = {.colour = iot_text_wants_colour(stderr), .brief = true};

    if (iot_reporting_make(&reporting, folder, &(struct iot_reporting_how){.top = SIZE_MAX},
                           error)) {
        iot_error("run: no report: %s", error);
    } else {
        fputc('\n', stderr);
        iot_report_write_text(&reporting.report, stderr, &style);
        fputs("\ntrace: ", stderr); /* the program's name is in it */
        iot_write_printable(stderr, folder, strlen(folder));
        fputc('\n', stderr);
        if (iot_is_printable(folder))
            tell_to_report("next:  ", folder);
    }
    iot_reporting_free(&reporting);
}

/* A thousand ranks on one terminal say it once, and leave the report to who reads the job. */
static void tell_of_rank(const char *folder)
{
    char job[4096];
    size_t n = 0;
    const char *rank = iot_identity_rank(&n, of_environment, NULL);
    snprintf(job, sizeof job, "%.*s", (int)(strrchr(folder, '/') - folder), folder);
    if (rank && n == 1 && *rank == '0' && iot_is_printable(job))
        tell_to_report("iotrace: this is a rank of a job; for its report: ", job);
}

static void tell(const struct shared *shared, const struct options *options,
                 const struct iot_program *program)
{
    iot_run_folder_trim(shared->folder);
    if (iot_run_folder_files(shared->folder) && options->repeat.runs != NOT_REPEATED)
        return;
    if (iot_run_folder_files(shared->folder) && shared->is_of_job)
        tell_of_rank(shared->folder);
    else if (iot_run_folder_files(shared->folder))
        print_report(shared->folder);
    else
        iot_error(
            "run: nothing was recorded: %s%s; the trace folder %s %s", program->path,
            program->obstacle
                ? " cannot be traced"
                : " did not load libiotrace.so, could not write there, or had no memory for it",
            shared->folder,
            iot_run_folder_drop(shared->folder, shared->made) ? "stays" : "was empty and is gone");
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
        tell(shared, options, &program);
    else if (*shared->folder)
        iot_run_folder_drop(shared->folder, shared->made);
    munmap(shared, sizeof *shared);
    if (!started)
        return IOT_EXIT_USAGE;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Whether the recorder understands them. */
static int check(const struct options *o)
{
    const char *const *parts = o->parts;
    uint64_t n;
    uint32_t first, last;
    if (parts[STEPS] && iot_window_steps(parts[STEPS], &first, &last)) {
        iot_error("run: --steps is A-B, A- or A, steps from 1, not '%s'", parts[STEPS]);
        return -1;
    }
    for (int k = AFTER; k <= DURATION; k++)
        if (parts[k] && iot_window_time(parts[k], &n)) {
            iot_error("run: --%s is a time like 90, 250ms, 5m or 1h, not '%s'",
                      k == AFTER ? "after" : "duration", parts[k]);
            return -1;
        }
    if (parts[MAX_SIZE] && (iot_window_size(parts[MAX_SIZE], &n) || n < IOT_KEPT_BYTES_MIN ||
                            n > IOT_KEPT_BYTES_MAX)) {
        iot_error("run: --max-size is a size from 4M to 256G, not '%s'", parts[MAX_SIZE]);
        return -1;
    }
    if (parts[STEPS] && parts[AFTER]) {
        iot_error("run: --steps and --after are two ways to say where recording begins; give one");
        return -1;
    }
    return 0;
}

static int run_once(void *user, char **command, const char *folder)
{
    struct options one = *(const struct options *)user;
    one.command = command;
    one.folder = folder;
    int status = run(&one);
    return interrupted && !status ? 128 + SIGINT : status;
}

static int repeat(struct options *options)
{
    const char *folder = options->folder ? options->folder : getenv("IOTRACE_DIR");
    if (folder && *folder)
        return iot_repeat(&options->repeat, options->command, folder, run_once, options);
    iot_error("run: --repeat needs a folder for the runs; give one with -o");
    return IOT_EXIT_USAGE;
}

int iot_cmd_run(int argc, char **argv)
{
    struct options options = {
        .clock = NO_CLOCK, .stacks = NO_STACKS, .gpu = NO_GPU, .repeat = {.runs = NOT_REPEATED}};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_run, argc, argv, &options);
    if (parsed.done)
        return parsed.status;
    if (check(&options))
        return IOT_EXIT_USAGE;
    if (!parsed.n_operands) {
        iot_error("run: which command? see 'iotrace run --help'");
        return IOT_EXIT_USAGE;
    }
    options.command = parsed.operands;
    if (!options.repeat.runs) {
        iot_error("run: --repeat is how many runs to make, from 1");
        return IOT_EXIT_USAGE;
    }
    if (options.repeat.runs != NOT_REPEATED)
        return repeat(&options);
    if (options.repeat.warmup || options.repeat.drop_caches || options.repeat.other) {
        iot_error("run: --warmup, --drop-caches and --interleave-with need --repeat N");
        return IOT_EXIT_USAGE;
    }
    return run(&options);
}
