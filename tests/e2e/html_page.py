"""What every page of a report must be, read as a file: well-formed, one piece, and of the same figures
as the JSON report."""
import base64
import hashlib
import json
import re
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "link", "img"}
FIGURES = ("data_ops", "metadata_ops", "sync_ops")


class Page(HTMLParser):
    """Complaints about a page, and what its elements of script and style hold."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.complaints, self.ids = [], [], []
        self.scripts, self.styles, self.policy, self.text = [], [], "", []
        self.feed(text)
        self.close()
        self.complaints += [f"<{tag}> is never closed" for tag in self.open]
        self.complaints += [f"id {i} is there twice" for i in set(self.ids) if self.ids.count(i) > 1]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "script":
            self.scripts.append([attrs.get("type"), attrs.get("id"), ""])
        if tag == "style":
            self.styles.append("")
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        for name, value in attrs.items():
            if name.startswith("on") or name in ("src", "srcset", "action", "style"):
                self.complaints.append(f"<{tag} {name}=…>")
            if name == "href" and not (value or "").startswith("#"):
                self.complaints.append(f"<{tag} href={value}>")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.complaints.append(f"</{tag}> where none was open")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][2] += data
        elif self.open and self.open[-1] == "style":
            self.styles[-1] += data
        else:
            self.text.append(data)

    def data(self, name):
        return json.loads(next(s[2] for s in self.scripts if s[1] == name))


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def parsed(raw, names):
    """The page, and complaints about it: besides its own script it has the data of these names."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        return None, [f"no UTF-8: {e}"]
    if not text.startswith("<!DOCTYPE html>"):
        return None, ["no doctype"]
    page = Page(text)
    bad = page.complaints
    kinds = [s[:2] for s in page.scripts]
    if kinds != [["application/json", name] for name in names] + [[None, None]]:
        return None, bad + [f"elements of script: {kinds}"]
    if "default-src 'none'" not in page.policy or "unsafe" in page.policy:
        bad.append(f"the policy is {page.policy}")
    if f"script-src {digest(page.scripts[-1][2])};" not in page.policy:
        bad.append("the policy has another hash than the script")
    if f"style-src {digest(page.styles[0])};" not in page.policy:
        bad.append("the policy has another hash than the style")
    if re.search(r"[a-z]://(?!www\.w3\.org/2000/svg)", page.scripts[-1][2] + page.styles[0]):
        bad.append("an address in the script or the style")
    return page, bad


def check_report(page, wanted, suffix=""):
    report = page.data("report" + suffix)
    bad = [] if report == wanted else ["another report than the JSON: " + ", ".join(
        key for key in wanted if report.get(key) != wanted[key])]
    return bad + check_view(report, page.data("view" + suffix))


def check(raw, wanted):
    """Complaints about a page, whose report has to be `wanted`."""
    page, bad = parsed(raw, ["report", "view"])
    return bad + check_report(page, wanted) if page else bad


def check_view(report, view):
    """Series and segments add up to the figures of the report."""
    bad = []

    def same(what, want, got):
        if want != got:
            bad.append(f"{what}: {got}, expected {want}")

    wall, path = report["wall_ns"], view["path"]
    starts = path["start_ns"]
    columns = [path[k] for k in ("start_ns", "kind", "object", "lane", "file", "op", "calls", "exposed_ns",
                                 "pieces")]
    same("lengths of the path's columns", {len(starts)}, {len(c) for c in columns})
    if starts:
        same("where the path starts", 0, starts[0])
    same("order of the path", sorted(set(starts)), starts)
    ends = starts[1:] + [wall]
    if any(e <= s for s, e in zip(starts, ends)):
        bad.append("a segment without length")
    if not path["shortest_ns"]:
        same("stretches of the path", path["stretches"], len(starts))
    if len(starts) > 6000:
        bad.append(f"{len(starts)} segments")
    for k, *parts in path["mixed"]:
        same(f"parts of segment {k}", ends[k] - starts[k], sum(parts))
    if any(not -1 <= f < len(report["files"]) for f in path["file"]):
        bad.append("a segment on a file that is none")
    if sum(path["exposed_ns"]) > report["total"]["exposed_ns"]:
        bad.append("more is exposed on the path than in all")
    for lane in set(path["lane"]) | {o[1] for o in path["overs"]} | {r["lane"] for r in view["lanes"]}:
        if str(lane) not in view["names"]:
            bad.append(f"lane {lane} has no name")
    per_lane = sum(r["path_ns"] for r in view["lanes"] + ([view["rest"]] if view["rest"] else []))
    same("path by lane", wall if starts else 0, per_lane)
    for lane in view["lanes"]:
        same("columns of a lane", {view["lane_columns"]},
             {len(lane[k]) for k in ("state", "io", "object")})
    for of, rate, calls in zip(report["objects"], view["rates"], view["latency"]):
        name, after = of["object"], rate["after"]
        same(f"bytes of {name}", of["bytes"], sum(rate["bytes"]) + after[0])
        same(f"calls of {name}", sum(of[k] for k in FIGURES), sum(rate["ops"]) + after[1])
        same(f"exposed of {name}", of["exposed_ns"], sum(rate["exposed_ns"]) + after[2])
        timed = sum(n for _, n in calls["buckets"])
        if bool(timed) != bool(of["latency_ns"]) or timed > of["data_ops"]:
            bad.append(f"{timed} timed calls of {name}")
    for of, sizes in zip(report["files"], view["sizes"]):
        if sum(r + w for _, r, w in sizes) > of["data_ops"]:
            bad.append(f"{of['path']}: more calls by size than calls")
    same("queues", min(12, len(report["queues"])), len(view["queues"]))
    for of, queue in zip(report["queues"], view["queues"]):
        same(f"the longest of queue {of['name']}", of["length"]["max"], max(queue["max"]))
    return bad
