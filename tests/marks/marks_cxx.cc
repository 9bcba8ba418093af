/* A range as an object of C++ would hold it: it ends however its scope is left. */
#include <stdexcept>

#include "tests/marks/marks.h"

struct Range {
    explicit Range(const char *name)
    {
        iot_range_begin(name);
    }
    ~Range()
    {
        iot_range_end();
    }
};

int main()
{
    try {
        Range range("throws");
        throw std::runtime_error("out of the range");
    } catch (const std::exception &) {
    }
    return run_marked();
}
