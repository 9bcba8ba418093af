/* With NVTX's own headers. */
#include <nvtx3/nvToolsExt.h>

#include "tests/marks/nvtx_run.h"

int main(void)
{
    return run_nvtx();
}
