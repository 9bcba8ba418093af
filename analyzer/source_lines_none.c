/* Without libdw. */
#include "analyzer/source_lines.h"

struct iot_source *iot_source_open(int fd, const char *build_id, size_t n_id)
{
    (void)fd;
    (void)build_id;
    (void)n_id;
    return NULL;
}

unsigned iot_source_find(struct iot_source *source, uint64_t address, struct iot_source_line *lines,
                         unsigned most)
{
    (void)source;
    (void)address;
    (void)lines;
    (void)most;
    return 0;
}

void iot_source_close(struct iot_source *source)
{
    (void)source;
}
