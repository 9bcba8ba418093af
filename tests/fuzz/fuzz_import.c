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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[] = "/tmp/iotrace-fuzz-XXXXXX";
    static int made;
    struct iot_json_in *in = malloc(sizeof *in);
    struct iot_profile profile;
    struct iot_imported done;

    must(made || mkdtemp(folder) != NULL);
    made = 1;
    must(in && !iot_json_in_open_memory(in, data, size));
    int failed = iot_profile_read(&profile, in);
    must(!failed || in->error);
    must(!failed || in->at <= size);
    if (!failed && profile.end_ns - profile.start_ns < (INT64_C(1) << 53) && profile.base_ns >= 0) {
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(!iot_import_write(&profile, fd, "a.iot", "a.json", 1, 1, &done));
        read_back(folder, &done);
        unlinkat(fd, "a.iot", 0);
        close(fd);
    }
    iot_profile_free(&profile);
    iot_json_in_close(in);
    free(in);
    return 0;
}
