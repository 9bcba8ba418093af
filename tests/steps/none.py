"""No steps: weights are loaded and unpacked in pieces, modules imported, one result written."""
import zlib

import truth

truth.make_files(".", 1, 6_000_000, "model.dat")
import email, http.client, xml.dom.minidom  # noqa: E401, what is imported does not matter
t = truth.Truth()
total = 0
with open("model.dat", "rb", buffering=0) as f:
    while piece := f.read(100_000):
        total += zlib.crc32(piece)
        truth.compute(3)
truth.compute(40)
with open("result.txt", "w") as f:
    f.write(f"{total}\n")
t.write()
