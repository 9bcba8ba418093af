#include "analyzer/export_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/symbols.h"
#include "analyzer/text.h"

/* --- values --- */

static struct iot_cell number(int64_t n)
{
    return (struct iot_cell){.number = n};
}

static struct iot_cell text(const char *s)
{
    return (struct iot_cell){.text = s};
}

static struct iot_cell number_if(bool known, int64_t n)
{
    return (struct iot_cell){.null = !known, .number = n};
}

static struct iot_cell text_if(const char *s)
{
    return (struct iot_cell){.null = !s || !*s, .text = s};
}

static struct iot_cell object_cell(unsigned object)
{
    return text_if(object < IOT_OBJECTS ? iot_object_names[object] : NULL);
}

const char *iot_cell_text(const char *from, char **room)
{
    size_t n = from ? strlen(from) : 0, k = 0, to = 0;
    if (!from)
        return NULL;
    while (k < n) {
        size_t length = iot_utf8_length(from + k, n - k);
        if (!length || iot_utf8_is_control(from + k, length))
            break;
        k += length;
    }
    if (k == n)
        return from;
    char *more = realloc(*room, 4 * n + 1);
    if (!more)
        return NULL;
    *room = more;
    for (k = 0; k < n;) {
        size_t length = iot_utf8_length(from + k, n - k);
        int plain = length && !iot_utf8_is_control(from + k, length);
        length = length ? length : 1;
        for (size_t b = 0; b < length; b++)
            to += plain ? (more[to] = from[k + b], (size_t)1)
                        : (size_t)sprintf(more + to, "\\x%02x", (unsigned char)from[k + b]);
        k += length;
    }
    more[to] = 0;
    return more;
}

/* A getter: what it gives is an expression of x and row. */
#define CELL(name, expression)                                                                     \
    static struct iot_cell name(const struct iot_exported *x, size_t row)                          \
    {                                                                                              \
        (void)x;                                                                                   \
        (void)row;                                                                                 \
        return expression;                                                                         \
    }

/* --- units --- */

static const char *command_line(const struct iot_exported *x, const struct iot_process *p)
{
    size_t n = 1;
    for (size_t i = 0; p->command && p->command[i]; i++)
        n += strlen(p->command[i]) + 1;
    char *line = iot_arena_take(x->arena, n), *to = line;
    for (size_t i = 0; line && p->command && p->command[i]; i++) {
        to = i ? stpcpy(to, " ") : to;
        to = stpcpy(to, p->command[i]);
    }
    if (line)
        *to = 0;
    return line;
}

/* What every table begins with. */
CELL(unit_number, number(x->unit.number))
#define UNIT_COLUMN                                                                                \
    {                                                                                              \
        "unit", false, false, unit_number, "of units"                                              \
    }

#define ROOT (x->trace->processes[0])
#define UNIT (x->unit.identity)
#define PATH_NS (x->model->path)
CELL(unit_job, text_if(UNIT.job))
CELL(unit_rank, number_if(UNIT.rank >= 0, UNIT.rank))
CELL(unit_local_rank, number_if(UNIT.local_rank >= 0, UNIT.local_rank))
CELL(unit_world_size, number_if(UNIT.world_size >= 0, UNIT.world_size))
CELL(unit_host, text_if(ROOT.host))
CELL(unit_boot, text_if(x->unit.boot))
CELL(unit_pid, number(ROOT.pid))
CELL(unit_command, text_if(command_line(x, &ROOT)))
CELL(unit_start, number((int64_t)ROOT.start_realtime_ns))
CELL(unit_wall, number(x->model->wall_ns))
CELL(unit_part_of, number_if(x->trace->seen.spans, x->trace->seen.run_ns))
CELL(unit_compute, number(PATH_NS.compute_ns))
CELL(unit_io, number(PATH_NS.io_ns))
CELL(unit_gpu, number(PATH_NS.gpu_ns))
CELL(unit_sleep, number(PATH_NS.sleep_ns))
CELL(unit_wake, number(PATH_NS.wake_ns))
CELL(unit_external, number(PATH_NS.external_ns))
CELL(unit_unexplained, number(PATH_NS.unexplained_ns))
CELL(unit_events, number((int64_t)x->trace->events.n))
CELL(unit_all_events,
     number((int64_t)(x->trace->whole.events ? x->trace->whole.events : x->trace->events.n)))
CELL(unit_dropped, number((int64_t)x->trace->dropped_events))
CELL(unit_salvaged, number(x->trace->salvaged_processes))

static const struct iot_column units[] = {
    {"unit", false, false, unit_number, "its number, in all tables; below 2^53"},
    {"job", true, true, unit_job, "of which job, as its launcher says"},
    {"rank", false, true, unit_rank, "which rank; null of several or none"},
    {"local_rank", false, true, unit_local_rank, "likewise, on its machine"},
    {"world_size", false, true, unit_world_size, "how many ranks the job has"},
    {"host", true, true, unit_host, "its machine"},
    {"boot_id", true, true, unit_boot, "of that machine: one clock"},
    {"pid", false, false, unit_pid, "number of its first process"},
    {"command", true, true, unit_command, "its arguments, with spaces between"},
    {"start_realtime_ns", false, false, unit_start, "since 1970: where its times count from"},
    {"wall_ns", false, false, unit_wall, "how long it ran: the sum of the next seven"},
    {"compute_ns", false, false, unit_compute, "of its critical path"},
    {"io_ns", false, false, unit_io, "likewise: the sum of exposed_ns of events"},
    {"gpu_ns", false, false, unit_gpu, "likewise"},
    {"sleep_ns", false, false, unit_sleep, "likewise"},
    {"wake_ns", false, false, unit_wake, "likewise"},
    {"external_ns", false, false, unit_external, "likewise"},
    {"unexplained_ns", false, false, unit_unexplained, "likewise"},
    {"part_of_ns", false, true, unit_part_of, "how long all took, of which a part was traced"},
    {"events", false, false, unit_events, "rows in events"},
    {"all_events", false, false, unit_all_events, "those in the trace; events has the newest"},
    {"dropped_events", false, false, unit_dropped, "not recorded for want of room"},
    {"salvaged_processes", false, false, unit_salvaged, "whose traces are damaged or torn"},
    {0},
};

static size_t unit_rows(const struct iot_exported *x)
{
    (void)x;
    return 1;
}

/* --- processes --- */

#define PROCESS (x->trace->processes[row])
CELL(process_index, number((int64_t)row))
CELL(process_pid, number(PROCESS.pid))
CELL(process_ppid, number(PROCESS.ppid))
CELL(process_start, number(PROCESS.start_ns))
CELL(process_end, number(PROCESS.end_ns))
CELL(process_exe, text_if(PROCESS.exe))
CELL(process_cwd, text_if(PROCESS.cwd))
CELL(process_host, text_if(PROCESS.host))
CELL(process_command, text_if(command_line(x, &PROCESS)))
CELL(process_dropped, number((int64_t)PROCESS.dropped_events))

static const struct iot_column processes[] = {
    UNIT_COLUMN,
    {"process", false, false, process_index,
     "its number in this table; images of exec count singly"},
    {"pid", false, false, process_pid, "process number"},
    {"ppid", false, false, process_ppid, "its parent's"},
    {"start_ns", false, false, process_start, "from the start of the run"},
    {"end_ns", false, false, process_end, "its last event"},
    {"exe", true, true, process_exe, "its program"},
    {"cwd", true, true, process_cwd, "the folder in which it started"},
    {"host", true, true, process_host, "its machine"},
    {"command", true, true, process_command, "its arguments, with spaces between"},
    {"dropped_events", false, false, process_dropped, "not recorded for want of room"},
    {0},
};

static size_t process_rows(const struct iot_exported *x)
{
    return x->trace->n_processes;
}

/* --- lanes --- */

static const char *const lane_kinds[IOT_LANE_KINDS] = {"thread", "aio",    "libaio",
                                                       "ring",   "cufile", "stream"};

#define LANE (x->trace->lanes[row])
CELL(lane_index, number((int64_t)row))
CELL(lane_process, number(LANE.process))
CELL(lane_tid, number_if(LANE.kind == IOT_LANE_THREAD, LANE.tid))
CELL(lane_kind, text(lane_kinds[LANE.kind]))
CELL(lane_name, text(x->lane_names[row]))
CELL(lane_start, number(LANE.start_ns))
CELL(lane_end, number(LANE.end_ns))

static const struct iot_column lanes[] = {
    UNIT_COLUMN,
    {"lane", false, false, lane_index, "its number in this table"},
    {"process", false, false, lane_process, "row of processes"},
    {"tid", false, true, lane_tid, "thread number; null of what is no thread"},
    {"kind", true, false, lane_kind,
     "thread; stream (of a GPU); aio, libaio, ring, cufile (requests)"},
    {"name", true, false, lane_name, "as reports call it"},
    {"start_ns", false, false, lane_start, "from the start of the run"},
    {"end_ns", false, false, lane_end, "likewise"},
    {0},
};

static size_t lane_rows(const struct iot_exported *x)
{
    return x->trace->n_lanes;
}

/* --- files: the rows of the report --- */

#define ROW (x->report->files[row])
#define FIGURES (ROW.figures)
CELL(file_index, number((int64_t)row))
CELL(file_path, text(ROW.path))
CELL(file_object, object_cell(ROW.object))
CELL(file_why, text_if(ROW.why))
CELL(file_data_ops, number(FIGURES.data_ops))
CELL(file_metadata_ops, number(FIGURES.metadata_ops))
CELL(file_sync_ops, number(FIGURES.sync_ops))
CELL(file_opens, number(FIGURES.opens))
CELL(file_small_ops, number(FIGURES.small_ops))
CELL(file_read_bytes, number(FIGURES.read_bytes))
CELL(file_write_bytes, number(FIGURES.write_bytes))
CELL(file_service, number(FIGURES.service_ns))
CELL(file_exposed, number(FIGURES.exposed_ns))
CELL(file_waited, number(FIGURES.waited_ns))
CELL(file_recoverable,
     number_if(FIGURES.recoverable_ns != IOT_NOT_COMPUTED, FIGURES.recoverable_ns))
CELL(file_mapped_bytes, number(FIGURES.mapped_bytes))
CELL(file_fault_ns, number(FIGURES.fault_ns))

static const struct iot_column files[] = {
    UNIT_COLUMN,
    {"file", false, false, file_index, "its number in this table"},
    {"path", true, false, file_path, "a path, or pipe:[...], socket:[...] and the like"},
    {"object", true, false, file_object, "input, artifact, state, output or other"},
    {"why", true, true, file_why, "it is that object"},
    {"data_ops", false, false, file_data_ops, "calls that move bytes"},
    {"metadata_ops", false, false, file_metadata_ops, "open, stat and the like"},
    {"sync_ops", false, false, file_sync_ops, "fsync and the like"},
    {"opens", false, false, file_opens, "calls that open, also those that failed"},
    {"small_ops", false, false, file_small_ops, "data calls of less than 4096 bytes"},
    {"read_bytes", false, false, file_read_bytes, "by data calls"},
    {"write_bytes", false, false, file_write_bytes, "likewise"},
    {"service_ns", false, false, file_service, "time in its calls"},
    {"exposed_ns", false, false, file_exposed, "the part that makes the run longer"},
    {"waited_ns", false, false, file_waited, "the part of exposed in lanes that were waited for"},
    {"recoverable_ns", false, true, file_recoverable,
     "how much shorter the run is without; the top files"},
    {"mapped_bytes", false, false, file_mapped_bytes, "brought in while mapped: an estimate"},
    {"fault_ns", false, false, file_fault_ns,
     "the part of service lost to page faults: an estimate"},
    {0},
};

static size_t file_rows(const struct iot_exported *x)
{
    return x->report->n_files;
}

/* --- events --- */

static const char *const classes[] = {
    [IOT_DATA] = "data", [IOT_META] = "metadata", [IOT_SYNC] = "sync", [IOT_WAIT] = "wait",
    [IOT_LIFE] = "life", [IOT_MARK] = "mark",     [IOT_WAKE] = "wake", [IOT_GPU] = "gpu"};
static const char *const moves[] = {
    [IOT_NONE] = "", [IOT_IN] = "read", [IOT_OUT] = "write", [IOT_BOTH] = "both"};
static const char *const parts[] = {[IOT_PART_IO] = "io",
                                    [IOT_PART_WAIT] = "wait",
                                    [IOT_PART_SLEEP] = "sleep",
                                    [IOT_PART_EXTERNAL] = "external",
                                    [IOT_PART_UNEXPLAINED] = "unexplained",
                                    [IOT_PART_GPU] = "gpu",
                                    [IOT_PART_NONE] = "compute"};

static uint32_t waker_lane(const struct iot_exported *x, size_t event)
{
    struct iot_waker w = x->links.waker[event];
    return w.kind == IOT_WAKER_NONE   ? IOT_NO_INDEX
           : w.kind == IOT_WAKER_LANE ? w.index
                                      : x->links.lane_of[w.index];
}

#define EVENTS (x->trace->events)
#define INFO (iot_op_info(EVENTS.op[row]))
CELL(event_index, number((int64_t)row))
CELL(event_lane, number(x->links.lane_of[row]))
CELL(event_op, text(INFO->name))
CELL(event_class, text(classes[INFO->class_]))
CELL(event_moves, text_if(moves[INFO->moves]))
CELL(event_t0, number(EVENTS.t0_ns[row]))
CELL(event_t1, number(EVENTS.t1_ns[row]))
CELL(event_bytes, number(EVENTS.bytes[row]))
CELL(event_result, number(EVENTS.result[row]))
CELL(event_errno, number(EVENTS.err[row]))
CELL(event_fd, number_if(EVENTS.fd[row] >= 0, EVENTS.fd[row]))
CELL(event_offset, number(EVENTS.offset[row]))
CELL(event_path, text_if(x->trace->files[EVENTS.file[row]].name))
CELL(event_path2, text_if(x->trace->files[EVENTS.file2[row]].name))
CELL(event_file, number_if(x->report->of_event[row] != IOT_NO_INDEX, x->report->of_event[row]))
CELL(event_file2, number_if(iot_exported_row2(x, row) != IOT_NO_INDEX, iot_exported_row2(x, row)))
CELL(event_object, object_cell(iot_exported_object(x, row)))
CELL(event_object2, object_cell(iot_exported_object2(x, row)))
CELL(event_part, text(parts[x->model->part[row]]))
CELL(event_service, number(x->model->service_ns[row]))
CELL(event_exposed, number(x->model->exposed_ns[row]))
CELL(event_waited, number(x->model->waited[row] ? x->model->exposed_ns[row] : 0))
CELL(event_waker_lane, number_if(waker_lane(x, row) != IOT_NO_INDEX, waker_lane(x, row)))
CELL(event_waker_ns,
     number_if(waker_lane(x, row) != IOT_NO_INDEX, iot_waker_time(x->trace, x->links.waker[row])))
CELL(event_stack, number_if(EVENTS.stack[row] != 0, EVENTS.stack[row]))

static struct iot_cell event_step(const struct iot_exported *x, size_t row)
{
    size_t step = iot_steps_at(x->steps, EVENTS.t1_ns[row]);
    return number_if(step != SIZE_MAX, (int64_t)step);
}

static const struct iot_column events[] = {
    UNIT_COLUMN,
    {"event", false, false, event_index, "its number in this table"},
    {"lane", false, false, event_lane, "row of lanes"},
    {"op", true, false, event_op, "the call"},
    {"class", true, false, event_class, "data, metadata, sync, wait, wake, life, mark, gpu"},
    {"moves", true, true, event_moves, "read, write or both"},
    {"t0_ns", false, false, event_t0, "entry, from the start of the run"},
    {"t1_ns", false, false, event_t1, "return"},
    {"bytes", false, false, event_bytes, "what really moved"},
    {"result", false, false, event_result, "what the call returned"},
    {"errno", false, false, event_errno, "0: it did not fail"},
    {"fd", false, true, event_fd, "descriptor"},
    {"offset", false, false, event_offset, "of calls that name one"},
    {"path", true, true, event_path, "what it was done to"},
    {"path2", true, true, event_path2, "the other end"},
    {"file", false, true, event_file, "row of files that counts it; null of what is no I/O"},
    {"file2", false, true, event_file2,
     "row of files of the other end, which counts the bytes, too"},
    {"object", true, true, event_object, "of the row of files"},
    {"object2", true, true, event_object2, "of that of the other end"},
    {"part", true, false, event_part,
     "of the schedule: io, wait, sleep, external, gpu, unexplained, compute"},
    {"service_ns", false, false, event_service, "0 unless io"},
    {"exposed_ns", false, false, event_exposed, "the part of service that makes the run longer"},
    {"waited_ns", false, false, event_waited, "that, where it is in a lane that was waited for"},
    {"waker_lane", false, true, event_waker_lane, "who let it go on: row of lanes"},
    {"waker_ns", false, true, event_waker_ns, "when"},
    {"step", false, true, event_step, "row of steps in which it ends"},
    {"stack", false, true, event_stack, "of stacks, where the call was made"},
    {0},
};

static size_t event_rows(const struct iot_exported *x)
{
    return EVENTS.n;
}

/* --- steps --- */

#define STARTS (x->steps->starts_ns)
CELL(step_index, number((int64_t)row))
CELL(step_start, number(STARTS[row]))
CELL(step_end, number(row + 1 < x->steps->n ? STARTS[row + 1] : x->steps->end_ns))

static const struct iot_column steps[] = {
    UNIT_COLUMN,
    {"step", false, false, step_index, "from 0"},
    {"start_ns", false, false, step_start, "from the start of the run"},
    {"end_ns", false, false, step_end, "where the next one starts"},
    {0},
};

static size_t step_rows(const struct iot_exported *x)
{
    return x->steps->n;
}

/* --- call stacks --- */

#define STACKS (x->trace->stacks)
CELL(frame_stack, number(x->stack_of[row]))
CELL(frame_depth, number((int64_t)(row - STACKS.list[x->stack_of[row]].first)))

static struct iot_cell frame_name(const struct iot_exported *x, size_t row)
{
    char words[400];
    iot_symbols_name(x->symbols, &STACKS.frames[row], words, sizeof words);
    return text(iot_arena_text(x->arena, words, strlen(words)));
}

static const struct iot_column stacks[] = {
    UNIT_COLUMN,
    {"stack", false, false, frame_stack, "which one: of events"},
    {"depth", false, false, frame_depth, "0: where the call is made"},
    {"frame", true, false, frame_name, "function and module"},
    {0},
};

static size_t frame_rows(const struct iot_exported *x)
{
    return STACKS.n_frames;
}

const struct iot_export_table iot_export_tables[] = {
    {"events", "every call, wait and mark, by lane and time", events, event_rows, false},
    {"files", "the report's row of each file and object", files, file_rows, false},
    {"lanes", "threads, streams of GPUs, and asynchronous requests", lanes, lane_rows, false},
    {"processes", "images of processes", processes, process_rows, false},
    {"stacks", "a row a frame, where stacks were recorded", stacks, frame_rows, false},
    {"steps", "steps that were marked or found", steps, step_rows, false},
    {"units", "process trees on one host: a run, a rank", units, unit_rows, true},
    {0},
};
