/* The command that says more about what makes the run longer, as a shell takes it. */
#include <string.h>

#include "analyzer/find_file.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/text.h"
#include "analyzer/verdict.h"

/* A name that is longer is not worth a line, which cannot be broken. */
enum { NAME_BYTES = 80 };

/* As much of the end of its path as no other file of the run ends with. */
static const char *end_of(const struct iot_report *r, const struct iot_report_file *f)
{
    uint32_t found = IOT_NO_INDEX;
    if (!strpbrk(f->path, "*?["))
        for (size_t end = strlen(f->path), n = 1; n <= NAME_BYTES && n < end; n++) {
            const char *name = f->path + end - n;
            if (name[-1] == '/' && iot_files_find(r->trace, name, &found, 1) == 1 &&
                found == f->file)
                return name;
        }
    return f->path;
}

/* Of the object's file that costs most; NULL: it is none, or there is no telling it in a line. */
static const char *name_of_first(const struct iot_report *r, int object)
{
    const struct iot_report_file *f = r->files;
    while (f < r->files + r->n_files && f->object != object)
        f++;
    if (f == r->files + r->n_files || !f->file || f->file == IOT_NO_INDEX ||
        f->figures.exposed_ns <= 0)
        return NULL;
    const char *name = end_of(r, f);
    return strlen(name) <= NAME_BYTES && iot_is_printable(name) ? name : NULL;
}

void iot_page_next(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    const struct iot_text_style *style = page->style;
    if (!style->folder || r->total.exposed_ns <= 0 || !iot_is_printable(style->folder) ||
        (style->rules && !iot_is_printable(style->rules)))
        return;
    /* Of what the verdict speaks of: the file that costs most may be of another object. */
    int object = iot_most_exposed(r);
    const char *name = name_of_first(r, object);
    fprintf(page->out, "\nNext: iotrace %s", name ? "explain" : "whatif");
    iot_write_word(page->out, style->folder);
    if (name)
        iot_write_word(page->out, name);
    else
        fprintf(page->out, " --object %s", iot_object_names[object]);
    if (style->rules) {
        fputs(" --rules", page->out);
        iot_write_word(page->out, style->rules);
    }
    fputc('\n', page->out);
}
