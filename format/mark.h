/* What a row `mark` says (column result). */
#ifndef IOT_FORMAT_MARK_H
#define IOT_FORMAT_MARK_H

enum iot_mark_kind {
    IOT_MARK_NAMED,
    IOT_MARK_STEP,
    IOT_MARK_BEGIN, /* of a range that nests in its thread; the offset is its domain, 0 the usual */
    IOT_MARK_END,   /* of the innermost one of that domain */
    IOT_MARK_START, /* of a range that may stop in another thread; the offset is its number */
    IOT_MARK_STOP,
};

#endif
