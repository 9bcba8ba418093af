#include "tests/marks/marks.h"

int main(void)
{
    return run_marked();
}
