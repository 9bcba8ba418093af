#include "preload/window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "format/window.h"
#include "preload/descriptors.h"
#include "preload/image.h"
#include "preload/process.h"
#include "preload/sys.h"
#include "preload/text.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void iotrace_pause(void);
EXPORT void iotrace_resume(void);

enum { PAGE = 4096 };
#define WINDOW_MAGIC UINT64_C(0x31776f646e697770) /* "pwindow1" */

/* Why a window changed: the result of its row. */
enum reason { BY_PROGRAM = 1, BY_STEPS = 2, BY_TIME = 3 };

static struct iot_window whole; /* of a process that shares none */
struct iot_window *iot_window = &whole;

static int failed(long result)
{
    return result < 0 && result > -4096;
}

/* The page of the run; NULL if it cannot be had. */
static struct iot_window *map_page(int create)
{
    char path[IOT_PATH_BYTES];
    *iot_text_put(iot_text_put(path, iot_image.folder), "/" IOT_RUN_MARKER) = '\0';
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    iot_sys(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit);
    if (create && limit.rlim_cur < PAGE) /* to grow a file beyond it ends in SIGXFSZ */
        return NULL;
    long fd = iot_sys(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (failed(fd))
        return NULL;
    struct stat st = {0};
    long at = -1;
    if ((!create || !failed(iot_sys(SYS_ftruncate, fd, PAGE))) &&
        iot_sys(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= PAGE)
        at = iot_sys(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    iot_sys(SYS_close, fd);
    if (failed(at))
        return NULL;
    if (iot_pages_ready((void *)at, PAGE) == 0)
        return (struct iot_window *)at;
    iot_sys(SYS_munmap, at, PAGE);
    return NULL;
}

/* What does not parse is not asked for: `iotrace run` has said so already, and here nobody is to be
 * told. */
static void ask(struct iot_window *w, const char *(*variable)(void *, const char *), void *user)
{
    uint64_t after = 0;
    uint32_t shut = 0;
    iot_window_size(variable(user, "IOTRACE_MAX_SIZE"), &w->kept_bytes);
    if (w->kept_bytes && w->kept_bytes < IOT_KEPT_BYTES_MIN)
        w->kept_bytes = IOT_KEPT_BYTES_MIN;
    int timed = iot_window_time(variable(user, "IOTRACE_DURATION"), &w->duration_ns) == 0;
    if (iot_window_steps(variable(user, "IOTRACE_STEPS"), &w->first_step, &w->last_step) == 0) {
        shut = IOT_WINDOW_OUT;
    } else if (iot_window_time(variable(user, "IOTRACE_AFTER"), &after) == 0 && after) {
        shut = IOT_WINDOW_OUT | IOT_WINDOW_TIMED;
    } else if (timed) {
        shut = IOT_WINDOW_TIMED;
    }
    w->begin_ns = iot_clock_monotonic() + after;
    w->end_ns = w->begin_ns + w->duration_ns;
    w->reached = !(shut & IOT_WINDOW_OUT);
    w->word = (shut ? IOT_WINDOW_CHANGE | shut : 0) | (iot_stacks ? IOT_WINDOW_STACKS : 0);
    __atomic_store_n(&w->magic, WINDOW_MAGIC, __ATOMIC_RELEASE);
}

void iot_window_start(const char *(*variable)(void *, const char *), void *user)
{
    struct iot_window *page = map_page(iot_image.root);
    /* A root that execs finds the window that it laid down. */
    if (!page || page->magic != WINDOW_MAGIC) {
        if (!page)
            page = &whole;
        if (iot_image.root)
            ask(page, variable, user);
        else
            page = &whole;
    }
    iot_window = page;
}

static void note(struct iot_thread *t, uint16_t op, enum reason reason, int64_t first)
{
    uint64_t now = iot_now();
    iot_event(t,
              &(struct iot_row){.t0 = now, .t1 = now, .result = reason, .offset = first, .op = op});
}

void iot_window_begun(struct iot_thread *t)
{
    const struct iot_window *w = iot_window;
    if (iot_image.root && w->word / IOT_WINDOW_CHANGE == 1 && w->word & IOT_WINDOW_SHUT)
        note(t, IOT_OP_WINDOW_CLOSE, w->first_step ? BY_STEPS : BY_TIME, 1);
}

/* Who makes the change records it; gives whether that is the caller. */
static int change(struct iot_thread *t, uint32_t clear, uint32_t set, enum reason reason)
{
    uint32_t word = __atomic_load_n(&iot_window->word, __ATOMIC_ACQUIRE), next;
    do {
        next = (word & ~clear) | set;
        if (next == word)
            return 0;
        next += IOT_WINDOW_CHANGE;
    } while (!__atomic_compare_exchange_n(&iot_window->word, &word, next, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    int was = (word & IOT_WINDOW_SHUT) != 0, is = (next & IOT_WINDOW_SHUT) != 0;
    if (was != is)
        note(t, is ? IOT_OP_WINDOW_CLOSE : IOT_OP_WINDOW_OPEN, reason, 0);
    return 1;
}

/* Each but once: who comes late finds it done. */
static int reach(uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&iot_window->reached, &from, to, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static void begin(struct iot_thread *t, enum reason reason)
{
    struct iot_window *w = iot_window;
    if (!reach(0, 1))
        return;
    if (w->duration_ns)
        w->end_ns = iot_clock_monotonic() + w->duration_ns;
    change(t, IOT_WINDOW_OUT | IOT_WINDOW_TIMED, w->duration_ns ? IOT_WINDOW_TIMED : 0, reason);
}

static void end(struct iot_thread *t, enum reason reason)
{
    if (reach(1, 2))
        change(t, IOT_WINDOW_TIMED, IOT_WINDOW_OUT, reason);
}

/* A coarse clock will do, and is read with every call of a timed window. */
static void keep_time(struct iot_thread *t, uint32_t word)
{
    uint64_t now = iot_clock_coarse();
    if (!(word & IOT_WINDOW_OUT) && now >= iot_window->end_ns)
        end(t, BY_TIME);
    else if (word & IOT_WINDOW_OUT && now >= iot_window->begin_ns)
        begin(t, BY_TIME);
}

int iot_window_look(struct iot_thread *t)
{
    uint32_t word = __atomic_load_n(&iot_window->word, __ATOMIC_ACQUIRE);
    if (word & IOT_WINDOW_TIMED) {
        keep_time(t, word);
        word = __atomic_load_n(&iot_window->word, __ATOMIC_ACQUIRE);
    }
    if (word & IOT_WINDOW_SHUT)
        return 0;
    uint32_t known = __atomic_load_n(&iot_process->window, __ATOMIC_ACQUIRE);
    uint32_t now = word / IOT_WINDOW_CHANGE;
    /* While it was shut descriptors may have come to be others. */
    if (known != now) {
        iot_descriptors_forget();
        __atomic_store_n(&iot_process->window, now, __ATOMIC_RELEASE);
    }
    t->window = word & ~(uint32_t)IOT_WINDOW_ASKED;
    return 1;
}

int iot_window_follows(void)
{
    uint32_t word = __atomic_load_n(&iot_window->word, __ATOMIC_ACQUIRE);
    return !(word & IOT_WINDOW_SHUT) &&
           __atomic_load_n(&iot_process->window, __ATOMIC_ACQUIRE) == word / IOT_WINDOW_CHANGE;
}

/* The first process to begin a step of the window begins it for all, as the first that is beyond
 * ends it.
 */
void iot_window_step(struct iot_thread *t)
{
    struct iot_window *w = iot_window;
    uint32_t step = __atomic_add_fetch(&iot_process->steps, 1, __ATOMIC_RELAXED);
    if (w->first_step && step == w->first_step)
        begin(t, BY_STEPS);
    else if (w->first_step && step > w->last_step)
        end(t, BY_STEPS);
}

void iotrace_pause(void)
{
    struct iot_thread *t = iot_enter_always();
    if (t)
        change(t, 0, IOT_WINDOW_PAUSED, BY_PROGRAM);
}

void iotrace_resume(void)
{
    struct iot_thread *t = iot_enter_always();
    if (t)
        change(t, IOT_WINDOW_PAUSED, 0, BY_PROGRAM);
}
