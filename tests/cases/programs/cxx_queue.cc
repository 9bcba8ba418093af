// A reader and a consumer with a queue of depth 2 between them, of std::mutex and
// std::condition_variable. cxx_queue FOLDER ITEMS COMPUTE_MS
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tests/cases/programs/measure.h"

int main(int, char **argv)
{
    const char *folder = argv[1];
    const int items = atoi(argv[2]), compute = atoi(argv[3]);
    const size_t depth = 2;
    std::mutex lock;
    std::condition_variable filled, taken;
    std::deque<int> queue;
    static struct spans io, waits;
    static ns_t put_at[SPANS_MAX];

    std::thread reader([&] {
        pthread_setname_np(pthread_self(), "reader");
        for (int k = 0; k < items; k++) {
            read_file(&io, folder, k);
            std::unique_lock<std::mutex> holds(lock);
            taken.wait(holds, [&] { return queue.size() < depth; });
            put_at[k] = now();
            queue.push_back(k);
            filled.notify_one();
        }
    });
    for (int k = 0; k < items; k++) {
        {
            std::unique_lock<std::mutex> holds(lock);
            ns_t from = now();
            filled.wait(holds, [&] { return !queue.empty(); });
            if (put_at[k] > from)
                span(&waits, from, put_at[k]);
            queue.pop_front();
            taken.notify_one();
        }
        work_ms(compute);
    }
    reader.join();
    truth("input", total(&io), shared(&io, &waits), shared(&io, &waits));
}
