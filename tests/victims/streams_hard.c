/* Streams where it is hard: shared by threads and processes, failing, without a descriptor, left
 * pending. */
#include "tests/victims/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 3000 };

static FILE *shared;

/* --- threads --- */

static void *write_some(void *number)
{
    long mine = (long)number;
    for (int i = 0; i < ROUNDS; i++) {
        switch ((i + mine) % 6) {
        case 0:
            fprintf(shared, "%d of %ld\n", i, mine);
            break;
        case 1:
            fputs("a line\n", shared);
            break;
        case 2:
            fwrite("a block", 1, 7, shared);
            break;
        case 3:
            fputc('c', shared);
            break;
        case 4:
            flockfile(shared);
            for (int k = 0; k < 40; k++)
                putc_unlocked('u', shared);
            funlockfile(shared);
            break;
        default:
            if (i % 60 == 0)
                fflush(shared);
        }
    }
    return NULL;
}

static void *read_some(void *number)
{
    char data[100];
    for (long i = (long)number; !feof(shared); i++) {
        if (i % 3 == 0)
            (void)!fread(data, 7, 3, shared);
        else if (i % 3 == 1)
            (void)!fgets(data, sizeof data, shared);
        else
            getc(shared);
    }
    return NULL;
}

static void in_threads(void *(*routine)(void *))
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, routine, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads(void)
{
    const int modes[] = {_IOFBF, _IOLBF};
    for (int m = 0; m < 2; m++) {
        shared = must_open("shared", "w");
        setvbuf(shared, NULL, modes[m], 512);
        in_threads(write_some);
        fclose(shared);
        shared = must_open("shared", "r");
        in_threads(read_some);
        fclose(shared);
    }
}

/* --- a thread cancelled in a read: others can still use the stream --- */

static void *read_forever(void *none)
{
    char data[100];
    (void)!fgets(data, sizeof data, shared);
    (void)!fgets(data, sizeof data, shared);
    return none;
}

static void cancelled(void)
{
    int ends[2];
    pthread_t thread;
    void *how;
    MUST(pipe(ends) == 0 && (shared = fdopen(ends[0], "r")));
    MUST(pthread_create(&thread, NULL, read_forever, NULL) == 0);
    MUST(write(ends[1], "a line\n", 7) == 7);
    usleep(100000);
    pthread_cancel(thread);
    MUST(pthread_join(thread, &how) == 0 && how == PTHREAD_CANCELED);
    MUST(write(ends[1], "two\n", 4) == 4);
    alarm(10);
    MUST(pthread_create(&thread, NULL, read_some, (void *)2L) == 0); /* begins with getc */
    close(ends[1]);
    pthread_join(thread, NULL);
    fclose(shared);
}

/* --- forks --- */

static void *write_forever(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        fputs("a line of the writer\n", shared);
        usleep(10);
    }
    return NULL;
}

static void forks(void)
{
    FILE *stream = must_open("inherited", "w");
    fputs("pending in both", stream);
    printf("pending on stdout");
    for (int how = 0; how < 2; how++) {
        pid_t child = fork();
        if (child == 0) {
            fputs(", the child", stream);
            if (how)
                _exit(0); /* nothing is flushed */
            exit(0);
        }
        MUST(waitpid(child, NULL, 0) == child);
    }
    fputs(", the parent", stream);
    fclose(stream);

    int stop = 0;
    pthread_t thread;
    shared = must_open("forked", "w");
    setvbuf(shared, NULL, _IOFBF, 64);
    MUST(pthread_create(&thread, NULL, write_forever, &stop) == 0);
    alarm(30);
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (child == 0) {
            fputs("the child finds the stream free\n", shared);
            fflush(shared);
            _exit(0);
        }
        MUST(waitpid(child, NULL, 0) == child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    fclose(shared);
}

/* --- failures --- */

static void fail_with(FILE *stream, int buffering)
{
    char data[5000];
    memset(data, 'f', sizeof data);
    MUST(stream);
    setvbuf(stream, NULL, buffering, 1024);
    for (int round = 0; round < 2; round++) {
        errno = 0;
        size_t n = fwrite(data, 1, 10, stream);
        int r1 = fputs("text\n", stream), r2 = putc('\n', stream), r3 = fprintf(stream, "%d\n", 5);
        size_t big = fwrite(data, 1, sizeof data, stream);
        int flush = fflush(stream);
        printf("%zu %d %d %d %zu %d %s\n", n, r1, r2, r3, big, flush, strerror(errno));
    }
    fputs("left", stream);
    printf("%d\n", fclose(stream));
}

static void failures(void)
{
    const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    signal(SIGPIPE, SIG_IGN);
    for (int m = 0; m < 3; m++) {
        int ends[2];
        fail_with(fopen("/dev/full", "w"), modes[m]);
        MUST(pipe(ends) == 0 && close(ends[0]) == 0);
        fail_with(fdopen(ends[1], "w"), modes[m]);
    }
    FILE *stream = must_open("text", "r");
    errno = 0;
    MUST(fputs("no", stream) == EOF && errno == EBADF);
    fclose(stream);
    stream = must_open("out", "w");
    errno = 0;
    MUST(getc(stream) == EOF && errno == EBADF);
    fclose(stream);
    stream = fopen(streams_folder, "r"); /* a directory */
    errno = 0;
    MUST(stream && getc(stream) == EOF && errno == EISDIR);
    errno = 0;
    MUST(getc(stream) == EOF && errno == EISDIR);
    fclose(stream);
    stream = must_open("text", "r");
    errno = 77; /* a call that goes well leaves it alone */
    MUST(getc(stream) != EOF && errno == 77);
    char line[100];
    MUST(fgets(line, sizeof line, stream) && errno == 77 && fseek(stream, 0, SEEK_END) == 0);
    MUST(getc(stream) == EOF && errno == 77);
    stream = freopen(in_folder("out"), "w", stream);
    MUST(stream);
    errno = 77;
    MUST(fprintf(stream, "%m %d\n", 1) > 0 && errno == 77);
    MUST(fwrite(line, 1, 100, stream) == 100 && fflush(stream) == 0 && errno == 77);
    MUST(fclose(stream) == 0 && errno == 77);
    MUST(fflush(NULL) == 0 && errno == 77);
}

/* --- streams without a descriptor --- */

static ssize_t cookie_read(void *cookie, char *to, size_t n)
{
    memset(to, 'k', n);
    return *(int *)cookie += 1, (ssize_t)n;
}

static void memory(void)
{
    char text[100], *made;
    size_t bytes;
    int reads = 0;
    FILE *stream = fmemopen(text, sizeof text, "w+");
    MUST(fputs("in memory", stream) >= 0 && fflush(stream) == 0);
    rewind(stream);
    MUST(getc(stream) == 'i');
    fclose(stream);
    stream = open_memstream(&made, &bytes);
    for (int i = 0; i < 1000; i++)
        fprintf(stream, "%d\n", i);
    fclose(stream);
    MUST(bytes == 3890);
    free(made);
    stream = fopencookie(&reads, "r", (cookie_io_functions_t){.read = cookie_read});
    for (int i = 0; i < 10000; i++)
        MUST(getc(stream) == 'k');
    MUST(reads && fgets(text, sizeof text, stream));
    fclose(stream);
}

/* --- reading flushes a prompt on a line-buffered stdout --- */

static void prompts(void)
{
    char line[100];
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    setvbuf(stdin, NULL, _IONBF, 0);
    for (int i = 0; i < 5; i++) {
        printf("number %d? ", i);
        MUST(fgets(line, sizeof line, stdin));
    }
    printf("done\n");
}

/* --- what is pending --- */

static void pending(void)
{
    static FILE *streams[200];
    char name[20];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "pending%d", i);
        streams[i] = must_open(name, "w");
        fprintf(streams[i], "pending in %d", i);
    }
    printf("on stdout");
    MUST(fflush(NULL) == 0);
    MUST(fflush(NULL) == 0);
    for (int i = 0; i < 200; i += 3)
        fprintf(streams[i], ", and at the end");
    printf(", still");
}

static void close_all(void)
{
    fputs("pending", must_open("pending", "w"));
    MUST(fcloseall() == 0);
}

const struct stream_case streams_hard[] = {
    {"threads", threads},   {"cancelled", cancelled}, {"forks", forks},
    {"failures", failures}, {"memory", memory},       {"prompts", prompts},
    {"pending", pending},   {"close_all", close_all}, {NULL, NULL},
};
