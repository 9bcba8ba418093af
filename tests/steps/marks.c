/* Marks its steps itself, which vary as nothing else could be found to do. */
#include <fcntl.h>

#include "include/iotrace.h"
#include "tests/steps/truth.h"

int main(void)
{
    truth_start();
    int fd = open("out.log", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 40; i++) {
        truth_step();
        iot_step();
        compute_ms(i % 7 ? i % 5 : 30);
        for (int k = 0; k < i % 4; k++)
            if (write(fd, "line\n", 5) != 5)
                return 1;
    }
    return close(fd) || truth_write();
}
