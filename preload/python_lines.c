#include "preload/python_lines.h"

static int of_steps(const uint8_t *table, size_t n, int line, int at)
{
    int from = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        from += table[i]; /* tables are too short for these to overflow */
        if (from > at)
            break;
        line += (int8_t)table[i + 1];
    }
    return line;
}

static int of_ranges(const uint8_t *table, size_t n, int line, int at)
{
    enum { NO_LINE = -128 };
    int to = 0, known = line;
    for (size_t i = 0; i + 1 < n; i += 2) {
        int step = (int8_t)table[i + 1];
        to += table[i];
        line += step == NO_LINE ? 0 : step;
        known = step == NO_LINE ? known : line;
        if (at < to)
            break;
    }
    return known;
}

/* Six bits a byte, the low ones first. What is too long for a line is cut. */
static unsigned varint(const uint8_t *table, size_t n, size_t *i)
{
    unsigned value = 0;
    for (unsigned shift = 0; *i < n; shift += 6) {
        unsigned byte = table[(*i)++];
        if (shift < 30)
            value |= (byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int of_locations(const uint8_t *table, size_t n, int line, int at)
{
    enum { BEGINS = 0x80, ONE_LINE = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14, UNIT = 2 };
    int to = 0, known = line;
    for (size_t i = 0; i < n;) {
        unsigned head = table[i++], kind = head >> 3 & 15;
        to += UNIT * (int)((head & 7) + 1);
        int step = 0;
        if (kind == NO_COLUMNS || kind == LONG) {
            unsigned v = varint(table, n, &i);
            step = v & 1 ? -(int)(v >> 1) : (int)(v >> 1);
        } else if (kind >= ONE_LINE && kind <= ONE_LINE_LAST) {
            step = (int)kind - ONE_LINE;
        }
        line = (int)((unsigned)line + (unsigned)step);
        if (kind <= LONG)
            known = line;
        if (at < to)
            break;
        while (i < n && !(table[i] & BEGINS))
            i++;
    }
    return known;
}

int iot_python_line(enum iot_python_lines kind, const uint8_t *table, size_t n, int first, int at)
{
    if (at < 0)
        return first;
    return kind == IOT_PYTHON_STEPS    ? of_steps(table, n, first, at)
           : kind == IOT_PYTHON_RANGES ? of_ranges(table, n, first, at)
                                       : of_locations(table, n, first, at);
}
