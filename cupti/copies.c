#include "cupti/copies.h"

#include <string.h>

#include "cupti/abi.h"

/* Parameters stand in a structure in the order of the function, each in eight bytes; a kind has the
 * low four of them. Of an end that is no address of the host, `none`. */
enum { NONE = 255 };

static const struct form {
    uint8_t target, target_pitch, source, source_pitch, bytes, rows, kind; /* which parameter */
    uint8_t fixed; /* kind, where it is none */
} forms[] = {
    [IOT_COPY_LINEAR] = {0, NONE, 1, NONE, 2, NONE, 3, 0},
    [IOT_COPY_TO_SYMBOL] = {NONE, NONE, 1, NONE, 2, NONE, 4, 0},
    [IOT_COPY_FROM_SYMBOL] = {0, NONE, NONE, NONE, 2, NONE, 4, 0},
    [IOT_COPY_TO_ARRAY] = {NONE, NONE, 3, NONE, 4, NONE, 5, 0},
    [IOT_COPY_FROM_ARRAY] = {0, NONE, NONE, NONE, 4, NONE, 5, 0},
    [IOT_COPY_PITCHED] = {0, 1, 2, 3, 4, 5, 6, 0},
    [IOT_COPY_PITCHED_TO_ARRAY] = {NONE, NONE, 3, 4, 5, 6, 7, 0},
    [IOT_COPY_PITCHED_FROM_ARRAY] = {0, 1, NONE, NONE, 5, 6, 7, 0},
    [IOT_COPY_DRIVER_HTOD] = {NONE, NONE, 1, NONE, 2, NONE, NONE, CUDA_HTOD},
    [IOT_COPY_DRIVER_DTOH] = {0, NONE, NONE, NONE, 2, NONE, NONE, CUDA_DTOH},
    [IOT_COPY_DRIVER_HTOA] = {NONE, NONE, 2, NONE, 3, NONE, NONE, CUDA_HTOD},
    [IOT_COPY_DRIVER_ATOH] = {0, NONE, NONE, NONE, 3, NONE, NONE, CUDA_DTOH},
    [IOT_COPY_DRIVER_LINEAR] = {0, NONE, 1, NONE, 2, NONE, NONE, CUDA_DEFAULT},
};

static int reads_host(unsigned kind)
{
    return kind == CUDA_HTOH || kind == CUDA_HTOD || kind == CUDA_DEFAULT;
}

static int writes_host(unsigned kind)
{
    return kind == CUDA_HTOH || kind == CUDA_DTOH || kind == CUDA_DEFAULT;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* From the first byte to the last. `slice`: rows of memory between two slices. */
static uint64_t extent(uint64_t width, uint64_t rows, uint64_t slices, uint64_t pitch,
                       uint64_t slice)
{
    return width && rows && slices ? ((slices - 1) * slice + rows - 1) * pitch + width : 0;
}

static struct iot_touched of_form(const struct form *f, const uint64_t *p)
{
    struct iot_touched touched = {0, 0, 0};
    unsigned kind = f->kind == NONE ? f->fixed : (uint32_t)p[f->kind];
    uint64_t rows = f->rows == NONE ? 1 : p[f->rows];
    if (f->source != NONE && reads_host(kind)) {
        touched.source = p[f->source];
        touched.bytes =
            extent(p[f->bytes], rows, 1, f->source_pitch == NONE ? 0 : p[f->source_pitch], 1);
    }
    if (f->target != NONE && writes_host(kind)) {
        touched.target = p[f->target];
        touched.bytes =
            longer(touched.bytes, extent(p[f->bytes], rows, 1,
                                         f->target_pitch == NONE ? 0 : p[f->target_pitch], 1));
    }
    return touched;
}

/* --- described by a structure --- */

static uint64_t start_of(const struct cuda_pitched *end, const struct cuda_place *at)
{
    return end->address ? end->address + (at->z * end->height + at->y) * end->pitch + at->x : 0;
}

static struct iot_touched of_block(const struct cuda_copy_3d *c)
{
    struct iot_touched touched = {0, 0, 0};
    if (reads_host(c->kind) && c->source.address) {
        touched.source = start_of(&c->source, &c->source_at);
        touched.bytes = extent(c->width, c->height, c->depth, c->source.pitch, c->source.height);
    }
    if (writes_host(c->kind) && c->target.address) {
        touched.target = start_of(&c->target, &c->target_at);
        touched.bytes = longer(touched.bytes, extent(c->width, c->height, c->depth, c->target.pitch,
                                                     c->target.height));
    }
    return touched;
}

static uint64_t address_of(uint32_t type, uint64_t host, uint64_t device)
{
    return type == CU_MEMORY_HOST ? host : type == CU_MEMORY_UNIFIED ? device : 0;
}

/* Where the pitch is 0 rows follow each other. */
static struct iot_touched of_driver_3d(const struct cu_copy_3d *c)
{
    const struct cu_end_3d *ends[2] = {&c->source, &c->target};
    uint64_t at[2], bytes = 0;
    for (int k = 0; k < 2; k++) {
        const struct cu_end_3d *e = ends[k];
        uint64_t pitch = e->pitch ? e->pitch : c->width, slice = e->height ? e->height : c->height;
        at[k] = address_of(e->type, e->host, e->device);
        if (!at[k])
            continue;
        at[k] += (e->z * slice + e->y) * pitch + e->x;
        bytes = longer(bytes, extent(c->width, c->height, c->depth, pitch, slice));
    }
    return (struct iot_touched){at[0], at[1], bytes};
}

static struct cu_end_3d end_of_2d(const struct cu_end_2d *e)
{
    return (struct cu_end_3d){.x = e->x,
                              .y = e->y,
                              .type = e->type,
                              .host = e->host,
                              .device = e->device,
                              .pitch = e->pitch};
}

static struct iot_touched of_driver_2d(const struct cu_copy_2d *c)
{
    return of_driver_3d(&(struct cu_copy_3d){.source = end_of_2d(&c->source),
                                             .target = end_of_2d(&c->target),
                                             .width = c->width,
                                             .height = c->height,
                                             .depth = 1});
}

/* --- several in one call --- */

struct batch {
    const uint64_t *targets, *sources, *bytes;
    uint64_t n;
};

struct blocks {
    uint64_t n;
    const struct cuda_batched_3d *list;
};

/* How long an element of an array is the call does not say. */
static struct iot_touched of_operands(const struct cuda_batched_3d *c)
{
    const struct cuda_operand *ends[2] = {&c->source, &c->target};
    uint64_t bytes = 0;
    if (c->source.type != CUDA_OPERAND_POINTER || c->target.type != CUDA_OPERAND_POINTER)
        return (struct iot_touched){0, 0, 0};
    for (int k = 0; k < 2; k++)
        bytes = longer(bytes, extent(c->width, c->height, c->depth,
                                     ends[k]->row ? ends[k]->row : c->width,
                                     ends[k]->layer ? ends[k]->layer : c->height));
    return (struct iot_touched){c->source.address, c->target.address, bytes};
}

uint64_t iot_copies_of(enum iot_copy_form form, const void *parameters)
{
    uint64_t n = form == IOT_COPY_BATCH    ? ((const struct batch *)parameters)->n
                 : form == IOT_COPY_BLOCKS ? ((const struct blocks *)parameters)->n
                                           : 1;
    return n ? n : 1;
}

struct iot_touched iot_copy_touched(enum iot_copy_form form, const void *parameters, uint64_t k)
{
    const struct batch *b = parameters;
    const struct blocks *blocks = parameters;
    const void *described;
    memcpy(&described, parameters, sizeof described);
    switch (form) {
    case IOT_COPY_NO_HOST:
        return (struct iot_touched){0, 0, 0};
    case IOT_COPY_BATCH:
        return k < b->n ? (struct iot_touched){b->sources[k], b->targets[k], b->bytes[k]}
                        : (struct iot_touched){0, 0, 0};
    case IOT_COPY_BLOCKS:
        return k < blocks->n ? of_operands(&blocks->list[k]) : (struct iot_touched){0, 0, 0};
    case IOT_COPY_BLOCK:
        return of_block(described);
    case IOT_COPY_DRIVER_PITCHED:
        return of_driver_2d(described);
    case IOT_COPY_DRIVER_BLOCK:
        return of_driver_3d(described);
    default:
        return of_form(&forms[form], parameters);
    }
}
