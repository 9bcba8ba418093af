/* The folder of a run, before and after it. */
#ifndef IOT_ANALYZER_RUN_FOLDER_H
#define IOT_ANALYZER_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Takes `wanted` for a new run, or, if it holds one already, the first numbered sibling that does
 * not: the recorder's rule (FORMAT.md). Folders are made if need be. Writes the absolute path,
 * and whether the folder was `made`. Returns 0, or -1 with one line in `error`. */
int iot_run_folder_take(char folder[4096], bool *made, const char *wanted, char error[512]);

/* Cuts the trace files of processes that are gone and could not do so themselves, such as
 * killed ones, to what they hold: they are made sparse and large. */
void iot_run_folder_trim(const char *folder);

/* How many trace files it holds. */
size_t iot_run_folder_files(const char *folder);

/* Takes back what iot_run_folder_take put there, where nothing was recorded: the folder only if it
 * was `made`, and nothing else is in it. Returns 0, or -1: the folder stays. */
int iot_run_folder_drop(const char *folder, bool made);

#endif
