/* A program that uses the standard streams.
 *
 *   streams CASE FOLDER
 *
 * FOLDER holds files of lines, `text` (some with NUL bytes) and `long`, and takes what is written.
 * Standard input is a file of numbers, one a line. `streams` alone lists the cases.
 */
#include "tests/victims/streams.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>
#include <wchar.h>

const char *streams_folder;

/* Declared here, as not every release of libc has them in its headers. */
int _IO_getc(FILE *stream);
int _IO_putc(int c, FILE *stream);
int __underflow(FILE *stream);
ssize_t __getdelim(char **line, size_t *n, int end, FILE *stream);

static void put_chars(const char *name, const char *mode, int buffering)
{
    FILE *stream = must_open(name, mode);
    if (buffering >= 0)
        MUST(setvbuf(stream, NULL, buffering, 256) == 0);
    for (int i = 0; i < 700; i++) {
        int c = i % 37 ? 'a' + i % 26 : '\n';
        MUST(fputc(c, stream) == c);
        MUST(putc(c, stream) == c);
        MUST((putc)(c, stream) == c);
        MUST(_IO_putc(c, stream) == c);
        MUST(putc_unlocked(c, stream) == c);
        MUST((putc_unlocked)(c, stream) == c);
        MUST(fputc_unlocked(c, stream) == c);
        MUST(putw(i, stream) == 0);
    }
    MUST(fclose(stream) == 0);
}

static void get_chars(const char *name, int buffering)
{
    FILE *stream = must_open(name, "r");
    if (buffering >= 0)
        MUST(setvbuf(stream, NULL, buffering, 256) == 0);
    long sum = 0;
    for (int i = 0; i < 600; i++) {
        sum += fgetc(stream) + getc(stream) + (getc)(stream) + _IO_getc(stream);
        sum += getc_unlocked(stream) + (getc_unlocked)(stream) + fgetc_unlocked(stream);
        sum += getw(stream) & 0xff;
        if (i % 50 == 0) {
            MUST(ungetc('x', stream) == 'x');
            MUST(ungetc('y', stream) == 'y');
            MUST(getc(stream) == 'y');
            MUST(fgetc(stream) == 'x');
        }
        if (i % 70 == 0)
            sum += __underflow(stream);
    }
    while (getc(stream) != EOF)
        sum++;
    MUST(getc(stream) == EOF); /* the end sticks: no further read */
    printf("%s %ld\n", name, sum);
    fclose(stream);
}

static void chars(void)
{
    for (int i = 0; i < 5000; i++) {
        putchar('a');
        (putchar)('b');
        putchar_unlocked('c');
        (putchar_unlocked)('\n');
    }
    long sum = 0;
    for (int i = 0; i < 1500; i++)
        sum += getchar() + (getchar)() + getchar_unlocked() + (getchar_unlocked)();
    printf("%ld\n", sum);
    put_chars("full", "w", -1);
    put_chars("line", "w", _IOLBF);
    put_chars("none", "w", _IONBF);
    put_chars("none", "a", _IOFBF);
    get_chars("full", -1);
    get_chars("line", _IOFBF);
    get_chars("none", _IONBF);
}

static void put_lines(const char *name, int buffering)
{
    FILE *stream = must_open(name, "w");
    setvbuf(stream, NULL, buffering, 1024);
    static char line[3000];
    for (int i = 0; i < 60; i++) {
        memset(line, 'l', sizeof line);
        line[i * i % 2999] = 0;
        MUST(fputs(line, stream) >= 0);
        MUST(fputs_unlocked(i % 3 ? "\n" : "-\n-", stream) >= 0);
        MUST(fputs("", stream) >= 0);
    }
    fclose(stream);
}

/* A line of NUL bytes only from a buffer that holds it all: stream.h says why. */
static void get_lines(const char *name, int buffering)
{
    char small[10], big[9000], *line = NULL;
    size_t n = 0;
    long got = 0;
    ssize_t bytes;
    FILE *stream = must_open(name, "r");
    setvbuf(stream, NULL, buffering, 0);
    for (int i = 0; i < 20; i++) {
        MUST(fgets(small, sizeof small, stream));
        MUST(fgets_unlocked(big, sizeof big, stream));
        MUST(fgets(big, 1, stream) && !*big);
        got += (long)(strlen(small) + strlen(big));
    }
    for (int i = 0; i < 20 && (bytes = getline(&line, &n, stream)) > 0; i++)
        got += bytes;
    for (int i = 0; i < 20 && (bytes = getdelim(&line, &n, 'e', stream)) > 0; i++)
        got += bytes;
    for (int i = 0; i < 20 && (bytes = __getdelim(&line, &n, '\n', stream)) > 0; i++)
        got += bytes;
    while (fgets(big, sizeof big, stream))
        got += (long)strlen(big);
    printf("%ld\n", got);
    free(line);
    fclose(stream);
}

static void lines(void)
{
    char text[128];
    volatile int n = sizeof text; /* where the compiler does not know it, it is checked */
    for (int i = 0; i < 2000 && (i % 2 ? fgets_unlocked(text, n, stdin) : fgets(text, n, stdin));
         i++)
        puts(text);
    put_lines("full", _IOFBF);
    put_lines("line", _IOLBF);
    put_lines("none", _IONBF);
    get_lines("text", _IOFBF);
    get_lines("text", _IOLBF);
    get_lines("long", _IONBF);
}

static void blocks_with(int buffering)
{
    static char data[20000];
    memset(data, 'd', sizeof data);
    data[77] = '\n';
    FILE *stream = must_open("blocks", "w+");
    setvbuf(stream, NULL, buffering, 2048);
    const size_t sizes[] = {1, 7, 100, 2047, 2048, 2049, 3, 19999, 4096, 8192, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MUST(fwrite(data, sizes[i], 1, stream) == 1);
        MUST(fwrite_unlocked(data, 1, sizes[i] / 2, stream) == sizes[i] / 2);
    }
    MUST(fwrite(data, 0, 3, stream) == 0 && fwrite(data, 3, 0, stream) == 0);
    fclose(stream);
    stream = must_open("blocks", "r");
    setvbuf(stream, NULL, buffering, 2048);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MUST(fread(data, 1, sizes[i], stream) == sizes[i]);
        MUST(fread_unlocked(data, sizes[i] / 2 + 1, 1, stream) == 1);
    }
    MUST(fread(data, 0, 3, stream) == 0);
    size_t items = fread(data, 1000, 20, stream); /* ends within an item */
    printf("%zu items\n", items);
    items = fread(data, 100, 100, stream);
    printf("%zu items\n", items);
    fclose(stream);
}

static void blocks(void)
{
    blocks_with(_IOFBF);
    blocks_with(_IOLBF);
    blocks_with(_IONBF);
}

static void print_v(FILE *stream, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(vfprintf(stream, format, ap) > 0);
    va_end(ap);
    va_start(ap, format);
    MUST(vprintf(format, ap) > 0);
    va_end(ap);
    va_start(ap, format);
    MUST(vdprintf(1, format, ap) > 0);
    va_end(ap);
}

static void scan_v(FILE *stream, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(vfscanf(stream, format, ap) == 1);
    va_end(ap);
}

static void scan_in_v(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(vscanf(format, ap) == 1);
    va_end(ap);
}

static void formatted(void)
{
    const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    for (int m = 0; m < 3; m++) {
        FILE *stream = must_open("printed", m ? "a" : "w");
        setvbuf(stream, NULL, modes[m], 300);
        for (int i = 0; i < 300; i++) {
            MUST(fprintf(stream, "%d %s\n", i, "printed") > 0);
            MUST(printf("%*d%c", i % 90, i, i % 7 ? ' ' : '\n') > 0);
            print_v(stream, "%d-%d ", i, m);
        }
        MUST(fprintf(stream, "%5000d", 1) == 5000);
        MUST(fprintf(stderr, "to stderr %d\n", m) > 0);
        MUST(dprintf(2, "dprintf %d\n", m) > 0);
        fclose(stream);
    }
    errno = ENOENT;
    perror("streams");
    perror(NULL);
    MUST(printf("%m\n") > 0);
    fputwc(L'w', fopen("/dev/null", "w")); /* a wide stream: let alone */

    int n;
    FILE *stream = fdopen(dup(0), "r");
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        MUST(scanf("%d", &n) == 1);
        sum += n;
        scan_in_v("%d", &n);
        sum += n;
    }
    MUST(fscanf(stream, "%d", &n) == 1);
    scan_v(stream, "%d", &n);
    sum += n;
    printf("%ld\n", sum);
    fclose(stream);
}

/* Fillings as long as the one before leave the buffer looking the same. */
static void same_fillings(void)
{
    int ends[2], n;
    char text[16];
    MUST(pipe(ends) == 0);
    FILE *stream = fdopen(ends[0], "r");
    for (int i = 0; i < 5; i++) {
        MUST(write(ends[1], "7\n", 2) == 2);
        MUST(fscanf(stream, "%d", &n) == 1 && n == 7);
    }
    for (int i = 0; i < 5; i++) {
        MUST(write(ends[1], "ab\n", 3) == 3);
        MUST(fgets(text, sizeof text, stream));
        MUST(write(ends[1], "\0b\n", 3) == 3);
        MUST(fgets(text, sizeof text, stream));
    }
    close(ends[1]);
    MUST(!fgets(text, sizeof text, stream));
    fclose(stream);
}

static void seeks(void)
{
    char data[6000];
    fpos_t place;
    fpos64_t place64;
    FILE *stream = must_open("seeks", "w+");
    memset(data, 's', sizeof data);
    for (int i = 0; i < 3; i++)
        MUST(fwrite(data, sizeof data, 1, stream) == 1);
    MUST(fseek(stream, 100, SEEK_SET) == 0);
    MUST(fread(data, 50, 1, stream) == 1);
    MUST(fgetpos(stream, &place) == 0 && fgetpos64(stream, &place64) == 0);
    MUST(fseek(stream, -20, SEEK_CUR) == 0 && getc(stream) == 's'); /* within the buffer */
    MUST(fseek(stream, 0, SEEK_END) == 0 && getc(stream) == EOF);
    MUST(fseeko(stream, 5000, SEEK_SET) == 0 && getc(stream) == 's');
    MUST(fseek(stream, 0, SEEK_CUR) == 0 && fputc('!', stream) == '!');
    MUST(fseeko64(stream, 5001, SEEK_SET) == 0 && getc(stream) == '!');
    MUST(fsetpos(stream, &place) == 0 && getc(stream) == 's');
    MUST(fsetpos64(stream, &place64) == 0 && getc(stream) == 's');
    rewind(stream);
    MUST(fputs("rewritten", stream) >= 0);
    rewind(stream);
    MUST(getc(stream) == 'r' && ungetc('R', stream) == 'R' && fseek(stream, 1, SEEK_CUR) == 0);
    MUST(fseek(stream, 18100, SEEK_SET) == 0 && getc(stream) == EOF); /* behind the end */
    MUST(fseek(stream, 40000, SEEK_SET) == 0 && putc('e', stream) == 'e');
    MUST(fflush(stream) == 0 && ftell(stream) == 40001);
    MUST(fseek(stream, -1, SEEK_SET) == -1 && errno == EINVAL);
    fclose(stream);

    stream = must_open("seeks", "a+");
    MUST(fread(data, 10, 1, stream) == 1);
    MUST(fputs("appended", stream) >= 0);
    MUST(fseek(stream, 0, SEEK_SET) == 0 && getc(stream) == 'r');
    MUST(fputs("and more", stream) >= 0);
    fclose(stream);

    stream = must_open("seeks", "r");
    setvbuf(stream, NULL, _IONBF, 0);
    MUST(fseek(stream, 33, SEEK_SET) == 0 && getc(stream) == 's');
    fclose(stream);
}

static void opens(void)
{
    char text[100];
    FILE *stream = must_open("first", "w");
    fputs("pending", stream);
    MUST(freopen(in_folder("second"), "w", stream) == stream);
    fputs("in the second", stream);
    MUST(freopen(NULL, "a", stream) == stream);
    fputs(", again", stream);
    MUST(!freopen("/nowhere/at/all", "w", stream) && errno == ENOENT);
    MUST(!fopen("/nowhere/at/all", "r") && errno == ENOENT);
    MUST(!fopen(in_folder("first"), "?") && errno == EINVAL);
    MUST((stream = fopen64(in_folder("first"), "r+e")));
    MUST(fgets(text, sizeof text, stream) && !strcmp(text, "pending"));
    fclose(stream);
    MUST((stream = freopen64(in_folder("text"), "r", stdin)) == stdin && getchar() != EOF);

    stream = tmpfile();
    MUST(stream && fputs("temporary", stream) >= 0);
    rewind(stream);
    MUST(fgets(text, sizeof text, stream) && !strcmp(text, "temporary"));
    fclose(stream);

    stream = popen("sort -r", "w");
    MUST(stream && fputs("1\n3\n2\n", stream) >= 0);
    MUST(pclose(stream) == 0);
    stream = popen("echo from a child; exit 3", "r");
    MUST(stream && fgets(text, sizeof text, stream) && !strcmp(text, "from a child\n"));
    MUST(pclose(stream) == 3 << 8);

    stream = must_open("changing", "w");
    fputs("one", stream);
    MUST(setvbuf(stream, NULL, _IONBF, 0) == 0); /* flushes */
    fputs("two", stream);
    static char buffer[BUFSIZ];
    setbuf(stream, buffer);
    fputs("three", stream);
    setbuffer(stream, NULL, 0);
    fputs("four", stream);
    setlinebuf(stream);
    fputs("five\nsix", stream);
    fclose(stream);
}

const struct stream_case streams_use[] = {
    {"chars", chars},
    {"lines", lines},
    {"blocks", blocks},
    {"formatted", formatted},
    {"fillings", same_fillings},
    {"seeks", seeks},
    {"opens", opens},
    {"names", streams_names},
    {"wide", streams_wide_files},
    {"wide_standard", streams_wide_standard},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    const struct stream_case *all[] = {streams_use, streams_hard};
    streams_folder = argc == 3 ? argv[2] : ".";
    for (int i = 0; i < 2; i++) {
        for (const struct stream_case *c = all[i]; c->name; c++) {
            if (argc == 1)
                puts(c->name);
            else if (!strcmp(c->name, argv[1]))
                return c->run(), 7;
        }
    }
    return argc == 1 ? 0 : 2;
}
