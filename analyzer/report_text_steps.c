/* Steps and advice for people. */
#include "analyzer/people.h"
#include "analyzer/report_text_parts.h"
#include "analyzer/report_words.h"

/* --- steps --- */

static void put_phases(const struct iot_page *page)
{
    const struct iot_phases *phases = page->report->phases;
    fprintf(page->out, "%-10s %9s %6s %9s %9s %9s %9s\n", "phase", "time", "steps", "bytes",
            "service", "exposed", "hidden");
    for (size_t p = 0; p < phases->n; p++) {
        const struct iot_phase *phase = &phases->phases[p];
        struct iot_phase_sum sum = iot_phase_sum(phase);
        fprintf(page->out, "%-10s %9s %6s %9s %9s %9s %9s\n", phase->name,
                iot_people_time(phase->end_ns - phase->start_ns).text,
                phase->steps ? iot_people_count((int64_t)phase->steps).text : "-",
                iot_people_bytes(sum.bytes).text, iot_people_time(sum.service_ns).text,
                iot_people_time(sum.exposed_ns).text,
                iot_people_time(sum.service_ns - sum.exposed_ns).text);
    }
}

void iot_page_steps(const struct iot_page *page)
{
    const struct iot_phase *steady = iot_words_steady(page->report);
    char text[IOT_SENTENCE_BYTES];
    if (!steady)
        return;
    fputc('\n', page->out);
    iot_page_heading(page, "Steps");
    iot_words_steps(page->report, steady, text);
    iot_page_wrapped(page, text, 0);
    put_phases(page);
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (iot_words_per_step(steady, o, text))
            iot_page_wrapped(page, text, 0);
}

/* --- what to do --- */

void iot_page_advice(const struct iot_page *page)
{
    const struct iot_report *r = page->report;
    char text[IOT_SENTENCE_BYTES];
    fputc('\n', page->out);
    iot_page_heading(page, "What to do");
    for (size_t i = 0; i < r->advice->n; i++) {
        iot_words_advice(&r->advice->advice[i], text);
        iot_page_point(page, text);
    }
    for (int o = 0; o < IOT_OBJECTS; o++)
        if (iot_words_leave(r, o, text))
            iot_page_point(page, text);
    if (!r->advice->n)
        iot_page_point(page, IOT_WORDS_NO_ADVICE);
}
