// The next file is read by std::async while this one is worked on; then a std::promise from a thread.
// cxx_future FOLDER ITEMS COMPUTE_MS
#include <future>
#include <thread>

#include "tests/cases/programs/measure.h"

int main(int, char **argv)
{
    const char *folder = argv[1];
    const int items = atoi(argv[2]), compute = atoi(argv[3]);
    static struct spans io, waits;

    for (int k = 0; k < items; k++) {
        std::promise<ns_t> promise;
        std::future<ns_t> next =
            k % 2 ? promise.get_future() : std::async(std::launch::async, [=] {
                read_file(&io, folder, k);
                return now();
            });
        std::thread reader;
        if (k % 2)
            reader = std::thread([&promise, folder, k] {
                read_file(&io, folder, k);
                promise.set_value(now());
            });
        work_ms(compute);
        ns_t from = now(), ready = next.get();
        if (ready > from)
            span(&waits, from, ready);
        if (reader.joinable())
            reader.join();
    }
    truth("input", total(&io), shared(&io, &waits), shared(&io, &waits));
}
