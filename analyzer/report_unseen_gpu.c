/* What a report says of GPU work that is not in the trace, and what to do about it: by the
 * gpu_unseen rows that the recorder left (FORMAT.md, "GPUs"). */
#include <stdio.h>
#include <string.h>

#include "analyzer/gpu.h"
#include "analyzer/people.h"
#include "analyzer/report_parts.h"
#include "format/gpu_unseen.h"

enum { REASONS = IOT_GPU_NO_ROOM + 1 };

/* What the rows of all processes say. */
struct told {
    uint32_t rows[REASONS];
    int64_t count[REASONS];    /* their offsets together */
    const char *text[REASONS]; /* of the first */
    int64_t number[REASONS];   /* likewise */
    uint32_t kernels;          /* processes in which they were recorded as well */
};

/* Why nothing, or nothing more, was recorded. */
static const struct {
    enum iot_gpu_unseen reason;
    const char *sentence;
} reasons[] = {
    {IOT_GPU_OFF, "GPU work: it was switched off (%)"},
    {IOT_GPU_TAKEN,
     "GPU work: CUDA_INJECTION64_PATH gives the driver another tool (%); unset it, or "
     "take what that tool wrote with 'iotrace import'"},
    {IOT_GPU_SUBSCRIBER,
     "GPU work: % is not there; install it together with libiotrace.so"},
    {IOT_GPU_LIBRARY,
     "GPU work: no libcupti can be used (%); install the CUPTI of the CUDA toolkit, "
     "or set CUDA_HOME"},
    {IOT_GPU_HELD,
     "GPU work: another subscriber has CUPTI (%); end it, or run with IOTRACE_CUDA=0 and "
     "take its own trace with 'iotrace import'"},
    {IOT_GPU_SHUT,
     "GPU work from some moment on: CUPTI shut itself down (%); run it again, or with "
     "IOTRACE_CUDA=0"},
};

/* What results of CUPTI mean that have a remedy. */
static const struct {
    int result;
    const char *remedy;
} remedies[] = {
    {14, "this CUPTI does not fit the driver: update the older of the two"},
    {15, "the driver cannot be initialised: see what nvidia-smi says"},
    {34, "this CUPTI does not fit the driver: update the older of the two"},
    {35, "profiling is for root alone here: see NVreg_RestrictProfilingToAdminUsers"},
    {40, "the host lets this virtual machine profile no GPU"},
    {999, "there is no working driver: see what nvidia-smi says"},
};

/* Records that are missing. */
static const struct {
    enum iot_gpu_unseen reason;
    const char *what, *sentence;
} losses[] = {
    {IOT_GPU_DROPPED, "record",
     "% of what ran on the GPU: CUPTI had no room for them; record a shorter part of the "
     "run (--duration), or without kernels"},
    {IOT_GPU_UNTIMED, "record", "The time of % of what ran on the GPU: CUPTI took none"},
    {IOT_GPU_UNKNOWN, "record",
     "% of what ran on the GPU, of kinds that this version does not know"},
    {IOT_GPU_CUT, "buffer",
     "What stood at the end of % of CUPTI's: a record there is cut short, or is none"},
    {IOT_GPU_NO_ROOM, "record",
     "% of what ran on the GPU: there was no memory or no room in the trace for them"},
};

static struct told read_rows(const struct iot_trace *t)
{
    struct told told = {0};
    for (size_t i = 0; i < t->events.n; i++) {
        int64_t reason = t->events.result[i];
        if (t->events.op[i] != IOT_OP_GPU_UNSEEN || reason < 0 || reason >= REASONS)
            continue;
        if (!told.rows[reason]++) {
            told.text[reason] = t->events.file[i] ? t->files[t->events.file[i]].name : "";
            told.number[reason] = t->events.offset[i];
        }
        if (t->events.offset[i] > 0)
            told.count[reason] += t->events.offset[i] < INT32_MAX ? t->events.offset[i] : INT32_MAX;
        told.kernels += reason == IOT_GPU_FOLLOWED && t->events.offset[i] == 1;
    }
    return told;
}

static const char *remedy_of(int64_t result)
{
    for (size_t k = 0; k < sizeof remedies / sizeof *remedies; k++)
        if (remedies[k].result == result)
            return remedies[k].remedy;
    return "'iotrace doctor' may say more";
}

static const char *text_of(const struct told *told, enum iot_gpu_unseen reason)
{
    const char *text = told->text[reason];
    return text && *text ? text : "it does not say who or why";
}

/* A sentence with one text in the place of its %. */
static int say_with(struct iot_report *r, const char *sentence, const char *text)
{
    enum { TEXT_MAX = 200 };
    char whole[512];
    const char *place = strchr(sentence, '%');
    snprintf(whole, sizeof whole, "%.*s%.*s%s", (int)(place - sentence), sentence, TEXT_MAX, text,
             place + 1);
    return iot_report_say(r, whole);
}

static int say_reasons(struct iot_report *r, const struct told *told)
{
    int failed = 0;
    for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++)
        if (told->rows[reasons[k].reason])
            failed |= say_with(r, reasons[k].sentence, text_of(told, reasons[k].reason));
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++)
        if (told->rows[losses[k].reason])
            failed |= say_with(r, losses[k].sentence,
                               iot_people_many(told->count[losses[k].reason], losses[k].what).text);
    return failed;
}

static int say_followed(struct iot_report *r, const struct told *told)
{
    int failed = 0;
    uint32_t followed = told->rows[IOT_GPU_FOLLOWED], over = told->rows[IOT_GPU_HANDED_OVER];
    if (followed > over && !told->rows[IOT_GPU_SHUT] && !told->rows[IOT_GPU_REFUSED])
        failed |=
            say_with(r,
                     "What the GPU did last for %: still running, or ended before CUPTI had handed "
                     "that over (killed, _exit, exec)",
                     iot_people_many(followed - over, "process").text);
    if (followed > told->kernels)
        failed |=
            iot_report_say(r, "The GPU's kernels: copies and memsets alone were recorded; "
                              "IOTRACE_CUDA=kernels, or 'iotrace run --gpu kernels', adds them");
    return failed;
}

int iot_report_unseen_gpu(struct iot_report *r)
{
    struct told told = read_rows(r->trace);
    uint32_t rows = 0;
    for (int k = 0; k < REASONS; k++)
        rows += told.rows[k];
    if (!rows)
        return iot_has_streams(r->trace)
                   ? 0
                   : iot_report_say(r, "GPU work, if there was any: no CUDA driver was initialised "
                                       "where this recorder looks");
    int failed = say_reasons(r, &told);
    if (told.rows[IOT_GPU_REFUSED]) {
        char why[200];
        snprintf(why, sizeof why, "%.60s gave %lld; %s", text_of(&told, IOT_GPU_REFUSED),
                 (long long)told.number[IOT_GPU_REFUSED], remedy_of(told.number[IOT_GPU_REFUSED]));
        failed |= say_with(r, "GPU work: %", why);
    }
    return failed | say_followed(r, &told);
}
