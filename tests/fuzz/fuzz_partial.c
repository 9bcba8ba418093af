/* Any bytes are a partial result, or one line that says what is wrong. What is read is written and
 * read again as the same bytes, and with itself merges in either order; each report of it comes to
 * an end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct text {
    char *at;
    size_t n;
};

static struct text written(struct iot_partial *p)
{
    struct text text = {0};
    FILE *out = open_memstream(&text.at, &text.n);
    require(out && !iot_partial_order(p) && !iot_partial_write(p, out) && !fclose(out));
    return text;
}

/* Both are read into one. */
static struct text merged(const void *first, size_t n_first, const void *second, size_t n_second)
{
    struct iot_partial p;
    char error[512] = "";
    require(!iot_partial_init(&p));
    require(!iot_partial_add_memory(&p, "first", first, n_first, error));
    if (second)
        require(!iot_partial_add_memory(&p, "second", second, n_second, error));
    struct text text = written(&p);
    iot_partial_free(&p);
    return text;
}

static void require_same(struct text a, struct text b)
{
    require(a.n == b.n && !memcmp(a.at, b.at, a.n));
    free(b.at);
}

static void write_all(const struct iot_partial *p)
{
    struct iot_job job;
    struct text text = {0};
    FILE *out = open_memstream(&text.at, &text.n);
    require(out && !iot_job_make(&job, p));
    require(!iot_job_write_json(&job, out, 2));
    iot_job_write_text(&job, out, false, SIZE_MAX);
    iot_job_write_markdown(&job, out, 20);
    require(!fclose(out));
    free(text.at);
    iot_job_free(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iot_partial p;
    char error[512] = "";
    require(!iot_partial_init(&p));
    if (iot_partial_add_memory(&p, "partial", data, size, error)) {
        require(!strncmp(error, "partial: ", 9) && !strchr(error, '\n'));
        iot_partial_free(&p);
        return 0;
    }
    struct text once = written(&p);
    require_same(once, merged(once.at, once.n, NULL, 0));
    struct text twice = merged(once.at, once.n, data, size);
    require_same(twice, merged(data, size, once.at, once.n));
    struct text thrice = merged(twice.at, twice.n, data, size);
    require_same(thrice, merged(data, size, twice.at, twice.n));
    free(thrice.at);
    free(twice.at);
    free(once.at);
    if (p.n_units)
        write_all(&p);
    iot_partial_free(&p);
    return 0;
}
