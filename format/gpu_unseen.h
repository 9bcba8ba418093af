/* What became of the GPU in a process: the result of its gpu_unseen rows (FORMAT.md, "GPUs"). */
#ifndef IOT_FORMAT_GPU_UNSEEN_H
#define IOT_FORMAT_GPU_UNSEEN_H

enum iot_gpu_unseen {
    /* What is followed. */
    IOT_GPU_FOLLOWED = 1,    /* the subscriber began; obj: the version of CUPTI */
    IOT_GPU_HANDED_OVER = 2, /* it has all that CUPTI had, at the process's exit */
    /* Why nothing is. */
    IOT_GPU_OFF = 10,   /* switched off; obj: by what */
    IOT_GPU_TAKEN = 11, /* the driver was given another tool; obj: its path */
    IOT_GPU_SUBSCRIBER = 12, /* libiotrace-cupti.so is not there; obj: where it should be */
    IOT_GPU_LIBRARY = 13, /* no libcupti; obj: what its loading said */
    IOT_GPU_HELD = 14,    /* another subscriber has CUPTI; obj: its name */
    IOT_GPU_REFUSED = 15, /* a call of CUPTI failed; obj: which, offset: with what */
    IOT_GPU_SHUT = 16,    /* CUPTI shut itself down; obj: what it said */
    /* How many records are missing: offset. */
    IOT_GPU_DROPPED = 20, /* CUPTI had no room for them */
    IOT_GPU_UNTIMED = 21, /* they have no times */
    IOT_GPU_UNKNOWN = 22, /* of kinds that are not known */
    IOT_GPU_CUT = 23,     /* buffers that end within a record */
    IOT_GPU_NO_ROOM = 24, /* there was no memory, or no lane, for them */
};

#endif
