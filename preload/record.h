/* The recording path: from a wrapper to a row in a buffer that a killed process leaves behind.
 *
 *     struct iot_thread *t = iot_enter();      NULL: do not record this call
 *     uint64_t t0 = iot_now();
 *     result = the real call
 *     iot_event(t, &(struct iot_row){...});
 *
 * An ordinary event takes no lock, no system call and no memory. Every thread has two
 * half buffers in the process's trace file, which is mapped shared: when one is full the
 * thread goes on in the other and encodes the first into a block of the same file.
 */
#ifndef IOT_PRELOAD_RECORD_H
#define IOT_PRELOAD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "format/file.h"
#include "format/gpu_writer.h"
#include "format/ops.h"
#include "format/row.h"
#include "preload/clock.h"
#include "preload/ours.h"
#include "preload/window.h"

/* Beside the number of a generation. WATCHED: of a process, while a file is mapped of which pages
 * may have to be fetched. LOOKING: of a thread whose time is followed for that (faults.h). */
#define IOT_GENERATION_WATCHED (UINT32_C(1) << 31)
#define IOT_GENERATION_LOOKING (UINT32_C(1) << 30)
#define IOT_GENERATION_NUMBER (IOT_GENERATION_LOOKING - 1)

/* What a thread had used up when it was looked at last. */
struct iot_look {
    uint64_t ticks, mono_ns, cpu_ns;
    uint32_t major, minor;   /* faults */
    uint32_t switches;       /* how often another thread got its CPU */
    uint32_t asked_switches; /* when the run queue was asked for last */
    uint64_t asked_ns, runqueue_ns;
    uint64_t waited_each; /* for a CPU, by each switch, in ns */
};

struct iot_half {
    struct iot_half_header *header; /* NULL: no buffer could be had */
    struct iot_row *rows;
    uint32_t limit; /* rows that may be written; 0 while it rests */
    uint32_t ready; /* rows whose pages are there */
};

/* What is left of a segment. */
struct iot_room {
    uint8_t *at; /* NULL: none was taken yet */
    uint32_t left;
    uint32_t ready; /* of that, bytes whose pages are there */
};

struct iot_thread {
    uint32_t generation; /* of the process state it belongs to: another after fork; | LOOKING */
    uint32_t depth;      /* > 1: a signal handler is recording inside a record, or it left one by
                          * longjmp */
    uintptr_t outermost; /* where the stack stood in the outermost record */
    struct iot_half *current;
    struct iot_half half[2];
    uint32_t slot, lane, tid;
    uint32_t vfork_pid; /* not 0: this is a child in our memory, until it execs or exits */
    uint32_t stuck;     /* events dropped in a row because depth never came back */
    uintptr_t inside;   /* where the stack stood in the wrapper of another library's function, which
                         * may   call libc's; 0: in none */
    uint32_t next_free;
    uint32_t window; /* word of the window in which it is to record unasked */
    uint32_t site;   /* the stack of the call that it is in; 0: not looked at */
    uint32_t epoch;
    struct iot_room blocks, names; /* of this slot's segments */
    uint32_t exit_rounds;
    uint32_t parent_lane;
    char **lent; /* an environment made for a child */
    size_t lent_bytes;
    void *(*routine)(void *); /* what pthread_create was asked to start */
    void *argument;
    struct iot_look look;
    uintptr_t looking; /* where the stack stood in the look that is under way; 0: none is */
    struct iot_gpu_call gpu;
};

/* What a thread has of us in its thread-local storage. The lane stays readable through the
 * thread's pthread_t until it has been joined. */
struct iot_local {
    struct iot_thread *thread;
    uint32_t lane_plus_1; /* 0: never recorded anything */
    uint32_t attaching;
    uint32_t refused; /* calls since it asked for buffers and got none; 0: it did not */
};
extern IOT_OURS __thread struct iot_local iot_local __attribute__((tls_model("initial-exec")));

/* The generation the process is in, | WATCHED; wiped to 0 by the kernel in a forked child. Points
 * to 0 until recording starts. */
extern IOT_OURS volatile uint32_t *iot_generation;

/* Once in a process image; 0, or -1 without memory. */
int iot_record_start(void);

struct iot_thread *iot_enter_slow(const void *caller); /* NULL: its stack is not wanted */
struct iot_thread *iot_enter_always_slow(void);
/* Of n rows from `at` on, taken from that half but beyond what may be written: NULL if they have to
 * be dropped, and the record has been left. */
struct iot_row *iot_reserve_slow(struct iot_thread *t, struct iot_half *half, uint32_t n,
                                 uint32_t at, uintptr_t stack);
void iot_nested(struct iot_thread *t, uintptr_t stack);

static inline struct iot_thread *iot_enter(void)
{
    struct iot_thread *t = iot_local.thread;
    if (__builtin_expect(
            t && t->generation == *iot_generation && t->window == iot_window->word, 1))
        return t;
    return iot_enter_slow(__builtin_return_address(0));
}

/* For locks, waits and messages, which are many and are in no list of call sites: without a stack.
 */
static inline struct iot_thread *iot_enter_wait(void)
{
    struct iot_thread *t = iot_local.thread;
    if (__builtin_expect(
            t && t->generation == *iot_generation && t->window == iot_window->word, 1))
        return t;
    return iot_enter_slow(NULL);
}

/* Also outside the window of the run. */
static inline struct iot_thread *iot_enter_always(void)
{
    struct iot_thread *t = iot_local.thread;
    if (__builtin_expect(t && t->generation == *iot_generation && !t->site, 1))
        return t;
    return iot_enter_always_slow();
}

/* Between these two the thread records nothing, and nothing counts as lost. */
enum { IOT_SILENT = 2 };
static inline void iot_silence(void)
{
    iot_local.attaching = IOT_SILENT;
    iot_local.thread = NULL;
}
static inline void iot_speak(struct iot_thread *t)
{
    iot_local.thread = t;
    iot_local.attaching = 0;
}

/* Whether what the thread records gets into this process's trace: not in a forked child that goes
 * on in a call of its parent (take_forked). */
static inline int iot_is_here(const struct iot_thread *t)
{
    return !((t->generation ^ *iot_generation) & IOT_GENERATION_NUMBER);
}

void iot_faults_left(struct iot_thread *t, uint64_t t0, uint64_t t1); /* faults.h */

/* One instruction, so that a signal handler comes before or after it, never inside. */
static inline uint32_t iot_take(uint32_t *counter, uint32_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("xaddl %0, %1" : "+r"(n), "+m"(*counter) : : "memory");
    return n;
#else
    return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
#endif
}

static inline uintptr_t iot_stack_at(void)
{
    uintptr_t at;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(at));
#else
    __asm__ volatile("mov %0, sp" : "=r"(at));
#endif
    return at;
}

/* A record may be left by longjmp: then nobody lowers what was raised; or be taken for one that
 * was. */
static inline void iot_leave(struct iot_thread *t)
{
    t->depth -= t->depth != 0;
}

/* Reserves n neighbouring rows, n small; NULL if they have to be dropped. Between
 * this and iot_commit the thread's depth is raised. */
static inline struct iot_row *iot_reserve(struct iot_thread *t, uint32_t n)
{
    uintptr_t stack = iot_stack_at();
    if (__builtin_expect(t->depth++ == 0, 1))
        t->outermost = stack;
    else if (stack >= t->outermost)
        iot_nested(t, stack);
    __asm__ volatile("" : : : "memory");
    struct iot_half *half = t->current; /* once: a handler may change it */
    uint32_t at = iot_take(&half->header->head, n);
    if (__builtin_expect(at + n > half->limit, 0))
        return iot_reserve_slow(t, half, n, at, stack);
    return &half->rows[at];
}

static inline void iot_commit(struct iot_thread *t, struct iot_row *row, uint16_t op)
{
    __atomic_store_n(&row->op, op, __ATOMIC_RELEASE);
    iot_leave(t);
}

static inline void iot_event(struct iot_thread *t, const struct iot_row *event)
{
    struct iot_row *row = iot_reserve(t, 1);
    if (__builtin_expect(!row, 0))
        return;
    row->t0 = event->t0;
    row->t1 = event->t1;
    row->result = event->result;
    row->bytes = event->bytes;
    row->offset = event->offset;
    row->addr = event->addr;
    row->obj = event->obj;
    row->obj2 = event->obj2;
    row->site = t->site;
    row->err = event->err;
    iot_commit(t, row, event->op);
    if (__builtin_expect(t->generation != *iot_generation, 0))
        iot_faults_left(t, event->t0, event->t1);
}

/* The number of a string in the trace, defining it if it is new. The string is `base`
 * (may be empty) followed by `text`. 0 if it could not be recorded. */
uint32_t iot_string(struct iot_thread *t, const char *base, size_t base_bytes, const char *text,
                    size_t text_bytes);

/* Encodes what the thread has in its buffers, so that it can be given back or left behind small. 0,
 * or -1 if there is no room, or this is inside a record: then it stays where it is. */
int iot_flush(struct iot_thread *t);

/* Gives back to the file system what empty buffers occupy of it. */
void iot_thread_trim(struct iot_thread *t);

/* Makes all pages ready that the threads there are can need until their next block; 0 or -1. */
int iot_record_prepare(void);

/* Takes and gives back thread buffers. The new thread's lane is numbered at once. */
struct iot_thread *iot_thread_take(void);
void iot_thread_give_back(struct iot_thread *t);
void iot_thread_adopt(struct iot_thread *t, uint32_t parent_lane); /* by the thread itself */
void iot_thread_label(struct iot_thread *t, uint32_t tid);         /* 0: its lane is no thread's */

#endif
