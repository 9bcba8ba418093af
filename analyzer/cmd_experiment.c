/* iotrace experiment: the local I/O path of this machine, in parts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cmd.h"
#include "analyzer/experiment.h"

enum { DEFAULT_MIB = 64, DEFAULT_WARMUPS = 5, DEFAULT_REPEATS = 20, DEFAULT_SEED = 42 };
enum { MOST_MIB = 1 << 20, MOST_REPEATS = 1000000 };

struct options {
    struct iot_experiment_config config;
    const char *read;
};

#define AT(member) offsetof(struct options, config.member)

static const struct iot_option options_of_experiment[] = {
    {"mode", 0, "dry_run|host|real_gpu",
     "print the configuration (the default); measure the storage half; or all, with a GPU",
     IOT_OPTION_WORD, AT(mode), iot_experiment_modes, NULL},
    {"label", 0, "LABEL", "of this run; a result that is there is never overwritten (local)",
     IOT_OPTION_TEXT, AT(label), NULL, NULL},
    {"size", 0, "MIB", "of the tensor, in MiB (64)", IOT_OPTION_COUNT, AT(mib), NULL, NULL},
    {"dtype", 0, "fp32|fp16|bf16|int8", "its numbers (fp32)", IOT_OPTION_WORD, AT(dtype),
     iot_experiment_dtypes, NULL},
    {"folder", 0, "DIR", "where its files are (a folder below the current one)", IOT_OPTION_TEXT,
     AT(folder), NULL, NULL},
    {"results", 0, "DIR", "where results are (benchmarks/results/perf_io_critical_path)",
     IOT_OPTION_TEXT, AT(results), NULL, NULL},
    {"warmups", 0, "N", "before it counts (5)", IOT_OPTION_COUNT, AT(warmups), NULL, NULL},
    {"repeats", 0, "N", "that count (20)", IOT_OPTION_COUNT, AT(repeats), NULL, NULL},
    {"seed", 0, "N", "of the tensor's numbers (42)", IOT_OPTION_COUNT, AT(seed), NULL, NULL},
    {"cold", 0, NULL,
     "also load it from the disk: out of the page cache, and seen to be gone from there",
     IOT_OPTION_FLAG, AT(cold), NULL, NULL},
    {"fsync", 0, NULL, "make what is saved durable", IOT_OPTION_FLAG, AT(fsync), NULL, NULL},
    {"profile", 0, "LABEL", "of what is checked and measured (PERF-CUDA-MECHANISM)",
     IOT_OPTION_TEXT, AT(profile), NULL, NULL},
    {"semantic-id", 0, "LABEL", "of what the figures mean (PERF-IO)", IOT_OPTION_TEXT, AT(semantic),
     NULL, NULL},
    {"read", 0, "LABEL", "print a result again, what it proves, and what to do next",
     IOT_OPTION_TEXT, offsetof(struct options, read), NULL, NULL},
    {0},
};

const struct iot_synopsis iot_synopsis_experiment = {
    .command = "experiment",
    .summary = "what the parts of this machine's I/O path take",
    .operands = "",
    .about = "Saves and loads a tensor, copies it to a GPU from pageable and from pinned\n"
             "memory, copies it back and saves that, and writes what each part takes. The\n"
             "CUDA driver is loaded when it is needed.\n",
    .options = options_of_experiment,
};

static int check(const struct iot_experiment_config *c)
{
    if (!c->mib || c->mib > MOST_MIB)
        iot_error("experiment: --size is from 1 to %d MiB", MOST_MIB);
    else if (!c->repeats || c->repeats > MOST_REPEATS || c->warmups > MOST_REPEATS)
        iot_error("experiment: --repeats is from 1 to %d, --warmups at most that", MOST_REPEATS);
    else
        return 0;
    return -1;
}

static int measure(const struct iot_experiment_config *config, const char *path)
{
    struct iot_experiment x;
    char error[512];
    int status = IOT_EXIT_USAGE, unclaimed = iot_experiment_claim(path);

    if (unclaimed == -EEXIST) {
        iot_error("experiment: %s: there is such a result already; give another --label, or --read "
                  "it",
                  path);
        return IOT_EXIT_USAGE;
    }
    if (unclaimed) {
        iot_error("experiment: %s: %s; give another --results or --label", path,
                  strerror(-unclaimed));
        return IOT_EXIT_USAGE;
    }
    if (config->mode == IOT_EXPERIMENT_HOST)
        puts("host mode: the storage half alone, nothing is copied to a GPU");
    if (iot_experiment_run(&x, config, error)) {
        iot_error("experiment: %s", error);
    } else {
        int failed = iot_experiment_write(&x, path);
        if (failed)
            iot_error("experiment: %s: %s; give another --results or --label", path,
                      strerror(-failed));
        else
            status = iot_experiment_read(path);
        if (!failed && *x.failure) {
            iot_error("experiment: %s; the result says so: %s", x.failure, path);
            status = IOT_EXIT_USAGE;
        }
    }
    iot_experiment_free(&x);
    return status;
}

int iot_cmd_experiment(int argc, char **argv)
{
    struct options o = {.config = {.mib = DEFAULT_MIB,
                                   .warmups = DEFAULT_WARMUPS,
                                   .repeats = DEFAULT_REPEATS,
                                   .seed = DEFAULT_SEED,
                                   .folder = "iotrace-experiment",
                                   .results = "benchmarks/results/perf_io_critical_path",
                                   .label = "local",
                                   .profile = "PERF-CUDA-MECHANISM",
                                   .semantic = "PERF-IO"}};
    struct iot_parsed parsed = iot_options_parse(&iot_synopsis_experiment, argc, argv, &o);
    char path[4096];
    if (parsed.done)
        return parsed.status;
    if (parsed.n_operands) {
        iot_error("experiment: '%s' is too much: all is told by options; see 'iotrace experiment "
                  "--help'",
                  parsed.operands[0]);
        return IOT_EXIT_USAGE;
    }
    if (o.read)
        o.config.label = o.read;
    if (iot_experiment_path(&o.config, path)) {
        iot_error("experiment: '%s' cannot be a label: it is part of a file's name",
                  o.config.label);
        return IOT_EXIT_USAGE;
    }
    if (o.read)
        return iot_experiment_read(path);
    if (check(&o.config))
        return IOT_EXIT_USAGE;
    if (o.config.mode != IOT_EXPERIMENT_DRY_RUN)
        return measure(&o.config, path);
    iot_experiment_print_config(&o.config);
    return iot_finish_stdout();
}
