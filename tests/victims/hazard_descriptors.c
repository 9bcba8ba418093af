/* descriptors FOLDER WAY: a descriptor's number is not a descriptor. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "tests/victims/hazard.h"

static const char *folder;
static char *self;

static void reopened(void)
{
    for (int i = 0; i < 3; i++)
        CHECK(open("/dev/null", O_RDWR) == i);
    int fd = open_in(folder, "first");
    CHECK(fd == 3);
    write_to(fd, 3);
    int fd2 = open_in(folder, "second");
    CHECK(fd2 == 4);
    write_to(fd2, 4);
}

static void say(int to, const char *text)
{
    CHECK(write(to, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Standard output is kept high up, to say at the end what was done. */
static void all_closed(const char *how)
{
    enum { HIGH = 900 };
    CHECK(dup2(1, HIGH) == HIGH);
    for (int i = 0; i < 10; i++)
        open_in(folder, "old");
    if (strcmp(how, "close") == 0) {
        for (int i = 0; i < HIGH; i++)
            close(i);
    } else if (strcmp(how, "close_range") == 0) {
        CHECK(close_range(0, HIGH - 1, 0) == 0);
    } else {
        CHECK(dup2(HIGH, 0) == 0);
        closefrom(1);
        CHECK(dup2(0, HIGH) == HIGH && close(0) == 0);
    }
    reopened();
    say(HIGH, "did write first 3\ndid write second 4\ndid write old 0\n");
}

static volatile int mine;

static void *closes_and_opens(void *unused)
{
    CHECK(close(mine) == 0);
    int fd = open_in(folder, "second");
    CHECK(fd == mine);
    return unused;
}

static void reused_by_thread(void)
{
    for (int i = 0; i < 100; i++) {
        pthread_t t;
        mine = open_in(folder, "first");
        write_to(mine, 1);
        CHECK(pthread_create(&t, NULL, closes_and_opens, NULL) == 0);
        CHECK(pthread_join(t, NULL) == 0);
        write_to(mine, 2);
        CHECK(close(mine) == 0);
    }
    did("write", "first", 100);
    did("write", "second", 200);
}

static void duplicated(void)
{
    int first = open_in(folder, "first"), second = open_in(folder, "second");
    write_to(second, 1);
    CHECK(dup2(first, second) == second);
    write_to(second, 10);
    CHECK(dup2(first, first) == first);
    write_to(first, 10);
    CHECK(dup2(4000, second) == -1);
    write_to(second, 10);
    CHECK(dup3(second, 77, O_CLOEXEC) == 77);
    write_to(77, 10);
    int high = fcntl(first, F_DUPFD, 50), higher = fcntl(high, F_DUPFD_CLOEXEC, 60);
    CHECK(high >= 50 && higher >= 60);
    write_to(high, 10);
    write_to(higher, 10);
    CHECK(close(first) == 0);
    write_to(higher, 10);
    first = open_in(folder, "third");
    write_to(first, 3);
    did("write", "first", 70);
    did("write", "second", 1);
    did("write", "third", 3);
}

static void send_descriptor(int over, int fd)
{
    char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec iov = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    CHECK(sendmsg(over, &message, 0) == 1);
}

static int receive_descriptor(int over)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec iov = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    CHECK(recvmsg(over, &message, 0) == 1);
    int fd;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void received(void)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        for (int i = 0; i < 2; i++)
            send_descriptor(pair[1], open_in(folder, i ? "second" : "first"));
        _exit(0);
    }
    int old = open_in(folder, "old");
    write_to(old, 1);
    CHECK(close(old) == 0);
    int first = receive_descriptor(pair[0]), second = receive_descriptor(pair[0]);
    CHECK(first == old); /* the number had another meaning */
    write_to(first, 3);
    write_to(second, 4);
    ended_well(pid);
    did("write", "first", 3);
    did("write", "second", 4);
    did("write", "old", 1);
}

static void inherited(void)
{
    int fd = open_in(folder, "first");
    char number[16];
    CHECK(fcntl(fd, F_SETFD, 0) == 0);
    snprintf(number, sizeof number, "%d", fd);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        write_to(fd, 2);
        execl(self, self, number, "writes", (char *)NULL);
        _exit(1);
    }
    ended_well(pid);
    did("write", "first", 5);
}

/* Its calls carry the name under which it was opened. */
static void renamed(void)
{
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s/first", folder);
    snprintf(to, sizeof to, "%s/second", folder);
    int fd = open_in(folder, "first");
    write_to(fd, 2);
    CHECK(rename(from, to) == 0);
    write_to(fd, 2);
    int new = open_in(folder, "first");
    write_to(new, 1);
    CHECK(unlink(from) == 0);
    write_to(new, 1);
    did("write", "first", 6);
    did("write", "second", 0);
    did("rename", "first", 1);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    self = argv[0];
    folder = argv[1];
    const char *way = argv[2];
    if (strcmp(way, "writes") == 0)
        write_to(atoi(argv[1]), 3);
    else if (strcmp(way, "thread") == 0)
        reused_by_thread();
    else if (strcmp(way, "dup") == 0)
        duplicated();
    else if (strcmp(way, "received") == 0)
        received();
    else if (strcmp(way, "inherited") == 0)
        inherited();
    else if (strcmp(way, "renamed") == 0)
        renamed();
    else
        all_closed(way);
    return 0;
}
