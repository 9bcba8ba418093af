#include "analyzer/dominators.h"

static uint32_t climb(const struct iot_dominator *of, uint32_t a, uint32_t depth)
{
    while (of[a].depth > depth)
        a = of[of[a].jump].depth >= depth ? of[a].jump : of[a].up;
    return a;
}

uint32_t iot_dominators_common(const struct iot_dominator *of, uint32_t a, uint32_t b)
{
    a = climb(of, a, of[b].depth);
    b = climb(of, b, of[a].depth);
    while (a != b) { /* as deep, so that their jumps are as far */
        int near = of[a].jump == of[b].jump;
        a = near ? of[a].up : of[a].jump;
        b = near ? of[b].up : of[b].jump;
    }
    return a;
}
