#include "analyzer/identity.h"

#include <string.h>

#include "analyzer/json_in.h"

enum { NUMBER_MAX = 999999999 };

static void set_number(int64_t *to, const char *value)
{
    int64_t n;
    if (*value && strspn(value, "0123456789") == strlen(value) && !iot_json_whole(value, &n) &&
        n <= NUMBER_MAX)
        *to = n;
}

static void set(struct iot_identity *identity, const char *key, const char *value)
{
    if (!strcmp(key, "job"))
        identity->job = value;
    else if (!strcmp(key, "source"))
        identity->source = value;
    else if (!strcmp(key, "rank"))
        set_number(&identity->rank, value);
    else if (!strcmp(key, "local_rank"))
        set_number(&identity->local_rank, value);
    else if (!strcmp(key, "world_size"))
        set_number(&identity->world_size, value);
}

void iot_identity_read(struct iot_identity *identity, char *text)
{
    while (*text) {
        char *end = strchr(text, '\n'), *next = end ? end + 1 : text + strlen(text);
        if (end)
            *end = '\0';
        char *equals = strchr(text, '=');
        if (equals) {
            *equals = '\0';
            set(identity, text, equals + 1);
        }
        text = next;
    }
}

int iot_identity_order(const struct iot_identity *a, const struct iot_identity *b)
{
    int jobs = strcmp(a->job, b->job);
    if (jobs)
        return jobs;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->local_rank != b->local_rank)
        return a->local_rank < b->local_rank ? -1 : 1;
    return (a->world_size > b->world_size) - (a->world_size < b->world_size);
}
