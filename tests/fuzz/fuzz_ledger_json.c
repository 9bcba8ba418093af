/* Any text either gives events that the ledger takes or refuses by name, or one message. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/ledger.h"
#include "analyzer/ledger_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_ledger(const struct io_ledger *ledger)
{
    struct io_ledger_row sum = {0};

    for (int object = 0; object < IO_LEDGER_OBJECTS; object++) {
        const struct io_ledger_row *row = &ledger->objects[object];
        require(row->calls >= 0 && row->bytes >= 0 && row->exposed_ms >= 0);
        require(row->exposed_ms <= row->service_ms && row->hidden_ms >= 0);
        require(row->serialization_ms >= 0 && row->backpressure_ms >= 0);
        sum.calls += row->calls;
        sum.bytes += row->bytes;
        sum.service_ms += row->service_ms;
        sum.exposed_ms += row->exposed_ms;
    }
    require(sum.calls == ledger->total.calls && sum.bytes == ledger->total.bytes);
    require(sum.service_ms == ledger->total.service_ms && isfinite(sum.service_ms));
    require(sum.exposed_ms == ledger->total.exposed_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct iot_ledger_events list;
    struct io_ledger ledger;
    struct io_ledger_fault fault;
    char message[IOT_LEDGER_JSON_MESSAGE] = "";

    if (iot_ledger_json_parse((const char *)data, size, &list, message)) {
        require(message[0]);
        return 0;
    }
    if (io_critical_path_ledger(list.events, list.n_events, &ledger, &fault)) {
        require(fault.event < list.n_events);
        iot_ledger_fault_text(&fault, message, sizeof message);
        require(strstr(message, fault.field));
    } else {
        check_ledger(&ledger);
    }
    free(list.events);
    return 0;
}
