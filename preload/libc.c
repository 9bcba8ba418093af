/* What this library, and what is linked into it, has straight from libc.
 *
 * By their names alone these functions would be the program's, or a sanitizer's: one that looks at
 * every access takes our buffers for the program's memory, and one that is not ready yet fails
 * where we start before it. */
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "preload/module_symbols.h"

#undef bcmp
int bcmp(const void *a, const void *b, size_t n);
#undef memchr
#undef strchr
#undef strrchr
#undef strstr

#define FUNCTIONS                                                                                  \
    STRAIGHT(int, bcmp, (const void *a, const void *b, size_t n), (a, b, n))                       \
    STRAIGHT(int, clock_gettime, (clockid_t which, struct timespec * now), (which, now))           \
    STRAIGHT(void *, memchr, (const void *in, int c, size_t n), (in, c, n))                        \
    STRAIGHT(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n))                     \
    STRAIGHT(void *, memcpy, (void *restrict to, const void *restrict from, size_t n),             \
             (to, from, n))                                                                        \
    STRAIGHT(void *, memmove, (void *to, const void *from, size_t n), (to, from, n))               \
    STRAIGHT(void *, memset, (void *to, int c, size_t n), (to, c, n))                              \
    STRAIGHT(char *, strchr, (const char *in, int c), (in, c))                                     \
    STRAIGHT(int, strcmp, (const char *a, const char *b), (a, b))                                  \
    STRAIGHT(char *, strcpy, (char *restrict to, const char *restrict from), (to, from))           \
    STRAIGHT(size_t, strcspn, (const char *in, const char *of), (in, of))                          \
    STRAIGHT(size_t, strlen, (const char *of), (of))                                               \
    STRAIGHT(int, strncmp, (const char *a, const char *b, size_t n), (a, b, n))                    \
    STRAIGHT(size_t, strnlen, (const char *of, size_t n), (of, n))                                 \
    STRAIGHT(char *, strrchr, (const char *in, int c), (in, c))                                    \
    STRAIGHT(size_t, strspn, (const char *in, const char *of), (in, of))                           \
    STRAIGHT(char *, strstr, (const char *in, const char *of), (in, of))                           \
    STRAIGHT(size_t, wcslen, (const wchar_t *of), (of))                                            \
    STRAIGHT(wchar_t *, wmemchr, (const wchar_t *in, wchar_t c, size_t n), (in, c, n))

#define STRAIGHT(ret, name, params, args) static ret first_##name params;
FUNCTIONS
#undef STRAIGHT

static struct {
#define STRAIGHT(ret, name, params, args) ret(*name) params;
    FUNCTIONS
#undef STRAIGHT
} libc = {
#define STRAIGHT(ret, name, params, args) .name = first_##name,
    FUNCTIONS
#undef STRAIGHT
};

static void find(void)
{
#define STRAIGHT(ret, name, params, args) *(void **)&libc.name = iot_libc_function(#name);
    FUNCTIONS
#undef STRAIGHT
}

#define STRAIGHT(ret, name, params, args)                                                          \
    static ret first_##name params                                                                 \
    {                                                                                              \
        find();                                                                                    \
        return libc.name args;                                                                     \
    }                                                                                              \
    ret name params                                                                                \
    {                                                                                              \
        return libc.name args;                                                                     \
    }
FUNCTIONS
