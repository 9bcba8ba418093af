/* The objects that I/O is of (README, "object"), in the order in which every report lists them. */
#ifndef IOT_ANALYZER_OBJECTS_H
#define IOT_ANALYZER_OBJECTS_H

enum iot_object { IOT_INPUT, IOT_ARTIFACT, IOT_STATE, IOT_OUTPUT, IOT_OTHER, IOT_OBJECTS };

/* A file has an object for what was read of it and one for what was written. */
enum iot_direction { IOT_READING, IOT_WRITING, IOT_DIRECTIONS };

extern const char *const iot_object_names[IOT_OBJECTS];

#endif
