#include "format/identity.h"

#include <string.h>

enum { DIGITS_MAX = 9, JOB_MAX = 128 };

/* Who says it, in order of precedence: for each key the first one that has it. `beside`: a variable
 * without which the others mean something else. RANK is a name that anybody could use, and in the
 * script of a batch job Slurm's task number is that of the script. */
static const struct source {
    const char *name, *rank, *local_rank, *world_size, *job, *beside;
} sources[] = {
    {"iotrace", "IOTRACE_RANK", "IOTRACE_LOCAL_RANK", "IOTRACE_WORLD_SIZE", "IOTRACE_JOB", NULL},
    {"torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "WORLD_SIZE"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", NULL,
     NULL},
    {"pals", "PALS_RANKID", "PALS_LOCAL_RANKID", "PALS_SIZE", "PALS_APID", NULL},
    {"mvapich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", NULL,
     NULL},
    {"pmix", "PMIX_RANK", NULL, NULL, NULL, NULL},
    {"pmi", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "PMI_JOBID", NULL},
    {"slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID",
     "SLURM_STEP_ID"},
    {"slurm", NULL, NULL, "SLURM_NTASKS", NULL, "SLURM_STEP_ID"},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* How many digits a number has; 0: it is none. */
static size_t digits(const char *value)
{
    size_t n = 0;
    while (value && value[n] >= '0' && value[n] <= '9')
        n++;
    return !n || n > DIGITS_MAX || value[n] ? 0 : n;
}

struct environment {
    iot_variable *variable;
    void *of;
};

static const char *value_of(const struct environment *e, const char *name)
{
    return name ? e->variable(e->of, name) : NULL;
}

/* NULL: not there, or no number. */
static const char *number(const struct environment *e, const struct source *source,
                          const char *name, size_t *n)
{
    if (source->beside && !value_of(e, source->beside))
        return NULL;
    const char *value = value_of(e, name);
    *n = digits(value);
    return *n ? value : NULL;
}

static char *put(char *to, const char *key, const char *value, size_t n)
{
    size_t bytes = strlen(key);
    memcpy(to, key, bytes);
    to += bytes;
    *to++ = '=';
    memcpy(to, value, n);
    to += n;
    *to++ = '\n';
    return to;
}

/* As it is shown: control characters, of which one would end the line, as \xNN. */
static size_t job_text(char text[JOB_MAX], const char *value)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    for (; value && *value; value++) {
        const unsigned char c = (unsigned char)*value;
        if (n + (c < ' ' ? 4 : 1) > JOB_MAX)
            break;
        if (c < ' ') {
            text[n++] = '\\';
            text[n++] = 'x';
            text[n++] = hex[c >> 4];
            text[n++] = hex[c & 15];
        } else {
            text[n++] = *value;
        }
    }
    return n;
}

static char *put_job(char *to, const struct environment *e)
{
    char text[JOB_MAX];
    for (size_t s = 0; s < SOURCES; s++) {
        size_t n = job_text(text, value_of(e, sources[s].job));
        if (n)
            return put(to, "job", text, n);
    }
    return to;
}

/* Which source names the rank; SOURCES: none. */
static size_t find_rank(const struct environment *e, const char **value, size_t *n)
{
    for (size_t s = 0; s < SOURCES; s++)
        if ((*value = number(e, &sources[s], sources[s].rank, n)))
            return s;
    return SOURCES;
}

static char *put_rank(char *to, const struct environment *e)
{
    const char *value;
    size_t n, s = find_rank(e, &value, &n);
    if (s == SOURCES)
        return to;
    to = put(to, "rank", value, n);
    return put(to, "source", sources[s].name, strlen(sources[s].name));
}

static char *put_local_rank(char *to, const struct environment *e)
{
    size_t n;
    for (size_t s = 0; s < SOURCES; s++) {
        const char *value = number(e, &sources[s], sources[s].local_rank, &n);
        if (value)
            return put(to, "local_rank", value, n);
    }
    return to;
}

static char *put_world_size(char *to, const struct environment *e)
{
    size_t n;
    for (size_t s = 0; s < SOURCES; s++) {
        const char *value = number(e, &sources[s], sources[s].world_size, &n);
        if (value)
            return put(to, "world_size", value, n);
    }
    return to;
}

const char *iot_identity_rank(size_t *n, iot_variable *variable, void *environment)
{
    const struct environment e = {variable, environment};
    const char *value;
    return find_rank(&e, &value, n) == SOURCES ? NULL : value;
}

size_t iot_identity(char text[IOT_IDENTITY_BYTES], iot_variable *variable, void *environment)
{
    const struct environment e = {variable, environment};
    char *to = put_job(text, &e);
    to = put_rank(to, &e);
    to = put_local_rank(to, &e);
    return (size_t)(put_world_size(to, &e) - text);
}
