/* The run of the NVTX tests, in calls of NVTX: a step is a range from start to stop, which another
 * thread stops in the last one; ranges of two domains cross. */
#ifndef IOT_TEST_NVTX_RUN_H
#define IOT_TEST_NVTX_RUN_H

#include <pthread.h>
#include <unistd.h>

#include "tests/marks/marks.h"

static void *stop_elsewhere(void *id)
{
    nvtxRangeEnd(*(nvtxRangeId_t *)id);
    return NULL;
}

static int run_nvtx(void)
{
    int failed = 0;
    char name[32];
    nvtxDomainHandle_t domain = nvtxDomainCreateA("reader");
    nvtxEventAttributes_t load_range = {0};
    load_range.version = NVTX_VERSION;
    load_range.size = sizeof load_range;
    load_range.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    load_range.message.registered = nvtxDomainRegisterStringA(domain, "load");
    nvtxMarkA("loaded");
    nvtxRangePushW(L"\u00e9poque");
    for (int i = 0; i < STEPS; i++) {
        snprintf(name, sizeof name, "train_step %d", i);
        nvtxRangeId_t step = nvtxRangeStartA(name);
        nvtxDomainRangePushEx(domain, &load_range);
        snprintf(name, sizeof name, "compute %d", i);
        failed |= load();
        nvtxRangePushA(name);
        nvtxDomainRangePop(domain);
        usleep(2000);
        nvtxRangePop();
        if (i < STEPS - 1) {
            nvtxRangeEnd(step);
        } else {
            pthread_t thread;
            pthread_create(&thread, NULL, stop_elsewhere, &step);
            pthread_join(thread, NULL);
        }
    }
    nvtxRangePop();
    return failed;
}

#endif
