/* On which share of lambda each slot is on the longest path. */
#ifndef IOT_ANALYZER_PIECES_H
#define IOT_ANALYZER_PIECES_H

#include "analyzer/sag.h"

/* Shares of lambda are fixed point: IOT_SHARE_ONE is the whole of 0 .. 1. */
#define IOT_SHARE_ONE ((int64_t)1 << 60)

/* The work on one graph; the rest of it is private. */
struct iot_pieces {
    int64_t *share;   /* by slot of the whole graph: the caller's; added to */
    int64_t budget;   /* slots to pass over yet */
    int64_t error_ns; /* I/O time that may be given to the wrong slots, as the budget ended */
    struct iot_subgraph *todo;
    struct iot_longest spare; /* room that is free while parts are solved */
    /* Room, by node or slot of the whole graph. */
    struct iot_sag *sags; /* by node; the room of nodes, kept_to, root, way and place, too */
    bool *never;          /* by slot: it is on no longest path within the interval */
    /* What was found since the last node that all paths go through: */
    uint8_t *needed;   /* by node: an edge kept leads from it */
    uint32_t *nodes;   /* of the part, from its last node down */
    uint32_t *kept_to; /* by entry of nodes: where its slots end in kept */
    uint32_t *kept;    /* slots */
    size_t n_nodes, n_kept;
    /* By node: the node of the part that it is led to from, or itself, and the way from there; */
    uint32_t *root;
    struct iot_line *way;
    /* and of such a node its number in the part; of any other, its one slot's place in kept. */
    uint32_t *place;
    int64_t *sums; /* by place in kept: what the slot is worth */
};

/* For this graph and no other. Returns 0 or -ENOMEM; free it in either case. */
int iot_pieces_init(struct iot_pieces *pieces, const struct iot_dag *dag, int64_t *share,
                    int64_t budget);
void iot_pieces_free(struct iot_pieces *pieces);

/* Rules out slots that are on no longest path within the interval, which is what is added next.
 * Returns at how many nodes that leaves a choice. */
size_t iot_pieces_open(struct iot_pieces *pieces, const struct iot_dag *dag,
                       const struct iot_interval *interval);

/* What at_left of the interval holds is lost: its arrays are room from then on.
 * Adds, for every slot, the share of lambda within the interval at which it is on the longest path
 * to the last node. Where several paths are the longest
 * all along a piece, it is one of them. When the budget is used up, shares are still such that
 * the I/O given is the difference of T; error_ns then says how much of it may be misplaced.
 * Returns 0 or -ENOMEM. */
int iot_pieces_add(struct iot_pieces *pieces, const struct iot_dag *dag,
                   const struct iot_interval *interval);

#endif
