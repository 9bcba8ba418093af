/* System V semaphores and message queues, and POSIX ones: messages between processes that are named
 * by a number or a path. */
#include <mqueue.h>
#include <stdarg.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "preload/descriptors.h"
#include "preload/real.h"
#include "preload/text.h"
#include "preload/wrap.h"

/* "<kind><number>": what the object is called in the trace. */
static uint32_t name_of(struct iot_thread *t, const char *kind, int number)
{
    char name[32];
    char *end = iot_text_number(iot_text_put(name, kind), (uint64_t)(unsigned)number);
    return iot_string(t, "", 0, name, (size_t)(end - name));
}

/* --- semaphores: a row for each that is taken or posted --- */

static void record_semaphores(struct iot_thread *t, int id, const struct sembuf *ops, size_t n,
                              struct iot_timed call, int posts)
{
    uint32_t name = name_of(t, "semid:", id);
    for (size_t k = 0; k < n; k++) {
        int by = posts ? ops[k].sem_op : -ops[k].sem_op;
        for (int i = 0; i < by; i++)
            iot_timed_event(t, call,
                            &(struct iot_row){.addr = ops[k].sem_num,
                                              .obj = name,
                                              .op = posts ? IOT_OP_SEM_POST : IOT_OP_SEM_WAIT});
    }
}

#define SEMOP(sym, params, args)                                                                   \
    int sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter_wait();                                                   \
        if (!t || !ops)                                                                            \
            return iot_real.sym args;                                                              \
        IOT_TIMED(int, sym, args)                                                                  \
        if (result == 0) {                                                                         \
            record_semaphores(t, id, ops, n, (struct iot_timed){call.t0, call.t0, 0}, 1);          \
            record_semaphores(t, id, ops, n, call, 0);                                             \
        }                                                                                          \
        return result;                                                                             \
    }

SEMOP(semop, (int id, struct sembuf *ops, size_t n), (id, ops, n))
SEMOP(semtimedop, (int id, struct sembuf *ops, size_t n, const struct timespec *timeout),
      (id, ops, n, timeout))

int semctl(int id, int number, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *); /* a union of an int and pointers; not always there */
    va_end(ap);
    int result = iot_real.semctl(id, number, command, argument);
    struct iot_thread *t = result >= 0 && command == SETVAL ? iot_enter_wait() : NULL;
    if (t) {
        uint64_t now = iot_now();
        iot_timed_event(t, (struct iot_timed){now, now, 0},
                        &(struct iot_row){.offset = (int)(intptr_t)argument,
                                          .addr = (uint64_t)number,
                                          .obj = name_of(t, "semid:", id),
                                          .op = IOT_OP_SEM_INIT});
    }
    return result;
}

/* --- queues: a message goes in at entry and out at return --- */

#define SENDS(ret, sym, operation, params, args, name)                                             \
    ret sym params                                                                                 \
    {                                                                                              \
        struct iot_thread *t = iot_enter_wait();                                                   \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = name;                                                                       \
        IOT_TIMED(ret, sym, args)                                                                  \
        call.t1 = call.t0;                                                                         \
        return (ret)iot_timed_event(                                                               \
            t, call, &(struct iot_row){.result = result, .obj = obj, .op = IOT_OP_##operation});   \
    }

#define RECEIVES(sym, operation, params, args, name)                                               \
    ssize_t sym params                                                                             \
    {                                                                                              \
        struct iot_thread *t = iot_enter_wait();                                                   \
        if (!t)                                                                                    \
            return iot_real.sym args;                                                              \
        uint32_t obj = name;                                                                       \
        IOT_TIMED(ssize_t, sym, args)                                                              \
        return (ssize_t)iot_timed_event(                                                           \
            t, call, &(struct iot_row){.result = result, .obj = obj, .op = IOT_OP_##operation});   \
    }

/* The same queue has one inode, whoever opened it: asked for once an opening. */
static uint32_t queue_of(struct iot_thread *t, mqd_t queue)
{
    enum { KEPT = sizeof iot_process->mq_names / sizeof *iot_process->mq_names };
    uint32_t opening = iot_descriptor(t, queue);
    struct iot_mq_name *kept = &iot_process->mq_names[(unsigned)queue % KEPT];
    if (!opening || t->vfork_pid)
        return name_of(t, "mq:", (int)iot_descriptor_inode(queue));
    if (__atomic_load_n(&kept->opening, __ATOMIC_ACQUIRE) == opening)
        return kept->name;
    uint32_t name = name_of(t, "mq:", (int)iot_descriptor_inode(queue));
    __atomic_store_n(&kept->opening, 0, __ATOMIC_RELEASE);
    kept->name = name;
    __atomic_store_n(&kept->opening, opening, __ATOMIC_RELEASE);
    return name;
}

static mqd_t queue_opened(struct iot_thread *t, struct iot_timed call, mqd_t queue,
                          const char *name, int flags)
{
    uint32_t path = queue < 0 ? 0 : iot_string(t, "/dev/mqueue", 11, name, strnlen(name, 256));
    uint32_t obj = queue < 0 ? 0 : iot_descriptor_opened(t, queue, path, flags, 0);
    return (mqd_t)iot_timed_event(t, call,
                                  &(struct iot_row){.result = queue,
                                                    .offset = flags,
                                                    .obj = obj,
                                                    .obj2 = path,
                                                    .op = IOT_OP_OPEN});
}

mqd_t mq_open(const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    struct mq_attr *attributes = flags & O_CREAT ? va_arg(ap, struct mq_attr *) : NULL;
    va_end(ap);
    struct iot_thread *t = iot_enter_wait();
    if (!t)
        return iot_real.mq_open(name, flags, mode, attributes);
    IOT_TIMED(mqd_t, mq_open, (name, flags, mode, attributes))
    return queue_opened(t, call, result, name, flags);
}

mqd_t __mq_open_2(const char *name, int flags)
{
    struct iot_thread *t = iot_enter_wait();
    if (!t)
        return iot_real.__mq_open_2(name, flags);
    IOT_TIMED(mqd_t, __mq_open_2, (name, flags))
    return queue_opened(t, call, result, name, flags);
}

SENDS(int, msgsnd, MSGSND, (int id, const void *message, size_t n, int flags),
      (id, message, n, flags), name_of(t, "msqid:", id))
RECEIVES(msgrcv, MSGRCV, (int id, void *message, size_t n, long type, int flags),
         (id, message, n, type, flags), name_of(t, "msqid:", id))
SENDS(int, mq_send, MQ_SEND, (mqd_t queue, const char *message, size_t n, unsigned priority),
      (queue, message, n, priority), queue_of(t, queue))
SENDS(int, mq_timedsend, MQ_SEND,
      (mqd_t queue, const char *message, size_t n, unsigned priority, const struct timespec *until),
      (queue, message, n, priority, until), queue_of(t, queue))
RECEIVES(mq_receive, MQ_RECEIVE,
         (mqd_t queue, char *restrict message, size_t n, unsigned *restrict priority),
         (queue, message, n, priority), queue_of(t, queue))
RECEIVES(mq_timedreceive, MQ_RECEIVE,
         (mqd_t queue, char *restrict message, size_t n, unsigned *restrict priority,
          const struct timespec *restrict until),
         (queue, message, n, priority, until), queue_of(t, queue))
