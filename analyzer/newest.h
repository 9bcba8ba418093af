/* Traces of more events than there is memory for: the newest of them become the model, as if the
 * others had made room for them in the trace (--max-size); those are read once, block by block, and
 * summed up.
 */
#ifndef IOT_ANALYZER_NEWEST_H
#define IOT_ANALYZER_NEWEST_H

#include "analyzer/trace_reading.h"

/* How many events the model may have: so many as a report on them fits into the memory that there
 * is. */
size_t iot_newest_that_fit(void);

/* Leaves out what was recorded first, so that not many more than `most` events are left; nothing
 * where they are no more anyhow. Blocks go whole, and after the same moment none of any process
 * does. Call it between the scan of all images and iot_reading_rows(). Returns 0, or -1 without
 * memory. */
int iot_newest_choose(struct iot_reading *r, size_t most);

/* Reads what was left out: names of what is in use later, and trace->whole. Call it behind
 * iot_reading_rows(). Returns 0, or -1 without memory. */
int iot_newest_read_older(struct iot_reading *r);

#endif
