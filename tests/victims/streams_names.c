/* Functions under the names that they have in libc, whatever the headers make of them. */
#include "tests/victims/streams.h"

#include <dlfcn.h>
#include <stdarg.h>

int checked_vprintf(int flag, const char *format, va_list ap) __asm__("__vprintf_chk");
char *checked_fgets(char *to, size_t size, int n, FILE *stream) __asm__("__fgets_chk");
char *checked_fgets_unlocked(char *to, size_t size, int n,
                             FILE *stream) __asm__("__fgets_unlocked_chk");
size_t checked_fread(void *to, size_t size, size_t item, size_t n,
                     FILE *stream) __asm__("__fread_chk");
size_t checked_fread_unlocked(void *to, size_t size, size_t item, size_t n,
                              FILE *stream) __asm__("__fread_unlocked_chk");
int plain_scanf(const char *format, ...) __asm__("scanf");
int plain_fscanf(FILE *stream, const char *format, ...) __asm__("fscanf");
int plain_vscanf(const char *format, va_list ap) __asm__("vscanf");
int plain_vfscanf(FILE *stream, const char *format, va_list ap) __asm__("vfscanf");

static void with_list(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(plain_vscanf(format, ap) == 1);
    va_end(ap);
    va_start(ap, format);
    MUST(plain_vfscanf(stdin, format, ap) == 1);
    va_end(ap);
}

static void print_list(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    MUST(checked_vprintf(1, format, ap) > 0);
    va_end(ap);
}

void streams_names(void)
{
    char text[128];
    int n;
    /* The linker would warn of these two. */
    char *(*plain_gets)(char *) = (char *(*)(char *))dlsym(RTLD_DEFAULT, "gets");
    char *(*checked_gets)(char *, size_t) =
        (char *(*)(char *, size_t))dlsym(RTLD_DEFAULT, "__gets_chk");
    for (int i = 0; i < 100; i++) {
        MUST(plain_scanf("%d", &n) == 1);
        MUST(plain_fscanf(stdin, "%d ", &n) == 1);
        MUST(plain_gets(text));
        MUST(checked_gets(text, sizeof text));
        with_list("%d ", &n);
        print_list("%s %d\n", text, n);
        if (i % 30 == 0)
            MUST(fflush_unlocked(stdout) == 0);
    }
    for (int i = 0; i < 300; i++) {
        MUST(checked_fgets(text, sizeof text, 100, stdin));
        MUST(checked_fgets_unlocked(text, sizeof text, 3, stdin));
        MUST(checked_fread(text, sizeof text, 5, 2, stdin) == 2);
        MUST(checked_fread_unlocked(text, sizeof text, 1, 3, stdin) == 3);
    }
}
