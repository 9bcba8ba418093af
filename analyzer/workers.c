#include "analyzer/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

struct crew {
    iot_work *work;
    void *user;
    size_t n, next; /* next: to be taken, atomically */
    int failed;
};

struct worker {
    struct crew *crew;
    pthread_t thread;
    unsigned number;
};

static unsigned sharers = 1;

void iot_workers_share(unsigned processes)
{
    cpu_set_t cpus;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    /* Bound to CPUs of its own it has no need to. */
    if (!sched_getaffinity(0, sizeof cpus, &cpus) && CPU_COUNT(&cpus) >= online)
        sharers = processes ? processes : 1;
}

static unsigned workers_wanted(void)
{
    const char *setting = getenv("IOTRACE_THREADS");
    cpu_set_t cpus;
    long n = setting ? strtol(setting, NULL, 10) : 0;
    if (n <= 0)
        n = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus) / (long)sharers;
    return n < 1 ? 1 : n > IOT_WORKERS_MAX ? IOT_WORKERS_MAX : (unsigned)n;
}

static void *do_work(void *argument)
{
    const struct worker *w = argument;
    struct crew *crew = w->crew;
    size_t k;
    while (!__atomic_load_n(&crew->failed, __ATOMIC_RELAXED) &&
           (k = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED)) < crew->n)
        if (crew->work(crew->user, k, w->number))
            __atomic_store_n(&crew->failed, 1, __ATOMIC_RELAXED);
    return NULL;
}

int iot_workers_run(size_t n, iot_work *work, void *user)
{
    struct crew crew = {work, user, n, 0, 0};
    struct worker workers[IOT_WORKERS_MAX];
    unsigned wanted = workers_wanted(), made = 1;
    while (made < wanted && made < n) {
        workers[made] = (struct worker){.crew = &crew, .number = made};
        if (pthread_create(&workers[made].thread, NULL, do_work, &workers[made]))
            break;
        made++;
    }
    do_work(&(struct worker){.crew = &crew});
    for (unsigned k = 1; k < made; k++)
        pthread_join(workers[k].thread, NULL);
    return crew.failed ? -1 : 0;
}
