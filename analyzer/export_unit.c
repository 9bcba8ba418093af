/* What tells a run from the others of its job, where tables of many lie together. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analyzer/arena.h"
#include "analyzer/export.h"

/* Bits of a number that a double holds. */
enum { NUMBER_BITS = 53 };

/* The process that began it: no two have the same boot, number and start. */
static int64_t number_of(const struct iot_process *root)
{
    const uint64_t starts[] = {root->pid, root->start_mono_ns, root->start_realtime_ns};
    uint64_t hash = XXH64(root->host, strlen(root->host), 0);
    hash = XXH64(root->boot_id, sizeof root->boot_id, hash);
    hash = XXH64(starts, sizeof starts, hash);
    return (int64_t)(hash >> (64 - NUMBER_BITS));
}

/* Of processes of several ranks, as under an `mpirun` that is traced itself, it has none. */
static struct iot_identity identity_of(const struct iot_report_run *run,
                                       const struct iot_process *root)
{
    const struct iot_identity *found = NULL;
    bool several = false;
    for (size_t k = 0; k < run->n_ranks; k++) {
        if (run->ranks[k].identity->rank < 0)
            continue;
        several |= found && found->rank != run->ranks[k].identity->rank;
        found = run->ranks[k].identity;
    }
    struct iot_identity identity = found ? *found : root->identity;
    if (several)
        identity.rank = identity.local_rank = -1;
    return identity;
}

static const char *boot_of(const uint8_t id[16], struct iot_arena *arena)
{
    char text[33] = "";
    int known = 0;
    for (int k = 0; k < 16; k++) {
        snprintf(text + 2 * k, 3, "%02x", id[k]);
        known |= id[k];
    }
    return known ? iot_arena_text(arena, text, 32) : "";
}

int iot_exported_name_unit(struct iot_exported *x)
{
    const struct iot_process *root = &x->trace->processes[0];
    x->unit = (struct iot_exported_unit){number_of(root), identity_of(&x->report->run, root),
                                         boot_of(root->boot_id, x->arena)};
    return x->unit.boot ? 0 : -1;
}
