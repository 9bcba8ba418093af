/* The parts of a page, from the files beside this one: embed.c puts them into the command. */
#ifndef IOT_ANALYZER_HTML_PARTS_H
#define IOT_ANALYZER_HTML_PARTS_H

#include <stddef.h>

struct iot_html_part {
    const char *text;
    size_t n;
    const char *sha256; /* in base64, as a content security policy names it */
};

extern const struct iot_html_part iot_html_style;
extern const struct iot_html_part iot_html_body, iot_html_script; /* of a report */
extern const struct iot_html_part iot_html_compare_body, iot_html_compare_script;

#endif
