/* Memory that is given back all at once. Not for threads. */
#ifndef IOT_ANALYZER_ARENA_H
#define IOT_ANALYZER_ARENA_H

#include <stddef.h>

struct iot_arena;

/* NULL: out of memory. */
struct iot_arena *iot_arena_new(void);
void iot_arena_free(struct iot_arena *arena);

/* Aligned for any of our types, not cleared. NULL: out of memory. */
void *iot_arena_take(struct iot_arena *arena, size_t bytes);

/* A copy of n bytes with a NUL behind them. NULL: out of memory. */
char *iot_arena_text(struct iot_arena *arena, const char *text, size_t n);

/* What was taken from `other` becomes part of `arena`; `other` is freed. */
void iot_arena_adopt(struct iot_arena *arena, struct iot_arena *other);

#endif
