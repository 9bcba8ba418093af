/* A run cut into columns of the same length: what pictures of it are drawn from. */
#ifndef IOT_ANALYZER_TIME_COLUMNS_H
#define IOT_ANALYZER_TIME_COLUMNS_H

#include <stdint.h>

/* Where the k-th of the columns of [0, wall] begins. */
static inline int64_t iot_column_start(int64_t wall_ns, int columns, int k)
{
    return wall_ns / columns * k + wall_ns % columns * k / columns;
}

/* The column that a moment of [0, wall] lies in. */
int iot_column_of(int64_t wall_ns, int columns, int64_t ns);

/* Spreads `amount` evenly over [t0, t1] and adds it to the columns; what lies behind the run's end
 * is returned. Nothing is lost by rounding. */
int64_t iot_column_spread(int64_t *to, int64_t wall_ns, int columns, int64_t t0, int64_t t1,
                          int64_t amount);

#endif
