/* Texts that differ in their numbers alone, and what lies between the least and the most of each.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/partial_rows.h"

static size_t digits(const char *text)
{
    return *text == '#' ? 1 : strspn(text, "0123456789");
}

size_t iot_number_length(const char *text)
{
    size_t n = digits(text), more;
    while (n && text[n] == '.' && (more = digits(text + n + 1)))
        n += 1 + more;
    return n;
}

/* By value, as far as there is one; no two that differ are equal. */
static int compare(const char *x, size_t n_x, const char *y, size_t n_y)
{
    const char *const x_at = x, *const y_at = y;
    size_t zeros_x = strspn(x, "0"), zeros_y = strspn(y, "0");
    size_t whole_x = zeros_x < n_x ? digits(x + zeros_x) : 0;
    size_t whole_y = zeros_y < n_y ? digits(y + zeros_y) : 0;
    if (whole_x != whole_y)
        return whole_x < whole_y ? -1 : 1;
    int order = strncmp(x + zeros_x, y + zeros_y, whole_x);
    x += zeros_x + whole_x;
    y += zeros_y + whole_y;
    size_t rest_x = n_x - (size_t)(x - x_at), rest_y = n_y - (size_t)(y - y_at);
    if (!order)
        order = strncmp(x, y, rest_x < rest_y ? rest_x : rest_y);
    if (!order && rest_x != rest_y)
        order = rest_x < rest_y ? -1 : 1;
    return order ? order : (n_x > n_y) - (n_x < n_y);
}

/* Whether none of y's numbers comes before x's. */
static int has_all(const char *x, const char *y, int way)
{
    while (*x) {
        size_t n_x = iot_number_length(x), n_y = iot_number_length(y);
        if (n_x && compare(x, n_x, y, n_y) * way < 0)
            return 0;
        x += n_x ? n_x : 1;
        y += n_x ? n_y : 1;
    }
    return 1;
}

const char *iot_text_of_numbers(const char *x, const char *y, int way, struct iot_arena *arena)
{
    if (has_all(x, y, way))
        return x;
    char *text = iot_arena_take(arena, strlen(x) + strlen(y) + 1), *to = text;
    while (text && *x) {
        size_t n_x = iot_number_length(x), n_y = iot_number_length(y);
        if (!n_x) {
            *to++ = *x++;
            y++;
            continue;
        }
        int first = compare(x, n_x, y, n_y) * way >= 0;
        memcpy(to, first ? x : y, first ? n_x : n_y);
        to += first ? n_x : n_y;
        x += n_x;
        y += n_y;
    }
    if (text)
        *to = '\0';
    return text;
}

char *iot_named_row_span(const struct iot_named_row *row)
{
    static const char between[] = " to ";
    const char *least = row->texts[0], *most = row->shown;
    size_t room = (strlen(least) + strlen(most)) * (sizeof between + 1) + 1;
    char *text = malloc(room), *to = text, before = ' ';
    while (text && *least) {
        size_t n = iot_number_length(least), n_most = iot_number_length(most);
        if (!n) {
            before = *to++ = *least++;
            most++;
            continue;
        }
        if (n == n_most && !strncmp(least, most, n)) {
            memcpy(to, least, n);
            to += n;
        } else if (isalnum((unsigned char)before) || strchr("_/-.#", before)) {
            *to++ = '#'; /* of a name: no amount */
        } else {
            memcpy(to, least, n);
            memcpy(to + n, between, sizeof between - 1);
            memcpy(to + n + sizeof between - 1, most, n_most);
            to += n + sizeof between - 1 + n_most;
        }
        before = '0';
        least += n;
        most += n_most;
    }
    if (text)
        *to = '\0';
    return text;
}
