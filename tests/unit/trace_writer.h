/* Trace files in folders of their own, for tests of what reads them. Nothing here fails softly: a
 * test that cannot be set up aborts. */
#ifndef IOT_TESTS_TRACE_WRITER_H
#define IOT_TESTS_TRACE_WRITER_H

#include "analyzer/trace_writer.h"

/* Seals the header and writes n bytes of the file (all: file->n) to folder/name. */
void iot_written_save(struct iot_written *file, const char *folder, const char *name);
void iot_bytes_save(const void *bytes, size_t n, const char *folder, const char *name);

/* An empty folder of its own; iot_folder_remove takes it away with what is in it. */
char *iot_folder_new(void);
void iot_folder_remove(char *folder);

#endif
