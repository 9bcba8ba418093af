/* Many files of a run at once: a row for those whose names differ in numbers alone. */
#ifndef IOT_ANALYZER_EXPLAIN_FAMILIES_H
#define IOT_ANALYZER_EXPLAIN_FAMILIES_H

#include "analyzer/explain.h"

struct iot_explained_family {
    uint32_t file;  /* one of them */
    uint8_t object; /* of all of them */
    int64_t files, calls, bytes, service_ns, exposed_ns, waited_ns;
};

struct iot_explained_families {
    const struct iot_explainer *explainer;
    const char *name; /* what was asked for */
    size_t n_files;
    struct iot_explained_family *families; /* by exposed, service, bytes */
    size_t n;
};

/* Of n files, which ascend. Returns 0, -1 without memory; free it in either case. */
int iot_explain_families(struct iot_explained_families *all, const struct iot_explainer *explainer,
                         const char *name, const uint32_t *files, size_t n);
void iot_explained_families_free(struct iot_explained_families *all);

/* As iot_explain_write_text and iot_explain_write_json: there are no `files` then, but `families`.
 */
void iot_explain_families_text(const struct iot_explained_families *all, FILE *out);
void iot_explain_families_json(const struct iot_explained_families *all, FILE *out);

#endif
