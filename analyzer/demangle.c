#include "analyzer/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096 };

typedef char *demangler(const char *name, char *buffer, size_t *bytes, int *status);

/* NULL: there is none. It stays loaded. */
static demangler *find(void)
{
    static demangler *found;
    static int looked;
    if (looked++)
        return found;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        *(void **)&found = dlsym(library, "__cxa_demangle");
    return found;
}

static int closes(char c)
{
    return c == ')' || c == '>' || c == '}' || c == ']';
}

static int opens(char c)
{
    return c == '(' || c == '<' || c == '{' || c == '[';
}

/* Cuts "(int) const" off: the last parenthesis that is not within another, and what is behind it.
 */
static void cut_parameters(char *text)
{
    char *at = strrchr(text, ')');
    int depth = 0;
    for (; at && at >= text; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (!depth)
            break;
    }
    if (at && at > text && at[-1] != ':') /* "(anonymous namespace)::f" begins with one */
        *at = '\0';
}

/* What is in front of the last blank that is in no brackets: what a template returns. */
static char *behind_result(char *text)
{
    char *name = text;
    int depth = 0;
    if (strstr(text, "operator"))
        return text;
    for (char *at = text; *at; at++) {
        depth += opens(*at) - closes(*at);
        if (*at == ' ' && depth == 0)
            name = at + 1;
    }
    return *name ? name : text;
}

const char *iot_demangle(const char *name, char *to, size_t bytes)
{
    int status = 0;
    if (strncmp(name, "_Z", 2) != 0 || strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES || !find())
        return name;
    char *text = find()(name, NULL, NULL, &status);
    if (!text || status) {
        free(text);
        return name;
    }
    cut_parameters(text);
    const char *plain = behind_result(text);
    size_t n = strnlen(plain, bytes - 1);
    memcpy(to, plain, n);
    to[n] = '\0';
    free(text);
    return n ? to : name;
}
