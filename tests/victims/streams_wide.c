/* Wide streams: files of characters that are one to four bytes long, and standard input and output.
 */
#include "tests/victims/streams.h"

#include <dlfcn.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <wchar.h>

#define NAMED(ret, name, params, args) ((ret(*) params)dlsym(RTLD_DEFAULT, #name)) args

static const wchar_t line[] = L"plain \u00e4 \u20ac \U0001f600 end\n";
enum { LINES = 900, LINE = sizeof line / sizeof *line - 1 };

static void put_list(FILE *stream, const wchar_t *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(vfwprintf(stream, format, ap) > 0);
    va_end(ap);
    va_start(ap, format);
    MUST(NAMED(int, __vfwprintf_chk, (FILE *, int, const wchar_t *, va_list),
               (stream, 1, format, ap)) > 0);
    va_end(ap);
}

static void print_list(const wchar_t *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(vwprintf(format, ap) > 0);
    va_end(ap);
    va_start(ap, format);
    MUST(NAMED(int, __vwprintf_chk, (int, const wchar_t *, va_list), (1, format, ap)) > 0);
    va_end(ap);
}

static void put(const char *name, int buffering)
{
    FILE *stream = must_open(name, "w");
    MUST(setvbuf(stream, NULL, buffering, BUFSIZ) == 0);
    for (int i = 0; i < LINES; i++) {
        switch (i % 6) {
        case 0:
            MUST(fputws(line, stream) >= 0);
            break;
        case 1:
            MUST(fputws_unlocked(line, stream) >= 0);
            break;
        case 2:
            for (size_t k = 0; k < LINE; k++)
                MUST(fputwc(line[k], stream) == (wint_t)line[k]);
            break;
        case 3:
            for (size_t k = 0; k < LINE; k++)
                MUST(fputwc_unlocked(line[k], stream) == (wint_t)line[k]);
            break;
        case 4:
            for (size_t k = 0; k < LINE; k++)
                MUST(putwc(line[k], stream) == (wint_t)line[k]);
            break;
        default:
            for (size_t k = 0; k < LINE; k++)
                MUST(putwc_unlocked(line[k], stream) == (wint_t)line[k]);
        }
    }
    for (int i = 0; i < LINES; i++) { /* of these a byte each */
        MUST(fwprintf(stream, L"%d %ls\n", i, L"printed") > 0);
        MUST(NAMED(int, __fwprintf_chk, (FILE *, int, const wchar_t *, ...),
                   (stream, 1, L"%d\n", i)) > 0);
        put_list(stream, L"%d list\n", i);
    }
    NAMED(wint_t, __woverflow, (FILE *, wint_t), (stream, L'\n'));
    if (buffering == _IOLBF)
        _flushlbf();
    MUST(fclose(stream) == 0);
}

static void get(const char *name)
{
    wchar_t text[200];
    FILE *stream = must_open(name, "r");
    for (int i = 0; i < LINES; i++) {
        switch (i % 6) {
        case 0:
            MUST(fgetws(text, 200, stream) && !wcscmp(text, line));
            break;
        case 1:
            MUST(fgetws_unlocked(text, 200, stream) && !wcscmp(text, line));
            break;
        case 2:
            MUST(NAMED(wchar_t *, __fgetws_chk, (wchar_t *, size_t, int, FILE *),
                       (text, 200, 200, stream)));
            break;
        case 3:
            MUST(NAMED(wchar_t *, __fgetws_unlocked_chk, (wchar_t *, size_t, int, FILE *),
                       (text, 200, 200, stream)));
            break;
        case 4:
            for (size_t k = 0; k < LINE; k++)
                MUST((k % 2 ? fgetwc(stream) : fgetwc_unlocked(stream)) == (wint_t)line[k]);
            break;
        default:
            for (size_t k = 0; k < LINE; k++)
                MUST((k % 2 ? getwc(stream) : getwc_unlocked(stream)) == (wint_t)line[k]);
        }
    }
    while (fgetwc(stream) != WEOF)
        continue;
    MUST(fclose(stream) == 0);
    stream = must_open(name, "r");
    MUST(NAMED(wint_t, __wunderflow, (FILE *), (stream)) == L'p');
    MUST(NAMED(wint_t, __wuflow, (FILE *), (stream)) == L'p');
    MUST(fclose(stream) == 0);
}

void streams_wide_files(void)
{
    MUST(setlocale(LC_ALL, "C.UTF-8"));
    put("wide", _IOFBF);
    put("wide_lines", _IOLBF);
    put("wide_unbuffered", _IONBF);
    get("wide");
}

int old_fwscanf(FILE *stream, const wchar_t *format, ...) __asm__("fwscanf");
int old_wscanf(const wchar_t *format, ...) __asm__("wscanf");
int old_vfwscanf(FILE *stream, const wchar_t *format, va_list ap) __asm__("vfwscanf");
int old_vwscanf(const wchar_t *format, va_list ap) __asm__("vwscanf");
int new_fwscanf(FILE *stream, const wchar_t *format, ...) __asm__("__isoc99_fwscanf");
int new_wscanf(const wchar_t *format, ...) __asm__("__isoc99_wscanf");
int new_vfwscanf(FILE *stream, const wchar_t *format, va_list ap) __asm__("__isoc99_vfwscanf");
int new_vwscanf(const wchar_t *format, va_list ap) __asm__("__isoc99_vwscanf");

static void scan_lists(const wchar_t *format, ...)
{
    int (*const on_stream[])(FILE *, const wchar_t *, va_list) = {old_vfwscanf, new_vfwscanf};
    int (*const on_input[])(const wchar_t *, va_list) = {old_vwscanf, new_vwscanf};
    for (int k = 0; k < 2; k++) {
        va_list ap;
        va_start(ap, format);
        MUST(on_stream[k](stdin, format, ap) == 1);
        va_end(ap);
        va_start(ap, format);
        MUST(on_input[k](format, ap) == 1);
        va_end(ap);
    }
}

void streams_wide_standard(void)
{
    int n;
    for (int i = 0; i < 40; i++) {
        MUST(getwchar() != WEOF && getwchar_unlocked() != WEOF);
        MUST(old_fwscanf(stdin, L"%d", &n) == 1 && old_wscanf(L"%d", &n) == 1);
        MUST(new_fwscanf(stdin, L"%d", &n) == 1 && new_wscanf(L"%d", &n) == 1);
        scan_lists(L"%d", &n);
        MUST(wprintf(L"%d\n", n) > 0);
        MUST(NAMED(int, __wprintf_chk, (int, const wchar_t *, ...), (1, L"%d\n", n)) > 0);
        print_list(L"%d\n", n);
        MUST(putwchar(L'x') == L'x' && putwchar_unlocked(L'\n') == L'\n');
    }
    FILE *stream = must_open("numbers", "r");
    va_list none = {0};
    MUST(NAMED(int, __vfscanf, (FILE *, const char *, va_list), (stream, "0", none)) == 0);
    MUST(fclose(stream) == 0);
}
