/* The definitions behind our wrappers of other libraries' functions. */
#ifndef IOT_PRELOAD_FOREIGN_H
#define IOT_PRELOAD_FOREIGN_H

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "preload/cufile.h"
#include "preload/record.h"

/* liburing's ring, as far as it is the same in all releases: what the kernel shares with the
 * program. */
struct io_uring {
    struct {
        uint32_t *head, *tail, *mask, *entries, *flags, *dropped, *array;
        uint8_t *sqes;
        uint32_t local_head, local_tail; /* of those prepared and not yet shown to the kernel */
        size_t bytes;
        void *memory;
        uint32_t more[4];
    } sq;
    struct {
        uint32_t *head, *tail, *mask, *entries, *flags, *overflow;
        uint8_t *cqes;
        size_t bytes;
        void *memory;
        uint32_t more[4];
    } cq;
    uint32_t flags;
    int32_t fd;
};

enum iot_foreign {
#define FOREIGN(ret, sym, params) IOT_FOREIGN_##sym,
#include "preload/foreign.def"
#undef FOREIGN
};

#pragma GCC visibility push(default)
#define FOREIGN(ret, sym, params) ret sym params;
#include "preload/foreign.def"
#undef FOREIGN
#pragma GCC visibility pop

/* Looked up at the first call; never NULL. */
void *iot_foreign(enum iot_foreign which);

/* As iot_enter; NULL also within another of these functions, and in a child of vfork. */
struct iot_thread *iot_foreign_enter(void);

/* The same outside the window, too, for what the part behind cannot be understood without. */
struct iot_thread *iot_foreign_enter_always(void);

/* Whether the thread is in such a function, called by a wrapper. One that was left by longjmp stood
 * deeper than what comes now. */
static inline int iot_inside(const struct iot_thread *t)
{
    return t->inside && iot_stack_at() < t->inside;
}

/* Calls it for a thread that records: what it does by libc's syscall is not recorded again.
 * Declares `result`. */
#define IOT_FOREIGN_CALL(ret, sym, args)                                                           \
    t->inside = iot_stack_at();                                                                    \
    ret result = IOT_FOREIGN(sym) args;                                                            \
    t->inside = 0;

#define IOT_FOREIGN(sym) ((__typeof__(&sym))iot_foreign(IOT_FOREIGN_##sym))

#endif
