#include "analyzer/report_markdown.h"

#include <string.h>

#include "analyzer/people.h"
#include "analyzer/text.h"
#include "analyzer/verdict.h"

/* Nothing begins with these where they stand: not at the beginning of a line. */
static int is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr(" /.,-=;%()", c) != NULL;
}

static void put_byte(FILE *out, unsigned char byte)
{
    fprintf(out, "&#92;x%02x", byte);
}

void iot_write_markdown(FILE *out, const char *text)
{
    for (size_t left = strlen(text); left;) {
        size_t n = iot_utf8_length(text, left);
        if (n == 0) {
            n = 1;
            put_byte(out, (unsigned char)*text);
        } else if (iot_utf8_is_control(text, n)) {
            for (size_t i = 0; i < n; i++)
                put_byte(out, (unsigned char)text[i]);
        } else if (n == 1 && !is_plain(*text)) {
            fprintf(out, "&#%d;", *text);
        } else {
            fwrite(text, 1, n, out);
        }
        text += n;
        left -= n;
    }
}

static void put_path(FILE *out, const char *path)
{
    fputs("<code>", out);
    iot_write_markdown(out, path);
    fputs("</code>", out);
}

static void put_rate(FILE *out, const struct iot_figures *f)
{
    if (f->fit.known && f->fit.ns_per_byte > 0)
        fprintf(out, "%.3g", 1 / f->fit.ns_per_byte);
    else
        fputc('-', out);
    if (f->fit.known)
        fprintf(out, " | %s |", iot_people_time((int64_t)(f->fit.latency_ns + 0.5)).text);
    else
        fputs(" | - |", out);
}

static void put_objects(const struct iot_report *r, FILE *out)
{
    fputs("| object | files | bytes | calls | service | exposed | hidden | recoverable | "
          "serialization | fitted GB/s | fixed latency | page cache |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
          out);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &r->objects[o].figures;
        fprintf(out, "| %s | %s | %s | %s | %s |", iot_object_names[o],
                iot_people_count((int64_t)r->objects[o].files).text,
                iot_people_bytes(f->bytes).text,
                iot_people_count(f->data_ops + f->metadata_ops + f->sync_ops).text,
                iot_people_time(f->service_ns).text);
        fprintf(out, " %s | %s | %s | %s | ", iot_people_time(f->exposed_ns).text,
                iot_people_time(f->service_ns - f->exposed_ns).text,
                iot_people_time(f->recoverable_ns).text,
                f->coded ? iot_people_time(f->serialization_ns).text : "-");
        put_rate(out, f);
        fprintf(out, " %s |\n", iot_cache_scope(f));
    }
}

static void put_files(const struct iot_report *r, FILE *out, size_t files)
{
    size_t n = r->n_files < files ? r->n_files : files;
    fputs("\n## Files\n\n"
          "| exposed | service | bytes | object | file | why | page cache |\n"
          "|--:|--:|--:|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < n; i++) {
        const struct iot_report_file *f = &r->files[i];
        fprintf(out, "| %s | %s | %s | %s | ", iot_people_time(f->figures.exposed_ns).text,
                iot_people_time(f->figures.service_ns).text,
                iot_people_bytes(f->figures.bytes).text, iot_object_names[f->object]);
        put_path(out, f->path);
        fputs(" | ", out);
        iot_write_markdown(out, f->why);
        fprintf(out, " | %s |\n", iot_cache_scope(&f->figures));
    }
    if (n < r->n_files)
        fprintf(out, "\n%zu more files; `--top N` lists N of them.\n", r->n_files - n);
}

static void put_list(FILE *out, const char *heading, const char *const *texts, size_t n)
{
    fprintf(out, "\n## %s\n\n", heading);
    for (size_t i = 0; i < n; i++) {
        fputs("- ", out);
        iot_write_markdown(out, texts[i]);
        fputs(".\n", out);
    }
}

void iot_report_write_markdown(const struct iot_report *r, FILE *out, size_t files)
{
    char verdict[IOT_VERDICT_BYTES];
    iot_verdict(r, verdict);
    fputs("# I/O of ", out);
    fputs("<code>", out);
    for (size_t i = 0; r->run.command[i]; i++) {
        fputs(i ? " " : "", out);
        iot_write_markdown(out, r->run.command[i]);
    }
    fputs("</code>\n\n**", out);
    iot_write_markdown(out, verdict);
    fputs("**\n\n", out);
    put_objects(r, out);
    put_files(r, out, files);
    put_list(out, "Not seen", r->run.not_seen, r->run.n_not_seen);
    put_list(out, "Not proved", r->evidence, r->n_evidence);
}
