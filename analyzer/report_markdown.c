#include "analyzer/report_markdown.h"

#include <string.h>

#include "analyzer/people.h"
#include "analyzer/report_gpu.h"
#include "analyzer/report_words.h"
#include "analyzer/sum.h"
#include "analyzer/text.h"
#include "analyzer/verdict.h"

/* A comment on GitHub has at most 65536 characters: whatever a run names, a report with 20 files is
 * below that. An escaped byte takes up to six. */
enum { NAME_BYTES = 120, SENTENCE_BYTES = 500, ARGUMENTS_SHOWN = 16 };

/* Nothing begins with these where they stand: not at the beginning of a line. */
static int is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr(" /.,-=;%()", c) != NULL;
}

/* A colon that no address and no emoji can go on from. */
static int is_stop(const char *text, size_t left)
{
    return *text == ':' && left > 1 && text[1] == ' ';
}

static void put_byte(FILE *out, unsigned char byte)
{
    fprintf(out, "&#92;x%02x", byte);
}

static void write_bytes(FILE *out, const char *text, size_t left)
{
    while (left) {
        size_t n = iot_utf8_length(text, left);
        if (n == 0) {
            n = 1;
            put_byte(out, (unsigned char)*text);
        } else if (iot_utf8_is_control(text, n) || iot_utf8_is_hidden(text, n)) {
            for (size_t i = 0; i < n; i++)
                put_byte(out, (unsigned char)text[i]);
        } else if (n == 1 && !is_plain(*text) && !is_stop(text, left)) {
            fprintf(out, "&#%d;", *text);
        } else {
            fwrite(text, 1, n, out);
        }
        text += n;
        left -= n;
    }
}

/* Not in the middle of a character. */
static size_t whole(const char *text, size_t at)
{
    while (at && (text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

void iot_write_markdown(FILE *out, const char *text, size_t most)
{
    size_t n = strlen(text);
    if (n <= most) {
        write_bytes(out, text, n);
        return;
    }
    write_bytes(out, text, whole(text, most / 3));
    fputs("...", out);
    n = whole(text, n - most / 3 * 2);
    write_bytes(out, text + n, strlen(text + n));
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

/* Words that may quote names of the run, as a paragraph or a line of a list. */
static void put_sentence(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    iot_write_markdown(out, text, SENTENCE_BYTES);
    fputs(after, out);
}

static void put_row(FILE *out, const char *name, const char *files, const struct iot_figures *f)
{
    fprintf(out, "| %s | %s | %s | %s | %s |", name, files, iot_people_bytes(f->bytes).text,
            iot_people_count(f->data_ops + f->metadata_ops + f->sync_ops).text,
            iot_people_time(f->service_ns).text);
    fprintf(out, " %s | %s | %s | %s | ", iot_people_time(f->exposed_ns).text,
            iot_people_time(f->service_ns - f->exposed_ns).text,
            iot_people_time(f->recoverable_ns).text,
            f->coded ? iot_people_time(f->serialization_ns).text : "-");
    put_rate(out, f);
}

void iot_markdown_ledger(FILE *out, const struct iot_report_object *objects,
                         const struct iot_figures *total)
{
    uint64_t files = 0;
    fputs("| object | files | bytes | calls | service | exposed | hidden | recoverable | "
          "serialization | fitted GB/s | fixed latency | page cache |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
          out);
    for (int o = 0; o < IOT_OBJECTS; o++) {
        const struct iot_figures *f = &objects[o].figures;
        files = iot_sum_unsigned(files, objects[o].files);
        put_row(out, iot_object_names[o], iot_people_count((int64_t)objects[o].files).text, f);
        fprintf(out, " %s |\n", iot_cache_scope(f));
    }
    put_row(out, "total", iot_people_count((int64_t)files).text, total);
    fputs(" |\n", out);
}

/* --- steps --- */

static void put_phases(const struct iot_report *r, FILE *out)
{
    fputs("\n| phase | time | steps | bytes | service | exposed | hidden |\n"
          "|---|--:|--:|--:|--:|--:|--:|\n",
          out);
    for (size_t p = 0; p < r->phases->n; p++) {
        const struct iot_phase *phase = &r->phases->phases[p];
        struct iot_phase_sum sum = iot_phase_sum(phase);
        fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", phase->name,
                iot_people_time(phase->end_ns - phase->start_ns).text,
                phase->steps ? iot_people_count((int64_t)phase->steps).text : "-",
                iot_people_bytes(sum.bytes).text, iot_people_time(sum.service_ns).text,
                iot_people_time(sum.exposed_ns).text,
                iot_people_time(sum.service_ns - sum.exposed_ns).text);
    }
}

static void put_steps(const struct iot_report *r, FILE *out)
{
    const struct iot_phase *steady = iot_words_steady(r);
    char text[IOT_SENTENCE_BYTES];
    if (!steady)
        return;
    fputs("\n## Steps\n\n", out);
    iot_words_steps(r, steady, text);
    put_sentence(out, "", text, "\n");
    put_phases(r, out);
    fputc('\n', out);
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (iot_words_per_step(steady, o, text))
            put_sentence(out, "- ", text, "\n");
}

/* --- files --- */

static void put_name(FILE *out, const char *path)
{
    fputs("<code>", out);
    iot_write_markdown(out, path, NAME_BYTES);
    fputs("</code>", out);
}

static void put_file(const struct iot_report *r, const struct iot_report_file *f, FILE *out)
{
    fprintf(out, "| %s | %s | %s | %s | ", iot_people_time(f->figures.exposed_ns).text,
            iot_people_time(f->figures.service_ns).text, iot_people_bytes(f->figures.bytes).text,
            iot_object_names[f->object]);
    if (f->rest)
        fprintf(out, "%s", iot_people_many((int64_t)f->rest, "more file").text);
    else
        put_name(out, iot_words_from_here(r, f->path));
    put_sentence(out, " | ", f->why, "");
    fprintf(out, " | %s |\n", iot_cache_scope(&f->figures));
}

static void put_files(const struct iot_report *r, FILE *out, size_t files)
{
    size_t n = r->n_files < files ? r->n_files : files;
    if (!n)
        return;
    fputs("\n## Files\n\n"
          "| exposed | service | bytes | object | file | why | page cache |\n"
          "|--:|--:|--:|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < n; i++)
        put_file(r, &r->files[i], out);
    if (n < r->n_files)
        fprintf(out, "\n%s; `--top N` lists N files.\n",
                iot_people_many((int64_t)(r->n_files - n), "more file").text);
}

/* --- lists --- */

static void put_lines(const struct iot_report *r, FILE *out, const char *heading,
                      bool (*line)(const struct iot_report *, size_t, char[IOT_SENTENCE_BYTES]))
{
    char text[IOT_SENTENCE_BYTES];
    for (size_t i = 0; line(r, i, text); i++) {
        if (i == 0)
            fprintf(out, "\n## %s\n\n", heading);
        put_sentence(out, "- ", text, "\n");
    }
}

static void put_advice(const struct iot_report *r, FILE *out)
{
    char text[IOT_SENTENCE_BYTES];
    fputs("\n## What to do\n\n", out);
    for (size_t i = 0; i < r->advice->n; i++) {
        iot_words_advice(&r->advice->advice[i], text);
        put_sentence(out, "- ", text, "\n");
    }
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (iot_words_leave(r, o, text))
            put_sentence(out, "- ", text, "\n");
    if (!r->advice->n)
        put_sentence(out, "- ", IOT_WORDS_NO_ADVICE, "\n");
}

static void put_list(FILE *out, const char *heading, const char *const *texts, size_t n)
{
    fprintf(out, "\n## %s\n\n", heading);
    for (size_t i = 0; i < n; i++)
        put_sentence(out, "- ", texts[i], ".\n");
}

static void put_command(const struct iot_report *r, FILE *out)
{
    const char *const *command = r->run.command;
    fputs("# I/O of <code>", out);
    for (size_t i = 0; command[i] && i < ARGUMENTS_SHOWN; i++) {
        fputs(i ? " " : "", out);
        iot_write_markdown(out, command[i], NAME_BYTES);
        if (command[i + 1] && i + 1 == ARGUMENTS_SHOWN)
            fputs(" ...", out);
    }
    fputs("</code>\n\n", out);
}

void iot_report_write_markdown(const struct iot_report *r, FILE *out, size_t files)
{
    char text[IOT_SENTENCE_BYTES], verdict[IOT_VERDICT_BYTES];
    iot_verdict(r, verdict);
    put_command(r, out);
    put_sentence(out, "**", verdict, "**\n\n");
    iot_words_composition(r, text);
    put_sentence(out, "", text, "\n\n");
    iot_markdown_ledger(out, r->objects, &r->total);
    if (iot_words_faults(r, text))
        put_sentence(out, "\n", text, "\n");
    put_steps(r, out);
    iot_report_markdown_ranges(r, out);
    put_lines(r, out, "GPUs", iot_words_gpu);
    put_files(r, out, files);
    put_lines(r, out, "Where calls are made", iot_words_site);
    put_lines(r, out, "Who waited for whom", iot_words_waited);
    put_lines(r, out, "Queues", iot_words_queue);
    if (iot_words_pipes(r, text))
        put_sentence(out, "\n", text, "\n");
    put_advice(r, out);
    put_list(out, "Not seen", r->run.not_seen, r->run.n_not_seen);
    put_list(out, "Not proved", r->evidence, r->n_evidence);
}
