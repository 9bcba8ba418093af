#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>

#include "analyzer/classify.h"
#include "tests/unit/runs.h"

#define WALL INT64_C(1000000000)
#define MB (INT64_C(1) << 20)

static struct iot_classes classes;
static struct iot_steps steps;

static void judge(struct iot_test_run *run)
{
    iot_test_run_marked_steps(run, &steps);
    cr_assert_eq(iot_classify(&classes, &run->trace, NULL, &steps), 0);
}

static int read_of(uint32_t file)
{
    return classes.files[file].object[IOT_READING];
}

static int written_of(uint32_t file)
{
    return classes.files[file].object[IOT_WRITING];
}

static int main_of(uint32_t file)
{
    return classes.files[file].object[classes.files[file].main];
}

static void done(struct iot_test_run *run)
{
    iot_classes_free(&classes);
    iot_steps_free(&steps);
    iot_test_run_free(run);
}

Test(classify, written_is_output)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t part = iot_test_run_regular(run, "/d/checkpoint_1.pt.tmp");
    uint32_t whole = iot_test_run_regular(run, "/d/checkpoint_1.pt");
    iot_test_run_event(run, IOT_OP_WRITE, part, 100, 10);
    iot_test_run_event(run, IOT_OP_FSYNC, part, 0, 200);
    iot_test_run_rename(run, part, whole, 300);
    iot_test_run_event(run, IOT_OP_STAT, whole, 0, 400);
    judge(run);
    cr_expect_eq(written_of(part), IOT_OUTPUT);
    cr_expect_str_eq(classes.files[part].why[IOT_WRITING], "written, synced, renamed");
    cr_expect_eq(main_of(whole), IOT_OUTPUT, "%s", classes.files[whole].why[IOT_READING]);
    done(run);
}

Test(classify, read_back_is_state)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t swap = iot_test_run_regular(run, "/d/swap.bin");
    uint32_t old = iot_test_run_regular(run, "/d/list.tmp"),
             new = iot_test_run_regular(run, "/d/list");
    uint32_t weights = iot_test_run_regular(run, "/d/weights.pt");
    iot_test_run_event(run, IOT_OP_PWRITE, swap, 100, 10);
    iot_test_run_event(run, IOT_OP_PREAD, swap, 100, 500);
    iot_test_run_event(run, IOT_OP_WRITE, old, 100, 600);
    iot_test_run_rename(run, old, new, 800);
    iot_test_run_event(run, IOT_OP_READ, weights, 100, 900);
    iot_test_run_process(run, 101, 100); /* any process */
    iot_test_run_event(run, IOT_OP_READ, new, 100, 1000);
    iot_test_run_event(run, IOT_OP_WRITE, weights, 100, 2000); /* after it was read */
    judge(run);
    cr_expect_eq(read_of(swap), IOT_STATE);
    cr_expect_eq(written_of(swap), IOT_STATE);
    cr_expect_eq(read_of(new), IOT_STATE, "%s", classes.files[new].why[IOT_READING]);
    cr_expect_eq(written_of(weights), IOT_OUTPUT);
    cr_expect_eq(read_of(weights), IOT_ARTIFACT);
    done(run);
}

Test(classify, siblings_are_input)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t files[5];
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "/d/train/%03d.bin", 8 + i); /* of one and two digits */
        files[i] = iot_test_run_regular(run, name);
        if (i < 4)
            iot_test_run_event(run, IOT_OP_READ, files[i], 1000, i * WALL / 5);
    }
    iot_test_run_event(run, IOT_OP_STAT, files[4], 0, 0);
    uint32_t folder = iot_test_run_file(run, "/d/train", IOT_FILE_DIRECTORY);
    uint32_t above = iot_test_run_file(run, "/d", IOT_FILE_DIRECTORY);
    iot_test_run_event(run, IOT_OP_OPENDIR, folder, 0, 0);
    iot_test_run_event(run, IOT_OP_OPENDIR, above, 0, 0);
    judge(run);
    cr_expect_eq(read_of(files[0]), IOT_INPUT);
    cr_expect_not_null(strstr(classes.files[files[0]].why[IOT_READING], "1 of 4"));
    cr_expect_eq(main_of(files[4]), IOT_INPUT, "only asked about, but one of them");
    cr_expect_eq(main_of(folder), IOT_INPUT);
    cr_expect_eq(main_of(above), IOT_INPUT, "there is nothing else in its folders");
    done(run);
}

Test(classify, shards_of_a_model_are_no_input)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t files[4];
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "/m/weights-%d.bin", i);
        files[i] = iot_test_run_regular(run, name);
        iot_test_run_event(run, IOT_OP_READ, files[i], 2 * MB, i * 2 * MB);
    }
    judge(run);
    cr_expect_eq(read_of(files[0]), IOT_ARTIFACT, "%s", classes.files[files[0]].why[IOT_READING]);
    done(run);
}

Test(classify, a_folder_of_all_sorts_is_other)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t folder = iot_test_run_file(run, "/d", IOT_FILE_DIRECTORY);
    iot_test_run_event(run, IOT_OP_OPENDIR, folder, 0, 0);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/in/a.csv"), 1000, 10);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/m/a.gguf"), 1000, 10);
    judge(run);
    cr_expect_eq(main_of(folder), IOT_OTHER);
    done(run);
}

/* An interpreter lists it for its modules, whatever data lies beside them. */
Test(classify, a_folder_that_programs_are_read_from_is_other)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t folder = iot_test_run_file(run, "/d", IOT_FILE_DIRECTORY);
    uint32_t data = iot_test_run_file(run, "/d/in", IOT_FILE_DIRECTORY);
    iot_test_run_event(run, IOT_OP_OPENDIR, folder, 0, 0);
    iot_test_run_event(run, IOT_OP_OPENDIR, data, 0, 0);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/app.py"), 1000, 10);
    iot_test_run_event(run, IOT_OP_READ, iot_test_run_regular(run, "/d/in/a.csv"), 1000, 10);
    judge(run);
    cr_expect_eq(main_of(folder), IOT_OTHER);
    cr_expect_eq(main_of(data), IOT_INPUT);
    done(run);
}

Test(classify, what_is_removed_at_once_is_no_output)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t probe = iot_test_run_regular(run, "/t/probe_a"),
             kept = iot_test_run_regular(run, "/t/pid");
    iot_test_run_event(run, IOT_OP_WRITE, probe, 4, 0);
    iot_test_run_event(run, IOT_OP_UNLINK, probe, 0, WALL / 200);
    iot_test_run_event(run, IOT_OP_WRITE, kept, 4, 0);
    iot_test_run_event(run, IOT_OP_UNLINK, kept, 0, WALL / 2);
    judge(run);
    cr_expect_eq(written_of(probe), IOT_OTHER);
    cr_expect_eq(written_of(kept), IOT_OUTPUT);
    done(run);
}

Test(classify, guesses_from_reading)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t large = iot_test_run_regular(run, "/d/large"),
             stream = iot_test_run_regular(run, "/d/stream");
    uint32_t config = iot_test_run_regular(run, "/d/config.json"),
             dump = iot_test_run_regular(run, "/d/dump.json");
    uint32_t small = iot_test_run_regular(run, "/d/small"),
             gz = iot_test_run_regular(run, "/d/w.pt.gz");
    iot_test_run_event(run, IOT_OP_READ, large, 2 * MB, 10);
    iot_test_run_event(run, IOT_OP_READ, config, 1000, 10);
    iot_test_run_event(run, IOT_OP_READ, small, 1000, 10);
    for (int i = 0; i < 10; i++) {
        iot_test_run_event(run, IOT_OP_READ, stream, MB / 2, i * WALL / 10);
        iot_test_run_event(run, IOT_OP_READ, gz, MB / 2, i * WALL / 10);
        iot_test_run_event(run, IOT_OP_READ, dump, MB / 2, i * WALL / 10);
    }
    judge(run);
    cr_expect_eq(read_of(large), IOT_ARTIFACT);
    cr_expect_eq(read_of(stream), IOT_INPUT);
    cr_expect_eq(read_of(gz), IOT_ARTIFACT);
    cr_expect_eq(read_of(config), IOT_OTHER);
    cr_expect_eq(read_of(dump), IOT_INPUT, "other hides no data");
    cr_expect_eq(read_of(small), IOT_INPUT, "other hides no data");
    done(run);
}

Test(classify, standard_streams)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t in = iot_test_run_file(run, "pipe:[1]", IOT_FILE_PIPE);
    uint32_t out = iot_test_run_file(run, "pipe:[2]", IOT_FILE_PIPE);
    uint32_t list = iot_test_run_regular(run, "/d/list"),
             null = iot_test_run_file(run, "/dev/null", IOT_FILE_CHARACTER);
    run->files[in].standard = 1;
    run->files[out].standard = 2;
    run->files[list].standard = 4;
    run->files[null].standard = 1 | 2;
    iot_test_run_event(run, IOT_OP_READ, in, 10, 0);
    iot_test_run_event(run, IOT_OP_WRITE, out, 10, 0);
    iot_test_run_event(run, IOT_OP_WRITE, list, 10, 0);
    iot_test_run_event(run, IOT_OP_READ, list, 10, 100);
    iot_test_run_event(run, IOT_OP_WRITE, null, 10, 0);
    judge(run);
    cr_expect_eq(read_of(in), IOT_INPUT);
    cr_expect_eq(written_of(out), IOT_OUTPUT);
    cr_expect_eq(written_of(list), IOT_OUTPUT, "standard error, whatever reads it");
    cr_expect_eq(read_of(list), IOT_STATE);
    cr_expect_eq(written_of(null), IOT_OUTPUT);
    done(run);
}

Test(classify, pipes_and_sockets)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t made = iot_test_run_file(run, "pipe:[1]", IOT_FILE_PIPE);
    uint32_t both = iot_test_run_file(run, "pipe:[2]", IOT_FILE_PIPE);
    uint32_t pair = iot_test_run_file(run, "socket:[3]", IOT_FILE_SOCKET);
    uint32_t peer = iot_test_run_file(run, "socket:[4]", IOT_FILE_SOCKET);
    uint32_t outside = iot_test_run_file(run, "socket:[5]", IOT_FILE_SOCKET);
    uint32_t listening = iot_test_run_file(run, "socket:[6]", IOT_FILE_SOCKET);
    uint32_t accepted = iot_test_run_file(run, "socket:[7]", IOT_FILE_SOCKET);
    run->files[made].standard = 2; /* of a child */
    iot_test_run_event(run, IOT_OP_PIPE2, made, 0, 0);
    iot_test_run_event(run, IOT_OP_WRITE, made, 10, 0);
    run->files[both].standard = 1 | 2;
    iot_test_run_event(run, IOT_OP_WRITE, both, 10, 0);
    iot_test_run_event(run, IOT_OP_READ, both, 10, 20);
    run->file2[iot_test_run_event(run, IOT_OP_SOCKETPAIR, pair, 0, 0)] = peer;
    iot_test_run_event(run, IOT_OP_SEND, peer, 10, 0);
    iot_test_run_event(run, IOT_OP_RECV, outside, 10, 0);
    iot_test_run_event(run, IOT_OP_SEND, outside, 10, 0);
    run->offset[iot_test_run_event(run, IOT_OP_SOCKET, listening, 0, 0)] = AF_UNIX;
    run->file2[iot_test_run_event(run, IOT_OP_ACCEPT, listening, 0, 0)] = accepted;
    iot_test_run_event(run, IOT_OP_RECV, accepted, 10, 0);
    judge(run);
    cr_expect_eq(written_of(made), IOT_STATE);
    cr_expect_eq(read_of(both), IOT_STATE);
    cr_expect_eq(written_of(peer), IOT_STATE);
    cr_expect_eq(read_of(outside), IOT_INPUT);
    cr_expect_eq(written_of(outside), IOT_OUTPUT);
    cr_expect_eq(read_of(accepted), IOT_STATE);
    done(run);
}

Test(classify, metadata_alone_is_other)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t absent = iot_test_run_regular(run, "/d/absent"),
             made = iot_test_run_regular(run, "/d/made");
    run->err[iot_test_run_event(run, IOT_OP_OPENAT, absent, 0, 0)] = 2;
    run->offset[iot_test_run_event(run, IOT_OP_OPENAT, made, 0, 0)] = O_WRONLY | O_CREAT;
    judge(run);
    cr_expect_eq(main_of(absent), IOT_OTHER);
    cr_expect_eq(main_of(made), IOT_OUTPUT);
    done(run);
}

Test(classify, rules_of_the_user_come_first)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    struct iot_rule rule = {.glob = "",
                            .fixed = "",
                            .why = "mine",
                            .object = IOT_STATE,
                            .directions = 1 << IOT_READING,
                            .kind = 2 /* starts with "" */};
    struct iot_rules rules = {&rule, 1, NULL};
    uint32_t file = iot_test_run_regular(run, "/d/a.safetensors");
    iot_test_run_event(run, IOT_OP_READ, file, 10, 0);
    cr_assert_eq(iot_classify(&classes, &run->trace, &rules, NULL), 0);
    cr_expect_eq(read_of(file), IOT_STATE);
    cr_expect_str_eq(classes.files[file].why[IOT_READING], "mine");
    done(run);
}

Test(classify, steps_that_marks_tell)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t weights = iot_test_run_regular(run, "/d/weights.bin"),
             tokens = iot_test_run_regular(run, "/d/tokens.bin");
    iot_test_run_event(run, IOT_OP_READ, weights, 1000, 10);
    for (int i = 0; i < 3; i++) {
        int64_t t0 = WALL / 10 * (1 + i);
        run->result[iot_test_run_event(run, IOT_OP_MARK, 0, 0, t0)] = 1;
        iot_test_run_event(run, IOT_OP_READ, tokens, 1000, t0 + 100);
        iot_test_run_event(run, IOT_OP_READ, tokens, 1000, t0 + 2000);
    }
    judge(run);
    cr_expect_eq(read_of(weights), IOT_ARTIFACT);
    cr_expect_eq(read_of(tokens), IOT_INPUT, "%s", classes.files[tokens].why[IOT_READING]);
    cr_expect_eq(classes.files[tokens].by[IOT_READING], IOT_BY_BEHAVIOUR);
    cr_expect_eq(classes.files[weights].by[IOT_READING], IOT_BY_LIKELY);
    done(run);
}

Test(classify, mapped_in_many_steps)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t once = iot_test_run_regular(run, "/d/once.bin"),
             often = iot_test_run_regular(run, "/d/often.bin"),
             failed = iot_test_run_regular(run, "/d/failed.bin");
    for (int i = 0; i < 3; i++) { /* for too little of the run to say so without steps */
        int64_t t0 = WALL / 10 * (1 + i);
        run->result[iot_test_run_event(run, IOT_OP_MARK, 0, 0, t0)] = 1;
        iot_test_run_event(run, IOT_OP_MMAP, often, 0, t0 + 100);
        run->err[iot_test_run_event(run, IOT_OP_MMAP, failed, 0, t0 + 200)] = 12;
    }
    iot_test_run_event(run, IOT_OP_MMAP, once, 0, WALL / 2);
    iot_test_run_event(run, IOT_OP_MMAP, failed, 0, WALL / 2);
    judge(run);
    cr_expect_eq(read_of(often), IOT_INPUT, "%s", classes.files[often].why[IOT_READING]);
    cr_expect_str_eq(classes.files[often].why[IOT_READING], "read in many steps");
    cr_expect_eq(read_of(once), IOT_ARTIFACT);
    cr_expect_eq(read_of(failed), IOT_ARTIFACT);
    done(run);
}

Test(classify, mapped_once_or_all_along)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t once = iot_test_run_regular(run, "/d/once.bin"),
             often = iot_test_run_regular(run, "/d/often.bin");
    iot_test_run_event(run, IOT_OP_MMAP, once, 0, 10);
    for (int i = 0; i < 4; i++)
        iot_test_run_event(run, IOT_OP_MMAP, often, 0, i * WALL / 4);
    judge(run);
    cr_expect_eq(read_of(once), IOT_ARTIFACT);
    cr_expect_eq(read_of(often), IOT_INPUT);
    done(run);
}

Test(classify, a_database_is_looked_at_and_a_swap_is_read_back)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t base = iot_test_run_regular(run, "/d/base"),
             wal = iot_test_run_regular(run, "/d/base-wal"),
             swap = iot_test_run_regular(run, "/d/swap"),
             header = iot_test_run_regular(run, "/d/header");
    for (int i = 0; i < 6; i++) {
        int64_t t0 = i * WALL / 10;
        iot_test_run_event(run, IOT_OP_PREAD, base, 1000, t0);
        iot_test_run_event(run, IOT_OP_PWRITE, base, 3000, t0 + 5000);
        iot_test_run_event(run, IOT_OP_FSYNC, base, 0, t0 + 10000);
        iot_test_run_event(run, IOT_OP_PWRITE, wal, 1000, t0);
        iot_test_run_event(run, IOT_OP_PREAD, wal, 1000, t0 + 5000);
        iot_test_run_event(run, IOT_OP_PWRITE, swap, 3000, t0);
        iot_test_run_event(run, IOT_OP_PREAD, swap, 1000, t0 + 5000);
        iot_test_run_event(run, IOT_OP_PWRITE, header, 3000, t0);
    }
    iot_test_run_event(run, IOT_OP_PREAD, header, 16, WALL - 1000);
    judge(run);
    cr_expect_eq(written_of(base), IOT_OUTPUT);
    cr_expect_eq(read_of(base), IOT_OUTPUT, "%s", classes.files[base].why[IOT_READING]);
    cr_expect_eq(written_of(wal), IOT_OUTPUT, "%s", classes.files[wal].why[IOT_WRITING]);
    cr_expect_eq(read_of(wal), IOT_OUTPUT);
    cr_expect_eq(written_of(swap), IOT_STATE);
    cr_expect_eq(written_of(header), IOT_OUTPUT, "16 bytes are not what was written");
    done(run);
}

Test(classify, company)
{
    struct iot_test_run *run = iot_test_run_new(WALL);
    uint32_t config = iot_test_run_regular(run, "/m/config.json"),
             weights = iot_test_run_regular(run, "/m/a.safetensors");
    uint32_t settings = iot_test_run_regular(run, "/job/config.json"),
             list = iot_test_run_regular(run, "/job/list.csv"),
             checkpoint = iot_test_run_regular(run, "/job/a.safetensors");
    uint32_t pointer = iot_test_run_regular(run, "/c/newest"),
             part = iot_test_run_regular(run, "/c/step_9/a.safetensors"),
             late = iot_test_run_regular(run, "/m/late.json");
    uint32_t data = iot_test_run_regular(run, "/t/text.bin"),
             index = iot_test_run_regular(run, "/t/text.idx"),
             alone = iot_test_run_regular(run, "/t/alone.bin");
    const uint32_t early[] = {config,  weights, settings, list,  checkpoint,
                              pointer, part,    data,     index, alone};
    for (size_t k = 0; k < sizeof early / sizeof *early; k++)
        iot_test_run_event(run, IOT_OP_READ, early[k], 1000, 10);
    iot_test_run_event(run, IOT_OP_READ, late, 1000, WALL / 2);
    judge(run);
    cr_expect_eq(read_of(config), IOT_ARTIFACT);
    cr_expect_eq(classes.files[config].by[IOT_READING], IOT_BY_COMPANY);
    cr_expect_eq(read_of(settings), IOT_OTHER, "all sorts of things are beside it");
    cr_expect_eq(read_of(pointer), IOT_ARTIFACT, "an artifact is below");
    cr_expect_eq(read_of(late), IOT_ARTIFACT, "a model may be loaded late");
    cr_expect_eq(read_of(data), IOT_INPUT);
    cr_expect_eq(read_of(index), IOT_INPUT);
    cr_expect_eq(read_of(alone), IOT_ARTIFACT);
    done(run);
}
