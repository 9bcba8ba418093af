/* A row: one event as the recorder writes it and as a reader gets it back.
 *
 * Rows lie in memory that a killed process leaves behind, so their layout is part of
 * the format (FORMAT.md, "Rows"). 64 bytes: one cache line.
 */
#ifndef IOT_FORMAT_ROW_H
#define IOT_FORMAT_ROW_H

#include <stdint.h>

struct iot_row {
    uint64_t t0, t1; /* entry and return, in ticks of the process's clock */
    int64_t result;  /* what the call returned */
    int64_t bytes;   /* what really moved */
    int64_t offset;  /* of the calls that name one; else what the operation says */
    uint64_t addr;   /* address of the buffer or of what was waited on; 0: not recorded */
    uint32_t obj;    /* subject: a descriptor or string number, by the operation; 0: none */
    uint32_t obj2;   /* the other end: likewise */
    uint32_t site;   /* call site; 0: not recorded */
    uint16_t err;    /* errno of a failed call; 0 else */
    uint16_t op;     /* written last: 0 is a row that was never completed */
};
_Static_assert(sizeof(struct iot_row) == 64, "a row is one cache line");

/* Definitions share the rows' stream. They take 1 + ceil(bytes / 64) rows: the head,
 * then their text. */
enum {
    IOT_DEF_STRING = 0x101, /* obj: its number, bytes: its length; the text follows */
    IOT_DEF_DESC = 0x102,   /* obj: its number, obj2: the string that names it, result: st_dev,
                             * bytes: st_ino, offset: st_size (of a pipe: its capacity),
                             * addr: st_mode << 32 | IOT_DESC_ flags | open flags,
                             * site: descriptor number + 1, err: what the page cache held of it at
                             * its opening, in thousandths + 1; 0 not known */
    IOT_DEF_PENDING = 0x8000, /* | n: n rows are being filled; never committed if still there */
};

enum { IOT_ROW_TEXT = sizeof(struct iot_row) };

/* Flags in addr of an IOT_DEF_DESC. ADOPTED: not seen when it was opened (inherited, or born
 * inside libc), so the kernel named it at first use. DUP: a duplicate; offset is then the
 * number of the definition it shares its open file with. PEER: one end of a socketpair;
 * offset is then the inode of the other. */
#define IOT_DESC_ADOPTED (UINT64_C(1) << 31)
#define IOT_DESC_DUP (UINT64_C(1) << 30)
#define IOT_DESC_PEER (UINT64_C(1) << 29)

static inline uint32_t iot_text_rows(uint64_t bytes)
{
    return (uint32_t)((bytes + IOT_ROW_TEXT - 1) / IOT_ROW_TEXT);
}

#endif
