/* A profiler's recording, from its bytes to the trace that is read back. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/import.h"
#include "analyzer/model.h"
#include "analyzer/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void read_back(const char *folder, const struct iot_imported *done)
{
    char error[512];
    struct iot_trace *trace = iot_trace_read(folder, error);
    must(trace && !trace->salvaged_processes && !trace->unknown_events);
    must(trace->wall_ns == done->span_ns);
    uint64_t copies = 0;
    for (size_t i = 0; i < trace->events.n; i++)
        copies += trace->events.op[i] == IOT_OP_GPU_MEMCPY;
    must(copies == done->copies);
    struct iot_model *model = iot_model_build(trace);
    const struct iot_path_parts *p = &model->path;
    must(p->compute_ns + p->io_ns + p->gpu_ns + p->sleep_ns + p->wake_ns + p->external_ns +
             p->unexplained_ns ==
         model->wall_ns);
    iot_model_free(model);
    iot_trace_free(trace);
}

/* Whether the command would take it. */
static int is_taken(const struct iot_profile *p)
{
    int64_t end;
    return p->end_ns - p->start_ns < INT64_C(1) << 53 && p->base_ns >= 0 &&
           !__builtin_add_overflow(p->end_ns, p->base_ns, &end);
}

/* A file for each process. */
static void write_and_read(struct iot_profile *profile, const char *folder)
{
    struct iot_imported done = {0};
    char name[32];
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(!iot_profile_divide(profile));
    size_t n = profile->n_processes ? profile->n_processes : 1;
    for (size_t k = 0; k < n; k++) {
        snprintf(name, sizeof name, "%zu.iot", k);
        must(!iot_import_write(profile, k, fd, name, "a.json", (uint32_t)k + 1,
                               k == profile->main_process, &done));
    }
    read_back(folder, &done);
    for (size_t k = 0; k < n; k++) {
        snprintf(name, sizeof name, "%zu.iot", k);
        unlinkat(fd, name, 0);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[] = "/tmp/iotrace-fuzz-XXXXXX";
    static int made;
    struct iot_json_in *in = malloc(sizeof *in);
    struct iot_profile profile;

    must(made || mkdtemp(folder) != NULL);
    made = 1;
    must(in && !iot_json_in_open_memory(in, data, size));
    int failed = iot_profile_read(&profile, in);
    must(!failed || in->error);
    must(!failed || in->at <= size);
    if (!failed && is_taken(&profile))
        write_and_read(&profile, folder);
    iot_profile_free(&profile);
    iot_json_in_close(in);
    free(in);
    return 0;
}
