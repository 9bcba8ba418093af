/* What loaded modules export, found without the loader: its functions take locks that the program
 * may hold, and on a miss they make a text by the program's allocator, which a sanitizer's is not
 * ready for as early as this library starts. */
#ifndef IOT_PRELOAD_MODULE_SYMBOLS_H
#define IOT_PRELOAD_MODULE_SYMBOLS_H

#include <link.h>

/* The address of a symbol that the module itself defines; NULL if it has none of that name. Not for
 * one that is being unloaded. */
void *iot_module_symbol(const struct link_map *module, const char *name);

/* Whether libc is behind this library: it was preloaded, and not loaded later by somebody. */
int iot_modules_behind(void);

/* Of libc itself, whoever else has one of that name; NULL if it has none. */
void *iot_libc_function(const char *name);

/* Of the next module behind this library that has a function of that name: that of the version,
 * where it has it, else the one that is for programs which ask for none. NULL if there is none. At
 * the start alone. */
void *iot_next_function(const char *name, const char *version);

#endif
