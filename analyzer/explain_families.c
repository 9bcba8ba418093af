#include "analyzer/explain_families.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/json_out.h"
#include "analyzer/people.h"
#include "analyzer/text.h"

enum { FAMILIES_SHOWN = 20, WORDS_AT = 50, NAME_AT = 10, COLUMNS = 80 };

static int by_family(const void *a, const void *b, void *explainer)
{
    const struct iot_explainer *x = explainer;
    const struct iot_file_class *files = x->classes->files;
    uint32_t f = *(const uint32_t *)a, g = *(const uint32_t *)b;
    uint32_t group = x->groups.of_file[f], other = x->groups.of_file[g];
    uint8_t object = files[f].object[files[f].main], its = files[g].object[files[g].main];
    if (group != other)
        return group < other ? -1 : 1;
    if (object != its)
        return object < its ? -1 : 1;
    return f < g ? -1 : f > g;
}

static int by_weight(const void *a, const void *b)
{
    const struct iot_explained_family *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns)
        return x->exposed_ns > y->exposed_ns ? -1 : 1;
    if (x->service_ns != y->service_ns)
        return x->service_ns > y->service_ns ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

/* Makes the families, and says of each file which is its. */
static void divide(struct iot_explained_families *all, uint32_t *files, uint32_t *family_of)
{
    const struct iot_explainer *x = all->explainer;
    qsort_r(files, all->n_files, sizeof *files, by_family, (void *)(uintptr_t)x);
    for (size_t k = 0; k < all->n_files; k++) {
        uint32_t f = files[k];
        const struct iot_file_class *c = &x->classes->files[f];
        struct iot_explained_family *last = all->n ? &all->families[all->n - 1] : NULL;
        if (!last || x->groups.of_file[last->file] != x->groups.of_file[f] ||
            last->object != c->object[c->main]) {
            last = &all->families[all->n++];
            *last = (struct iot_explained_family){.file = f, .object = c->object[c->main]};
        }
        last->files++;
        family_of[f] = (uint32_t)(last - all->families);
    }
}

static void add_up(struct iot_explained_families *all, const uint32_t *family_of)
{
    const struct iot_model *m = all->explainer->model;
    const struct iot_events *e = &all->explainer->trace->events;
    for (size_t i = 0; i < e->n; i++) {
        const struct iot_op_info *op = iot_op_info(e->op[i]);
        if (family_of[e->file[i]] == IOT_NO_INDEX || e->op[i] == IOT_OP_SYNC ||
            e->op[i] == IOT_OP_SYNCFS)
            continue;
        struct iot_explained_family *f = &all->families[family_of[e->file[i]]];
        f->service_ns += m->service_ns[i];
        f->exposed_ns += m->exposed_ns[i];
        f->waited_ns += m->waited[i] ? m->exposed_ns[i] : 0;
        if (e->op[i] == IOT_OP_RESIDENT || e->op[i] == IOT_OP_FAULTS ||
            e->op[i] == IOT_OP_GPU_MEMCPY_REST)
            continue;
        f->calls++;
        f->bytes += op->class_ == IOT_DATA && e->bytes[i] > 0 ? e->bytes[i] : 0;
    }
}

int iot_explain_families(struct iot_explained_families *all, const struct iot_explainer *explainer,
                         const char *name, const uint32_t *files, size_t n)
{
    size_t n_files = explainer->trace->n_files;
    *all = (struct iot_explained_families){.explainer = explainer, .name = name, .n_files = n};
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    uint32_t *family_of = malloc((n_files + 1) * sizeof *family_of);
    all->families = malloc((n + 1) * sizeof *all->families);
    int failed = !sorted || !family_of || !all->families;
    if (!failed) {
        memcpy(sorted, files, n * sizeof *sorted);
        memset(family_of, 0xff, (n_files + 1) * sizeof *family_of); /* IOT_NO_INDEX */
        divide(all, sorted, family_of);
        add_up(all, family_of);
        qsort(all->families, all->n, sizeof *all->families, by_weight);
    }
    free(sorted);
    free(family_of);
    return failed ? -1 : 0;
}

void iot_explained_families_free(struct iot_explained_families *all)
{
    free(all->families);
    *all = (struct iot_explained_families){0};
}

static void put_figures(const struct iot_explained_family *f, FILE *out)
{
    fprintf(out, "%9s %9s %9s %9s %8s  ", iot_people_time(f->exposed_ns).text,
            iot_people_time(f->service_ns).text, iot_people_count(f->calls).text,
            iot_people_bytes(f->bytes).text, iot_people_count(f->files).text);
}

static void put_row(const struct iot_explained_families *all, const struct iot_explained_family *f,
                    FILE *out)
{
    const struct iot_file_class *c = &all->explainer->classes->files[f->file];
    const char *name = all->explainer->trace->files[f->file].name, *why = c->why[c->main];
    size_t here = COLUMNS - WORDS_AT - strlen(iot_object_names[f->object]) - 2;
    bool fits = iot_printable_columns(why, strlen(why)) <= here;
    put_figures(f, out);
    fprintf(out, "%s:", iot_object_names[f->object]);
    if (fits)
        fputc(' ', out);
    else
        fprintf(out, "\n%*s", NAME_AT, "");
    iot_write_shortened(out, why, strlen(why), fits ? here : COLUMNS - NAME_AT);
    fprintf(out, "\n%*s", NAME_AT, "");
    iot_write_shortened(out, name, strlen(name), COLUMNS - NAME_AT);
    fputc('\n', out);
}

void iot_explain_families_text(const struct iot_explained_families *all, FILE *out)
{
    struct iot_explained_family rest = {0};

    fprintf(out, "%s; in a row those whose names differ in numbers alone\n\n",
            iot_people_many((int64_t)all->n_files, "file").text);
    fprintf(out, "%9s %9s %9s %9s %8s  %s\n", "exposed", "service", "calls", "bytes", "files",
            "object, and one of them");
    for (size_t k = 0; k < all->n; k++) {
        const struct iot_explained_family *f = &all->families[k];
        if (k < FAMILIES_SHOWN)
            put_row(all, f, out);
        rest.files += k < FAMILIES_SHOWN ? 0 : f->files;
        rest.calls += k < FAMILIES_SHOWN ? 0 : f->calls;
        rest.bytes += k < FAMILIES_SHOWN ? 0 : f->bytes;
        rest.service_ns += k < FAMILIES_SHOWN ? 0 : f->service_ns;
        rest.exposed_ns += k < FAMILIES_SHOWN ? 0 : f->exposed_ns;
    }
    if (all->n > FAMILIES_SHOWN) {
        put_figures(&rest, out);
        fprintf(out, "in %s\n",
                iot_people_many((int64_t)(all->n - FAMILIES_SHOWN), "more row").text);
    }
}

static void put_family(struct iot_json *json, const struct iot_explainer *x,
                       const struct iot_explained_family *f)
{
    const struct iot_file_class *c = &x->classes->files[f->file];
    iot_json_begin_object(json);
    iot_json_put_string(json, "path", x->trace->files[f->file].name);
    iot_json_put_int(json, "files", f->files);
    iot_json_put_string(json, "object", iot_object_names[f->object]);
    iot_json_put_string(json, "by", iot_by_words(c->by[c->main]));
    iot_json_put_string(json, "why", c->why[c->main]);
    iot_json_put_int(json, "calls", f->calls);
    iot_json_put_int(json, "bytes", f->bytes);
    iot_json_put_int(json, "service_ns", f->service_ns);
    iot_json_put_int(json, "exposed_ns", f->exposed_ns);
    iot_json_put_int(json, "waited_ns", f->waited_ns);
    iot_json_end_object(json);
}

void iot_explain_families_json(const struct iot_explained_families *all, FILE *out)
{
    struct iot_json json;
    iot_json_init(&json, out, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "schema", "iotrace-explain/1");
    iot_json_put_array(&json, "files");
    iot_json_end_array(&json);
    iot_json_put_array(&json, "families");
    for (size_t k = 0; k < all->n; k++)
        put_family(&json, all->explainer, &all->families[k]);
    iot_json_end_array(&json);
    iot_json_end_object(&json);
    iot_json_finish(&json);
}
