/* Signals, where they are waited for or sent on purpose: who lets whom go on. */
#include "preload/real.h"

#include "preload/life.h"
#include "preload/wrap.h"

/* --- waiting --- */

/* `number`: of the signal that came; 0: none. sigwait gives an error number, and no errno. */
static void waited(struct iot_thread *t, struct iot_timed call, int number)
{
    iot_timed_event(t, call, &(struct iot_row){.result = number, .op = IOT_OP_SIGWAIT});
}

int sigwait(const sigset_t *restrict set, int *restrict number)
{
    struct iot_thread *t = iot_enter();
    if (!t)
        return iot_real.sigwait(set, number);
    IOT_TIMED_NUMBER(sigwait, (set, number))
    waited(t, call, result ? 0 : *number);
    return result;
}

#define SIGWAIT(sym, params, args)                                                                 \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        waited(t, call, result > 0 ? result : 0);                                                  \
        return result;                                                                             \
    }

SIGWAIT(sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info), (set, info))
SIGWAIT(sigtimedwait,
        (const sigset_t *restrict set, siginfo_t *restrict info,
         const struct timespec *restrict timeout),
        (set, info, timeout))

/* These always end by a signal: EINTR. */
#define PAUSE(sym, params, args)                                                                   \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter();                                                        \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        return (int)iot_timed_event(t, call,                                                       \
                                    &(struct iot_row){.result = result, .op = IOT_OP_PAUSE});      \
    }

PAUSE(pause, (void), ())
PAUSE(sigsuspend, (const sigset_t *mask), (mask))
PAUSE(__sigsuspend, (const sigset_t *mask), (mask))

/* --- sending: the moment before the call --- */

static void sends(uint16_t op, int64_t to, int number)
{
    struct iot_thread *t = number ? iot_enter() : NULL; /* 0 only asks whether there is somebody */
    if (!t)
        return;
    uint64_t now = iot_now();
    iot_event(t, &(struct iot_row){.t0 = now, .t1 = now, .result = to, .offset = number, .op = op});
}

/* The number of the thread that is meant, in this process; -1: not known. */
static int64_t tid_of(pthread_t thread)
{
    int64_t tid = iot_life_tid(thread);
    return tid ? tid : -1;
}

#define SENDS(sym, operation, params, args, to)                                                    \
    int sym params                                                                                 \
    {                                                                                              \
        sends(IOT_OP_##operation, to, number);                                                     \
        return iot_real.sym args;                                                                  \
    }

SENDS(kill, KILL, (pid_t pid, int number), (pid, number), pid)
SENDS(sigqueue, KILL, (pid_t pid, int number, const union sigval value), (pid, number, value), pid)
SENDS(tgkill, THREAD_KILL, (pid_t pid, pid_t tid, int number), (pid, tid, number), tid)
SENDS(pthread_kill, THREAD_KILL, (pthread_t thread, int number), (thread, number), tid_of(thread))
SENDS(pthread_sigqueue, THREAD_KILL, (pthread_t thread, int number, const union sigval value),
      (thread, number, value), tid_of(thread))
