/* What loaded modules export, found without the loader: its functions take locks that the program may hold,
 * and where they find nothing they allocate. */
#ifndef IOT_PRELOAD_MODULE_SYMBOLS_H
#define IOT_PRELOAD_MODULE_SYMBOLS_H

#include <link.h>

/* The address of a symbol that the module itself defines; NULL if it has none of that name. Not for the
 * kernel's own module, and not for one that is being unloaded. */
void *iot_module_symbol(const struct link_map *module, const char *name);

/* The function of that name which a program gets that asks for no version; NULL if the module has none. */
void *iot_module_function(const struct link_map *module, const char *name);

/* Whether the module has the symbol with that version, or, where `version` is NULL, as one that asks for none
 * finds it. */
int iot_module_has(const struct link_map *module, const char *name, const char *version);

/* The module that has the symbol, in whatever version: `first` or the next behind it; NULL if none has. */
const struct link_map *iot_modules_with(const struct link_map *first, const char *name);

/* What the loader looks through behind this library, libc with it; NULL where this library was not preloaded,
 * but loaded by somebody later. */
const struct link_map *iot_modules_behind(void);

/* libc itself. */
const struct link_map *iot_modules_libc(void);

#endif
