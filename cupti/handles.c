#include "cupti/handles.h"

static uint32_t place_of(uint64_t key)
{
    uint64_t hash = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 40) % IOT_HANDLES / IOT_HANDLES_NEAR * IOT_HANDLES_NEAR;
}

uint64_t iot_handles_get(const struct iot_handle table[IOT_HANDLES], uint64_t key)
{
    const struct iot_handle *near = &table[place_of(key)];
    for (int k = 0; k < IOT_HANDLES_NEAR; k++) {
        if (__atomic_load_n(&near[k].key, __ATOMIC_ACQUIRE) != key)
            continue;
        uint64_t value = __atomic_load_n(&near[k].value, __ATOMIC_ACQUIRE);
        return __atomic_load_n(&near[k].key, __ATOMIC_ACQUIRE) == key ? value : 0;
    }
    return 0;
}

static struct iot_handle *find(struct iot_handle *near, uint64_t key)
{
    for (int k = 0; k < IOT_HANDLES_NEAR; k++)
        if (__atomic_load_n(&near[k].key, __ATOMIC_ACQUIRE) == key)
            return &near[k];
    return 0;
}

void iot_handles_set(struct iot_handle table[IOT_HANDLES], uint64_t key, uint64_t value)
{
    static uint32_t turn;
    struct iot_handle *near = &table[place_of(key)], *place = find(near, key);
    if (!place && !value)
        return;
    for (int k = 0; k < IOT_HANDLES_NEAR && !place; k++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&near[k].key, &none, key, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            place = &near[k];
    }
    if (!place) {
        place = &near[__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % IOT_HANDLES_NEAR];
        __atomic_store_n(&place->value, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&place->key, key, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&place->value, value, __ATOMIC_RELEASE);
    if (!value)
        __atomic_store_n(&place->key, 0, __ATOMIC_RELEASE);
}
