/* compare INPUT OUTPUT CHUNK SYNCS: reads INPUT by CHUNK bytes, then writes OUTPUT in 64 pieces, of
 * which the first SYNCS are made durable each. What a change of a program does to its I/O. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECES = 64, PIECE = 65536 };

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    size_t chunk = strtoul(argv[3], NULL, 10);
    long syncs = strtol(argv[4], NULL, 10);
    char *buffer = calloc(1, chunk > PIECE ? chunk : PIECE);
    int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!buffer || in < 0 || out < 0)
        return 1;
    while (read(in, buffer, chunk) > 0)
        ;
    for (int i = 0; i < PIECES; i++) {
        if (write(out, buffer, PIECE) != PIECE)
            return 1;
        if (i < syncs && fsync(out))
            return 1;
    }
    free(buffer);
    return close(in) || close(out);
}
