/* A fuzz program without a fuzzer: it is given every file of a folder once, as an ordinary test.
 *
 *     corpus_NAME FOLDER
 *
 * Status 77 (skipped) where there is no such folder: a tarball has none. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void give(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    size_t size = (size_t)ftell(file);
    uint8_t *data = malloc(size + 1);
    rewind(file);
    if (!data || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    fprintf(stderr, "%s\n", name); /* the last one, where it does not come back */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **files;
    int n = argc == 2 ? scandir(argv[1], &files, is_file, alphasort) : -1;
    if (n < 0) {
        fprintf(stderr, "run_corpus: no folder\n");
        return 77;
    }
    for (int k = 0; k < n; k++)
        give(argv[1], files[k]->d_name);
    printf("%d inputs\n", n);
    return 0;
}
