#include "analyzer/dag.h"

void iot_dag_run(const struct iot_dag *dag, struct iot_lambda lambda,
                 const struct iot_longest *longest)
{
    const struct iot_dag d = *dag; /* so that stores below need not be feared to change it */
    struct iot_line *at = longest->at;
    uint32_t *in = longest->slot;

    at[0] = (struct iot_line){0, 0};
    for (size_t p = 1; p < d.n_nodes; p++) {
        uint32_t slot = d.in_first[p], slots_end = d.in_first[p + 1];
        struct iot_line best = iot_dag_extend(&d, slot, at);
        for (uint32_t k = slot + 1; k < slots_end; k++) {
            struct iot_line by = iot_dag_extend(&d, k, at);
            if (iot_line_difference(by, best, lambda) > 0) { /* only if longer: see preference */
                best = by;
                slot = k;
            }
        }
        at[p] = best;
        in[p] = slot;
    }
}
