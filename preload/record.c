#include "preload/record.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "format/columns.h"
#include "preload/encode.h"
#include "preload/faults.h"
#include "preload/life.h"
#include "preload/process.h"
#include "preload/strings.h"
#include "preload/sys.h"

__thread struct iot_local iot_local __attribute__((tls_model("initial-exec")));

static const volatile uint32_t not_started = 0;
volatile uint32_t *iot_generation = (volatile uint32_t *)&not_started;

/* Slots for IOT_THREADS_MAX threads, touched as they are taken. Not wiped by fork: the generation
 * in each tells a child that what stands there was its parent's. */
static struct iot_thread *threads;

enum {
    /* A thread that got no buffers asks again after so many calls, not at each: asking takes system
     * calls. */
    RETRY_CALLS = 1024,
    /* A half's pages are made ready to be written in steps that double up to the second, so that a
     * thread that records little costs little. */
    GROW_FIRST = 16,
    GROW_ROWS = 256,
    /* So many events lost because a handler seemed to be inside a record, beyond the thousand for
     * which there is room then, and the record must have been left by longjmp. */
    STUCK_LIMIT = 64,
};

int iot_record_start(void)
{
    size_t bytes = IOT_THREADS_MAX * sizeof *threads;
    long at = iot_sys(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at < 0 && at > -4096)
        return -1;
    threads = (struct iot_thread *)at;
    return 0;
}

void iot_drop(uint64_t events)
{
    if (iot_process && iot_process->file)
        __atomic_fetch_add(&iot_process->file->dropped_events, events, __ATOMIC_RELAXED);
}

/* --- thread buffers --- */

/* A process that is killed has no other anchors than these and its start. */
static void half_anchor(struct iot_half *half)
{
    struct iot_anchor now = iot_anchor_now();
    half->header->anchor.ticks = 0;
    __asm__ volatile("" : : : "memory");
    half->header->anchor.mono_ns = now.mono_ns;
    __asm__ volatile("" : : : "memory");
    half->header->anchor.ticks = now.ticks;
}

/* From its epoch on it is a reader's business; one that rests has none. */
static void half_begin(struct iot_thread *t, struct iot_half *half)
{
    half->header->lane = t->lane;
    half->header->tid = t->tid;
    __atomic_store_n(&half->header->epoch, ++t->epoch, __ATOMIC_RELEASE);
    half->limit = half->ready;
}

static int half_grow(struct iot_thread *t, struct iot_half *half, uint32_t rows)
{
    if (!half->header || rows > IOT_HALF_ROWS)
        return -1;
    if (rows > half->ready) {
        half_anchor(half);
        uint32_t ready = half->ready < GROW_FIRST ? GROW_FIRST : 2 * half->ready;
        if (half->ready >= GROW_ROWS)
            ready = half->ready + GROW_ROWS;
        if (ready < rows)
            ready = rows;
        if (ready > IOT_HALF_ROWS)
            ready = IOT_HALF_ROWS;
        if (iot_pages_ready(&half->rows[half->ready], (ready - half->ready) * sizeof *half->rows))
            return -1;
        half->ready = ready;
    }
    if (!half->header->epoch)
        half_begin(t, half);
    half->limit = half->ready;
    return 0;
}

/* Leaves the slot as it was where there is no room. */
static int slot_start(struct iot_thread *t, uint32_t slot)
{
    struct iot_thread fresh = {.slot = slot};
    uint8_t *segment = iot_segment_take(
        IOT_SEGMENT_ROWS, slot, sizeof(struct iot_segment_header) + sizeof(struct iot_half_header));
    if (!segment)
        return -1;
    for (int i = 0; i < 2; i++) {
        uint8_t *at = segment + sizeof(struct iot_segment_header) + (size_t)i * IOT_HALF_BYTES;
        if (iot_pages_ready(at, sizeof(struct iot_half_header)))
            return -1;
        fresh.half[i].header = (struct iot_half_header *)at;
        fresh.half[i].rows = (struct iot_row *)(at + sizeof(struct iot_half_header));
    }
    *t = fresh;
    t->current = &t->half[0];
    return 0;
}

/* The free slots are a stack; the count in the upper half of its head tells a slot that was
 * taken and given back in between from one that never left. */
static struct iot_thread *pop_free(void)
{
    uint64_t head = __atomic_load_n(&iot_process->threads_free, __ATOMIC_ACQUIRE);
    while ((uint32_t)head) {
        struct iot_thread *t = &threads[(uint32_t)head - 1];
        uint64_t next = ((head >> 32) + 1) << 32 | t->next_free;
        if (__atomic_compare_exchange_n(&iot_process->threads_free, &head, next, 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return t;
    }
    return NULL;
}

static void push_free(struct iot_thread *t)
{
    uint64_t head = __atomic_load_n(&iot_process->threads_free, __ATOMIC_ACQUIRE), next;
    do {
        t->next_free = (uint32_t)head;
        next = ((head >> 32) + 1) << 32 | (t->slot + 1);
    } while (!__atomic_compare_exchange_n(&iot_process->threads_free, &head, next, 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

static struct iot_thread *begin(struct iot_thread *t)
{
    t->depth = t->vfork_pid = t->stuck = t->exit_rounds = 0;
    t->routine = NULL;
    t->inside = 0;
    t->parent_lane = UINT32_MAX;
    t->look = (struct iot_look){0};
    t->looking = 0;
    t->gpu = (struct iot_gpu_call){0};
    t->lane = __atomic_fetch_add(&iot_process->file->lanes, 1, __ATOMIC_RELAXED);
    t->generation = *iot_generation & IOT_GENERATION_NUMBER;
    return t;
}

struct iot_thread *iot_thread_take(void)
{
    struct iot_thread *t = pop_free();
    if (!t) {
        uint32_t slot = __atomic_fetch_add(&iot_process->threads_used, 1, __ATOMIC_RELAXED);
        if (slot >= IOT_THREADS_MAX) {
            __atomic_fetch_sub(&iot_process->threads_used, 1, __ATOMIC_RELAXED);
            return NULL;
        }
        t = &threads[slot];
        t->slot = slot;
        if (slot_start(t, slot)) {
            t->current = NULL;
            push_free(t);
            return NULL;
        }
    }
    if (!t->current && slot_start(t, t->slot)) {
        t->current = NULL;
        push_free(t);
        return NULL;
    }
    return begin(t);
}

static void map_in_vain(uint8_t *segment)
{
    long at = iot_sys(SYS_mmap, segment, IOT_SEGMENT_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (at == (long)segment)
        return;
    /* Where the flag is not known the address is a wish: by old kernels, and by valgrind, which
     * also thinks that the parent's rows still are there. */
    if (at >= 0 || at <= -4096)
        iot_sys(SYS_munmap, at, IOT_SEGMENT_BYTES);
    enum { PAGE = 4096 };
    unsigned char in_memory;
    for (size_t page = 0; page < IOT_SEGMENT_BYTES; page += PAGE)
        if (iot_sys(SYS_mincore, segment + page, PAGE, &in_memory) != -ENOMEM)
            return;
    iot_sys(SYS_munmap, segment, IOT_SEGMENT_BYTES);
    iot_sys(SYS_mmap, segment, IOT_SEGMENT_BYTES, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* A handler may have forked, and the child go back into a call that the parent was in, with a
 * pointer to the thread, perhaps to a row, and with numbers that mean something else here. So the
 * child's thread has another slot; and where the parent's rows were, which the child does not
 * share, there is memory for such a call to be recorded in vain. */
static struct iot_thread *take_forked(const struct iot_thread *parent)
{
    uint8_t *segment = (uint8_t *)parent->half[0].header - sizeof(struct iot_segment_header);
    map_in_vain(segment);
    if (iot_process_start())
        return NULL;
    uint32_t slot = parent->slot == 0;
    iot_process->threads_used = 2;
    return slot_start(&threads[slot], slot) ? NULL : begin(&threads[slot]);
}

void iot_thread_give_back(struct iot_thread *t)
{
    if (iot_flush(t) == 0)
        push_free(t); /* else its rows are all that there is of it: nobody gets the slot */
}

void iot_thread_label(struct iot_thread *t, uint32_t tid)
{
    t->tid = tid;
    for (int i = 0; i < 2; i++) { /* both are empty */
        t->half[i].header->lane = t->lane;
        t->half[i].header->tid = t->tid;
    }
    if (!t->current->header->epoch)
        half_begin(t, t->current);
}

void iot_thread_adopt(struct iot_thread *t, uint32_t parent_lane)
{
    long tid = iot_sys(SYS_gettid);
    iot_thread_label(t, tid > 0 ? (uint32_t)tid : 0);
    iot_local.lane_plus_1 = t->lane + 1;
    iot_local.thread = t;
    iot_life_began(t, parent_lane);
}

static struct iot_thread *attach(struct iot_local *me)
{
    if (iot_generation == &not_started || iot_process->off)
        return NULL;
    if (me->attaching == IOT_SILENT)
        return NULL;
    if (me->attaching) { /* the thread has ended, but for some destructors */
        iot_drop(1);
        return NULL;
    }
    if (me->refused && *iot_generation && me->refused++ % RETRY_CALLS) {
        iot_drop(1);
        return NULL;
    }
    uint64_t signals = iot_signals_hold();
    me->attaching = 1;
    __asm__ volatile("" : : : "memory");
    struct iot_thread *t = NULL;
    if (!*iot_generation && me->thread)
        t = take_forked(me->thread);
    else if (*iot_generation || iot_process_start() == 0)
        t = iot_thread_take();
    if (t)
        iot_thread_adopt(t, UINT32_MAX);
    else
        iot_drop(1);
    me->refused = !t;
    __asm__ volatile("" : : : "memory");
    me->attaching = 0;
    iot_signals_release(signals);
    return t;
}

struct iot_thread *iot_enter_always_slow(void)
{
    struct iot_local *me = &iot_local;
    struct iot_thread *t = me->thread;
    if (!t || !*iot_generation || !iot_is_here(t))
        t = attach(me);
    if (t)
        t->site = 0;
    return t;
}

struct iot_thread *iot_enter_slow(const void *caller)
{
    struct iot_thread *t = iot_enter_always_slow();
    uint32_t window = t ? t->window : 0;
    if (!t || !iot_window_look(t))
        return NULL;
    if (window != t->window)
        iot_faults_anew(t);
    iot_faults_entering(t);
    if (iot_stacks && caller)
        t->site = iot_stack(t, caller);
    return t;
}

/* --- full buffers --- */

static void half_wipe(struct iot_half *half)
{
    struct iot_row *row = half->rows, *end = row + half->limit;
    for (; row < end; row++)
        row->op = 0;
    __asm__ volatile("" : : : "memory");
}

/* Lets the half's rows go, which are in a block; then it rests. The order leaves a reader of a
 * killed process with each row once: while the epoch stands, a block with it makes the half void.
 */
static void half_empty(struct iot_half *half)
{
    half_wipe(half);
    half->header->head = 0;
    half->limit = 0;
    __atomic_store_n(&half->header->epoch, 0, __ATOMIC_RELEASE);
}

static struct iot_half *other_half(struct iot_thread *t)
{
    return t->current == &t->half[0] ? &t->half[1] : &t->half[0];
}

/* 0, or -1 where there is no room for the block; then the rows stay. */
static int half_encode(struct iot_thread *t, struct iot_half *half)
{
    uint32_t n = half->header->head < half->limit ? half->header->head : half->limit;
    if (n && iot_encode_half(t, half, n))
        return -1;
    if (half->header->head)
        half_empty(half);
    return 0;
}

/* If its rows are lost it is the same filling that begins again, and none is missing. */
static void half_clear(struct iot_thread *t, struct iot_half *half)
{
    if (half_encode(t, half) == 0)
        return;
    iot_drop(half->limit);
    half_wipe(half);
    half->header->head = 0;
}

/* The thread goes on in the half that was encoded: its memory is near then, in caches and in what
 * the processor keeps of page tables, and the other one takes none. Unless a handler, which nothing
 * keeps away behind a filter of system calls, has begun the other one meanwhile. */
static void go_on(struct iot_thread *t, struct iot_half *encoded)
{
    if (!t->current->header->head)
        t->current = encoded;
    if (!t->current->header->epoch)
        half_begin(t, t->current);
}

/* Encodes the full half; before it the other one, if that was left full inside a record. No signal
 * comes in, so no handler finds both full or leaves this by longjmp. */
static void rotate(struct iot_thread *t)
{
    uint64_t signals = iot_signals_hold();
    struct iot_half *full = t->current, *other = other_half(t);
    half_clear(t, other);
    t->current = other;
    __asm__ volatile("" : : : "memory");
    half_clear(t, full);
    go_on(t, full);
    iot_signals_release(signals);
}

/* Whether the outermost record cannot be under way any more: what stands on the stack above it has
 * returned or was jumped over. Of a record on another stack than ours nothing is known. */
static int was_left(const struct iot_thread *t, uintptr_t stack)
{
    stack_t alternate;
    if (iot_sys(SYS_sigaltstack, 0, &alternate))
        return 0;
    if (alternate.ss_flags & SS_ONSTACK)
        return 0;
    return stack >= t->outermost || t->outermost - (uintptr_t)alternate.ss_sp < alternate.ss_size;
}

static void become_outermost(struct iot_thread *t, uintptr_t stack)
{
    t->depth = 1;
    t->outermost = stack;
    t->stuck = 0;
}

/* A half that was full inside the record that was left is let go at once: a handler that comes when
 * the current one is full, too, would have none. */
void iot_nested(struct iot_thread *t, uintptr_t stack)
{
    if (!was_left(t, stack))
        return;
    become_outermost(t, stack);
    if (other_half(t)->header->head) {
        uint64_t signals = iot_signals_hold();
        half_clear(t, other_half(t)); /* a handler may have gone on in the other one since */
        iot_signals_release(signals);
    }
}

/* 0: there may be rows now, in the thread's current half; or -1. */
static int half_is_full(struct iot_thread *t, uint32_t n, uintptr_t stack)
{
    struct iot_half *other = other_half(t);
    if (t->depth > 1 && !other->header->head && half_grow(t, other, n) == 0) {
        t->current = other; /* the record we are in still has its row in the full one */
        return 0;
    }
    if (t->depth > 1 && !was_left(t, stack) && ++t->stuck < STUCK_LIMIT)
        return -1;
    become_outermost(t, stack);
    rotate(t);
    return 0;
}

struct iot_row *iot_reserve_slow(struct iot_thread *t, struct iot_half *half, uint32_t n,
                                 uint32_t at, uintptr_t stack)
{
    while (at + n > IOT_HALF_ROWS) {
        /* A handler that came in between may have filled the half and gone on in the other. */
        if (half == t->current && half_is_full(t, n, stack))
            goto none;
        half = t->current;
        at = iot_take(&half->header->head, n);
    }
    if (half_grow(t, half, at + n) == 0)
        return &half->rows[at];
    uint32_t head = at + n;
    __atomic_compare_exchange_n(&half->header->head, &head, at, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
none:
    iot_drop(1);
    iot_leave(t);
    return NULL;
}

int iot_flush(struct iot_thread *t)
{
    int failed = -1;
    t->depth++;
    if (t->depth == 1) {
        uint64_t signals = iot_signals_hold();
        struct iot_half *full = t->current, *other = other_half(t);
        failed = half_encode(t, other);
        if (!failed) {
            t->current = other;
            __asm__ volatile("" : : : "memory");
            failed = half_encode(t, full);
            go_on(t, full);
        }
        iot_signals_release(signals);
    }
    iot_leave(t);
    return failed;
}

/* The pages of an empty half that hold nothing but rows go back to the file system. */
void iot_thread_trim(struct iot_thread *t)
{
    enum { PAGE = 4096 };
    for (int i = 0; i < 2; i++) {
        struct iot_half *half = &t->half[i];
        if (half->header->head)
            continue;
        uintptr_t from = ((uintptr_t)half->rows + PAGE - 1) / PAGE * PAGE;
        uintptr_t to = (uintptr_t)(half->rows + half->ready) / PAGE * PAGE;
        if (to <= from || iot_sys(SYS_madvise, from, to - from, MADV_REMOVE))
            continue;
        half->ready = (uint32_t)((from - (uintptr_t)half->rows) / sizeof *half->rows);
        if (half->limit > half->ready)
            half->limit = half->ready;
    }
}

int iot_record_prepare(void)
{
    uint32_t used = __atomic_load_n(&iot_process->threads_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used; i++) {
        const struct iot_thread *t = &threads[i];
        if (iot_is_here(t) && t->current &&
            (iot_pages_ready(t->half[0].header, 2 * IOT_HALF_BYTES) ||
             (t->blocks.at && iot_pages_ready(t->blocks.at, t->blocks.left))))
            return -1;
    }
    return 0;
}

/* --- strings --- */

uint32_t iot_string(struct iot_thread *t, const char *base, size_t base_bytes, const char *text,
                    size_t text_bytes)
{
    uint64_t *place;
    uint64_t tag = iot_string_tag(base, base_bytes, text, text_bytes, &place);
    uint64_t kept = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (kept >> IOT_STRING_NUMBER_BITS == tag)
        return (uint32_t)(kept & ((1u << IOT_STRING_NUMBER_BITS) - 1));

    size_t bytes = base_bytes + text_bytes;
    uint32_t n = 1 + iot_text_rows(bytes);
    struct iot_row *row = iot_reserve(t, n);
    if (!row)
        return 0;
    uint32_t number = __atomic_add_fetch(&iot_process->last_string, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&row->op, (uint16_t)(IOT_DEF_PENDING | n), __ATOMIC_RELEASE);
    memcpy(row + 1, base, base_bytes);
    memcpy((char *)(row + 1) + base_bytes, text, text_bytes);
    row->obj = number;
    row->bytes = (int64_t)bytes;
    iot_commit(t, row, IOT_DEF_STRING);
    if (number < 1u << IOT_STRING_NUMBER_BITS && iot_is_here(t))
        __atomic_store_n(place, tag << IOT_STRING_NUMBER_BITS | number, __ATOMIC_RELAXED);
    return number;
}
