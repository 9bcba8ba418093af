/* iot_elf_read on any bytes: it ends, and its texts end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_end(const char *text, size_t bytes)
{
    if (strnlen(text, bytes) == bytes)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct iot_elf elf;

    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    iot_elf_read(fd, &elf);
    must_end(elf.interpreter, sizeof elf.interpreter);
    must_end(elf.soname, sizeof elf.soname);
    must_end(elf.sanitizer, sizeof elf.sanitizer);
    if (elf.own_calls >> IOT_ELF_CALLS || (elf.damage && !elf.is_elf))
        abort();
    return 0;
}
