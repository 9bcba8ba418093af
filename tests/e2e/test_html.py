#!/usr/bin/env python3
"""The page of a report: as a file, and in a browser where there is one."""
import glob
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import browser
import harness
import html_page
from harness import Tap

sys.path.insert(0, str(harness.HERE.parent / "cli"))
from profile_of import Profile

FILES = 400  # rows of files in a page that was not asked for so many
HOSTILE = [b"</script><script>window.hurt=1</script>", b"<img src=x onerror=window.hurt=2>.log",
           b"a\xe2\x80\xa8b\xe2\x80\xaec", b"\xff\xfe bad utf-8", b"<!--<script>", b"]]>&amp;&#60;\"'`",
           b"new\nline\x1b[31m\x07\x7f", "\u202egnp.exe \U0001f600".encode(), b"\xed\xa0\x80 surrogate"]

WRITER = """
import os, sys, threading, queue
names = [os.fsencode(a) for a in sys.argv[1:]]
for name in names:
    os.makedirs(os.path.dirname(name) or b'.', exist_ok=True)
q = queue.Queue(2)
def write():
    for name in iter(q.get, None):
        with open(name, 'wb', 0) as f:
            for k in range(20):
                f.write(b'x' * 5000)
        with open(name, 'rb', 0) as f:
            while f.read(1000):
                pass
threads = [threading.Thread(target=write) for _ in range(2)]
for t in threads: t.start()
for name in names * 3: q.put(name)
for t in threads: q.put(None)
for t in threads: t.join()
"""

# Six steps, in each twenty messages through a pipe, from a call under many others.
STEPPER = """
import ctypes, os, sys, threading, time
step = ctypes.CDLL(None).iotrace_step
r, w = os.pipe()
def take():
    while os.read(r, 100): pass
def a_function_with_a_long_name_so_that_its_frame_is_wide(depth):
    if depth: return a_function_with_a_long_name_so_that_its_frame_is_wide(depth - 1)
    for _ in range(20): os.write(w, b'x' * 100)
t = threading.Thread(target=take)
t.start()
for _ in range(6):
    step()
    a_function_with_a_long_name_so_that_its_frame_is_wide(8)
    time.sleep(0.005)
os.close(w)
t.join()
"""


def page_of(folder, *options):
    return harness.ask("report", folder, "--format", "html", *options)


def wanted(folder, top=FILES):
    return json.loads(harness.ask("report", folder, "--format", "json", "--top", str(top)))


def check_page(folder):
    return html_page.check(page_of(folder), wanted(folder))


def hostile(place):
    folder = place / "hostile trace"
    (place / "work").mkdir()
    done = harness.trace([sys.executable, "-c", WRITER, *map(os.fsdecode, HOSTILE)], folder,
                         cwd=place / "work")
    return [f"status {done.status} ({done.tail()})"] * bool(done.status) + check_page(folder)


def nothing(place, name, argv):
    folder = place / name
    done = harness.run([harness.command(), "run", "-o", folder, *argv])
    return ([f"status {done.status} ({done.tail()})"] if done.status else []) + check_page(folder)


def large(place, name, limit, *plan):
    folder = place / name
    subprocess.run([os.environ["MAKE_TRACE"], folder, *plan], check=True)
    page = page_of(folder)
    bad = html_page.check(page, wanted(folder))
    if len(page) > limit:
        bad.append(f"{len(page)} bytes, more than {limit}")
    return bad


def check_options(place):
    folder, bad = place / "hostile trace", []
    if html_page.check(page_of(folder, "--top", "3"), wanted(folder, 3)):
        bad.append("--top 3 gives another report")
    harness.ask("report", folder, "--format", "html", "-o", place / "page.html")
    if (place / "page.html").read_bytes() != page_of(folder):
        bad.append("-o writes another page")
    return bad


def compared(place, base, to, form):
    """What `compare` says, whatever it finds."""
    done = harness.run([harness.command(), "compare", base, "--to", to, "--format", form])
    if done.status > 1:
        raise harness.Broken(f"compare: status {done.status} ({done.tail()})")
    return done.stdout


def check_compare(place):
    base, other = place / "hostile trace", place / "hostile again"
    harness.trace([sys.executable, "-c", WRITER, *map(os.fsdecode, HOSTILE)], other,
                  cwd=place / "work")
    raw = compared(place, base, other, "html")
    (place / "compare.html").write_bytes(raw)
    page, bad = html_page.parsed(raw, ["comparison", "report-base", "view-base", "report-candidate",
                                       "view-candidate"])
    if not page:
        return bad
    if page.data("comparison") != json.loads(compared(place, base, other, "json")):
        bad.append("another comparison than the JSON")
    for folder, suffix in ((base, "-base"), (other, "-candidate")):
        bad += html_page.check_report(page, wanted(folder), suffix)
    return bad


def check_compare_reports(place):
    """Of reports there are no paths to show."""
    (place / "base.json").write_bytes(
        harness.ask("report", place / "hostile trace", "--format", "json"))
    raw = compared(place, place / "base.json", place / "hostile again", "html")
    (place / "compare-report.html").write_bytes(raw)
    return html_page.parsed(raw, ["comparison", "report-base", "report-candidate",
                                  "view-candidate"])[1]


def ranks(place, name, base):
    """Two ranks of which one comes late to a collective, with copies and a loader."""
    profiles = []
    for rank, late in ((0, 0), (1, 80)):
        profiles.append((Profile(base_ns=base).span(1000).add("range", "ProfilerStep#1", 5, 990)
                         .add("range", "enumerate(DataLoader)#_Iter.__next__", 10, 200)
                         .call("cudaMemcpyAsync", 210, 240, 1).copy(212, 238, 1, 1 << 20)
                         .call("cudaLaunchKernel", 250 + late, 255 + late, 2)
                         .kernel(260 + late, 400, 2, 7, "ncclDevKernel_AllReduce_Sum_f32")
                         .call("cudaLaunchKernel", 260 + late, 265 + late, 3).kernel(400, 500, 3)
                         .call("cudaMemcpyAsync", 500, 520, 4).copy(505, 515, 4, 4096, "DtoH (Device -> Pinned)")
                         .call("cudaDeviceSynchronize", 520, 530, 5)).save(place / f"{rank}.json"))
    harness.ask("import", *profiles, "-o", place / name)
    return place / name


def gpus(place):
    """As a page, as Markdown, and compared."""
    folder = ranks(place, "gpus", 10**18)
    page = page_of(folder)
    (place / "gpus.html").write_bytes(page)
    (place / "gpus-compare.html").write_bytes(compared(place, folder, ranks(place, "gpus again", 2 * 10**18), "html"))
    bad = html_page.check(page, wanted(folder))
    words = html_page.Page(page.decode()).data("view")["words"]["gpus"]
    text = " ".join(harness.ask("report", folder).decode().split())
    marked = html.unescape(harness.ask("report", folder, "--format", "markdown").decode())
    if len(words) < 5:
        bad.append(f"of GPUs it says {words}")
    return bad + [f"{name} lacks {w!r}" for w in words for name, whole in (("text", text), ("Markdown", marked))
                  if w not in whole]


# --- in a browser ---

CONTRAST = """(() => {
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const over = (colours) => { pen.clearRect(0, 0, 1, 1);
    for (const c of colours) { pen.fillStyle = c; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    if (!e.getClientRects().length || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const behind = [];
    for (let p = e; p; p = p.parentElement) behind.unshift(getComputedStyle(p).backgroundColor);
    const s = getComputedStyle(e), ground = over(behind);
    const ink = over([...behind, e instanceof SVGElement ? s.fill : s.color]);
    const [a, b] = [light(ground), light(ink)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${e.tagName}.${e.className.baseVal ?? e.className}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
})()"""

ACCESS = """(() => {
  const bad = [], name = (e) => (e.getAttribute('aria-label') || e.textContent || '').trim();
  for (const e of document.querySelectorAll('button, a, summary, [role=group], [role=region], [role=img], [role=toolbar]'))
    if (!name(e)) bad.push(`${e.tagName} without a name`);
  for (const e of document.querySelectorAll('input')) if (!e.labels.length) bad.push('an input without a label');
  for (const e of document.querySelectorAll('table')) {
    if (!e.caption) bad.push('a table without a caption');
    for (const th of e.querySelectorAll('th')) if (!th.scope) bad.push('a head without a scope');
  }
  let last = 0;
  for (const h of document.querySelectorAll('h1, h2, h3')) {
    const level = Number(h.tagName[1]);
    if (level > last + 1) bad.push(`${h.tagName} after H${last}`);
    last = level;
  }
  for (const e of document.querySelectorAll('canvas')) if (e.getAttribute('aria-hidden') !== 'true') bad.push('a bare canvas');
  if (document.documentElement.lang !== 'en' || document.querySelectorAll('h1, main').length !== 2) bad.push('language, h1 or main');
  return [...new Set(bad)];
})()"""


def opened(path, **how):
    b = browser.Browser(**how)
    b.open(path)
    b.frame()
    return b


def troubles(b):
    bad = [f"console: {line}" for line in b.console]
    bad += [f"asks for {url}" for url in b.requests if not url.startswith("file:")]
    if b.run("window.hurt"):
        bad.append("a name ran as script")
    return bad


def ledger_of(text):
    """By object, what the text report says: exposed, hidden, service."""
    rows = {}
    for name in ("input", "artifact", "state", "output", "other", "total"):
        line = re.search(rf"^{name} .*$", text, re.M)[0]
        cells = re.findall(r"<?[\d.]+(?: (?:B|[kMGT]B|ms|s|[kMG]))?(?= |$)", line)
        rows[name] = [cells[3], cells[4], cells[2]]
    return rows


def check_figures(folder, path):
    text = harness.ask("report", folder).decode(errors="replace")
    with opened(path) as b:
        rows = b.run("[...document.querySelectorAll('#ledger tbody tr')].map((r) => [...r.cells]"
                     ".map((c) => c.textContent.replaceAll('\\u00a0', ' ').trim()))")
        bad = troubles(b)
        heads = b.run("[...document.querySelectorAll('#ledger thead th')].map((h) => h.textContent)")
    shown = {r[0]: [r[heads.index(h)] for h in ("exposed", "hidden", "service")] for r in rows}
    want = ledger_of(text)
    return bad + [f"{o}: {shown.get(o)}, the text has {want[o]}" for o in want if shown.get(o) != want[o]]


def check_path_view(path):
    """Of a page with a path and a lane below it."""
    with opened(path) as b:
        bad = []
        b.run("document.querySelector('.tracks').scrollIntoView({block: 'center', behavior: 'instant'})")
        box = b.run("(({x, y, width, height}) => ({x, y, width, height}))"
                    "(document.querySelectorAll('.tracks canvas')[1].getBoundingClientRect())")
        middle = box["y"] + box["height"] / 2
        shown = "document.querySelector('.where').textContent"
        whole = b.run(shown)
        b.click(box["x"] + box["width"] / 2, middle)
        b.frame()
        details = b.run("document.querySelector('.details').textContent")
        if "Segment " not in details or "of the run" not in details:
            bad.append(f"a click says {details[:80]!r}")
        b.mouse("mouseWheel", box["x"] + 40, middle, deltaX=0, deltaY=-200, modifiers=2)
        b.frame()
        zoomed = b.run(shown)
        b.run("document.querySelector('.tracks').focus()")
        b.key("ArrowRight")
        b.frame()
        moved = b.run(shown)
        b.key("0", "0")
        b.frame()
        if len({whole, zoomed, moved}) != 3 or b.run(shown) != whole:
            bad.append(f"windows: {whole}, wheel {zoomed}, arrow {moved}, 0 {b.run(shown)}")
        b.key("]", "]")
        b.frame()
        if b.run("document.querySelector('.details').textContent") == details:
            bad.append("']' stays at the segment")
        inked = b.run("(() => { const c = document.querySelectorAll('.tracks canvas')[1], d = c.getContext('2d')"
                      ".getImageData(0, 0, c.width, c.height).data; return new Set(new Uint32Array(d.buffer)).size; })()")
        if inked < 3:
            bad.append(f"the ribbon has {inked} colours")
        return bad + troubles(b)


def check_tables(path):
    cells = "[...document.querySelectorAll('#files tbody tr')].map((r) => r.cells[0].textContent)"
    with opened(path) as b:
        before = b.run(cells)
        b.run("document.querySelector('#files thead button').click()")
        up = b.run(cells)
        b.run("document.querySelector('#files thead button').click()")
        down = b.run(cells)
        b.run("(() => { const i = document.querySelector('#files input'); i.value = 'window.hurt'; "
              "i.dispatchEvent(new Event('input')); })()")
        found = b.run(cells)
        bad = troubles(b)
    if not before or up == down:
        bad.append(f"sorting: {before[:2]}, {up[:2]}, {down[:2]}")
    if not found or not all("window.hurt" in f for f in found):
        bad.append(f"searching: {found}")
    return bad


def check_looks(path):
    bad = []
    for scheme in ("light", "dark"):
        with opened(path, scheme=scheme) as b:
            dark = b.run("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
            if dark != (scheme == "dark"):
                bad.append(f"{scheme}: the wrong scheme")
            bad += [f"{scheme}: contrast of {e}" for e in b.run(CONTRAST)]
            bad += b.run(ACCESS) + troubles(b)
    for width in (360, 400, 768):
        with opened(path, width=width) as b:
            wide = b.run("document.documentElement.scrollWidth")
            if wide > width:
                bad.append(f"{wide} pixels wide on {width}")
    return bad


def check_rest(folder, path):
    """What is added up of files that are not listed is no file's name."""
    path.write_bytes(page_of(folder, "--top", "3"))
    with opened(path) as b:
        names = b.run("[...document.querySelectorAll('main th, main td')].map((e) => e.textContent.replaceAll('\\u00a0', ' '))")
        bad = troubles(b)
    bad += [f"a cell says {name!r}" for name in names if re.search(r"\(\d+ more\)", name)]
    return bad + ([] if any(re.match(r"\d+ more files?", name) for name in names) else ["no cell says that there are more"])


def axe():
    """The accessibility checker, a script; None: scripts/readers.sh could not get it."""
    found = glob.glob(os.environ.get("READERS", "") + "/lib/python3*/site-packages/axe_core_python/axe.min.js")
    return Path(found[0]).read_text(encoding="utf-8") if found else None


def check_access(path):
    """What somebody else's checker of accessibility finds in a page."""
    bad = []
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 400)):
        with opened(path, scheme=scheme, width=width) as b:
            b.run(axe())
            found = b.run("axe.run().then(r => [r.passes.length, r.violations.map(v => "
                          "`${v.id} (${v.impact}): ${v.nodes[0].html.slice(0, 120)}`)])")
            bad += [f"{scheme}, {width}: {line}" for line in found[1]]
            if found[0] < 20:
                bad.append(f"{scheme}, {width}: only {found[0]} rules were tried")
    return bad


def check_words(place):
    """Names in sentences are marked as such, every step has its bar, and no figure of a call site is out of sight."""
    folder, path = place / "steps", place / "steps.html"
    done = harness.run([harness.command(), "run", "-o", folder, "--stacks", "sites", "--", sys.executable, "-c", STEPPER])
    path.write_bytes(page_of(folder))
    bad = [f"status {done.status} ({done.tail()})"] * bool(done.status)
    with opened(path, width=1300) as b:
        queues = b.run("[...document.querySelectorAll('#queues .points li')].map((e) => [e.textContent, e.querySelectorAll('code').length])")
        if not queues or any("`" in text or marked != 2 for text, marked in queues):
            bad.append(f"queues: {queues}")
        bars = b.run("[...document.querySelectorAll('#phases .chart rect title')].map((e) => e.textContent)")
        if len(bars) != 6 or not bars[-1].startswith("step 6: "):
            bad.append(f"steps: {bars}")
        wide, seen = b.run("(() => { const e = document.querySelector('#sites .scroll'); return [e.scrollWidth, e.clientWidth]; })()")
        if wide > seen:
            bad.append(f"call sites are {wide} pixels wide on {seen}")
        return bad + troubles(b)


def check_change(place):
    """The shift of a figure that is tested, as in text, and not the difference of the medians."""
    made = json.loads((place / "base.json").read_text())
    sides = {"base": (200, 210, 100), "candidate": (500, 300, 505)}
    for side, walls in sides.items():
        (place / f"reports-{side}").mkdir()
        for k, ms in enumerate(walls):
            (place / f"reports-{side}" / f"{k}.json").write_text(json.dumps(made | {"wall_ns": ms * 10**6}))
    (place / "shift.html").write_bytes(compared(place, place / "reports-base", place / "reports-candidate", "html"))
    with opened(place / "shift.html") as b:
        rows = b.run("[...document.querySelectorAll('table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.replaceAll('\\u00a0', ' ')))")
        found = [r for r in rows if r[0] == "wall"]
        good = found and "+295 ms (+148 %)" in found[0]
        return troubles(b) + ([] if good else [f"wall: {found}"])


def check_gpus(path, head):
    """What stands in the tables of the section."""
    with opened(path) as b:
        rows = b.run("[...document.querySelectorAll('#gpus tbody tr')].map((r) => [...r.cells]"
                     ".map((c) => c.textContent.replaceAll('\\u00a0', ' ').trim()))")
        bad = troubles(b)
    return bad + [f"no row {row}: {rows}" for row in head if row not in rows]


def in_browser(out, place):
    folder, path = place / "hostile trace", place / "page.html"
    checks = {
        "figures are the text report's": lambda: check_figures(folder, path),
        "zoom, pan, click and keys on the path": lambda: check_path_view(path),
        "tables are sorted and searched": lambda: check_tables(path),
        "light, dark, narrow, contrast and names": lambda: check_looks(path),
    }
    checks["files that are not listed"] = lambda: check_rest(folder, place / "rest.html")
    checks["names, steps and call sites"] = lambda: check_words(place)
    checks["a comparison: the change of a figure"] = lambda: check_change(place)
    checks["a comparison: zoom, pan, click and keys"] = lambda: check_path_view(place / "compare.html")
    checks["a comparison: looks"] = lambda: check_looks(place / "compare.html")
    checks["a comparison with a report"] = lambda: check_looks(place / "compare-report.html")
    checks["GPUs"] = lambda: check_gpus(place / "gpus.html", [
        ["gpu0", "", "0.28 ms", "0.24 ms", "0.19 ms"],
        ["HtoD", "input", "in the steps", "pageable", "2", "2.10 MB", "0.05 ms", "40.33"],
        ["DtoH", "output", "from a GPU", "pinned", "2", "8.19 kB", "0.02 ms", "0.410"]])
    checks["GPUs: looks"] = lambda: check_looks(place / "gpus.html")
    checks["GPUs of a comparison"] = lambda: check_gpus(place / "gpus-compare.html", [
        ["gpu0", "busy", "0.28 ms", "0.28 ms", "0"], ["HtoD, pageable", "bytes copied", "2.10 MB", "2.10 MB", "0"]])
    for name in ("idle", "nothing recorded", "thousand"):
        def alone(name=name):
            (place / "other.html").write_bytes(page_of(place / name))
            with opened(place / "other.html") as b:
                return troubles(b)
        checks[f"no complaint of the browser: {name}"] = alone
    for name, page in (("accessibility", path), ("GPUs: accessibility", place / "gpus.html"), ("a comparison: accessibility", place / "compare.html")):
        if browser.found() and not axe():
            out.skip(name, "no axe-core from PyPI")
        else:
            checks[name] = lambda page=page: check_access(page)
    for name, check in checks.items():
        if browser.found():
            out.run(name, check)
        else:
            out.skip(name, "no chromium")


def main():
    out = Tap()
    with harness.workplace() as place:
        out.run("names that would break a page", lambda: hostile(place))
        out.run("--top and -o", lambda: check_options(place))
        out.run("a comparison", lambda: check_compare(place))
        out.run("a comparison with a report, as a file", lambda: check_compare_reports(place))
        out.run("GPUs", lambda: gpus(place))
        out.run("a run that does nothing", lambda: nothing(place, "idle", ["--", "true"]))
        out.run("a run of which nothing was recorded", lambda: nothing(
            place, "nothing recorded", ["--after", "1000s", "--", "true"]))
        out.run("a million calls in a thousand processes", lambda: large(
            place, "thousand", 2000000, "events=1000000", "processes=1000", "lanes=2", "queues=1"))
        out.run("a hundred thousand files", lambda: large(
            place, "files", 2000000, "events=400000", "files=100000"))
        in_browser(out, place)
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
