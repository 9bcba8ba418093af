/* The result of an experiment: written, and read again. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/experiment.h"
#include "analyzer/json_out.h"
#include "analyzer/report_text.h"
#include "analyzer/text.h"

#define SCHEMA "performance-mechanism-gpu/v1"
#define EVIDENCE "local_mechanism_benchmark"

int iot_experiment_path(const struct iot_experiment_config *c, char path[4096])
{
    for (const char *p = c->label; *p; p++)
        if (*p == '/' || (unsigned char)*p < ' ')
            return -EINVAL;
    if (!*c->label || snprintf(path, 4096, "%s/perf-io_%s.json", c->results, c->label) >= 4096)
        return -EINVAL;
    return 0;
}

static void put_workload(struct iot_json *json, const struct iot_experiment_config *c)
{
    static const unsigned element[] = {4, 2, 2, 1};
    iot_json_put_object(json, "workload");
    iot_json_put_uint(json, "tensor_bytes", (uint64_t)c->mib << 20);
    iot_json_put_uint(json, "elements", ((uint64_t)c->mib << 20) / element[c->dtype]);
    iot_json_put_string(json, "dtype", iot_experiment_dtypes[c->dtype]);
    iot_json_put_uint(json, "warmups", c->warmups);
    iot_json_put_uint(json, "repeats", c->repeats);
    iot_json_put_uint(json, "seed", c->seed);
    iot_json_put_bool(json, "fsync", c->fsync);
    iot_json_end_object(json);
}

static void put_processor(struct iot_json *json)
{
    char line[256], name[128] = "";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !*name && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':'))
            snprintf(name, sizeof name, "%.127s", strchr(line, ':') + 2);
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = '\0';
    iot_json_put_string(json, "cpu", *name ? name : NULL);
}

static void put_hardware(struct iot_json *json, const struct iot_experiment_gpu *gpu)
{
    struct utsname u;
    iot_json_put_object(json, "hardware");
    put_processor(json);
    iot_json_put_string(json, "kernel", uname(&u) ? NULL : u.release);
    if (gpu->driver) {
        iot_json_put_object(json, "gpu");
        iot_json_put_string(json, "name", gpu->name);
        iot_json_put_uint(json, "memory_bytes", gpu->memory_bytes);
        iot_json_put_int(json, "cuda_driver", gpu->driver);
        iot_json_end_object(json);
    } else {
        iot_json_put_null(json, "gpu");
    }
    iot_json_end_object(json);
}

static void put_storage(struct iot_json *json, const struct iot_experiment *x)
{
    const char *scopes[] = {"local_warm_cache", "local_cold_cache"};
    iot_json_put_object(json, "storage");
    iot_json_put_string(json, "runtime_dir", x->config->folder);
    iot_json_put_string(json, "cache_scope", scopes[0]);
    iot_json_put_string(json, "cold_part",
                        x->times[IOT_EXPERIMENT_COLD_LOAD].ns ? scopes[1] : NULL);
    iot_json_put_array(json, "temporary_files_left");
    if (x->path_left)
        iot_json_string(json, x->path);
    if (x->output_left)
        iot_json_string(json, x->output);
    iot_json_end_array(json);
    iot_json_end_object(json);
}

/* The cold load is a part of its own: it does not take from the others' shares. */
static void put_metrics(struct iot_json *json, const struct iot_experiment *x)
{
    double all = 0;
    for (int p = 0; p < IOT_EXPERIMENT_PARTS; p++)
        all += p == IOT_EXPERIMENT_COLD_LOAD ? 0 : (double)x->times[p].median_ns;
    iot_json_put_object(json, "metrics");
    for (int p = 0; p < IOT_EXPERIMENT_PARTS; p++) {
        const struct iot_experiment_times *t = &x->times[p];
        if (!t->ns && p != IOT_EXPERIMENT_COLD_LOAD)
            iot_json_put_null(json, iot_experiment_parts[p]);
        if (!t->ns)
            continue;
        iot_json_put_object(json, iot_experiment_parts[p]);
        iot_json_put_double(json, "median_ms", (double)t->median_ns / 1e6);
        iot_json_put_double(json, "p95_ms", (double)t->p95_ns / 1e6);
        if (p == IOT_EXPERIMENT_COLD_LOAD)
            iot_json_put_null(json, "share");
        else
            iot_json_put_double(json, "share", (double)t->median_ns / all);
        iot_json_end_object(json);
    }
    iot_json_end_object(json);
}

static void put_decision(struct iot_json *json, const struct iot_experiment *x)
{
    const struct iot_experiment_times *pageable = &x->times[IOT_EXPERIMENT_PAGEABLE];
    const struct iot_experiment_times *pinned = &x->times[IOT_EXPERIMENT_PINNED];
    int faster = pageable->ns && pinned->ns && pinned->median_ns < pageable->median_ns;
    if (x->config->mode != IOT_EXPERIMENT_GPU) {
        iot_json_put_null(json, "decision");
        iot_json_put_string(json, "decision_reason",
                            "the host mode copies nothing to a GPU, so nothing is compared");
        return;
    }
    iot_json_put_string(json, "decision",
                        x->correct && faster ? "accept_pinned_h2d" : "tune_io_path");
    iot_json_put_string(json, "decision_reason",
                        !x->correct ? "the candidate is rejected: see failure"
                        : faster    ? "pinned copies are faster than pageable ones"
                                    : "pinned copies are not faster than pageable ones");
}

static void put_result(struct iot_json *json, const struct iot_experiment *x)
{
    const struct iot_experiment_config *c = x->config;
    iot_json_begin_object(json);
    iot_json_put_string(json, "schema", SCHEMA);
    iot_json_put_string(json, "profile_id", c->profile);
    iot_json_put_string(json, "semantic_id", c->semantic);
    iot_json_put_string(json, "run_label", c->label);
    iot_json_put_string(json, "mode", iot_experiment_modes[c->mode]);
    iot_json_put_object(json, "framework");
    iot_json_put_string(json, "name", "iotrace");
    iot_json_put_string(json, "version", IOT_VERSION);
    iot_json_end_object(json);
    put_hardware(json, &x->gpu);
    put_storage(json, x);
    put_workload(json, c);
    put_metrics(json, x);
    iot_json_put_object(json, "correctness");
    iot_json_put_bool(json, "passed", x->correct);
    iot_json_end_object(json);
    iot_json_put_string(json, "failure", *x->failure ? x->failure : NULL);
    iot_json_put_string(json, "evidence_level", EVIDENCE);
    put_decision(json, x);
    iot_json_end_object(json);
}

static int make_folders(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = folder + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            if (mkdir(folder, 0777) && errno != EEXIST)
                return -errno;
            *p = '/';
        }
    return 0;
}

/* Under another name first: what is not whole is no result. */
static FILE *open_part(const char *path, char part[4200])
{
    snprintf(part, 4200, "%s.%d", path, (int)getpid());
    return fopen(part, "wxe");
}

int iot_experiment_claim(const char *path)
{
    char part[4200];
    int error = make_folders(path);
    if (error)
        return error;
    if (!access(path, F_OK))
        return -EEXIST;
    FILE *out = open_part(path, part);
    if (!out)
        return -errno;
    unlink(part);
    return fclose(out) ? -errno : 0;
}

/* A link fails where a file is. */
int iot_experiment_write(const struct iot_experiment *x, const char *path)
{
    char part[4200];
    struct iot_json json;
    FILE *out = open_part(path, part);
    if (!out)
        return -errno;
    iot_json_init(&json, out, IOT_JSON_PRETTY);
    put_result(&json, x);
    int error = -iot_json_finish(&json);
    if (fclose(out) && !error)
        error = -errno;
    if (!error && link(part, path))
        error = -errno;
    unlink(part);
    return error;
}

void iot_experiment_print_config(const struct iot_experiment_config *c)
{
    struct iot_json json;
    iot_json_init(&json, stdout, IOT_JSON_PRETTY);
    iot_json_begin_object(&json);
    iot_json_put_string(&json, "profile_id", c->profile);
    iot_json_put_string(&json, "semantic_id", c->semantic);
    iot_json_put_string(&json, "run_label", c->label);
    iot_json_put_string(&json, "mode", iot_experiment_modes[c->mode]);
    iot_json_put_string(&json, "runtime_dir", c->folder);
    iot_json_put_string(&json, "results", c->results);
    iot_json_put_bool(&json, "cold", c->cold);
    put_workload(&json, c);
    iot_json_end_object(&json);
    iot_json_finish(&json);
}

/* --- read again --- */

static const char *const next_steps[IOT_EXPERIMENT_PARTS] = {
    [IOT_EXPERIMENT_SAVE] = "write less, or beside other work; --fsync says what durability costs",
    [IOT_EXPERIMENT_LOAD] = "this is memory speed; measure --cold before a start is judged by it",
    [IOT_EXPERIMENT_COLD_LOAD] = "read ahead, make the artifact smaller, or use a faster disk",
    [IOT_EXPERIMENT_PAGEABLE] = "stage in pinned memory",
    [IOT_EXPERIMENT_PINNED] = "overlap it with computing in a stream of its own",
    [IOT_EXPERIMENT_OUTPUT] = "copy back into pinned memory, and save in another thread",
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

static void print_row(const json_t *metrics, int part)
{
    const json_t *row = json_object_get(metrics, iot_experiment_parts[part]);
    if (!json_is_object(row))
        return;
    double share = json_number_value(json_object_get(row, "share"));
    printf("%-25s %10.3f %10.3f ", iot_experiment_parts[part],
           json_number_value(json_object_get(row, "median_ms")),
           json_number_value(json_object_get(row, "p95_ms")));
    if (json_is_null(json_object_get(row, "share")))
        puts("     -");
    else
        printf("%5.1f%%\n", 100 * share);
    printf("  next: %s\n", next_steps[part]);
}

static void print_line(const char *what, const char *text)
{
    printf("%s: ", what);
    iot_write_printable(stdout, text, strlen(text));
    putchar('\n');
}

int iot_experiment_read(const char *path)
{
    json_error_t error;
    json_t *result = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!result || strcmp(text_of(result, "schema"), SCHEMA) != 0) {
        const char *why = result               ? "not of the schema " SCHEMA
                          : access(path, R_OK) ? strerror(errno)
                                               : error.text;
        iot_error("experiment: %s: %s; --read takes the label of a result", path, why);
        json_decref(result);
        return IOT_EXIT_USAGE;
    }
    const json_t *metrics = json_object_get(result, "metrics");
    print_line("run", text_of(result, "run_label"));
    print_line("result", path);
    print_line("mode", text_of(result, "mode"));
    print_line("folder", text_of(json_object_get(result, "storage"), "runtime_dir"));
    printf("%-25s %10s %10s %6s\n", "part", "median ms", "P95 ms", "share");
    for (int part = 0; part < IOT_EXPERIMENT_PARTS; part++)
        print_row(metrics, part);
    printf("correct: %s\n",
           json_is_true(json_object_get(json_object_get(result, "correctness"), "passed")) ? "yes"
                                                                                           : "no");
    if (json_is_string(json_object_get(result, "failure")))
        print_line("failure", text_of(result, "failure"));
    print_line("decision", text_of(result, "decision"));
    print_line("because", text_of(result, "decision_reason"));
    putchar('\n');
    iot_write_wrapped(stdout,
                      "It proves what the parts of this path took on this machine and in this "
                      "folder. It does not prove how long a start from a cold cache takes (but for "
                      "the part artifact_load_cold_cache), from remote storage, or on another "
                      "machine.",
                      0, 0, IOT_TEXT_COLUMNS);
    json_decref(result);
    return iot_finish_stdout();
}
