#include "tests/unit/samples.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "analyzer/rules.h"

enum { PATH_BYTES = 512, LINE_BYTES = 1024, CALLS_MAX = 1024 };

/* What a call of the table is in a trace. `flags`: of an open. */
static const struct {
    const char *name;
    enum iot_op op;
    int64_t flags;
} calls[] = {
    {"open", IOT_OP_OPENAT, O_RDONLY | O_CLOEXEC},
    {"create", IOT_OP_OPENAT, O_WRONLY | O_CREAT | O_TRUNC},
    {"append", IOT_OP_OPENAT, O_WRONLY | O_CREAT | O_APPEND},
    {"rw", IOT_OP_OPENAT, O_RDWR | O_CREAT},
    {"read", IOT_OP_READ, 0},
    {"pread", IOT_OP_PREAD, 0},
    {"recv", IOT_OP_RECV, 0},
    {"write", IOT_OP_WRITE, 0},
    {"pwrite", IOT_OP_PWRITE, 0},
    {"send", IOT_OP_SEND, 0},
    {"close", IOT_OP_CLOSE, 0},
    {"fsync", IOT_OP_FSYNC, 0},
    {"mmap", IOT_OP_MMAP, 0},
    {"stat", IOT_OP_STAT, 0},
    {"readlink", IOT_OP_READLINK, 0},
    {"unlink", IOT_OP_UNLINK, 0},
    {"rename", IOT_OP_RENAME, 0},
    {"opendir", IOT_OP_OPENDIR, 0},
    {"readdir", IOT_OP_READDIR, 0},
    {"exec", IOT_OP_EXEC, 0},
    {"pipe", IOT_OP_PIPE2, 0},
    {"socketpair", IOT_OP_SOCKETPAIR, 0},
    {"connect", IOT_OP_CONNECT, 0},
    {"accepted", IOT_OP_ACCEPT4, AF_UNIX},
    {"step", IOT_OP_MARK, 0},
};

struct line {
    const char *text; /* whole, for complaints */
    unsigned number;
    double from, to; /* share of the run */
    struct iot_test_run *run;
    struct iot_sample *sample;
    struct iot_file as; /* size, kind and standard of its files */
    char rename[PATH_BYTES];
    struct call {
        unsigned which;
        int64_t bytes;
    } calls[CALLS_MAX];
    size_t n;
    size_t repeated; /* where the calls in brackets begin */
};

static void refuse(const struct line *line, const char *what)
{
    fprintf(stderr, "samples:%u: %s: %s\n", line->number, what, line->text);
    abort();
}

static int64_t bytes_of(const struct line *line, const char *text, char **end)
{
    static const char units[] = "KMG";
    int64_t bytes = strtoll(text, end, 10);
    const char *unit = **end ? strchr(units, **end) : NULL;
    if (*end == text)
        refuse(line, "no number");
    if (unit) {
        bytes <<= 10 * (unit - units + 1);
        ++*end;
    }
    return bytes;
}

static void add_calls(struct line *line, char *word)
{
    size_t n = strcspn(word, "=*"), which = 0;
    int64_t bytes = 0;
    char *rest = word + n;
    while (which < sizeof calls / sizeof *calls &&
           (strlen(calls[which].name) != n || strncmp(calls[which].name, word, n)))
        which++;
    if (which == sizeof calls / sizeof *calls)
        refuse(line, word);
    if (calls[which].op == IOT_OP_RENAME) {
        snprintf(line->rename, sizeof line->rename, "%s", rest + 1);
        rest += strlen(rest);
    } else if (*rest == '=') {
        bytes = bytes_of(line, rest + 1, &rest);
    }
    long times = *rest == '*' ? strtol(rest + 1, &rest, 10) : 1;
    if (*rest || times < 1 || line->n + (size_t)times > CALLS_MAX)
        refuse(line, word);
    while (times--)
        line->calls[line->n++] = (struct call){(unsigned)which, bytes};
}

static void repeat(struct line *line, int times)
{
    size_t n = line->n - line->repeated;
    if (times < 1 || line->n + n * (size_t)times > CALLS_MAX)
        refuse(line, "too many calls");
    for (; times > 1; times--, line->n += n)
        memcpy(&line->calls[line->n], &line->calls[line->repeated], n * sizeof *line->calls);
}

static void read_word(struct line *line, char *word)
{
    char *end;
    if (!strcmp(word, "(")) {
        line->repeated = line->n;
        return;
    }
    if (!strncmp(word, ")*", 2)) {
        repeat(line, atoi(word + 2));
        return;
    }
    if (!strncmp(word, "size=", 5))
        line->as.size = bytes_of(line, word + 5, &end);
    else if (!strncmp(word, "std=", 4))
        line->as.standard = (uint8_t)(1u << atoi(word + 4));
    else if (!strcmp(word, "kind=char"))
        line->as.kind = IOT_FILE_CHARACTER;
    else if (!strcmp(word, "kind=anon"))
        line->as.kind = IOT_FILE_ANON;
    else
        add_calls(line, word);
}

/* --- the files of a path --- */

/* The k-th thing in the braces; 0 if there are fewer. */
static int choose(const char *braces, size_t n, unsigned k, char what[PATH_BYTES])
{
    long first, last;
    int digits = (int)strcspn(braces, ".");
    if (sscanf(braces, "%ld..%ld", &first, &last) == 2) {
        snprintf(what, PATH_BYTES, "%0*ld", digits, first + (long)k);
        return first + (long)k <= last;
    }
    const char *at = braces;
    while (k-- && at < braces + n)
        at += strcspn(at, ",}") + 1;
    snprintf(what, PATH_BYTES, "%.*s", (int)strcspn(at, ",}"), at);
    return at < braces + n;
}

static int expand(const char *path, unsigned k, char to[PATH_BYTES], char what[PATH_BYTES])
{
    const char *open = strchr(path, '{'), *close = open ? strchr(open, '}') : NULL;
    what[0] = '\0';
    if (!close) {
        snprintf(to, PATH_BYTES, "%s", path);
        return k == 0;
    }
    int there = choose(open + 1, (size_t)(close - open - 1), k, what);
    size_t n = (size_t)(open - path);
    memcpy(to, path, n);
    snprintf(to + n, PATH_BYTES - n, "%s%s", what, close + 1);
    return there;
}

static uint32_t add_file(const struct line *line, const char *path)
{
    size_t n = strlen(path);
    char name[PATH_BYTES];
    unsigned kind = IOT_FILE_REGULAR;
    snprintf(name, sizeof name, "%.*s", (int)(n > 1 && path[n - 1] == '/' ? n - 1 : n), path);
    if (line->as.kind)
        kind = line->as.kind;
    else if (strlen(name) < n)
        kind = IOT_FILE_DIRECTORY;
    else if (!strncmp(name, "pipe:", 5))
        kind = IOT_FILE_PIPE;
    else if (!strncmp(name, "socket:", 7))
        kind = IOT_FILE_SOCKET;
    uint32_t f = iot_test_run_file(line->run, name, (enum iot_file_kind)kind);
    if (line->as.size > line->run->files[f].size)
        line->run->files[f].size = line->as.size;
    line->run->files[f].standard |= line->as.standard;
    return f;
}

/* --- the calls of a file --- */

static void add_event(struct line *line, const struct call *call, uint32_t f, const char *what,
                      int64_t t0, int64_t *offset)
{
    struct iot_test_run *run = line->run;
    enum iot_op op = calls[call->which].op;
    size_t i = iot_test_run_event(run, op, op == IOT_OP_MARK ? 0 : f, call->bytes, t0);
    char to[PATH_BYTES];

    switch (op) {
    case IOT_OP_PREAD:
    case IOT_OP_PWRITE:
        run->offset[i] = *offset;
        *offset += call->bytes;
        break;
    case IOT_OP_READ:
        *offset += call->bytes;
        break;
    case IOT_OP_OPENAT:
        *offset = 0;
        run->offset[i] = calls[call->which].flags;
        break;
    case IOT_OP_MMAP:
        run->addr[i] = (uint64_t)run->files[f].size;
        break;
    case IOT_OP_SOCKETPAIR:
        run->file2[i] = f;
        break;
    case IOT_OP_ACCEPT4:
        run->file[i] = iot_test_run_file(run, "socket:[listening]", IOT_FILE_SOCKET);
        run->file2[i] = f;
        break;
    case IOT_OP_MARK:
        run->result[i] = 1;
        break;
    case IOT_OP_RENAME: {
        const char *open = strchr(line->rename, '{');
        int n = (int)(open ? (size_t)(open - line->rename) : strlen(line->rename));
        if (snprintf(to, sizeof to, "%.*s%s%s", n, line->rename, open ? what : "",
                     open ? strchr(open, '}') + 1 : "") >= (int)sizeof to)
            refuse(line, "too long a name");
        run->file2[i] = add_file(line, to);
        break;
    }
    default:
        break;
    }
}

static void note_direction(struct iot_sample *sample, const struct line *line)
{
    for (size_t k = 0; k < line->n; k++) {
        unsigned moves = iot_op_info(calls[line->calls[k].which].op)->moves;
        sample->reads |= moves == IOT_IN || calls[line->calls[k].which].op == IOT_OP_MMAP;
        sample->writes |= moves == IOT_OUT;
    }
}

static void make_events(struct line *line, const char *path)
{
    char name[PATH_BYTES], what[PATH_BYTES];
    double wall = (double)line->run->trace.wall_ns;
    unsigned n = 0;
    while (expand(path, n, name, what))
        n++;
    if (n * line->n + line->run->trace.events.n > IOT_TEST_RUN_EVENTS ||
        n + line->run->trace.n_files >= IOT_TEST_RUN_FILES - 1 || n > IOT_SAMPLE_FILES)
        refuse(line, "too much of it");
    double share = (line->to - line->from) / n;
    for (unsigned k = 0; k < n; k++) {
        expand(path, k, name, what);
        uint32_t f = add_file(line, name);
        int64_t offset = 0;
        for (size_t c = 0; c < line->n; c++) {
            double at = line->from + share * (k + (double)c / (double)line->n);
            add_event(line, &line->calls[c], f, what, (int64_t)(at * wall), &offset);
        }
        if (line->sample)
            line->sample->files[line->sample->n_files++] = f;
    }
}

/* --- lines --- */

static int object_of(const struct line *line, const char *word)
{
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (!strcmp(word, iot_object_names[o]))
            return o;
    refuse(line, word);
    return -1;
}

static void read_line(struct iot_sample_run *to, char *text, unsigned number)
{
    char whole[LINE_BYTES], *rest;
    snprintf(whole, sizeof whole, "%s", text);
    struct line line = {.text = whole, .number = number, .run = to->run, .as = {.size = -1}};
    char *share = strtok_r(text, " \n", &rest), *label = strtok_r(NULL, " \n", &rest),
         *path = strtok_r(NULL, " \n", &rest);
    if (!path || sscanf(share, "%lf-%lf", &line.from, &line.to) != 2)
        refuse(&line, "not a line of a run");
    line.from /= 100;
    line.to /= 100;
    for (char *word; (word = strtok_r(NULL, " \n", &rest));)
        read_word(&line, word);
    if (strcmp(label, "-")) {
        if (to->n == IOT_SAMPLES_OF_A_RUN)
            refuse(&line, "too many of one run");
        line.sample = &to->samples[to->n++];
        *line.sample = (struct iot_sample){.line = number};
        char *second = strchr(label, ',');
        if (second)
            *second++ = '\0';
        line.sample->object[IOT_READING] = object_of(&line, label);
        line.sample->object[IOT_WRITING] = object_of(&line, second ? second : label);
        note_direction(line.sample, &line);
    }
    make_events(&line, path);
}

int iot_samples_next(FILE *in, struct iot_sample_run *to, unsigned *at)
{
    char text[LINE_BYTES];
    long seconds;

    *to = (struct iot_sample_run){0};
    while (fgets(text, sizeof text, in)) {
        ++*at;
        if (text[0] == '#')
            continue;
        if (sscanf(text, "run %63s %ld", to->name, &seconds) == 2)
            to->run = iot_test_run_new(seconds * 1000000000);
        else if (text[0] != '\n' && to->run)
            read_line(to, text, *at);
        else if (to->run)
            break;
    }
    return to->run != NULL;
}

void iot_samples_free(struct iot_sample_run *run)
{
    iot_test_run_free(run->run);
}
