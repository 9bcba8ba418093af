#!/usr/bin/env bash
# Makes the pictures of the README: the report of the demo's trainer, as a headless Chromium shows it.
#
#   scripts/picture.sh           doc/report.png and doc/report-dark.png
#
# IOTRACE names a command that is built already, LIBIOTRACE its library. They are best made on a
# machine with nothing else to do, or the report says that it was busy. Needs chromium and python3-pil.
set -eu
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export IOTRACE=${IOTRACE:-$top/build/analyzer/iotrace} LIBIOTRACE=${LIBIOTRACE:-$top/build/preload/libiotrace.so}
[ -x "$IOTRACE" ] || {
    echo "picture.sh: $IOTRACE is missing; build first: ninja -C build" >&2
    exit 2
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# Paths as somebody has them who trains in a folder of his own.
cp "$top"/scripts/demo/*.py "$place"
cd "$place"
/usr/bin/python3 make_data.py data
for round in warm traced; do # the first one fills the page cache
    "$IOTRACE" run -o "$round" -- /usr/bin/python3 train.py data >/dev/null 2>&1
done
"$IOTRACE" report traced --format html -o report.html

/usr/bin/python3 - "$top" <<'END'
import io
import sys
from pathlib import Path

from PIL import Image

top = Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(top / "tests" / "e2e"))
import browser

if not browser.found():
    sys.exit("picture.sh: no chromium; install it: apt-get install chromium")
# The longest write on the path is picked, so that the picture shows what a click says.
PICK = """(() => {
    const words = document.querySelector('.longest input');
    words.value = 'write';
    words.dispatchEvent(new Event('input'));
    document.querySelector('.longest tbody button').click();
    document.querySelector('[aria-label="Show the whole run"]').click();
})()"""
BOTTOM = "document.querySelector('.details').getBoundingClientRect().bottom + scrollY + 4"

for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
    with browser.Browser(width=940, scheme=scheme) as b:
        b.open(Path("report.html"))
        b.run(PICK)
        b.frame()
        picture = Image.open(io.BytesIO(b.picture(b.run(BOTTOM)))).convert("RGB")
        path = top / "doc" / name
        picture.quantize(256).save(path, optimize=True)  # as colours of text are few
        print(f"doc/{name}: {path.stat().st_size} bytes")
END
