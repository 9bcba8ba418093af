/* Who a unit is, and its numbers, as members of JSON: in partial results and in reports of jobs. */
#include "analyzer/json_out.h"
#include "analyzer/partial.h"
#include "analyzer/partial_json.h"

static void put_number(struct iot_json *json, const char *key, int64_t value)
{
    if (value < 0)
        iot_json_put_null(json, key);
    else
        iot_json_put_int(json, key, value);
}

void iot_unit_put_head(struct iot_json *json, const struct iot_unit *u)
{
    iot_json_put_string(json, "job", u->identity.job);
    put_number(json, "rank", u->identity.rank);
    put_number(json, "local_rank", u->identity.local_rank);
    put_number(json, "world_size", u->identity.world_size);
    iot_json_put_string(json, "source", u->identity.source);
    iot_json_put_string(json, "host", u->host);
    iot_json_put_string(json, "boot_id", u->boot_id);
    iot_json_put_string(json, "command", u->command);
    iot_json_put_string(json, "damage", u->damage);
    iot_json_put_array(json, "ranks");
    for (size_t k = 0; k < u->n_ranks; k++)
        iot_json_int(json, u->ranks[k]);
    iot_json_end_array(json);
    for (int k = 0; k < IOT_UNIT_NUMBERS; k++)
        iot_json_put_int(json, iot_unit_number_names[k], u->numbers[k]);
}
