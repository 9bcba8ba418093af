/* rings FOLDER: rings are made and given back by one thread while others wait in them. Says nothing
 * where rings cannot be had. */
#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/victims/hazard.h"

enum { THREADS = 3, RINGS = 1500, ENTRIES = 8 };
static volatile int ring, there, over;

static void *enters(void *unused)
{
    while (!over)
        if (there)
            syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
    return unused;
}

static void make_one(int unmap_first)
{
    struct io_uring_params p = {0};
    ring = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
    if (ring < 0)
        return;
    size_t requests = p.sq_entries * sizeof(struct io_uring_sqe);
    size_t both = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    size_t first = p.sq_off.array + p.sq_entries * sizeof(unsigned);
    both = first > both ? first : both;
    void *rings = mmap(NULL, both, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    void *asked = mmap(NULL, requests, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    CHECK(rings != MAP_FAILED && asked != MAP_FAILED);
    there = 1;
    for (volatile int k = 0; k < 3000;)
        k = k + 1;
    if (!unmap_first)
        CHECK(close(ring) == 0);
    CHECK(munmap(rings, both) == 0 && munmap(asked, requests) == 0);
    if (unmap_first)
        CHECK(close(ring) == 0);
    there = 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    CHECK(argc == 2 && argv[1]);
    for (int k = 0; k < THREADS; k++)
        CHECK(pthread_create(&threads[k], NULL, enters, NULL) == 0);
    for (int k = 0; k < RINGS; k++)
        make_one(k % 2);
    over = 1;
    for (int k = 0; k < THREADS; k++)
        CHECK(pthread_join(threads[k], NULL) == 0);
    return 0;
}
