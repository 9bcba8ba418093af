/* Reader, decoder and trainer, each with a queue behind it that a mutex and conditions guard. */
#include <fcntl.h>

#include "tests/steps/hand_over.h"
#include "tests/steps/truth.h"

enum { ITEMS = 60, BYTES = 1 << 16 };

#define QUEUE                                                                                      \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER}, 0, 3      \
    }

static struct cond_queue is_read = QUEUE, is_decoded = QUEUE;
static char record[BYTES];

static void *reader(void *none)
{
    int fd = open("records.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (ftruncate(fd, (off_t)ITEMS * BYTES))
        abort();
    for (int i = 0; i < ITEMS; i++) {
        if (read(fd, record, BYTES) != BYTES)
            abort();
        compute_ms(1);
        cond_queue_put(&is_read);
    }
    close(fd);
    return none;
}

static void *decoder(void *none)
{
    for (int i = 0; i < ITEMS; i++) {
        cond_queue_get(&is_read);
        compute_ms(3);
        cond_queue_put(&is_decoded);
    }
    return none;
}

int main(void)
{
    pthread_t threads[2];
    truth_start();
    compute_ms(30);
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, decoder, NULL);
    for (int i = 0; i < ITEMS; i++) {
        truth_step();
        cond_queue_get(&is_decoded);
        compute_ms(8);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return truth_write();
}
