/* syscall(2): of what is called by number, the futexes, on which other libraries build their locks,
 * conditions and parking (Rust's std, C++'s futures), what moves bytes (syscall_io.c), and
 * asynchronous requests. And what filters system calls. */
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "preload/confine.h"
#include "preload/libaio.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/shared.h"
#include "preload/syscall_io.h"
#include "preload/uring.h"
#include "preload/wrap.h"

static void record(struct iot_thread *t, uint16_t op, struct iot_timed call, int64_t result,
                   long address, long wakes)
{
    struct iot_place at = iot_place_of(t, (const void *)address);
    iot_timed_event(t, call,
                    &(struct iot_row){.result = result,
                                      .offset = wakes,
                                      .addr = at.addr,
                                      .obj = at.name,
                                      .op = op});
}

/* One that found its value changed did not wait. */
static long futex_waits(struct iot_thread *t, const long a[6])
{
    IOT_TIMED(long, syscall, (SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]))
    if (call.err != EAGAIN)
        record(t, IOT_OP_FUTEX_WAIT, call, result, a[0], 0);
    return result;
}

static void futex_wakes(struct iot_thread *t, const long a[6])
{
    uint64_t now = iot_now();
    record(t, IOT_OP_FUTEX_WAKE, (struct iot_timed){now, now, 0}, 0, a[0], (int)a[2]);
}

static int is_asynchronous(long number)
{
    return iot_uring_number(number) || iot_libaio_number(number);
}

/* As libc's own, it takes six arguments whatever the call needs. */
long syscall(long number, ...)
{
    long a[6];
    va_list ap;
    va_start(ap, number);
    for (int k = 0; k < 6; k++)
        a[k] = va_arg(ap, long);
    va_end(ap);
    struct iot_thread *t =
        number == SYS_futex || iot_syscall_known(number) || is_asynchronous(number) ? iot_enter()
                                                                                    : NULL;
    if (!t && (number == SYS_io_uring_setup || number == SYS_io_uring_register))
        t = iot_enter_always(); /* what a ring is, whenever it was made */
    if (t && is_asynchronous(number) && !t->vfork_pid && !iot_inside(t))
        return iot_uring_number(number) ? iot_uring_syscall(t, number, a)
                                        : iot_libaio_syscall(t, number, a);
    if (t && iot_syscall_known(number))
        return iot_syscall_io(t, number, a);
    if (t && number == SYS_futex) {
        switch (a[1] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
            return futex_waits(t, a);
        case FUTEX_WAKE:
        case FUTEX_WAKE_BITSET:
        case FUTEX_REQUEUE:
        case FUTEX_CMP_REQUEUE:
            futex_wakes(t, a);
            break;
        default:
            break;
        }
    }
    int confined = iot_confines(number, a) ? iot_confine_before(number, a) : 0;
    long result = iot_real.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    iot_confine_after(confined, result);
    return result;
}
