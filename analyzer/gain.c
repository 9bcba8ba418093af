#include "analyzer/gain.h"

#include "analyzer/replay.h"
#include "analyzer/schedule.h"

int64_t iot_gain(const struct iot_model *model, const int64_t *service_ns)
{
    struct iot_replay *replay = &model->schedule->replay;
    int64_t gain = 0;
    if (!iot_replay_set_service(replay, service_ns))
        gain = model->wall_ns - iot_line_ns(iot_replay_run(replay, IOT_LAMBDA_1), IOT_LAMBDA_1);
    iot_replay_set_service(replay, NULL);
    return gain;
}
