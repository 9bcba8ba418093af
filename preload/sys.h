/* System calls made by the recorder itself: straight to the kernel, past every wrapper
 * (our own and those of other preload libraries), without errno and without being a
 * cancellation point. They return the kernel's result: -errno on failure. */
#ifndef IOT_PRELOAD_SYS_H
#define IOT_PRELOAD_SYS_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "preload/ours.h"

static inline long iot_sys6(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#else
#error "iotrace records on x86-64 and aarch64"
#endif
}

/* Behind a seccomp filter any call of the recorder's own may kill the program: then there are none,
 * each fails, and recording goes on with what it has. */
enum iot_confinement { IOT_FREE, IOT_CONFINED, IOT_CONFINED_WITHOUT_ROOM };
extern IOT_OURS enum iot_confinement iot_confined;

#define iot_sys(n, ...)                                                                            \
    (iot_confined ? -ENOSYS                                                                        \
                  : iot_sys6(n, IOT_SYS_ARGS(__VA_ARGS__ __VA_OPT__(, ) 0, 0, 0, 0, 0, 0)))
#define IOT_SYS_ARGS(a, b, c, d, e, f, ...)                                                        \
    (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)

/* Keeps signals off the calling thread for a while, those that libc cancels threads with included;
 * gives what to release them to. */
static inline uint64_t iot_signals_hold(void)
{
    uint64_t all = UINT64_MAX, before = 0;
    iot_sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof before);
    return before;
}

static inline void iot_signals_release(uint64_t before)
{
    iot_sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof before);
}

#endif
