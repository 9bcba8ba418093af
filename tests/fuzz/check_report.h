/* What the fuzz programs that go the whole way from rows to a report have in common. */
#ifndef IOT_TESTS_FUZZ_CHECK_REPORT_H
#define IOT_TESTS_FUZZ_CHECK_REPORT_H

#include "format/row.h"

/* For the files of a run; the program removes it when it ends. */
const char *fuzz_folder(void);

/* A row's times in a lane that has come to `now`; out_of_order: rows need not be in order then, nor
 * times be possible. */
void fuzz_times(struct iot_row *row, uint64_t *now, int out_of_order, uint8_t before, uint8_t took);

/* Makes the report of the folder's files, which are whole, and checks what every report must
 * conserve, whatever the trace is; ends the program where one does not. */
void fuzz_report(void);

#endif
