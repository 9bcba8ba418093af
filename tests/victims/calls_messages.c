/* calls_messages FOLDER: sockets, polls, queues and counters. */
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

#include "tests/victims/calls.h"

static char text[64];

static void datagrams(void)
{
    int ends[2];
    DO("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    struct iovec iov[2] = {{text, 10}, {text, 20}};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &iov[0], .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &iov[1], .msg_iovlen = 1}}};
    CHECK(sendmmsg(ends[0], messages, 2, 0) == 2);
    say("sendmmsg", 30);
    CHECK(recvmmsg(ends[1], messages, 2, 0, NULL) == 2);
    say("recvmmsg", 30);
    MOVE("sendto", sendto(ends[0], text, 5, 0, NULL, 0), 5);
    MOVE("recvfrom", recvfrom(ends[1], text, 5, 0, NULL, NULL), 5);
    MOVE("send", CALL(ssize_t, __send, (int, const void *, size_t, int), (ends[0], text, 6, 0)), 6);
    MOVE("read", read(ends[1], text, 64), 6);
}

static int listening(struct sockaddr_in *at)
{
    socklen_t n = sizeof *at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    DO("socket", fd >= 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    DO("bind", bind(fd, (struct sockaddr *)at, sizeof *at) == 0);
    DO("listen", listen(fd, 4) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)at, &n) == 0);
    return fd;
}

/* Both ends are called by the address of the other. */
static void connections(void)
{
    struct sockaddr_in at;
    int server = listening(&at), client[2], accepted[2];
    for (int k = 0; k < 2; k++) {
        client[k] = socket(AF_INET, SOCK_STREAM, 0);
        DO("socket", client[k] >= 0);
    }
    DO("connect", connect(client[0], (struct sockaddr *)&at, sizeof at) == 0);
    DO("connect", CALL(int, __connect, (int, const struct sockaddr *, socklen_t),
                       (client[1], (struct sockaddr *)&at, sizeof at)) == 0);
    accepted[0] = accept(server, NULL, NULL);
    DO("accept", accepted[0] >= 0);
    accepted[1] = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    DO("accept4", accepted[1] >= 0);
    MOVE("write", write(client[0], text, 9), 9);
    dprintf(1, "named write \" 127.0.0.1:%d\" 9\n", ntohs(at.sin_port));
    MOVE("read", read(accepted[0], text, 64), 9);
    DO("shutdown", shutdown(client[0], SHUT_WR) == 0);
}

static void polls(void)
{
    int ends[2], fd = eventfd(0, 0), epoll = epoll_create1(0);
    DO("eventfd", fd >= 0);
    DO("pipe", pipe(ends) == 0);
    MOVE("eventfd_write", eventfd_write(fd, 3) ? 0 : 8, 8);
    eventfd_t value = 0;
    MOVE("eventfd_read", eventfd_read(fd, &value) ? 0 : 8, 8);
    CHECK(value == 3);
    struct epoll_event event = {.events = EPOLLOUT, .data = {.u64 = 12345}};
    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event) == 0);
    struct timespec soon = {0, 1000};
    DO("epoll_wait", epoll_wait(epoll, &event, 1, 0) == 1 && event.data.u64 == 12345);
    DO("epoll_wait", epoll_pwait(epoll, &event, 1, 0, NULL) == 1);
    DO("epoll_wait", epoll_pwait2(epoll, &event, 1, &soon, NULL) == 1);
    struct pollfd one = {.fd = ends[1], .events = POLLOUT};
    DO("poll", ppoll(&one, 1, &soon, NULL) == 1);
    DO("poll", CALL(int, __poll, (struct pollfd *, nfds_t, int), (&one, 1, 0)) == 1);
    fd_set out;
    struct timeval never = {0, 0};
    FD_ZERO(&out);
    FD_SET(ends[1], &out);
    DO("select", select(ends[1] + 1, NULL, &out, NULL, &never) == 1);
    DO("select", pselect(ends[1] + 1, NULL, &out, NULL, &soon, NULL) == 1);
    DO("select", CALL(int, __select, (int, fd_set *, fd_set *, fd_set *, struct timeval *),
                      (ends[1] + 1, NULL, &out, NULL, &never)) == 1);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec in = {{0, 0}, {0, 1000000}};
    uint64_t times;
    DO("timerfd_create", timer >= 0 && timerfd_settime(timer, 0, &in, NULL) == 0);
    MOVE("read", read(timer, &times, sizeof times), 8);
}

static void old_queues(void)
{
    struct {
        long type;
        char text[8];
    } message = {1, "hello"};
    int queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
    CHECK(queue >= 0 && set >= 0);
    DO("msgsnd", msgsnd(queue, &message, 8, 0) == 0);
    DO("msgrcv", msgrcv(queue, &message, 8, 0, 0) == 8);
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
    struct sembuf up = {0, 1, 0}, down = {0, -1, 0};
    struct timespec soon = {1, 0};
    union {
        int value;
        void *pointer;
    } one = {.value = 1};
    DO("sem_init", semctl(set, 0, SETVAL, one) == 0);
    DO("sem_post", semop(set, &up, 1) == 0);
    DO("sem_wait", semtimedop(set, &down, 1, &soon) == 0);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
}

/* Where the kernel has none, or too few, the calls fail and are no rows. */
static void new_queues(void)
{
    char name[32];
    snprintf(name, sizeof name, "/iotrace-%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 16};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    if (queue < 0)
        return;
    say("open", 0);
    DO("open", CALL(mqd_t, __mq_open_2, (const char *, int), (name, O_RDONLY)) >= 0);
    struct timespec until = {4000000000, 0};
    DO("mq_send", mq_send(queue, "a", 1, 0) == 0);
    DO("mq_send", mq_timedsend(queue, "b", 1, 0, &until) == 0);
    DO("mq_receive", mq_receive(queue, text, 16, NULL) == 1);
    DO("mq_receive", mq_timedreceive(queue, text, 16, NULL, &until) == 1);
    DO("close", mq_close(queue) == 0);
    DO("unlink", mq_unlink(name) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 && argv[1]);
    datagrams();
    connections();
    polls();
    old_queues();
    new_queues();
    say_all();
    return 0;
}
