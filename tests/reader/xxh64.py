"""XXH64, as its specification describes it."""
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                      0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotate(x, n):
    return (x << n | x >> (64 - n)) & MASK


def stir(lane, value):
    return rotate((lane + value * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    n, at = len(data), 0
    if n >= 32:
        a, b, c, d = (seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK
        whole = n // 32 * 32
        for w, x, y, z in struct.iter_unpack("<4Q", memoryview(data)[:whole]):
            a, b, c, d = stir(a, w), stir(b, x), stir(c, y), stir(d, z)
        at = whole
        h = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) & MASK
        for lane in (a, b, c, d):
            h = ((h ^ stir(0, lane)) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + n) & MASK
    while at + 8 <= n:
        h = (rotate(h ^ stir(0, int.from_bytes(data[at:at + 8], "little")), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= n:
        h = (rotate(h ^ int.from_bytes(data[at:at + 4], "little") * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32
