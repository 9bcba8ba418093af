/* What bytes of unknown origin (paths, names) may do to a terminal or a JSON reader, decided in
 * one place. */
#ifndef IOT_ANALYZER_TEXT_H
#define IOT_ANALYZER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The length (1 to 4) of the UTF-8 sequence that text starts with, or 0 if its first byte starts
 * none: no overlong form, no surrogate, nothing above U+10FFFF. n is at least 1. */
size_t iot_utf8_length(const char *text, size_t n);

/* Whether the valid sequence of that length is a control character: C0, DEL or C1 (U+0080 to
 * U+009F; terminals obey those as well). */
bool iot_utf8_is_control(const char *text, size_t length);

/* Whether it is a character that is not seen, but turns lines round, breaks them, or makes two
 * names look like one. */
bool iot_utf8_is_hidden(const char *text, size_t length);

/* Whether it is valid UTF-8 in which none of those is: what can be shown, and copied, as it is. */
bool iot_is_printable(const char *text);

/* Writes n bytes with every byte of a control character or of what is not UTF-8 as \xNN: one
 * line, whatever they are. Write errors stay in ferror(out). */
void iot_write_printable(FILE *out, const char *text, size_t n);

/* How many columns of a terminal iot_write_printable takes: two for what may be wide. */
size_t iot_printable_columns(const char *text, size_t n);

/* The same as iot_write_printable in at most so many columns (8 or more): of what is too long,
 * something before the middle gives way to "...", since the end of a path tells most. Returns the
 * columns it took. */
size_t iot_write_shortened(FILE *out, const char *text, size_t n, size_t columns);

/* Words on as many lines of `columns` as they need, the second and further ones indented, and a
 * line's end. The first line is taken up to `column` already. A word longer than a line is
 * shortened. */
void iot_write_wrapped(FILE *out, const char *text, size_t column, size_t indent, size_t columns);

/* A blank and a word of a command line, in the quotes of a shell if it needs any. */
void iot_write_word(FILE *out, const char *word);

#endif
