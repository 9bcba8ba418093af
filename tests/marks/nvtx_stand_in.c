#include "tests/marks/nvtx_stand_in.h"

#include "tests/marks/nvtx_run.h"

/* The argument says whether a library is expected to answer. */
int main(int argc, char **argv)
{
    (void)argv;
    return start_stand_in() != (argc > 1) || run_nvtx();
}
