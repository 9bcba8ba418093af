/* What names places in code, on any bytes: stacks as a trace has them, perf maps and the symbols of
 * ELF files. It ends, keeps within what it was given, and names lie in their table. The first byte
 * says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *a_module(void *user, uint32_t number)
{
    (void)user;
    return number % 2 ? "- /a" : NULL;
}

static void check(const struct iot_symbol_table *table)
{
    size_t sum = 0;
    for (size_t i = 0; i < table->n; i++) {
        if (i && table->symbols[i].from < table->symbols[i - 1].from)
            abort();
        const struct iot_symbol *found = iot_symbols_find(table, table->symbols[i].from);
        sum += strlen(table->symbols[i].name) + (found ? strlen(found->name) : 0);
    }
    if (sum == SIZE_MAX)
        abort();
}

static int of_elf(struct iot_symbol_table *table, const char *bytes, size_t size)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
        abort();
    return iot_symbols_of_elf(table, fd, "-", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iot_symbol_table table = {0};
    struct iot_frame frames[IOT_FRAMES_MAX];
    if (!size)
        return 0;
    char *text = malloc(size);
    if (!text)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 3) {
    case 0:
        if (iot_stack_parse(text, a_module, NULL, frames) > IOT_FRAMES_MAX)
            abort();
        free(text);
        break;
    case 1:
        iot_symbols_of_map(&table, text);
        check(&table);
        break;
    default:
        of_elf(&table, text, size - 1);
        check(&table);
        free(text);
    }
    iot_symbols_free(&table);
    return 0;
}
