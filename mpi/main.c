/* iotrace-mpi: the report of a job by many ranks, each of which reads what lies on its node. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd.h"
#include "analyzer/job_inputs.h"
#include "analyzer/job_report.h"
#include "mpi/reduce.h"
#include "mpi/share.h"
#include "mpi/wire.h"

static const struct iot_synopsis synopsis = {
    .command = "mpi",
    .is_program = true,
    .summary = "the report of a job, under MPI",
    .operands = "DIR...",
    .about = "Makes the report of a job as 'iotrace report' does, byte for byte, with the\n"
             "ranks of MPI as its workers: start it by mpirun or srun. DIR is the folder of\n"
             "a trace, the folder of a job with those of its ranks, or a partial result. Each\n"
             "rank reads what lies on its node; a DIR need not be there on all of them.\n",
    .options = iot_report_options,
};

/* What a launcher says of how many it started, and which of them this is. */
static const struct {
    const char *name, *size, *rank;
} launchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"mpirun", "PMI_SIZE", "PMI_RANK"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

/* Whether it was started with others that its MPI does not see, by the launcher of another MPI:
 * each would then make the whole report. The first of them says so. */
static int is_split(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t k = 0; k < sizeof launchers / sizeof *launchers && size == 1; k++) {
        const char *started = getenv(launchers[k].size), *rank = getenv(launchers[k].rank);
        if (!started || !rank)
            continue;
        if (strtol(started, NULL, 10) < 2)
            return 0;
        if (!strcmp(rank, "0"))
            iot_error("mpi: %s started %.20s of it, and its MPI sees one: use the mpirun of the "
                      "MPI that it was built with, or another --mpi of srun (pmix, pmi2)",
                      launchers[k].name, started);
        return 1;
    }
    return 0;
}

/* Rank 0 looks at the arguments first, and alone says what is wrong with them. Returns whether
 * there is anything to do; else with the status. */
static int parse(int argc, char **argv, struct iot_report_how *how, struct iot_parsed *parsed)
{
    int told[2] = {0, IOT_EXIT_OK}; /* done, status */
    int rank = iot_mpi_rank(MPI_COMM_WORLD);
    for (int turn = 0; turn < 2 && !told[0]; turn++) {
        if (turn == !!rank) {
            *parsed = iot_options_parse(&synopsis, argc, argv, how);
            if (!parsed->done && !parsed->n_operands) {
                iot_error("mpi: needs folders of traces; see 'iotrace-mpi --help'");
                *parsed = (struct iot_parsed){.done = true, .status = IOT_EXIT_USAGE};
            } else if (!parsed->done && iot_job_report_check(how)) {
                *parsed = (struct iot_parsed){.done = true, .status = IOT_EXIT_USAGE};
            }
            told[0] = parsed->done;
            told[1] = parsed->status;
            if (turn && parsed->done) /* it has other arguments than rank 0 */
                MPI_Abort(MPI_COMM_WORLD, parsed->status);
        }
        if (!turn)
            MPI_Bcast(told, 2, MPI_INT, 0, MPI_COMM_WORLD);
    }
    parsed->status = told[1];
    return !told[0];
}

/* All that this rank is to read. A line in `error`, or "". */
static void read_own(struct iot_partial *partial, const char *paths,
                     const struct iot_partial_how *how, char error[512])
{
    int failed = iot_job_check(how, error);
    for (const char *path = paths; *path && !failed; path += strlen(path) + 1)
        failed = iot_job_add(partial, path, how, error);
    if (!failed)
        *error = '\0';
}

static int write_report(struct iot_partial *partial, const struct iot_report_how *how,
                        char error[512])
{
    if (!*error && !iot_job_end(partial, error))
        return iot_job_report(partial, how);
    iot_error("%s", error);
    return IOT_EXIT_USAGE;
}

static int report(char *const *paths, int n, const struct iot_report_how *how)
{
    struct iot_partial partial;
    const struct iot_partial_how as = iot_job_report_how(how);
    char error[512] = "", *own = iot_mpi_share(paths, n);
    int status = IOT_EXIT_OK;
    if (iot_partial_init(&partial))
        iot_mpi_die("out of memory");
    read_own(&partial, own, &as, error);
    free(own);
    iot_mpi_reduce(&partial, error);
    if (!iot_mpi_rank(MPI_COMM_WORLD))
        status = write_report(&partial, how, error);
    iot_partial_free(&partial);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int main(int argc, char **argv)
{
    struct iot_report_how how = {.top = SIZE_MAX};
    struct iot_parsed parsed;
    MPI_Init(&argc, &argv);
    iot_mpi_handle_errors();
    int status = IOT_EXIT_USAGE;
    if (!is_split())
        status = parse(argc, argv, &how, &parsed) ? report(parsed.operands, parsed.n_operands, &how)
                                                  : parsed.status;
    MPI_Finalize();
    return status;
}
