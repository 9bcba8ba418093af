/* Where libcupti may be: the subscriber and `iotrace doctor` look in the same places. */
#ifndef IOT_FORMAT_CUPTI_PLACES_H
#define IOT_FORMAT_CUPTI_PLACES_H

#define IOT_CUPTI_FILE "libcupti.so"

/* Tries a name for the linker, or the path of a file that is there; not 0: this is it. */
typedef int iot_cupti_try(void *user, const char *path);

/* The folder of a library that is loaded, by the start of its name, into `folder` (4096 bytes); 0:
 * there is none. */
typedef int iot_cupti_beside(const char *library, char *folder);

/* Tries one place after the other, for a driver of CUDA's version `driver` (12040; 0: not known):
 * that version's comes first. `beside` may be NULL: nothing is loaded. Returns what `try` said, 0
 * if nothing was there. Without memory of the heap. */
int iot_cupti_places(int driver, iot_cupti_beside *beside, iot_cupti_try *try, void *user);

#endif
