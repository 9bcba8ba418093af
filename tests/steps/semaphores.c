/* A thread reads records and hands them over through two semaphores; the argument says who is slow:
 * `reader` or `trainer`; with `joined` as the second one, the trainer is a thread as well. */
#include <fcntl.h>
#include <string.h>

#include "tests/steps/hand_over.h"
#include "tests/steps/truth.h"

enum { ITEMS = 50, DEPTH = 2, BYTES = 1 << 16 };

static struct sem_queue queue;
static int reader_is_slow, fd;
static char record[BYTES];

static void make(int item)
{
    if (pread(fd, record, BYTES, (off_t)item * BYTES) != BYTES)
        abort();
    compute_ms(reader_is_slow ? 9 : 2);
}

static void *reader(void *none)
{
    for (int i = 0; i < ITEMS; i++)
        sem_queue_put(&queue, make, i);
    return none;
}

static void *trainer(void *none)
{
    for (int i = 0; i < ITEMS; i++) {
        truth_step();
        sem_wait(&queue.used);
        sem_post(&queue.free);
        compute_ms(reader_is_slow ? 3 : 8);
    }
    return none;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    truth_start();
    reader_is_slow = argc > 1 && !strcmp(argv[1], "reader");
    fd = open("records.dat", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (ftruncate(fd, (off_t)ITEMS * BYTES))
        return 1;
    compute_ms(20);
    sem_queue_start(&queue, DEPTH);
    pthread_create(&threads[0], NULL, reader, NULL);
    if (argc > 2) {
        pthread_create(&threads[1], NULL, trainer, NULL);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
    } else {
        trainer(NULL);
        pthread_join(threads[0], NULL);
    }
    return truth_write();
}
