/* The command that says more about what makes the run longer, as a shell takes it. */
#include <string.h>

#include "analyzer/find_file.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/text.h"

/* What no shell gives a meaning, wherever in a word it stands. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-"

static bool is_printable(const char *text)
{
    for (size_t n = strlen(text), length; n; text += length, n -= length) {
        length = iot_utf8_length(text, n);
        if (!length || iot_utf8_is_control(text, length) || iot_utf8_is_hidden(text, length))
            return false;
    }
    return true;
}

void iot_write_word(FILE *out, const char *word)
{
    fputs(*word == '-' ? " ./" : " ", out); /* no option: explain takes a path like that, too */
    if (*word && !word[strspn(word, PLAIN)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

/* As much of the end of its path as no other file of the run ends with. */
static const char *name_of(const struct iot_report *r, const struct iot_report_file *f)
{
    uint32_t found = IOT_NO_INDEX;
    if (!strpbrk(f->path, "*?["))
        for (const char *name = f->path + strlen(f->path); name > f->path; name--)
            if (*name && name[-1] == '/' && iot_files_find(r->trace, name, &found, 1) == 1 &&
                found == f->file)
                return name;
    return f->path;
}

static int most_exposed(const struct iot_report *r)
{
    int most = 0;
    for (int o = 1; o < IOT_OBJECTS; o++)
        if (r->objects[o].figures.exposed_ns > r->objects[most].figures.exposed_ns)
            most = o;
    return most;
}

void iot_page_next(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    const struct iot_text_style *style = page->style;
    const struct iot_report_file *f = r->n_files ? &r->files[0] : NULL;
    if (!style->folder || r->total.exposed_ns <= 0 || !is_printable(style->folder) ||
        (style->rules && !is_printable(style->rules)))
        return;
    bool is_file = f && f->file && f->file != IOT_NO_INDEX && f->figures.exposed_ns > 0 &&
                   is_printable(f->path);
    fprintf(page->out, "\nNext: iotrace %s", is_file ? "explain" : "whatif");
    iot_write_word(page->out, style->folder);
    if (is_file)
        iot_write_word(page->out, name_of(r, f));
    else
        fprintf(page->out, " --object %s", iot_object_names[most_exposed(r)]);
    if (style->rules) {
        fputs(" --rules", page->out);
        iot_write_word(page->out, style->rules);
    }
    fputc('\n', page->out);
}
