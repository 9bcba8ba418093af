/* Which rank of which job a process is, as its launcher says in the environment. No allocation and
 * no libc beyond memory and texts: it runs before a program's first instruction. */
#ifndef IOT_FORMAT_IDENTITY_H
#define IOT_FORMAT_IDENTITY_H

#include <stddef.h>

enum { IOT_IDENTITY_BYTES = 512 };

/* The value of an environment's variable; NULL: it has none. */
typedef const char *iot_variable(void *environment, const char *name);

/* Lines "key=value\n" of what the environment says, in `text`: the value of fact 10. Returns its
 * length; 0: it says nothing. */
size_t iot_identity(char text[IOT_IDENTITY_BYTES], iot_variable *variable, void *environment);

/* The rank's digits, *n of them; NULL: the environment names none. */
const char *iot_identity_rank(size_t *n, iot_variable *variable, void *environment);

#endif
