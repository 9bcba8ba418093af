/* Children find the run's folder by IOTRACE_RUN. `iotrace run` sets it; where the library was
 * preloaded by hand, the root process has to hand it on. It cannot put it into its own environment
 * when it starts (libc sets `environ` after us), and programs such as shells build their
 * children's environment themselves: so it is added to what a child is given, and only where
 * LD_PRELOAD is in there too. */
#ifndef IOT_PRELOAD_ENVIRONMENT_H
#define IOT_PRELOAD_ENVIRONMENT_H

#include "preload/record.h"

/* The environment to hand on instead of envp: itself where nothing is to be added, else a list that
 * lives until iot_environment_done (the thread keeps it; a child of vfork shares the thread). */
char *const *iot_environment_for_child(struct iot_thread *t, char *const envp[]);
void iot_environment_done(struct iot_thread *t);

/* Before libc itself starts a child (system, popen): in the program's own environment. */
void iot_environment_extend(void);

#endif
