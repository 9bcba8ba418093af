/* What there is one of in a process: its trace file, and what the kernel is to forget in a
 * forked child. */
#ifndef IOT_PRELOAD_PROCESS_H
#define IOT_PRELOAD_PROCESS_H

#include <stdint.h>

#include "format/file.h"
#include "preload/ours.h"
#include "preload/record.h"
#include "preload/requests.h"
#include "preload/kept.h"
#include "preload/python.h"
#include "preload/stacks.h"

enum {
    IOT_THREADS_MAX = 1 << 16,
    IOT_STRINGS_KEPT = 1 << 14, /* a power of two */
    IOT_DESCRIPTORS_MAX = 1 << 20,
    IOT_WORKSPACES = 4,
    IOT_LOCK_PLACES = 1024, /* by address, the latest wins */
    IOT_INTERESTS = 1024,    /* what epoll is asked for: a power of two */
    IOT_SHARE_OF_SPACE = 16, /* of a limited address space, what the trace may take */
};

/* What an epoll descriptor was told to give back for another: found by both. */
struct iot_interest {
    uint64_t data;
    int epoll_plus_1; /* 0: nothing is here */
    int fd;
};

/* The name of a message queue, for one opening of a descriptor. */
struct iot_mq_name {
    uint32_t opening, name; /* 0: nothing is here */
};

/* A control block of POSIX's asynchronous I/O that was looked at. */
struct iot_aio_look {
    uint64_t request; /* its address; 0 none */
    uint64_t last;    /* when it was last seen not to be done */
    uint32_t pending; /* 0: its end is recorded */
};

/* A context of the kernel's asynchronous I/O (io_setup), whose ring of completions lies in our
 * memory. */
struct iot_context {
    uint64_t id;
    uint64_t last; /* of its ring: when it was last looked at */
    uint32_t seen; /* up to which entry */
    uint32_t busy; /* somebody is looking */
};

/* A file that cuFile was given. */
struct iot_cufile_handle {
    uint64_t file; /* cuFile's handle; 0: free */
    uint32_t obj;
};

/* An io_uring. Positions count up for ever, as the kernel's do. */
struct iot_ring {
    uint32_t fd_plus_1; /* 0: free */
    uint32_t flags;     /* IORING_SETUP_… */
    uint32_t busy;      /* somebody is looking */
    uint16_t queue;
    const uint32_t *sq_head, *sq_tail, *sq_mask, *sq_array; /* sq_array: NULL without */
    const uint32_t *cq_head, *cq_tail, *cq_mask;
    const uint8_t *sqes, *cqes;
    uint32_t sq_offsets[4], cq_offsets[4]; /* of those in the ring's memory, until that is mapped */
    uint32_t sq_first, sq_seen; /* where we began to read, and how far we are */
    uint32_t recorded;          /* requests recorded since */
    uint32_t window;            /* the change of the window that these are of */
    uint32_t cq_seen;
    uint32_t masks[2]; /* of both, as they were first */
    uint64_t last;     /* when it was last looked at */
    uint32_t files[IOT_RING_FILES]; /* registered ones by their index: numbers of descriptors */
};

/* Lies in pages that a forked child finds zeroed (MADV_WIPEONFORK): no lock, number or buffer of
 * the parent can be met there, however the child came to be. */
struct iot_process {
    volatile uint32_t generation; /* 0: recording has not started here */
    uint32_t off;                 /* recording could not be started: pass everything through */
    uint32_t starting;
    struct iot_file_header *file; /* the mapped trace file */
    uint32_t pid;
    uint32_t threads_used;  /* slots ever taken */
    uint64_t threads_free;  /* stack of slots: change count << 32 | slot + 1 */
    uint32_t last_string, last_descriptor;
    uint32_t window; /* the change of the window that its descriptors are of */
    uint32_t steps;  /* begun in this process */
    /* major ones, when there were pages to be fetched first, + 1; 0: there were none */
    uint32_t faults_before;
    uint32_t faults_looked_at; /* major ones since, of threads that are looked at */
    uint32_t resizing; /* somebody changes the size of its file */
    uint32_t descriptors_top; /* no descriptor from here on was ever known */
    uint32_t workspace_busy[IOT_WORKSPACES];
    uint32_t lock_waiters[IOT_LOCK_PLACES]; /* by place of the lock: how many threads wait */
    uint64_t sites[IOT_SITES_KEPT]; /* by place: hash tag << 24 | number of its stack */
    struct iot_module_seen modules[IOT_MODULES_KEPT];
    struct iot_python_seen places[IOT_PYTHON_KEPT];
    struct iot_mq_name mq_names[64];
    struct iot_interest interests[IOT_INTERESTS];
    struct iot_aio_look aio_looks[IOT_AIO_LOOKS];
    struct iot_context contexts[IOT_CONTEXTS_MAX];
    struct iot_cufile_handle cufile_handles[IOT_CUFILE_HANDLES];
    struct iot_ring rings[IOT_RINGS_MAX];
    uint32_t rings_made; /* numbers given */
    uint64_t strings[IOT_STRINGS_KEPT];          /* hash tag << 24 | number */
    /* by descriptor: its number in the trace; 0 unknown */
    uint32_t descriptors[IOT_DESCRIPTORS_MAX];
    struct iot_kept kept;                        /* of a trace that keeps the newest */
};
extern IOT_OURS struct iot_process *iot_process;

/* The trace file of this process: at the start of the image, and in a forked child. Returns 0,
 * or -1 with recording switched off. */
int iot_process_start(void);

/* Notes how the process ends and leaves its file as small as it is; recording still
 * goes on, within what was handed out and a little more. */
void iot_process_end(struct iot_thread *t, enum iot_end how);
/* exec failed after all. */
void iot_process_goes_on(void);

/* Gives back address space that the file has no use for yet, but for about `bytes` more. */
void iot_process_fit(uint64_t bytes);
/* Makes everything ready that recording needs, and makes no system call from then on; and back. */
void iot_process_confine(struct iot_thread *t);
void iot_process_free(void);

/* One more segment with its first `bytes` bytes there to be written; NULL: none to be had. */
void *iot_segment_take(uint32_t kind, uint32_t slot, size_t bytes);
/* Makes sure that pages can be written to without SIGBUS on a full disk; 0 or -1. */
int iot_pages_ready(void *from, size_t bytes);
/* Which one that is in. */
uint32_t iot_segment_of(const void *at);

void iot_drop(uint64_t events);

#endif
