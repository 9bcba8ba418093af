/* Functions found in the images of modules are those that the loader finds. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "preload/module_symbols.h"

static const struct {
    const char *name, *version;
} wrapped[] = {
#define EVERY(ret, sym, params, version) {#sym, version},
#include "preload/every.def"
};

enum { WRAPPED = sizeof wrapped / sizeof *wrapped };

/* A sanitizer before libc has no versions: the loader skips it where one is asked for, and that is
 * not wanted. */
static int as_the_loader(const char *name, const char *version, void *found)
{
    void *plain = dlsym(RTLD_NEXT, name),
         *other = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    if (!plain && !other)
        other = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
    if (!plain && !other)
        other = dlvsym(RTLD_NEXT, name, "GLIBC_2.17");
    return found == plain || (other && found == other);
}

Test(module_symbols, as_the_loader_finds_them)
{
    cr_assert(iot_modules_behind());
    size_t there = 0;
    for (size_t i = 0; i < WRAPPED; i++) {
        void *found = iot_next_function(wrapped[i].name, wrapped[i].version);
        cr_expect(as_the_loader(wrapped[i].name, wrapped[i].version, found), "%s is %p",
                  wrapped[i].name, found);
        there += found != NULL;
    }
    cr_expect(there > WRAPPED * 9 / 10, "%zu of %d are there", there, WRAPPED);
}

Test(module_symbols, of_several_for_several_processors)
{
    size_t (*length)(const char *) = NULL;
    *(void **)&length = iot_libc_function("strlen");
    cr_assert(length);
    cr_expect_eq(length("abcde"), 5);
    int (*compare)(const void *, const void *, size_t) = NULL;
    *(void **)&compare = iot_libc_function("memcmp");
    cr_assert(compare);
    cr_expect(compare("abc", "abd", 3) < 0);
}

Test(module_symbols, what_is_not_there)
{
    cr_expect_null(iot_next_function("no_such_function", NULL));
    cr_expect_null(iot_next_function("no_such_function", "GLIBC_2.2.5"));
    cr_expect_null(iot_libc_function("no_such_function"));
    /* Of a version that there is not, the one that asks for none. */
    cr_expect_eq(iot_next_function("gnu_get_libc_version", "GLIBC_9.9"),
                 dlsym(RTLD_NEXT, "gnu_get_libc_version"));
}
