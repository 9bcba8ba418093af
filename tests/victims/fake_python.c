/* Looks like CPython to whoever only asks for symbols, and is none: states of threads and frames
 * that lead nowhere. Arguments: a file, the version (hexadecimal), the seed. Reads of the file,
 * each with another state of the "thread". */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 512, BLOCKS = 64, READS = 2000 };

unsigned long Py_Version;
uint64_t _PyRuntime[WORDS];
uint64_t PyCode_Type[64], PyUnicode_Type[64], PyBytes_Type[64];
void *PyGILState_GetThisThreadState(void);
int PyFrame_GetCode(int n, const char *path);

static uint64_t (*blocks)[WORDS], random_state = 1;
static void *state;

void *PyGILState_GetThisThreadState(void)
{
    return state;
}

static uint64_t some(uint64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* Words that lead to other blocks, to their ends, to types, and nowhere. */
static uint64_t word(void)
{
    switch (some(8)) {
    case 0:
        return some(1000);
    case 1:
        return UINT64_MAX - some(4096);
    case 2:
        /* what is behind is not there */
        return (uint64_t)(uintptr_t)&blocks[BLOCKS] - 8 * some(40);
    default: /* most often to where an object begins */
        return (uint64_t)(uintptr_t)&blocks[some(BLOCKS)][some(8) ? 0 : some(64)];
    }
}

static const uint32_t published[] = {23, 26, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 42, 43,
                                     44, 45, 48, 49, 51, 65, 66, 68, 69, 70, 75, 76, 78, 79, 80};

/* Exported so that it looks like 3.9's, where versions say nothing. */
int PyFrame_GetCode(int n, const char *path)
{
    const uint64_t types[] = {(uint64_t)(uintptr_t)PyCode_Type, (uint64_t)(uintptr_t)PyUnicode_Type,
                              (uint64_t)(uintptr_t)PyBytes_Type};
    char byte;
    int fd = open(path, O_RDONLY);
    for (int i = 0; i < n; i++) {
        for (unsigned b = 0; b < BLOCKS; b++)
            for (unsigned w = 0; w < 64; w++)
                blocks[b][w] = w == 1 && some(4)   ? types[b % 3]
                               : w == 2 && some(4) ? some(300) /* a length */
                               : w == 4 && some(2) ? some(256) /* what characters there are */
                                                   : word();
        state = some(20) ? (void *)(uintptr_t)&blocks[some(BLOCKS)][0] : (void *)(uintptr_t)word();
        if (pread(fd, &byte, 1, 0) != 1)
            return 1;
    }
    return close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    Py_Version = strtoul(argv[2], NULL, 16) << 16;
    random_state = strtoul(argv[3], NULL, 10);
    memcpy(_PyRuntime, "xdebugpy", 8);
    _PyRuntime[1] = Py_Version;
    _PyRuntime[2] = some(2);
        for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        _PyRuntime[published[i]] = 8 * (1 + some(14));
    _PyRuntime[45] = _PyRuntime[51] = 8; /* types are where they are in most */
    /* What it is, is looked at with its first call. */
    size_t bytes = sizeof *blocks * BLOCKS;
    char *memory =
        mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || munmap(memory + bytes, 4096))
        return 2;
    blocks = (void *)memory;
    return PyFrame_GetCode(READS, argv[1]);
}
