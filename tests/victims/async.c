/* Asynchronous requests of all kinds: async WAY FOLDER
 *   probe     whether there is io_uring here: the exit status
 *   aio, aio64, list   POSIX's; with 64-bit names; lists, with one that fails
 *   libaio    by number; foreign: by a libaio that was loaded late, into a scope of its own
 *   handle    by what is looked up in the handle of a libaio that was loaded late; it may make its
 *             system calls by libc or by itself
 *   past      reads for which nothing of libc's is called
 *   ring      io_uring by number: plain, vectored, registered files, one token for all, timeout
 *   direct    a ring whose requests are handed over past libc
 *   unmapped  a ring whose memory the program mapped past libc
 *   hidden    rings that are closed when their memory cannot be read, or is something else
 *   polled    a ring that the kernel empties by a thread of its own
 *   forked    a ring in parent and child
 *   crowded   more rings than a recorder may want to know
 *   execs     as direct, and then another program
 * Each says what moved: "moved OP FILE BYTES", and "failed OP FILE ERRNO". */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "preload/sys.h"
#include "tests/victims/ring.h"

enum { BLOCK = 4096 };
enum iot_confinement iot_confined; /* of sys.h */

static char data[8][BLOCK] __attribute__((aligned(BLOCK)));
static int in, out;

static void need(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        exit(99);
    }
}

static void moved(const char *op, const char *file, long bytes)
{
    printf("moved async_%s %s %ld\n", op, file, bytes);
}

/* --- POSIX --- */

#define POSIX(name, x)                                                                             \
    static void name(void)                                                                         \
    {                                                                                              \
        struct aiocb##x a = {.aio_fildes = in, .aio_buf = data[0], .aio_nbytes = BLOCK},           \
                        b = {.aio_fildes = out, .aio_buf = data[1], .aio_nbytes = 100},            \
                        c = {.aio_fildes = out};                                                   \
        const struct aiocb##x *all[] = {&a, NULL, &b};                                             \
        need(aio_read##x(&a) == 0 && aio_write##x(&b) == 0, "aio");                                \
        while (aio_error##x(&a) == EINPROGRESS || aio_error##x(&b) == EINPROGRESS)                 \
            need(aio_suspend##x(all, 3, NULL) == 0 || errno == EINTR, "aio_suspend");              \
        need(aio_return##x(&a) == BLOCK && aio_return##x(&b) == 100, "aio_return");                \
        need(aio_fsync##x(O_DSYNC, &c) == 0, "aio_fsync");                                         \
        while (aio_error##x(&c) == EINPROGRESS)                                                    \
            usleep(1000);                                                                          \
        need(aio_return##x(&c) == 0 && aio_cancel##x(out, NULL) == AIO_ALLDONE, "aio_fsync");      \
        moved("read", "in", BLOCK);                                                                \
        moved("write", "out", 100);                                                                \
        moved("sync", "out", 0);                                                                   \
    }
POSIX(posix, )
POSIX(posix64, 64)

static void posix_list(void)
{
    struct aiocb all[5] = {0}, *list[5];
    for (int k = 0; k < 5; k++) {
        all[k].aio_fildes = k == 4 ? -1 : k & 1 ? out : in;
        all[k].aio_lio_opcode = k == 3 ? LIO_NOP : k & 1 ? LIO_WRITE : LIO_READ;
        all[k].aio_buf = data[k];
        all[k].aio_nbytes = 1000;
        list[k] = &all[k];
    }
    need(lio_listio(LIO_WAIT, list, 4, NULL) == 0, "lio_listio");
    for (int k = 0; k < 3; k++)
        need(aio_return(&all[k]) == 1000, "aio_return");
    need(lio_listio64(LIO_NOWAIT, (struct aiocb64 **)list, 1, NULL) == 0, "lio_listio64");
    while (aio_error(&all[0]) == EINPROGRESS)
        usleep(1000);
    need(aio_return(&all[0]) == 1000, "aio_return");
    need(lio_listio(LIO_WAIT, list + 4, 1, NULL) == -1, "lio_listio of no descriptor");
    moved("read", "in", 3000);
    moved("write", "out", 1000);
}

/* --- libaio --- */

static long (*submit)(aio_context_t, long, struct iocb **);
static long (*get)(aio_context_t, long, long, struct io_event *, struct timespec *);
static int (*setup)(int, aio_context_t *), (*destroy)(aio_context_t);

static long number_submit(aio_context_t c, long n, struct iocb **list)
{
    return syscall(SYS_io_submit, c, n, list);
}

static long number_get(aio_context_t c, long least, long n, struct io_event *events,
                       struct timespec *timeout)
{
    return syscall(SYS_io_getevents, c, least, n, events, timeout);
}

static int number_setup(int n, aio_context_t *c)
{
    return (int)syscall(SYS_io_setup, n, c);
}

static int number_destroy(aio_context_t c)
{
    return (int)syscall(SYS_io_destroy, c);
}

static void kernel_aio(void)
{
    aio_context_t context = 0;
    struct iocb all[4], *list[4];
    struct io_event events[4];
    struct timespec none = {0, 0};
    for (int k = 0; k < 4; k++) {
        all[k] = (struct iocb){.aio_lio_opcode = (uint16_t)(k == 3   ? IOCB_CMD_FDSYNC
                                                            : k == 2 ? IOCB_CMD_PWRITE
                                                                     : IOCB_CMD_PREAD),
                               .aio_fildes = (uint32_t)(k < 2 ? in : out),
                               .aio_buf = k == 3 ? 0 : (uint64_t)(uintptr_t)data[k],
                               .aio_nbytes = k == 3 ? 0 : BLOCK,
                               .aio_offset = k == 1 ? 4 * BLOCK - 10 : 0};
        list[k] = &all[k];
    }
    need(setup(8, &context) == 0, "io_setup");
    need(submit(context, 4, list) == 4, "io_submit");
    need(get(context, 4, 4, events, NULL) == 4, "io_getevents");
    need(get(context, 1, 4, events, &none) == 0, "io_getevents of nothing");
    need(destroy(context) == 0, "io_destroy");
    moved("read", "in", BLOCK + 10);
    moved("write", "out", BLOCK);
    moved("sync", "out", 0);
}

static void by_number(void)
{
    submit = number_submit;
    get = number_get;
    setup = number_setup;
    destroy = number_destroy;
    kernel_aio();
}

/* Our symbol, which a library loaded late would find first, and the definition in a scope of its
 * own. */
static void foreign(void)
{
    void *library = dlopen("libaio.so.1", RTLD_NOW | RTLD_LOCAL);
    void *whose = dlsym(RTLD_DEFAULT, "io_submit") ? RTLD_DEFAULT : library;
    need(library != NULL, "libaio.so.1");
    submit = dlsym(whose, "io_submit");
    get = dlsym(whose, "io_getevents");
    setup = dlsym(whose, "io_setup");
    destroy = dlsym(whose, "io_destroy");
    kernel_aio();
}

static int open_direct(void)
{
    int fd = open("in", O_RDONLY | O_DIRECT);
    if (fd < 0) {
        puts("no direct I/O");
        exit(0);
    }
    return fd;
}

static void handle(void)
{
    void *library = dlopen("libaio.so.1", RTLD_NOW | RTLD_LOCAL);
    aio_context_t context = 0;
    struct io_event done;
    int fd = open_direct();
    struct iocb request = {.aio_fildes = (uint32_t)fd, .aio_lio_opcode = IOCB_CMD_PREAD,
                           .aio_buf = (uint64_t)(uintptr_t)data[0], .aio_nbytes = BLOCK};
    struct iocb *all[] = {&request};
    need(library != NULL, "libaio.so.1");
    submit = dlsym(library, "io_submit");
    get = dlsym(library, "io_getevents");
    setup = dlsym(library, "io_setup");
    destroy = dlsym(library, "io_destroy");
    need(setup(1, &context) == 0 && submit(context, 1, all) == 1 &&
             get(context, 1, 1, &done, NULL) == 1 && destroy(context) == 0,
         "a request");
    puts("either async_read in 4096");
    puts("or bypassed 1");
}

static void past(void)
{
    need(iot_sys(SYS_pread64, open_direct(), data[0], BLOCK, 0) == BLOCK, "a read");
    puts("bypassed 1");
}

/* --- rings --- */

static void take(struct ring *r, int n, int least)
{
    for (int k = 0; k < n; k++) {
        int res;
        while ((res = ring_take(r, NULL)) == -4096)
            need(ring_enter(r, 0, 1) >= 0, "io_uring_enter");
        need(res >= least, "a request");
    }
}

static void ring(void)
{
    struct ring r;
    struct iovec parts[2] = {{data[0], 100}, {data[1], 200}};
    struct __kernel_timespec {
        long long s, ns;
    } soon = {0, 2000000};
    int registered[2] = {out, in};
    need(ring_make(&r, 8, 0) == 0, "io_uring_setup");
    ring_request(&r, IORING_OP_READ, in, data[2], BLOCK, 0, 1);
    ring_request(&r, IORING_OP_READV, in, parts, 2, BLOCK, 2);
    ring_request(&r, IORING_OP_WRITE, out, data[3], 500, 0, 3);
    need(ring_enter(&r, 3, 3) == 3, "io_uring_enter");
    take(&r, 3, 1);
    ring_request(&r, IORING_OP_FSYNC, out, NULL, 0, 0, 4);
    ring_request(&r, IORING_OP_NOP, -1, NULL, 0, 0, 5);
    ring_request(&r, IORING_OP_TIMEOUT, -1, &soon, 1, 0, 6);
    need(ring_enter(&r, 3, 0) == 3, "io_uring_enter");
    take(&r, 3, -ETIME);
    need(syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_FILES, registered, 2) == 0,
         "register");
    for (int k = 0; k < 6; k++)
        ring_request(&r, IORING_OP_READ, 1, data[k], 10, 0, 0)->flags = IOSQE_FIXED_FILE;
    need(ring_enter(&r, 6, 6) == 6, "io_uring_enter");
    take(&r, 6, 10);
    ring_request(&r, IORING_OP_WRITE, 0, data[0], 40, 0, 0)->flags = IOSQE_FIXED_FILE | IOSQE_ASYNC;
    need(ring_enter(&r, 1, 1) == 1, "io_uring_enter");
    take(&r, 1, 40);
    ring_request(&r, IORING_OP_READ, 0, data[0], 40, 0, 0); /* standard input: nothing there */
    ring_request(&r, IORING_OP_READ, -1, data[0], 40, 0, 0);
    need(ring_enter(&r, 2, 2) == 2, "io_uring_enter");
    take(&r, 2, -EBADF);
    ring_end(&r);
    moved("read", "in", BLOCK + 300 + 60);
    moved("write", "out", 540);
    moved("sync", "out", 0);
}

/* As fio does it: the ring is made by libc's calls, and used past them. */
static struct ring used_directly(void)
{
    struct ring r;
    need(ring_make(&r, 8, 0) == 0, "io_uring_setup");
    for (int k = 0; k < 20; k++) {
        ring_request(&r, IORING_OP_READ, in, data[0], 100, 0, 7);
        iot_sys(SYS_io_uring_enter, r.fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0);
        need(ring_take(&r, NULL) == 100, "a request");
    }
    return r;
}

static void direct(void)
{
    struct ring r = used_directly();
    ring_request(&r, IORING_OP_READ, in, data[0], 50, 0, 7);
    need(ring_enter(&r, 1, 1) == 1, "io_uring_enter");
    need(ring_take(&r, NULL) == 50, "a request");
    ring_end(&r);
    moved("read", "in", 50);
    puts("unseen 20");
}

static void *map_past_libc(int fd, size_t n, uint64_t offset)
{
    return (void *)iot_sys(SYS_mmap, 0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

static void unmapped(void)
{
    struct ring r;
    need(ring_make_by(&r, 8, 0, map_past_libc) == 0, "io_uring_setup");
    for (int k = 0; k < 5; k++) {
        ring_request(&r, IORING_OP_READ, in, data[0], 100, 0, 7);
        need(ring_enter(&r, 1, 1) == 1 && ring_take(&r, NULL) == 100, "a request");
    }
    puts("unseen 5"); /* it ends with the process */
}

static void polled(void)
{
    struct ring r;
    need(ring_make(&r, 8, IORING_SETUP_SQPOLL) == 0, "io_uring_setup");
    for (int k = 0; k < 3; k++) {
        ring_request(&r, IORING_OP_READ, in, data[0], 100, 0, 7);
        int res;
        while ((res = ring_take(&r, NULL)) == -4096) {
            /* it may sleep */
            iot_sys(SYS_io_uring_enter, r.fd, 0, 0, IORING_ENTER_SQ_WAKEUP, 0, 0);
            usleep(500);
        }
        need(res == 100, "a request");
    }
    ring_end(&r);
    puts("unseen 3");
}

/* Closed when its memory can no longer be read, or is something else. */
static void hidden(void)
{
    for (int way = 0; way < 3; way++) {
        struct ring r;
        need(ring_make(&r, 8, 0) == 0, "io_uring_setup");
        ring_request(&r, IORING_OP_READ, in, data[0], 100, 0, 7);
        need(ring_enter(&r, 1, 1) == 1, "io_uring_enter");
        take(&r, 1, 100);
        if (way == 0)
            need(mprotect(r.memory, r.memory_bytes, PROT_NONE) == 0, "mprotect");
        else
            need(mmap(r.memory, r.memory_bytes, way == 1 ? PROT_NONE : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == r.memory,
                 "mmap");
        close(r.fd);
    }
    moved("read", "in", 300);
}

static void forked(void)
{
    struct ring r;
    int status;
    need(ring_make(&r, 8, 0) == 0, "io_uring_setup");
    ring_request(&r, IORING_OP_READ, in, data[0], 100, 0, 7);
    need(ring_enter(&r, 1, 1) == 1, "io_uring_enter");
    take(&r, 1, 100);
    fflush(stdout);
    pid_t child = fork();
    need(child >= 0, "fork");
    if (!child) {
        struct ring own;
        need(ring_make(&own, 8, 0) == 0, "io_uring_setup");
        ring_request(&own, IORING_OP_READ, in, data[0], 200, 0, 7);
        need(ring_enter(&own, 1, 1) == 1, "io_uring_enter");
        take(&own, 1, 200);
        _exit(0);
    }
    need(waitpid(child, &status, 0) == child && status == 0, "the child");
    ring_request(&r, IORING_OP_READ, in, data[0], 300, 0, 7);
    need(ring_enter(&r, 1, 1) == 1, "io_uring_enter");
    take(&r, 1, 300);
    moved("read", "in", 600);
}

static void crowded(void)
{
    enum { RINGS = 40, KNOWN = 32 };
    struct ring all[RINGS];
    for (int k = 0; k < RINGS; k++) {
        need(ring_make(&all[k], 2, 0) == 0, "io_uring_setup");
        ring_request(&all[k], IORING_OP_READ, in, data[0], 100, 0, 7);
        need(ring_enter(&all[k], 1, 1) == 1 && ring_take(&all[k], NULL) == 100, "a request");
    }
    moved("read", "in", KNOWN * 100);
    printf("unseen %d\n", RINGS - KNOWN);
}

static void execs(void)
{
    used_directly();
    puts("unseen 20");
    fflush(stdout);
    execl("/bin/true", "true", NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"aio", posix},         {"aio64", posix64},   {"list", posix_list},
            {"libaio", by_number},  {"foreign", foreign}, {"handle", handle},
            {"past", past},         {"ring", ring},       {"direct", direct},
            {"unmapped", unmapped}, {"polled", polled},   {"forked", forked},
            {"crowded", crowded},   {"execs", execs},     {"hidden", hidden}};

int main(int argc, char **argv)
{
    struct ring r;
    if (argc > 1 && !strcmp(argv[1], "probe"))
        return ring_make(&r, 4, 0) != 0;
    need(argc == 3 && chdir(argv[2]) == 0, "async WAY FOLDER");
    in = open("in", O_RDWR | O_CREAT, 0600);
    out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(in >= 0 && out >= 0 && ftruncate(in, 4 * BLOCK) == 0, "files");
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if (!strcmp(ways[k].name, argv[1])) {
            ways[k].run();
            return 0;
        }
    return 2;
}
