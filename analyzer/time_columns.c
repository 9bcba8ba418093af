#include "analyzer/time_columns.h"

int iot_column_of(int64_t wall_ns, int columns, int64_t ns)
{
    if (wall_ns <= 0 || ns <= 0)
        return 0;
    int k = (int)((double)ns / (double)wall_ns * columns);
    k = k < columns ? k : columns - 1;
    while (k > 0 && iot_column_start(wall_ns, columns, k) > ns)
        k--;
    while (k + 1 < columns && iot_column_start(wall_ns, columns, k + 1) <= ns)
        k++;
    return k;
}

int64_t iot_column_spread(int64_t *to, int64_t wall_ns, int columns, int64_t t0, int64_t t1,
                          int64_t amount)
{
    int64_t left = amount;
    if (t0 > wall_ns || wall_ns <= 0)
        return amount;
    for (int k = iot_column_of(wall_ns, columns, t0); k < columns; k++) {
        int64_t end = iot_column_start(wall_ns, columns, k + 1);
        if (t1 <= end || t1 == t0) {
            to[k] += left;
            return 0;
        }
        int64_t share = (int64_t)((__int128)amount * (end - t0) / (t1 - t0)) - (amount - left);
        to[k] += share;
        left -= share;
    }
    return left;
}
