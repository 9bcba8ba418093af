#include "analyzer/text.h"

#include <string.h>

/* First bytes, and what the second byte may be: the well-formed sequences of the Unicode
 * standard. Third and fourth bytes are always 80 to bf. */
static const struct {
    unsigned char first_low, first_high, second_low, second_high, length;
} sequences[] = {
    {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t iot_utf8_length(const char *text, size_t n)
{
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        size_t length = sequences[i].length;
        if (bytes[0] < sequences[i].first_low || bytes[0] > sequences[i].first_high)
            continue;
        if (length == 1)
            return 1;
        if (length > n || bytes[1] < sequences[i].second_low || bytes[1] > sequences[i].second_high)
            return 0;
        for (size_t k = 2; k < length; k++)
            if (bytes[k] < 0x80 || bytes[k] > 0xbf)
                return 0;
        return length;
    }
    return 0;
}

bool iot_utf8_is_control(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (length == 1)
        return bytes[0] < 0x20 || bytes[0] == 0x7f;
    return length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0;
}

bool iot_utf8_is_hidden(const char *text, size_t length)
{
    static const struct {
        const char *first, *last;
    } ranges[] = {
        {"\xd8\x9c", "\xd8\x9c"},                 /* U+061C */
        {"\xe2\x80\x8b", "\xe2\x80\x8f"},         /* U+200B to U+200F */
        {"\xe2\x80\xa8", "\xe2\x80\xae"},         /* U+2028 to U+202E */
        {"\xe2\x81\xa0", "\xe2\x81\xaf"},         /* U+2060 to U+206F */
        {"\xef\xbb\xbf", "\xef\xbb\xbf"},         /* U+FEFF */
        {"\xf3\xa0\x80\x80", "\xf3\xa0\x81\xbf"}, /* U+E0000 to U+E007F */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (strlen(ranges[i].first) == length && memcmp(text, ranges[i].first, length) >= 0 &&
            memcmp(text, ranges[i].last, length) <= 0)
            return true;
    return false;
}

/* The next piece that is shown as one: a character, or a byte or control character as \xNN. */
static size_t piece(const char *text, size_t n, size_t *columns, bool *escaped)
{
    size_t length = iot_utf8_length(text, n);
    *escaped = !length || iot_utf8_is_control(text, length) || iot_utf8_is_hidden(text, length);
    if (*escaped) {
        length += !length;
        *columns = 4 * length;
        return length;
    }
    /* From U+1100 on there are scripts of two columns a character. */
    *columns = length > 3 || (length == 3 && (unsigned char)text[0] >= 0xe1 &&
                              ((unsigned char)text[0] > 0xe1 || (unsigned char)text[1] >= 0x84))
                   ? 2
                   : 1;
    return length;
}

bool iot_is_printable(const char *text)
{
    bool escaped = false;
    for (size_t n = strlen(text), length, columns; n && !escaped; text += length, n -= length)
        length = piece(text, n, &columns, &escaped);
    return !escaped;
}

void iot_write_printable(FILE *out, const char *text, size_t n)
{
    size_t columns, length;
    bool escaped;
    for (size_t i = 0; i < n; i += length) {
        length = piece(text + i, n - i, &columns, &escaped);
        if (!escaped)
            fwrite(text + i, 1, length, out);
        for (size_t k = 0; k < length && escaped; k++)
            fprintf(out, "\\x%02x", (unsigned char)text[i + k]);
    }
}

size_t iot_printable_columns(const char *text, size_t n)
{
    size_t sum = 0, columns;
    bool escaped;
    for (size_t i = 0; i < n; sum += columns)
        i += piece(text + i, n - i, &columns, &escaped);
    return sum;
}

size_t iot_write_shortened(FILE *out, const char *text, size_t n, size_t columns)
{
    static const char gap[] = "...";
    size_t whole = iot_printable_columns(text, n), head = 0, tail = 0, taken = 0, one;
    bool escaped;

    if (whole <= columns) {
        iot_write_printable(out, text, n);
        return whole;
    }
    size_t room = columns - (sizeof gap - 1);
    for (size_t length; head < n; head += length, taken += one) {
        length = piece(text + head, n - head, &one, &escaped);
        if (taken + one > room / 4)
            break;
    }
    size_t left = whole;
    for (; tail < n && left > room - taken; left -= one)
        tail += piece(text + tail, n - tail, &one, &escaped);
    iot_write_printable(out, text, head);
    fputs(gap, out);
    iot_write_printable(out, text + tail, n - tail);
    return taken + (sizeof gap - 1) + left;
}

void iot_write_wrapped(FILE *out, const char *text, size_t column, size_t indent, size_t columns)
{
    bool first = true;
    while (*text) {
        size_t n = strcspn(text, " ");
        size_t width = iot_printable_columns(text, n);
        if (!first && column + 1 + width > columns) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        column += iot_write_shortened(out, text, n, columns - (first ? column : indent));
        first = false;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* What no shell gives a meaning, wherever in a word it stands; but '=' at its beginning, behind
 * which zsh looks for a command. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-"

void iot_write_word(FILE *out, const char *word)
{
    fputs(*word == '-' ? " ./" : " ", out); /* no option: explain takes a path like that, too */
    if (*word && *word != '=' && !word[strspn(word, PLAIN)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}
