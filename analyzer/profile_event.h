/* One event of a profiler's file, between the reading of it (profile_read.c) and what it is kept as
 * (profile.c). */
#ifndef IOT_ANALYZER_PROFILE_EVENT_H
#define IOT_ANALYZER_PROFILE_EVENT_H

#include "analyzer/profile.h"

struct iot_profile_event {
    char phase; /* 0: none */
    int64_t ts_ns, dur_ns;
    int64_t pid, tid;
    int64_t bytes, device, stream, other;
    uint32_t correlation, record;
    char category[32];
    char sync[32];   /* cuda_sync_kind */
    char group[192]; /* of a collective: name and ranks of its process group */
    char given[128]; /* args.name, of names given to processes and threads */
    char name[IOT_JSON_IN_TEXT + 8];
};

/* 0, or -1 without memory. */
int iot_profile_add(struct iot_profile *profile, struct iot_profile_event *event);

/* The index of a name, of a lane; UINT32_MAX without memory. */
uint32_t iot_profile_name(struct iot_profile *profile, const char *text);
uint32_t iot_profile_lane(struct iot_profile *profile, int64_t pid, int64_t tid, int gpu);

#endif
