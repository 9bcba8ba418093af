#include "preload/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "format/identity.h"
#include "format/ops.h"
#include "preload/descriptors.h"
#include "preload/encode.h"
#include "preload/gpu.h"
#include "preload/life.h"
#include "preload/lineage.h"
#include "preload/module_symbols.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/residency.h"
#include "preload/stream.h"
#include "preload/strings.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/window.h"

struct iot_image iot_image;

/* --- small helpers: nothing here may call what we wrap --- */

static size_t read_file(const char *path, char *to, size_t bytes)
{
    long fd = iot_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t n = 0;
    while (n < bytes) {
        long r = iot_sys(SYS_read, fd, to + n, bytes - n);
        if (r <= 0)
            break;
        n += (size_t)r;
    }
    iot_sys(SYS_close, fd);
    return n;
}

static uint64_t number_after(const char *text, const char *label)
{
    const char *p = label ? strstr(text, label) : text;
    if (!p)
        return 0;
    if (label)
        p += strlen(label);
    uint64_t v = 0;
    while (*p >= '0' && *p <= '9')
        v = v * 10 + (uint64_t)(*p++ - '0');
    return v;
}

size_t iot_image_usage(struct iot_usage *usage, struct iot_called *called)
{
    char text[512];
    size_t n = read_file("/proc/self/io", text, sizeof text - 1);
    if (!n)
        return 0;
    text[n] = '\0';
    called->read_bytes = number_after(text, "rchar: ");
    called->write_bytes = number_after(text, "\nwchar: ");
    usage->storage_read_bytes = number_after(text, "\nread_bytes: ");
    usage->storage_write_bytes = number_after(text, "\nwrite_bytes: ");
    size_t more = read_file("/proc/self/schedstat", text, sizeof text - 1);
    text[more] = '\0';
    usage->runqueue_ns = number_after(text, " "); /* "<cpu> <run queue> <slices>" */
    return n + more;
}

static const char *variable(char **envp, const char *name)
{
    size_t n = strlen(name);
    for (; envp && *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
            return *envp + n + 1;
    return NULL;
}

static const char *of_environment(void *envp, const char *name)
{
    return variable(envp, name);
}

/* --- facts --- */

static void put_fact(enum iot_fact_tag tag, const void *value, size_t bytes)
{
    struct iot_fact fact = {tag, (uint32_t)bytes};
    size_t whole = (sizeof fact + bytes + 7) / 8 * 8;
    if (iot_image.facts_bytes + whole + sizeof fact > sizeof iot_image.facts)
        return;
    memcpy(iot_image.facts + iot_image.facts_bytes, &fact, sizeof fact);
    memcpy(iot_image.facts + iot_image.facts_bytes + sizeof fact, value, bytes);
    iot_image.facts_bytes += whole;
}

static void put_command(int argc, char **argv)
{
    enum { COMMAND_MAX = 32 * 1024 };
    static char text[COMMAND_MAX];
    size_t n = 0;
    for (int i = 0; i < argc && argv[i]; i++) {
        size_t bytes = strlen(argv[i]) + 1;
        if (n + bytes > sizeof text)
            break;
        memcpy(text + n, argv[i], bytes);
        n += bytes;
    }
    put_fact(IOT_FACT_COMMAND, text, n);
}

static void put_cpu(void)
{
#if defined(__x86_64__)
    unsigned name[12];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &name[4 * i], &name[4 * i + 1], &name[4 * i + 2],
                         &name[4 * i + 3]))
            return;
    const char *p = (const char *)name;
    size_t n = strnlen(p, sizeof name);
    while (n && *p == ' ')
        p++, n--;
    put_fact(IOT_FACT_CPU, p, n);
#endif
}

static const char ops_text[] =
#define IOT_OP(number, NAME, name, class, moves, subject)                                          \
#number " " name " " #class " " #moves " " #subject "\n"
#include "format/ops.def"
#undef IOT_OP
    ;

static void put_identity(char **envp)
{
    char text[IOT_IDENTITY_BYTES];
    size_t n = iot_identity(text, of_environment, envp);
    if (n)
        put_fact(IOT_FACT_IDENTITY, text, n);
}

static void put_facts(int argc, char **argv, char **envp)
{
    static char text[32 * 1024];
    long n = iot_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, 4096);
    if (n > 0)
        put_fact(IOT_FACT_EXE, text, (size_t)n);
    put_command(argc, argv);
    n = iot_sys(SYS_getcwd, text, 4096);
    if (n > 1)
        put_fact(IOT_FACT_CWD, text, (size_t)n - 1);
    struct utsname u;
    if (iot_sys(SYS_uname, &u) == 0) {
        put_fact(IOT_FACT_HOST, u.nodename, strlen(u.nodename));
        size_t release = strlen(u.release);
        memcpy(text, u.release, release);
        text[release] = ' ';
        memcpy(text + release + 1, u.machine, strlen(u.machine));
        put_fact(IOT_FACT_KERNEL, text, release + 1 + strlen(u.machine));
    }
    put_cpu();
    put_identity(envp);
    put_fact(IOT_FACT_OPS, ops_text, sizeof ops_text - 1);
    if (iot_image.root)
        put_fact(IOT_FACT_MOUNTS, text, read_file("/proc/self/mountinfo", text, sizeof text));
    iot_image.facts_bytes += sizeof(struct iot_fact); /* the end: tag 0 */
}

static void read_boot_id(void)
{
    char text[64];
    size_t n = read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    unsigned half = 0;
    for (size_t i = 0; i < n && half < 32; i++) {
        int c = text[i];
        int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0)
            continue;
        iot_image.boot_id[half / 2] = (uint8_t)(iot_image.boot_id[half / 2] << 4 | v);
        half++;
    }
}

/* --- the folder of the run --- */

static const char *exe_name(void)
{
    static char path[4096];
    long n = iot_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return "program";
    path[n] = '\0';
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The last one first: of a thousand ranks that start together, one finds that those above it are
 * not there. */
static int make_folders(char *path)
{
    long r = iot_sys(SYS_mkdirat, AT_FDCWD, path, 0755);
    if (r != -ENOENT)
        return r == 0 || r == -EEXIST ? 0 : -1;
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        iot_sys(SYS_mkdirat, AT_FDCWD, path, 0755);
        *p = '/';
    }
    r = iot_sys(SYS_mkdirat, AT_FDCWD, path, 0755);
    return r == 0 || r == -EEXIST ? 0 : -1;
}

/* A rank that is the first process of its run has a folder of its own in the one that was asked
 * for: with numbered siblings the last of a thousand ranks would try a thousand names. */
static size_t add_rank(char *folder, size_t n, const char *rank, size_t digits)
{
    memcpy(folder + n, "/" IOT_RANK_FOLDER, sizeof "/" IOT_RANK_FOLDER - 1);
    n += sizeof "/" IOT_RANK_FOLDER - 1;
    memcpy(folder + n, rank, digits);
    folder[n + digits] = '\0';
    return n + digits;
}

/* Takes a folder for a new run: the one that was asked for, or, if that holds a run already, the
 * first numbered sibling that does not. The marker decides, so that of two runs that start together
 * each gets its own. */
static int take_folder(const char *wanted, char **envp)
{
    char *folder = iot_image.folder;
    size_t n = 0;
    if (!wanted || wanted[0] != '/') {
        long r = iot_sys(SYS_getcwd, folder, sizeof iot_image.folder);
        if (r < 2)
            return -1;
        n = (size_t)r - 1;
        folder[n++] = '/';
    }
    if (wanted && *wanted) {
        size_t bytes = strlen(wanted);
        if (n + bytes > sizeof iot_image.folder - 64)
            return -1;
        memcpy(folder + n, wanted, bytes + 1);
        n += bytes;
    } else {
        const char *exe = exe_name();
        size_t bytes = strlen(exe);
        if (n + bytes > sizeof iot_image.folder - 64)
            return -1;
        memcpy(folder + n, "iotrace-", 8);
        memcpy(folder + n + 8, exe, bytes);
        n += 8 + bytes;
        folder[n++] = '-';
        char *end = iot_text_number(folder + n, (uint64_t)iot_sys(SYS_getpid));
        *end = '\0';
        n = (size_t)(end - folder);
    }
    while (n > 1 && folder[n - 1] == '/')
        folder[--n] = '\0';
    size_t digits;
    const char *rank = wanted && *wanted ? iot_identity_rank(&digits, of_environment, envp) : NULL;
    if (rank)
        n = add_rank(folder, n, rank, digits);

    for (uint64_t sibling = 0; sibling < 10000; sibling++) {
        if (sibling) {
            folder[n] = '.';
            *iot_text_number(folder + n + 1, sibling) = '\0';
        }
        if (make_folders(folder))
            return -1;
        char marker[IOT_PATH_BYTES];
        size_t m = strlen(folder);
        memcpy(marker, folder, m);
        memcpy(marker + m, "/" IOT_RUN_MARKER, sizeof "/" IOT_RUN_MARKER);
        long fd =
            iot_sys(SYS_openat, AT_FDCWD, marker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0) {
            iot_sys(SYS_close, fd);
            return 0;
        }
        if (fd != -EEXIST)
            return -1;
    }
    return -1;
}

static int find_folder(char **envp)
{
    const char *run = variable(envp, "IOTRACE_RUN");
    if (run && run[0] == '/' && strlen(run) < sizeof iot_image.folder - 64) {
        strcpy(iot_image.folder, run);
        const char *root = variable(envp, "IOTRACE_ROOT");
        iot_image.root = root && number_after(root, NULL) == (uint64_t)iot_sys(SYS_getpid);
        return 0;
    }
    iot_image.root = 1;
    return take_folder(variable(envp, "IOTRACE_DIR"), envp);
}

/* --- start --- */

static int map_process(void)
{
    long at = iot_sys(SYS_mmap, 0, sizeof(struct iot_process), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at < 0 && at > -4096)
        return -1;
    iot_process = (struct iot_process *)at;
    if (iot_sys(SYS_madvise, at, sizeof(struct iot_process), MADV_WIPEONFORK))
        return -1;
    return 0;
}

/* Runs before the constructors of all other libraries (-z initfirst). */
__attribute__((constructor)) static void image_start(int argc, char **argv, char **envp)
{
    iot_real_start();
    /* NVTX loads us as a plug-in (nvtx.c) also where we were not preloaded: then nothing of ours
     * stands before libc's functions, and there is nothing to record. */
    if (!iot_modules_behind() || map_process())
        return;
    iot_clock_start(variable(envp, "IOTRACE_CLOCK"));
    iot_residency_start(variable(envp, "IOTRACE_CACHE"));
    iot_strings_start();
    if (iot_record_start() || iot_encode_start() || iot_life_start() || find_folder(envp))
        return;
    iot_stacks_start(variable(envp, "IOTRACE_STACKS"));
    iot_lineage_start(variable(envp, "IOTRACE_LINEAGE"));
    iot_window_start(of_environment, envp);
    iot_gpu_start(variable(envp, "IOTRACE_CUDA"));
    read_boot_id();
    put_facts(argc, argv, envp);
    iot_generation = &iot_process->generation;
    iot_descriptors_start();
    struct iot_thread *t = iot_enter_always();
    if (t)
        iot_window_begun(t);
}

/* Runs after the destructors of all other libraries. */
__attribute__((destructor)) static void image_end(void)
{
    iot_life_again();
    iot_streams_exit();
    iot_life_exit(-1);
}
