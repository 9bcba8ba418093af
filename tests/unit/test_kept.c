/* A trace that keeps the newest, of a size that no test can write: segments beyond those of 4 GiB.
 */
#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/descriptors.h"
#include "preload/process.h"
#include "preload/strings.h"
#include "preload/sys.h"

enum { SEGMENTS = 40960, FIRST = 1 }; /* of 5 GiB; the header lies before them */

static struct iot_process process;
struct iot_process *iot_process = &process;
enum iot_confinement iot_confined;
static int forgotten;

void iot_strings_forget(void)
{
    forgotten++;
}

void iot_descriptors_forget(void)
{
    forgotten++;
}

static void fresh(void)
{
    int fd = memfd_create("kept", 0);
    cr_assert(fd >= 0 && ftruncate(fd, (off_t)SEGMENTS * IOT_SEGMENT_BYTES) == 0);
    process.file = mmap(NULL, (size_t)SEGMENTS * IOT_SEGMENT_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, fd, 0);
    cr_assert_neq(process.file, MAP_FAILED);
    close(fd);
    cr_assert_eq(iot_kept_room((uint64_t)SEGMENTS * IOT_SEGMENT_BYTES + 5),
                 (uint64_t)SEGMENTS * IOT_SEGMENT_BYTES);
}

TestSuite(kept, .init = fresh);

Test(kept, each_segment_comes_again_with_what_it_held)
{
    for (int round = 0; round < 3; round++) {
        uint64_t before = process.file->older_events, sum = 0;
        for (uint32_t k = FIRST; k < SEGMENTS; k++) {
            iot_kept_block(k, k, (uint64_t)k);
            iot_kept_block(k, 1, (uint64_t)k + 7);
            iot_kept_filled(IOT_SEGMENT_BLOCKS, k);
        }
        for (uint32_t k = FIRST; k < SEGMENTS; k++) {
            cr_assert_eq(iot_kept_reuse_blocks(), k);
            sum += k + 1;
            cr_assert_eq(process.file->older_events - before, sum, "after segment %u", k);
        }
        cr_assert_eq(process.file->older_until_ns, (uint64_t)SEGMENTS - 1 + 7);
        cr_assert_eq(iot_kept_reuse_blocks(), 0u);
    }
}

Test(kept, what_is_used_anew_is_empty)
{
    uint8_t *last = (uint8_t *)process.file + (size_t)(SEGMENTS - 1) * IOT_SEGMENT_BYTES;
    last[0] = last[IOT_SEGMENT_BYTES - 1] = 1;
    iot_kept_filled(IOT_SEGMENT_BLOCKS, SEGMENTS - 1);
    cr_assert_eq(iot_kept_reuse_blocks(), (uint32_t)SEGMENTS - 1);
    cr_assert(!last[0] && !last[IOT_SEGMENT_BYTES - 1]);
}

Test(kept, names_make_room_for_names_alone)
{
    for (uint32_t k = 0; k < SEGMENTS / 4; k++) {
        cr_assert_eq(iot_kept_reuse_names(SEGMENTS), 0u);
        iot_kept_names();
        iot_kept_filled(IOT_SEGMENT_NAMES, k + FIRST);
    }
    cr_assert_eq(iot_kept_reuse_blocks(), 0u);
    cr_assert_eq(iot_kept_reuse_names(SEGMENTS), (uint32_t)FIRST);
    cr_assert_eq(forgotten, 2);
}

Test(kept, no_more_room_than_there_is)
{
    /* It is made once: a child with more to ask for has what its parent had. */
    cr_assert_eq(iot_kept_room(UINT64_C(1) << 38), (uint64_t)SEGMENTS * IOT_SEGMENT_BYTES);
    cr_assert_eq(iot_kept_room(10 * IOT_SEGMENT_BYTES + 1), (uint64_t)10 * IOT_SEGMENT_BYTES);
    cr_assert_eq(iot_kept_room(IOT_SEGMENT_BYTES - 1), 0u);
}
