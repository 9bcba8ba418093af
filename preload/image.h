/* What is fixed for a process image and all that it forks: the folder, the facts that head each
 * trace file, the environment that children inherit. */
#ifndef IOT_PRELOAD_IMAGE_H
#define IOT_PRELOAD_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "format/file.h"
#include "preload/ours.h"

enum {
    IOT_PATH_BYTES = 4096 + 64,
    IOT_FACTS_BYTES = IOT_SEGMENT_BYTES - IOT_HEADER_BYTES,
};

struct iot_image {
    char folder[4096]; /* absolute */
    int root;          /* this image is the first of the run */
    uint8_t boot_id[16];
    size_t facts_bytes;
    uint8_t facts[IOT_FACTS_BYTES];
};
extern IOT_OURS struct iot_image iot_image;

/* What the kernel has counted for the calling process so far. Returns the bytes that it read to
 * know that, which are not yet among `called`; 0 if the kernel does not say. */
size_t iot_image_usage(struct iot_usage *usage, struct iot_called *called);

#endif
