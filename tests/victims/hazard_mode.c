/* mode FOLDER: the mode of open is read where there is one, and only there. */
#include <sys/stat.h>

#include "tests/victims/hazard.h"

static void has_mode(int fd, mode_t mode)
{
    struct stat st;
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    CHECK((st.st_mode & 07777) == mode);
    CHECK(close(fd) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    CHECK(chdir(argv[1]) == 0);
    umask(0);
    has_mode(open("a", O_WRONLY | O_CREAT, 0741), 0741);
    has_mode(open64("b", O_WRONLY | O_CREAT, 0652), 0652);
    has_mode(openat(AT_FDCWD, "c", O_WRONLY | O_CREAT, 0563), 0563);
    has_mode(openat64(AT_FDCWD, "d", O_WRONLY | O_CREAT, 0474), 0474);
    has_mode(creat("e", 0325), 0325);
    has_mode(creat64("f", 0236), 0236);
    has_mode(open("a", O_WRONLY), 0741);
    has_mode(open(".", O_DIRECTORY), 0777 & 0755);
    int fd = open(".", O_RDWR | O_TMPFILE, 0613);
    if (fd >= 0)
        has_mode(fd, 0613);
    else
        CHECK(errno == EOPNOTSUPP);
    fd = openat(AT_FDCWD, ".", O_RDWR | O_TMPFILE, 0631);
    if (fd >= 0)
        has_mode(fd, 0631);
    did("open", "a", 2);
    did("open", "b", 1);
    did("openat", "c", 1);
    did("openat", "d", 1);
    did("creat", "e", 1);
    did("creat", "f", 1);
    return 0;
}
