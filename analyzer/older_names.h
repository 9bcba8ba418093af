/* Of definitions in blocks that are not analysed, those that later blocks use. */
#ifndef IOT_ANALYZER_OLDER_NAMES_H
#define IOT_ANALYZER_OLDER_NAMES_H

#include "analyzer/trace_reading.h"

/* Adds to the names of image `index`, whose file is open, what its events and their names need of
 * its older blocks. It takes memory by what is used, not by what was ever defined. 0, or -1 without
 * memory. */
int iot_older_names(struct iot_reading *r, size_t index);

#endif
