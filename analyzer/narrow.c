/* An edge that is nowhere in the interval on a longest path to its node is dropped.
 *
 * What is known of a path inside of the interval are bounds, and they are the wider the longer it is:
 * over a long run everything may be a little later than the tangents say. But of two edges that lead to
 * a node what matters is how far they differ, and that began at the last node that all paths to either go
 * through. So everything is measured from there, from where the paths are short.
 */
#include "analyzer/narrow.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* a - b at lambda, in ns, for an a that is not below b: as good as a double is, and 0 only if
 * it is. By halves, since compilers convert 128 bits slowly. */
static double gap(struct iot_line a, struct iot_line b, struct iot_lambda lambda)
{
    unsigned __int128 d = (unsigned __int128)iot_line_difference(a, b, lambda);
    return ((double)(uint64_t)(d >> 64) * 0x1p64 + (double)(uint64_t)d) / (double)lambda.den;
}

static struct iot_line since(struct iot_line line, struct iot_line begin)
{
    return (struct iot_line){line.base_ns - begin.base_ns, line.io_ns - begin.io_ns};
}

/* Is the slot shorter than the longest path to its node all over the inside of the interval?
 *
 * All paths are counted from a node that they have in common. The longest path to the slot's node, V, is at
 * least its tangents at the ends, L and R. The slot's
 * own length is convex, so at most its chord. With u = V - R at the left end, w = V - L at the
 * right end, L and R cross at u / (u + w) of the way, u w / (u + w) below the chord of V; the
 * slot's chord is there (w left + u right) / (u + w) below that of V, if `left` and `right` is
 * what it lacks at the ends. Tangents less chord is convex with its one corner there. Every
 * figure here is >= 0 and as good as a double, so the margin covers the rounding. */
static bool never_longest(double u, double w, double left, double right)
{
    if (u == 0 || w == 0) /* V is a line */
        return left + right > 0;
    return w * left + u * right > u * w * (1 + 1e-12);
}

/* Of the slots into p, by which lines they come; the node that all of them have in common. Of those that
 * are as long at the left end, the one with the most I/O is the longest a little way in; at the right end,
 * the one with the least. */
static uint32_t compare(struct iot_narrow *n, const struct iot_dag *dag,
                        const struct iot_interval *v, uint32_t p)
{
    struct iot_line *l = v->at_left.at, *r = v->at_right.at;
    uint32_t first = dag->in_first[p], end = dag->in_first[p + 1], common = dag->src[first];
    struct iot_line tangent_l = l[p], tangent_r = r[p];
    bool any_l = false, any_r = false;

    for (uint32_t k = first; k < end; k++) {
        struct iot_line by_l = iot_dag_extend(dag, k, l), by_r = iot_dag_extend(dag, k, r);
        double left = gap(l[p], by_l, v->left), right = gap(r[p], by_r, v->right);
        if (left == 0 && (!any_l || by_l.io_ns > tangent_l.io_ns)) {
            tangent_l = by_l;
            any_l = true;
        }
        if (right == 0 && (!any_r || by_r.io_ns < tangent_r.io_ns)) {
            tangent_r = by_r;
            any_r = true;
        }
        n->lack_left[k - first] = left;
        n->lack_right[k - first] = right;
        common = iot_dominators_common(n->common, common, dag->src[k]);
    }
    l[p] = tangent_l;
    r[p] = tangent_r;
    return common;
}

static void choose(struct iot_narrow *n, const struct iot_dag *dag, const struct iot_interval *v,
                   uint32_t p)
{
    const struct iot_line *l = v->at_left.at, *r = v->at_right.at;
    uint32_t first = dag->in_first[p], end = dag->in_first[p + 1];
    uint32_t from = compare(n, dag, v, p), common = IOT_DAG_NONE;
    struct iot_line of_l = since(l[p], l[from]), of_r = since(r[p], r[from]);
    double u = gap(of_l, of_r, v->left), w = gap(of_r, of_l, v->right);

    for (uint32_t k = first; k < end; k++) {
        n->kept[k] = !never_longest(u, w, n->lack_left[k - first], n->lack_right[k - first]);
        if (!n->kept[k])
            continue;
        uint32_t src = dag->src[k];
        common = common == IOT_DAG_NONE ? src : iot_dominators_common(n->common, common, src);
    }
    iot_dominators_add(n->common, p, common);
}

void iot_narrow_run(struct iot_narrow *n, const struct iot_dag *dag, const struct iot_interval *v)
{
    iot_dominators_begin(n->common);
    for (uint32_t p = 1; p < dag->n_nodes; p++) {
        uint32_t slot = dag->in_first[p];
        if (dag->in_first[p + 1] - slot > 1) {
            choose(n, dag, v, p);
            continue;
        }
        v->at_left.at[p] = iot_dag_extend(dag, slot, v->at_left.at);
        v->at_right.at[p] = iot_dag_extend(dag, slot, v->at_right.at);
        n->kept[slot] = 1;
        iot_dominators_add(n->common, p, dag->src[slot]);
    }
}

int iot_narrow_init(struct iot_narrow *n, const struct iot_dag *dag)
{
    uint32_t most = 1;
    for (size_t p = 0; p < dag->n_nodes; p++)
        if (dag->in_first[p + 1] - dag->in_first[p] > most)
            most = dag->in_first[p + 1] - dag->in_first[p];
    *n = (struct iot_narrow){
        .kept = malloc(dag->in_first[dag->n_nodes] + (size_t)1),
        .common = malloc(dag->n_nodes * sizeof(*n->common)),
        .lack_left = malloc(most * sizeof(*n->lack_left)),
        .lack_right = malloc(most * sizeof(*n->lack_right)),
    };
    return n->kept && n->common && n->lack_left && n->lack_right ? 0 : -ENOMEM;
}

void iot_narrow_free(struct iot_narrow *n)
{
    free(n->kept);
    free(n->common);
    free(n->lack_left);
    free(n->lack_right);
    *n = (struct iot_narrow){0};
}
