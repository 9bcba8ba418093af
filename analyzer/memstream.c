#include "analyzer/memstream.h"

int iot_memstream_open(struct iot_memstream *m)
{
    *m = (struct iot_memstream){0};
    m->stream = open_memstream(&m->text, &m->n);
    return m->stream ? 0 : -1;
}

int iot_memstream_close(struct iot_memstream *m)
{
    int failed = ferror(m->stream);
    return fclose(m->stream) || failed ? -1 : 0;
}
