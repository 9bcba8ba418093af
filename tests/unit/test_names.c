#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/names.h"

static void check_path(const char *path, const char *expected)
{
    char text[200];
    snprintf(text, sizeof text, "%s", path);
    iot_path_normalise(text);
    cr_assert_str_eq(text, expected, "%s gave %s", path, text);
}

Test(names, paths_are_normalised_by_their_letters)
{
    static const char *const pairs[][2] = {
        {"/", "/"},
        {"//", "/"},
        {"/.", "/"},
        {"/..", "/"},
        {"/../..", "/"},
        {"/a", "/a"},
        {"/a/", "/a"},
        {"//a//b///", "/a/b"},
        {"/a/./b/.", "/a/b"},
        {"/a/b/../c", "/a/c"},
        {"/a/../../b", "/b"},
        {"/a/b/..", "/a"},
        {"/...", "/..."},
        {"/a/.b/..c/d..", "/a/.b/..c/d.."},
        {"a/../b", "a/../b"},
        {"", ""},
        {"pipe:[12]", "pipe:[12]"},
        {"anon_inode:[eventfd]", "anon:eventfd"},
        {"anon_inode:inotify", "anon:inotify"},
        {"anon_inode:[]", "anon:"},
        {"anon_inode:", "anon:"},
        {"anon_inode:[", "anon:["},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_path(pairs[i][0], pairs[i][1]);
}

/* A run of two images to define things in. */
struct fixture {
    struct iot_arena *arena;
    struct iot_files files;
    struct iot_names images[2];
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->arena = iot_arena_new();
    cr_assert_eq(iot_files_init(&f->files, f->arena), 0);
}

static void tear_down(struct fixture *f)
{
    iot_names_free(&f->images[0]);
    iot_names_free(&f->images[1]);
    iot_files_free(&f->files);
    iot_arena_free(f->arena);
}

static void string(struct fixture *f, int image, uint32_t number, const char *text)
{
    struct iot_definition d = {
        {.op = IOT_DEF_STRING, .obj = number, .bytes = (int64_t)strlen(text)}, text};
    cr_assert_eq(iot_names_define(&f->images[image], f->arena, &d), 0);
}

/* With a string of the same number for its name. */
static void desc(struct fixture *f, int image, uint32_t number, const char *name, uint32_t mode,
                 uint64_t flags, uint64_t ino, int64_t offset, int fd)
{
    string(f, image, number, name);
    struct iot_definition d = {{.op = IOT_DEF_DESC,
                                .obj = number,
                                .obj2 = number,
                                .result = ino ? 5 : 0,
                                .bytes = (int64_t)ino,
                                .offset = offset,
                                .addr = (uint64_t)mode << 32 | flags,
                                .site = (uint32_t)fd + 1},
                               NULL};
    cr_assert_eq(iot_names_define(&f->images[image], f->arena, &d), 0);
}

static const struct iot_file *file_of(struct fixture *f, int image, uint32_t number)
{
    const struct iot_desc *d = iot_names_desc(&f->images[image], number);
    cr_assert_not_null(d);
    return &f->files.files[d->file];
}

/* The table may move while a name is entered, so it is looked at only after that. */
static const char *name_of(struct fixture *f, int image, uint32_t string_number)
{
    uint32_t file = iot_names_path(&f->images[image], &f->files, string_number);
    return f->files.files[file].name;
}

Test(names, what_the_page_cache_held_at_opens)
{
    static const uint16_t resident[] = {0, 1, 501, 1001, 1002, UINT16_MAX};
    struct fixture f;
    set_up(&f);
    for (uint32_t i = 0; i < 6; i++) {
        desc(&f, 0, i + 1, "/a/x", S_IFREG, 0, 7, 4096, 3);
        f.images[0].descs[i].resident = resident[i];
    }
    desc(&f, 0, 7, "/a/huge", S_IFREG, 0, 8, INT64_MAX, 4);
    f.images[0].descs[6].resident = 1001;
    cr_assert_eq(iot_names_bind(f.images, 2, &f.files), 0);
    cr_expect_eq(file_of(&f, 0, 1)->opened_bytes, 3 * 4096, "of what is known and can be");
    cr_expect_eq(file_of(&f, 0, 1)->resident_bytes, 2048 + 4096);
    cr_expect_eq(file_of(&f, 0, 7)->opened_bytes, 0);
    tear_down(&f);
}

Test(names, one_name_is_one_file)
{
    struct fixture f;
    set_up(&f);
    string(&f, 0, 1, "/a/./x");
    string(&f, 0, 2, "/a/x");
    string(&f, 1, 1, "/a/y/../x");
    string(&f, 1, 2, "/other");
    string(&f, 1, 2, "/second definition");
    uint32_t x = iot_names_path(&f.images[0], &f.files, 1);
    cr_assert_neq(x, 0u);
    cr_assert_eq(iot_names_path(&f.images[0], &f.files, 2), x);
    cr_assert_eq(iot_names_path(&f.images[1], &f.files, 1), x);
    uint32_t other = iot_names_path(&f.images[1], &f.files, 2);
    cr_assert_str_eq(f.files.files[other].name, "/other");
    cr_assert_eq(iot_names_path(&f.images[0], &f.files, 0), 0u);
    cr_assert_eq(iot_names_path(&f.images[0], &f.files, 3), 0u);
    cr_assert_null(iot_names_desc(&f.images[0], 1));
    cr_assert_null(iot_names_desc(&f.images[0], 0));
    tear_down(&f);
}

Test(names, many_numbers)
{
    struct fixture f;
    set_up(&f);
    char name[32];
    for (uint32_t i = 1; i <= 20000; i++) {
        snprintf(name, sizeof name, "/f/%u", i);
        desc(&f, 0, i * 2654435761u | 1, name, S_IFREG, 0, i, i, 3);
    }
    cr_assert_eq(iot_names_bind(f.images, 2, &f.files), 0);
    for (uint32_t i = 1; i <= 20000; i++) {
        snprintf(name, sizeof name, "/f/%u", i);
        const struct iot_file *file = file_of(&f, 0, i * 2654435761u | 1);
        if (file->ino == i)
            cr_assert_str_eq(file->name, name);
    }
    tear_down(&f);
}

Test(names, what_the_kernel_named_is_what_was_opened_by_path)
{
    struct fixture f;
    set_up(&f);
    desc(&f, 0, 1, "/real/data/x", S_IFREG, IOT_DESC_ADOPTED, 10, 0, 3); /* before it is known */
    desc(&f, 1, 1, "/link/data/x", S_IFREG, 0, 10, 100, 4);
    desc(&f, 0, 2, "/real/y", S_IFREG, IOT_DESC_ADOPTED, 10, 0, 5);      /* the number was reused */
    desc(&f, 0, 3, "/real/data/x", S_IFREG, IOT_DESC_ADOPTED, 11, 0, 6); /* another file */
    desc(&f, 0, 4, "/hard/z", S_IFREG, 0, 10, 0, 7); /* a link, and a name of its own */
    desc(&f, 0, 5, "/gone (deleted)", S_IFREG, IOT_DESC_ADOPTED, 12, 0, 8);
    desc(&f, 0, 6, "/kept (deleted)", S_IFREG, 0, 13, 0, 9);
    cr_assert_eq(iot_names_bind(f.images, 2, &f.files), 0);
    cr_assert_eq(file_of(&f, 0, 1), file_of(&f, 1, 1));
    cr_assert_str_eq(file_of(&f, 0, 1)->name, "/link/data/x");
    cr_assert_str_eq(file_of(&f, 0, 4)->name, "/hard/z");
    cr_assert_str_eq(file_of(&f, 0, 2)->name, "/real/y");
    cr_assert_str_eq(file_of(&f, 0, 3)->name, "/real/data/x");
    cr_assert_str_eq(file_of(&f, 0, 5)->name, "/gone");
    cr_assert_str_eq(file_of(&f, 0, 6)->name, "/kept (deleted)");
    tear_down(&f);
}

Test(names, kind_size_and_standard_streams)
{
    struct fixture f;
    set_up(&f);
    desc(&f, 0, 1, "/f", S_IFREG, 0, 1, 100, 3);
    desc(&f, 0, 2, "/f", S_IFREG, 0, 1, 300, 4);
    desc(&f, 0, 3, "/f", S_IFREG, IOT_DESC_DUP, 1, 999, 5); /* offset is a number, no size */
    desc(&f, 0, 4, "/fifo", S_IFIFO, 0, 2, 65536, 6);
    desc(&f, 0, 5, "pipe:[3]", S_IFIFO, 0, 3, 4096, 7);
    desc(&f, 0, 6, "socket:[4]", S_IFSOCK, IOT_DESC_PEER, 4, 55, 8);
    desc(&f, 0, 7, "/dev/tty", S_IFCHR, IOT_DESC_ADOPTED, 6, 0, 1);
    desc(&f, 1, 8, "/dev/tty", S_IFCHR, IOT_DESC_ADOPTED, 6, 0, 2);
    desc(&f, 0, 9, "/dev/sda", S_IFBLK, 0, 7, 0, 0);
    desc(&f, 0, 10, "/d", S_IFDIR, 0, 8, 0, 9);
    desc(&f, 0, 11, "anon_inode:[eventpoll]", 0600, IOT_DESC_ADOPTED, 9, 0, 10);
    desc(&f, 0, 12, "/memfd:x (deleted)", S_IFREG, IOT_DESC_ADOPTED, 10, 0, 11);
    cr_assert_eq(iot_names_bind(f.images, 2, &f.files), 0);
    cr_assert_eq(file_of(&f, 0, 1)->size, 300);
    cr_assert_eq(file_of(&f, 0, 1)->kind, IOT_FILE_REGULAR);
    cr_assert_eq(file_of(&f, 0, 4)->kind, IOT_FILE_PIPE);
    cr_assert_eq(file_of(&f, 0, 4)->pipe_bytes, 65536);
    cr_assert_eq(file_of(&f, 0, 5)->pipe_bytes, 4096);
    cr_assert_eq(file_of(&f, 0, 5)->size, -1);
    cr_assert_eq(file_of(&f, 0, 6)->kind, IOT_FILE_SOCKET);
    cr_assert_eq(file_of(&f, 0, 6)->peer_ino, 55u);
    cr_assert_eq(file_of(&f, 0, 7)->kind, IOT_FILE_CHARACTER);
    cr_assert_eq(file_of(&f, 0, 7)->standard, 6); /* output and error */
    cr_assert_eq(file_of(&f, 0, 9)->kind, IOT_FILE_BLOCK);
    cr_assert_eq(file_of(&f, 0, 9)->standard, 0); /* opened by the program */
    cr_assert_eq(file_of(&f, 0, 10)->kind, IOT_FILE_DIRECTORY);
    cr_assert_eq(file_of(&f, 0, 11)->kind, IOT_FILE_ANON);
    cr_assert_str_eq(file_of(&f, 0, 11)->name, "anon:eventpoll");
    cr_assert_eq(file_of(&f, 0, 12)->kind, IOT_FILE_ANON);
    cr_assert_str_eq(file_of(&f, 0, 12)->name, "/memfd:x");
    tear_down(&f);
}

Test(names, paths_relative_to_a_descriptor)
{
    struct fixture f;
    set_up(&f);
    desc(&f, 0, 1, "/data", S_IFDIR, 0, 1, 0, 3);
    desc(&f, 0, 2,
         "\1"
         "1/sub/../set",
         S_IFDIR, 0, 2, 0, 4);
    desc(&f, 0, 3,
         "\1"
         "2/x",
         S_IFREG, 0, 3, 0, 5);
    string(&f, 0, 10,
           "\1"
           "2/./y");
    string(&f, 0, 11,
           "\1"
           "99/lost");
    desc(&f, 0, 20,
         "\1"
         "20/itself",
         S_IFREG, 0, 4, 0, 6);
    cr_assert_eq(iot_names_bind(f.images, 2, &f.files), 0);
    cr_assert_str_eq(file_of(&f, 0, 2)->name, "/data/set");
    cr_assert_str_eq(file_of(&f, 0, 3)->name, "/data/set/x");
    cr_assert_str_eq(name_of(&f, 0, 10), "/data/set/y");
    cr_assert_str_eq(name_of(&f, 0, 11), "lost");
    tear_down(&f);
}

Test(names, a_long_chain_of_relative_names_is_bounded)
{
    struct fixture f;
    set_up(&f);
    desc(&f, 0, 1, "/0", S_IFDIR, 0, 1, 0, 3);
    for (uint32_t i = 2; i <= 20000; i++) {
        char name[64];
        snprintf(name, sizeof name, "\1%u/0123456789", i - 1);
        desc(&f, 0, i, name, S_IFDIR, 0, i, 0, 3);
    }
    cr_assert_eq(iot_names_bind(f.images, 2, &f.files), 0);
    for (uint32_t i = 1; i <= 20000; i++)
        cr_assert_lt(strlen(file_of(&f, 0, i)->name), 16u * 1024);
    tear_down(&f);
}
