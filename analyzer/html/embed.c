/* At build time: writes the C source of one part of a page (parts.h).
 *
 *     embed OUT.c NAME FILE...     the files one after the other are iot_html_NAME
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    unsigned char *bytes;
    size_t n;
};

static int read_file(struct text *text, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    for (;;) {
        unsigned char *more = realloc(text->bytes, text->n + 65536 + 128);
        if (!more)
            break;
        text->bytes = more;
        size_t n = fread(text->bytes + text->n, 1, 65536, f);
        text->n += n;
        if (!n)
            break;
    }
    int failed = ferror(f) || !feof(f);
    return fclose(f) || failed ? -1 : 0;
}

/* --- SHA-256: FIPS 180-4 --- */

static uint32_t turned(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* The first 32 bits of the fractional parts of the square (cube) roots of the first primes; the
 * cube root's are reckoned from integers, so that no table can hold a slip. */
static uint32_t root_bits(unsigned prime, int cube)
{
    /* The largest r with r^k <= prime * 2^(32 k), whose low 32 bits they are. */
    unsigned __int128 low = 0, high = (unsigned __int128)1 << 37;
    while (high - low > 1) {
        unsigned __int128 r = low + (high - low) / 2;
        /* r^3 is below 2^111 and prime * 2^96 below 2^105. */
        int above = cube ? r * r * r > (unsigned __int128)prime << 96
                         : r * r > (unsigned __int128)prime << 64;
        if (above)
            high = r;
        else
            low = r;
    }
    return (uint32_t)low;
}

static void round_of(uint32_t state[8], const unsigned char block[64], const uint32_t k[64])
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

/* text->bytes has room for its padding. */
static void hash(struct text *text, unsigned char digest[32])
{
    uint32_t state[8], k[64];
    int found = 0;
    for (unsigned prime = 2; found < 64; prime++) {
        unsigned d = 2;
        while (d * d <= prime && prime % d)
            d++;
        if (d * d <= prime)
            continue;
        if (found < 8)
            state[found] = root_bits(prime, 0);
        k[found++] = root_bits(prime, 1);
    }
    size_t padded = (text->n + 9 + 63) / 64 * 64;
    memset(text->bytes + text->n, 0, padded - text->n);
    text->bytes[text->n] = 0x80;
    for (int i = 0; i < 8; i++)
        text->bytes[padded - 1 - (size_t)i] = (unsigned char)((uint64_t)text->n * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64)
        round_of(state, text->bytes + at, k);
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

static void write_base64(FILE *out, const unsigned char digest[32])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 32; i += 3) {
        uint32_t three = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 |
                         (i + 2 < 32 ? digest[i + 2] : 0u);
        fprintf(out, "%c%c%c%c", digits[three >> 18], digits[three >> 12 & 63],
                digits[three >> 6 & 63], i + 2 < 32 ? digits[three & 63] : '=');
    }
}

static int write_source(const char *path, const char *name, struct text *text)
{
    unsigned char digest[32];
    FILE *out = fopen(path, "w");
    if (!out)
        return -1;
    fputs("#include \"analyzer/html/parts.h\"\n\nstatic const char text[] = {", out);
    for (size_t i = 0; i < text->n; i++)
        fprintf(out, "%s%d,", i % 20 ? "" : "\n", (signed char)text->bytes[i]);
    hash(text, digest);
    fprintf(out, "0};\nconst struct iot_html_part iot_html_%s = {text, sizeof text - 1, \"", name);
    write_base64(out, digest);
    fputs("\"};\n", out);
    return fclose(out);
}

int main(int argc, char **argv)
{
    struct text text = {NULL, 0};
    if (argc < 4) {
        fputs("embed: needs OUT.c NAME FILE...\n", stderr);
        return 2;
    }
    for (int i = 3; i < argc; i++)
        if (read_file(&text, argv[i])) {
            fprintf(stderr, "embed: %s: cannot be read\n", argv[i]);
            return 2;
        }
    int failed = write_source(argv[1], argv[2], &text);
    free(text.bytes);
    return failed ? 2 : 0;
}
