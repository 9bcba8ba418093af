#include "analyzer/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/family.h"
#include "analyzer/objects.h"
#include "analyzer/op_sets.h"
#include "analyzer/room.h"
#include "analyzer/rules.h"
#include "analyzer/table.h"

/* Of a file: what its rules say, which family it is of, which way its bytes went. */
struct kin {
    uint64_t family;
    uint8_t known, written;
    uint8_t excluded;
    uint8_t alone; /* excluded if it has no siblings */
};

static int is_rule(const struct iot_rules *rules, const char *name, enum iot_direction d,
                   enum iot_object object)
{
    const struct iot_rule *rule = iot_rules_find(rules, name, d);
    return rule && rule->object == object;
}

/* Start-up files and artifacts are loaded, in however many pieces: that makes no steps. What is
 * only likely to be an artifact is none if there are many of it. */
static void get_to_know(struct kin *k, const struct iot_file *file)
{
    enum iot_direction d = k->written ? IOT_WRITING : IOT_READING;
    k->known = 1;
    k->family = iot_family_of(file->name);
    if (file->kind == IOT_FILE_PIPE || file->kind == IOT_FILE_SOCKET || file->standard)
        return;
    k->excluded = (uint8_t)(is_rule(iot_rules_sure(), file->name, d, IOT_OTHER) ||
                            is_rule(iot_rules_likely(), file->name, d, IOT_OTHER) ||
                            is_rule(iot_rules_sure(), file->name, d, IOT_ARTIFACT));
    k->alone = (uint8_t)is_rule(iot_rules_likely(), file->name, d, IOT_ARTIFACT);
}

/* Programs look things up whenever a module is imported; nobody's step is to look. */
static int is_lookup(unsigned op)
{
    return !iot_op_opens(op) && !iot_op_closes(op) && op != IOT_OP_RENAME && op != IOT_OP_UNLINK;
}

static uint8_t flags_of(const struct iot_trace *t, size_t i, const struct kin *k)
{
    const struct iot_op_info *op = iot_op_info(t->events.op[i]);
    unsigned flags = 0;
    switch (op->class_) {
    case IOT_DATA:
        flags = IOT_ANCHOR_USABLE | (op->moves == IOT_IN ? 0 : IOT_ANCHOR_GIVES);
        break;
    case IOT_SYNC:
        flags = IOT_ANCHOR_USABLE | IOT_ANCHOR_GIVES;
        break;
    case IOT_META:
        flags = (is_lookup(t->events.op[i]) ? 0 : IOT_ANCHOR_USABLE) |
                (k->written ? IOT_ANCHOR_GIVES : 0);
        break;
    case IOT_WAKE:
        flags = IOT_ANCHOR_USABLE | IOT_ANCHOR_GIVES;
        break;
    case IOT_WAIT: /* a loop that sleeps waits for something that is no step of its own */
        flags = t->events.op[i] == IOT_OP_SLEEP ? 0 : IOT_ANCHOR_USABLE;
        break;
    case IOT_MARK:
        flags = IOT_ANCHOR_USABLE;
        break;
    default:
        break;
    }
    return (uint8_t)(k->excluded ? flags & ~(unsigned)IOT_ANCHOR_USABLE : flags);
}

static int is_lock(const struct iot_trace *t, size_t i)
{
    const struct iot_op_info *op = iot_op_info(t->events.op[i]);
    return (op->class_ == IOT_WAIT || op->class_ == IOT_WAKE) && op->subject == IOT_SUBJECT_PATH;
}

/* A lock is told by its address, everything else by its file. */
static uint64_t key_of(const struct iot_trace *t, size_t i, const struct kin *k)
{
    uint64_t key = iot_family_mix(t->events.op[i], k->family);
    return is_lock(t, i) ? iot_family_mix(key, t->events.addr[i]) : key;
}

struct look {
    const struct iot_anchors *anchors;
    uint64_t key;
};

static int same_key(const void *user, uint32_t index)
{
    const struct look *look = user;
    return look->anchors->kinds[index].key == look->key;
}

static uint32_t kind_of(struct iot_anchors *a, struct iot_table *table, uint64_t key, size_t event,
                        uint8_t flags)
{
    struct look look = {a, key};
    uint64_t hash = iot_table_hash(&key, sizeof key);
    uint32_t found = iot_table_find(table, hash, same_key, &look);
    if (found != IOT_NO_INDEX) {
        struct iot_anchor_kind *kind = &a->kinds[found];
        if (kind->file != a->trace->events.file[event])
            kind->file = IOT_NO_INDEX;
        kind->flags &= (uint8_t)(flags | IOT_ANCHOR_GIVES);
        return found;
    }
    if (IOT_ROOM(a->kinds, a->n_kinds + 1, a->room))
        return IOT_NO_INDEX;
    if (iot_table_add(table, hash, (uint32_t)a->n_kinds))
        return IOT_NO_INDEX;
    a->kinds[a->n_kinds] =
        (struct iot_anchor_kind){.key = key, .file = a->trace->events.file[event], .flags = flags};
    return (uint32_t)a->n_kinds++;
}

/* The end of a file or a stream is one more read than there are steps. */
static int moved_nothing(const struct iot_trace *t, size_t i)
{
    const struct iot_op_info *op = iot_op_info(t->events.op[i]);
    return op->class_ == IOT_DATA && op->moves == IOT_IN && t->events.bytes[i] <= 0;
}

static int sort_by_kind(struct iot_anchors *a, const struct kin *kin)
{
    size_t n = 0;
    a->places = malloc((a->n + 1) * sizeof *a->places);
    if (!a->places)
        return -1;
    for (size_t k = 0; k < a->n_kinds; k++) {
        a->kinds[k].first = n;
        n += a->kinds[k].n;
        a->kinds[k].n = 0;
        if (a->kinds[k].file != IOT_NO_INDEX && kin[a->kinds[k].file].alone)
            a->kinds[k].flags &= (uint8_t) ~(unsigned)IOT_ANCHOR_USABLE;
    }
    for (size_t p = 0; p < a->n; p++)
        if (a->kind_of[p] != IOT_NO_INDEX) {
            struct iot_anchor_kind *kind = &a->kinds[a->kind_of[p]];
            a->places[kind->first + kind->n++] = (uint32_t)p;
        }
    return 0;
}

int iot_anchors_gather(struct iot_anchors *a, const struct iot_trace *t, const uint32_t *events,
                       size_t n, int with_locks)
{
    struct iot_table table = {0};
    struct kin *kin = calloc(t->n_files + 1, sizeof *kin);
    *a = (struct iot_anchors){.trace = t};
    a->events = malloc((n + 1) * sizeof *a->events);
    a->kind_of = malloc((n + 1) * sizeof *a->kind_of);
    int failed = !kin || !a->events || !a->kind_of;
    for (size_t k = 0; k < n && !failed; k++)
        if (with_locks || !is_lock(t, events[k]))
            a->events[a->n++] = events[k];
    for (size_t i = 0; i < t->events.n && !failed; i++)
        if (iot_op_info(t->events.op[i])->moves == IOT_OUT)
            kin[t->events.file[i]].written = 1;
    for (size_t p = 0; p < a->n && !failed; p++) {
        size_t i = a->events[p];
        struct kin *k = &kin[t->events.file[i]];
        if (!k->known)
            get_to_know(k, &t->files[t->events.file[i]]);
        a->kind_of[p] = IOT_NO_INDEX;
        if (moved_nothing(t, i))
            continue;
        a->kind_of[p] = kind_of(a, &table, key_of(t, i, k), i, flags_of(t, i, k));
        failed = a->kind_of[p] == IOT_NO_INDEX;
        if (!failed)
            a->kinds[a->kind_of[p]].n++;
    }
    failed = failed || sort_by_kind(a, kin);
    iot_table_free(&table);
    free(kin);
    return failed ? -1 : 0;
}

void iot_anchors_free(struct iot_anchors *a)
{
    free(a->events);
    free(a->kind_of);
    free(a->kinds);
    free(a->places);
    *a = (struct iot_anchors){0};
}
