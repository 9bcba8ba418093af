/* What looks alike and is not. friends WHICH FOLDER ITEMS
 *   nobody   slow I/O in a thread that nobody waits for
 *   twins    two threads with equal I/O, one of them waited for
 *   lock     a lock held during I/O, which the other thread wants
 *   filelock the same by two processes and a lock on a file
 *   decode   read s, decode d beside compute c, queue of depth 1: s - max(0, c - d) an item
 *   output   a consumer that blocks on output of its own; its producer is faster
 *   sysv, msg, mq  read beside compute, handed on by System V semaphores, its messages, POSIX's
 *   poll     a loop that sleeps until a flag is set
 *   spin     one that does not sleep
 */
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>

#include "tests/cases/programs/measure.h"

static const char *folder;
static int items;
static struct spans io, other_io, waits, decoding, computing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t free_slots, filled;
static ns_t put_at[SPANS_MAX];
static int decode_ms;
static volatile int flag;

static void *reads(void *spans)
{
    for (int k = 0; k < items; k++)
        read_file((struct spans *)spans, folder, k);
    note_queued();
    return NULL;
}

static void *reads_and_flags(void *spans)
{
    reads(spans);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *reads_locked(void *spans)
{
    for (int k = 0; k < items; k++) {
        pthread_mutex_lock(&lock);
        read_file((struct spans *)spans, folder, k);
        pthread_mutex_unlock(&lock);
        work_ms(20);
    }
    return NULL;
}

static void *reads_into_queue(void *unused)
{
    for (int k = 0; k < items; k++) {
        read_file(&io, folder, k);
        ns_t from = now();
        work_ms(decode_ms);
        span(&decoding, from, now());
        sem_wait(&free_slots);
        put_at[k] = now();
        sem_post(&filled);
    }
    note_queued();
    return unused;
}

static pthread_t start(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    need(pthread_create(&thread, NULL, routine, argument) == 0, "pthread_create");
    return thread;
}

static void nobody(void)
{
    pthread_t thread = start(reads, &io);
    work_ms(items * 40);
    pthread_join(thread, NULL);
    truth("input", total(&io), 0, 0);
}

static void twins(void)
{
    pthread_t one = start(reads, &io), two = start(reads, &other_io);
    pthread_detach(two);
    ns_t from = now();
    pthread_join(one, NULL);
    ns_t alone = shared(&io, &(struct spans){1, {from}, {now()}}); /* not what starting two took */
    while (__atomic_load_n(&other_io.n, __ATOMIC_ACQUIRE) < items)
        work_ms(10);
    truth("input", alone + total(&other_io), alone, alone);
}

static void locked(void)
{
    pthread_t thread = start(reads_locked, &io);
    for (int k = 0; k < items; k++) {
        work_ms(7);
        ns_t from = now();
        pthread_mutex_lock(&lock);
        span(&waits, from, now());
        pthread_mutex_unlock(&lock);
    }
    pthread_detach(thread);
    truth("input", total(&io), shared(&io, &waits), shared(&io, &waits));
    _exit(0); /* at once: the thread's further calls are not ours */
}

static int open_lock(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/../lock", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    need(fd >= 0, path);
    return fd;
}

static void locked_file(void)
{
    struct spans *child_io =
        mmap(NULL, sizeof *child_io, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    need(child_io != MAP_FAILED, "mmap");
    pid_t child = fork();
    int fd = open_lock();
    for (int k = 0; k < items && child == 0; k++) {
        need(flock(fd, LOCK_EX) == 0, "flock");
        read_file(child_io, folder, k);
        need(flock(fd, LOCK_UN) == 0, "flock");
        work_ms(20);
    }
    for (int k = 0; k < items && child > 0; k++) {
        work_ms(7);
        ns_t from = now();
        need(flock(fd, LOCK_EX) == 0, "flock");
        span(&waits, from, now());
        need(flock(fd, LOCK_UN) == 0, "flock");
    }
    if (child == 0)
        _exit(0);
    need(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child, "kill");
    truth("input", total(child_io), shared(child_io, &waits), shared(child_io, &waits));
}

/* What the consumer starves by that faster I/O could win: each read's time beyond what computing
 * (on the item before) exceeds decoding. */
static ns_t beyond(void)
{
    ns_t sum = 0;
    for (int k = 0; k < io.n; k++) {
        ns_t s = io.to[k] - io.from[k], spare = 0;
        if (k)
            spare =
                (computing.to[k - 1] - computing.from[k - 1]) - (decoding.to[k] - decoding.from[k]);
        spare = spare > 0 ? spare : 0;
        sum += s > spare ? s - spare : 0;
    }
    return sum;
}

static void queue(int decode, int compute, const char *log)
{
    decode_ms = decode;
    int fd = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    sem_init(&free_slots, 0, 1);
    sem_init(&filled, 0, 0);
    pthread_t thread = start(reads_into_queue, NULL);
    for (int k = 0; k < items; k++) {
        ns_t from = now();
        sem_wait(&filled);
        if (put_at[k] > from)
            span(&waits, from, put_at[k]);
        sem_post(&free_slots);
        from = now();
        work_ms(compute);
        span(&computing, from, now());
        if (fd < 0)
            continue;
        from = now();
        need(write(fd, "result\n", 7) == 7, log);
        span(&other_io, from, now());
    }
    pthread_join(thread, NULL);
    if (log)
        truth("output", total(&other_io), total(&other_io), 0);
    else
        truth("input", total(&io), beyond(), beyond());
}

/* --- other ways to hand on, and between processes --- */

enum { SYSV, MSG, MQ };
static int way, id;
static mqd_t mq;

static void hand_on(ns_t put)
{
    struct sembuf post = {0, 1, 0};
    struct {
        long type;
        ns_t put;
    } message = {1, put};
    if (way == SYSV)
        need(semop(id, &post, 1) == 0, "semop");
    else if (way == MSG)
        need(msgsnd(id, &message, sizeof put, 0) == 0, "msgsnd");
    else
        need(mq_send(mq, (const char *)&put, sizeof put, 0) == 0, "mq_send");
}

static void receive(void)
{
    struct sembuf take = {0, -1, 0};
    char message[64];
    if (way == SYSV)
        need(semop(id, &take, 1) == 0, "semop");
    else if (way == MSG)
        need(msgrcv(id, message, sizeof message - sizeof(long), 0, 0) > 0, "msgrcv");
    else
        need(mq_receive(mq, message, sizeof message, NULL) > 0, "mq_receive");
}

static void *reads_and_hands_on(void *unused)
{
    for (int k = 0; k < items; k++) {
        read_file(&io, folder, k);
        hand_on(put_at[k] = now());
    }
    note_queued();
    return unused;
}

static void handed(int by)
{
    char name[32];
    struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = 64};
    snprintf(name, sizeof name, "/friends-%d", (int)getpid());
    way = by;
    if (by == MQ) {
        mq = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
        need(mq >= 0 && mq_unlink(name) == 0, "mq_open");
    } else {
        id = by == SYSV ? semget(IPC_PRIVATE, 1, 0600) : msgget(IPC_PRIVATE, 0600);
        need(id >= 0, "semget, msgget");
        need(by == MSG || semctl(id, 0, SETVAL, 0) == 0, "semctl");
    }
    pthread_t thread = start(reads_and_hands_on, NULL);
    for (int k = 0; k < items; k++) {
        ns_t from = now();
        receive();
        if (put_at[k] > from)
            span(&waits, from, put_at[k]);
        work_ms(5);
    }
    pthread_join(thread, NULL);
    if (by == SYSV)
        semctl(id, 0, IPC_RMID);
    else if (by == MSG)
        msgctl(id, IPC_RMID, NULL);
    truth("input", total(&io), shared(&io, &waits), shared(&io, &waits));
}

static void loop(int sleeps)
{
    pthread_t thread = start(reads_and_flags, &io);
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        if (sleeps)
            work_ms(1);
    pthread_join(thread, NULL);
    truth("input", total(&io), 0, 0);
}

int main(int argc, char **argv)
{
    need(argc == 4, "friends WHICH FOLDER ITEMS");
    const char *which = argv[1];
    char log[4096];
    folder = argv[2];
    items = atoi(argv[3]);
    snprintf(log, sizeof log, "%s/result.log", folder);
    if (!strcmp(which, "nobody"))
        nobody();
    else if (!strcmp(which, "twins"))
        twins();
    else if (!strcmp(which, "lock"))
        locked();
    else if (!strcmp(which, "filelock"))
        locked_file();
    else if (!strcmp(which, "decode"))
        queue(9, 15, NULL);
    else if (!strcmp(which, "output"))
        queue(0, 25, log);
    else if (!strcmp(which, "sysv"))
        handed(SYSV);
    else if (!strcmp(which, "msg"))
        handed(MSG);
    else if (!strcmp(which, "mq"))
        handed(MQ);
    else
        loop(!strcmp(which, "poll"));
    return 0;
}
