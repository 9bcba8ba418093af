/* What a loaded module exports, found without the loader: its functions take locks that the program may hold. */
#ifndef IOT_PRELOAD_MODULE_SYMBOLS_H
#define IOT_PRELOAD_MODULE_SYMBOLS_H

#include <link.h>

/* The address of a symbol that the module itself defines; NULL if it has none of that name. Not for the
 * kernel's own module, and not for one that is being unloaded. */
void *iot_module_symbol(const struct link_map *module, const char *name);

#endif
