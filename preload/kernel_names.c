#include "preload/kernel_names.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "preload/sys.h"
#include "preload/text.h"

/* --- addresses --- */

static char *put_ipv4(char *to, const uint8_t address[4])
{
    for (int k = 0; k < 4; k++) {
        to = iot_text_number(to, address[k]);
        *to++ = k < 3 ? '.' : ':';
    }
    return to;
}

static char *put_ipv6(char *to, const struct in6_addr *address)
{
    if (IN6_IS_ADDR_V4MAPPED(address))
        return put_ipv4(to, address->s6_addr + 12);
    *to++ = '[';
    for (int k = 0; k < 16; k += 2) {
        to = iot_text_base(to, (uint64_t)address->s6_addr[k] << 8 | address->s6_addr[k + 1], 16);
        *to++ = k < 14 ? ':' : ']';
    }
    *to++ = ':';
    return to;
}

/* One with an abstract name begins with a NUL, which is shown as "@". */
static char *put_unix(char *to, const struct sockaddr_storage *at, size_t n)
{
    const char *path = (const char *)at + offsetof(struct sockaddr_un, sun_path);
    size_t bytes = n - offsetof(struct sockaddr_un, sun_path);
    to = iot_text_put(to, "unix:");
    for (size_t k = 0; k < bytes && k < sizeof((struct sockaddr_un *)0)->sun_path; k++) {
        if (!path[k] && k)
            break;
        *to++ = path[k] ? path[k] : '@';
    }
    return to;
}

static size_t put(char *text, const struct sockaddr_storage *at, socklen_t n)
{
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    char *to = text;
    *to++ = ' ';
    switch (n >= sizeof(sa_family_t) ? at->ss_family : AF_UNSPEC) {
    case AF_INET:
        memcpy(&in, at, sizeof in);
        if (!in.sin_port)
            return 0;
        to = iot_text_number(put_ipv4(to, (const uint8_t *)&in.sin_addr), ntohs(in.sin_port));
        break;
    case AF_INET6:
        memcpy(&in6, at, sizeof in6);
        if (!in6.sin6_port)
            return 0;
        to = iot_text_number(put_ipv6(to, &in6.sin6_addr), ntohs(in6.sin6_port));
        break;
    case AF_UNIX:
        if (n <= offsetof(struct sockaddr_un, sun_path))
            return 0;
        to = put_unix(to, at, n);
        break;
    default:
        return 0;
    }
    return (size_t)(to - text);
}

static size_t ask(long call, int fd, char *text)
{
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;
    return iot_sys(call, fd, &at, &n) ? 0 : put(text, &at, n < sizeof at ? n : sizeof at);
}

size_t iot_kernel_address(int fd, const struct sockaddr *to, socklen_t n,
                          char text[IOT_ADDRESS_BYTES])
{
    size_t bytes = ask(SYS_getpeername, fd, text);
    struct sockaddr_storage at = {0};
    if (!bytes && to && n <= sizeof at) {
        memcpy(&at, to, n);
        bytes = put(text, &at, n);
    }
    return bytes ? bytes : ask(SYS_getsockname, fd, text);
}

/* --- counters --- */

/* The kernel's number of an eventfd, the same in every process that has it; 0 on kernels without.
 */
static uint64_t counter_number(int fd)
{
    static const char key[] = "eventfd-id:";
    char path[48], text[512];
    *iot_text_number(iot_text_put(path, "/proc/self/fdinfo/"), (uint64_t)(unsigned)fd) = '\0';
    long info = iot_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (info < 0)
        return 0;
    long n = iot_sys(SYS_read, info, text, sizeof text - 1);
    iot_sys(SYS_close, info);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, key);
    uint64_t number = 0;
    if (!at)
        return 0;
    for (at += sizeof key - 1; *at == ' ' || *at == '\t'; at++)
        continue;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

static int is(const char *name, size_t n, const char *whole)
{
    return n == strlen(whole) && memcmp(name, whole, n) == 0;
}

size_t iot_kernel_name(int fd, char *name, size_t n, size_t room)
{
    if (n > 8 && memcmp(name, "socket:[", 8) == 0 && n + IOT_ADDRESS_BYTES <= room)
        return n + iot_kernel_address(fd, NULL, 0, name + n);
    uint64_t number;
    if (is(name, n, "anon_inode:[eventfd]") && n + 24 <= room && (number = counter_number(fd))) {
        char *to = name + n - 1; /* before the "]" */
        *to++ = ':';
        to = iot_text_number(to, number);
        *to++ = ']';
        return (size_t)(to - name);
    }
    return n;
}
