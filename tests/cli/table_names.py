"""Names as they stand in tables of `iotrace export`."""
import os
import re


def escaped(path):
    """Control characters and what is not UTF-8 as \\xNN; `path` as Python decodes names of files."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff]",
                  lambda m: "".join(f"\\x{byte:02x}" for byte in os.fsencode(m[0])), path)
