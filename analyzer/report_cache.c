/* What of the files that were read the page cache held when they were opened, and how much calls
 * read of them. */
#include "analyzer/report_parts.h"

void iot_rows_cache(struct iot_rows *rows)
{
    struct iot_report *r = rows->report;
    for (size_t f = 1; f < r->trace->n_files; f++) {
        const struct iot_file *file = &r->trace->files[f];
        uint32_t row = rows->of_file[IOT_READING][f];
        if (row == IOT_NO_INDEX)
            row = rows->of_file[IOT_WRITING][f];
        if (row == IOT_NO_INDEX)
            continue;
        if (file->kind == IOT_FILE_REGULAR)
            r->run.file_read_bytes += r->files[row].figures.read_bytes;
        struct iot_figures *to = &r->files[row].figures;
        if (to->read_bytes || to->mapped) {
            to->opened_bytes += (double)file->opened_bytes;
            to->resident_bytes += (double)file->resident_bytes;
        }
    }
}

const char *iot_cache_scope(const struct iot_figures *f)
{
    if (f->opened_bytes <= 0)
        return "unknown";
    double share = f->resident_bytes / f->opened_bytes;
    return share >= 0.95 ? "warm" : share <= 0.05 ? "cold" : "mixed";
}
