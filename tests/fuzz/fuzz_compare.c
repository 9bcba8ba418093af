/* Any two texts are reports that can be compared, in every format, or one line that says what is
 * wrong.
 *
 * An input is a byte, of which the lowest bits say how many runs each side has; then the base's
 * report, 0, and the candidate's; without the 0 both have the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare_words.h"

enum { RUNS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static int add(struct iot_comparison *c, enum iot_side side, const uint8_t *text, size_t n)
{
    char error[512] = "", *copy = malloc(n + 1);
    require(copy != NULL);
    memcpy(copy, text, n);
    int failed = iot_compare_add_text(c, side, "report", copy, n, error);
    require(!failed || (!strncmp(error, "report: ", 8) && !strchr(error, '\n')));
    free(copy);
    return failed;
}

static void write_all(const struct iot_comparison *c)
{
    static void (*const writers[])(const struct iot_comparison *, FILE *) = {
        iot_compare_write_text,  iot_compare_write_json,   iot_compare_write_markdown,
        iot_compare_write_junit, iot_compare_write_github, iot_compare_write_openmetrics,
        iot_compare_write_csv,
    };
    for (size_t k = 0; k < sizeof writers / sizeof *writers; k++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        require(out != NULL);
        writers[k](c, out);
        require(!fclose(out) && n > 0 && text[n - 1] == '\n');
        free(text);
    }
}

static void check(const struct iot_comparison *c)
{
    size_t states = 0;
    for (int k = 0; k < IOT_STATES; k++)
        states += c->count[k];
    require(states == c->gated && c->undecided <= c->gated && c->failed <= c->count[IOT_REGRESSED]);
    for (size_t i = 0; i < c->n; i++)
        require(c->metrics[i].state < IOT_STATES && c->metrics[i].n_why <= IOT_WHY_LINES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iot_comparison *c = calloc(1, sizeof *c);
    char error[512] = "";
    require(c && !iot_compare_policy_init(&c->policy));
    const uint8_t *base = data + 1, *zero = size > 1 ? memchr(base, 0, size - 1) : NULL;
    size_t n = size ? size - 1 : 0, n_base = zero ? (size_t)(zero - base) : n;
    const uint8_t *other = zero ? zero + 1 : base;
    size_t n_other = zero ? n - n_base - 1 : n;
    int failed = !size;
    for (int k = 0; !failed && k < 1 + data[0] % RUNS; k++)
        failed = add(c, IOT_BASE, base, n_base) || add(c, IOT_CANDIDATE, other, n_other);
    if (!failed) {
        if (iot_compare_check(c, error))
            require(*error && !strchr(error, '\n'));
        require(!iot_compare_judge(c, 0, error));
        check(c);
        write_all(c);
    }
    iot_compare_free(c);
    free(c);
    return 0;
}
