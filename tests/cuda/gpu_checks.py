"""The checks themselves. Each is given a Box, raises Failed or Skipped, or returns what it found in
words."""
import collections
import gzip
import json
import random
import re
import statistics
from pathlib import Path

from gpu_box import COPY_KINDS, Skipped, copies_of, difference, must, rows_of, totals

HERE = Path(__file__).resolve().parent
NEAR = 0.05          # of what CUDA's events measure
BLOCKING = 0.8       # of copies that are waited for: on a busy machine the host comes too late
EVENT_NS = 10000     # between an event and the copy beside it
LOOP_TURNS, STANDIN_TURNS, LOOP_ROUNDS = 20000, 500, 5
# A tracer that makes a loop of the smallest copies and kernels so much slower is broken.
LOOP_MOST = {"copies": 2.0, "kernels": 3.0}
WEIGHTS, SAMPLES = 24 << 20, 8 << 20


def wanted_of(out):
    """What check_copies says must be there: {kind: (count, bytes)}, kernels, timed copies."""
    wanted, timed, kernels = {}, [], 0
    for line in out.splitlines():
        word = line.split()
        if word[0] == "timed":
            timed.append((word[1], int(word[2]), float(word[3]) * 1e6))
        elif word[0] == "kernels":
            kernels = int(word[1])
        elif word[0] in (*COPY_KINDS.values(), "memset"):
            wanted[word[0]] = (int(word[1]), int(word[2]))
    return wanted, timed, kernels


def same_copies(wanted, events, kernels):
    got = totals(copies_of(events))
    sets = [e["bytes"] for e in events if e["op"] == "gpu_memset"]
    got["memset"] = (len(sets), sum(sets))
    must(got == wanted, f"the program made {wanted}, recorded is {got}")
    seen = sum(e["op"] == "gpu_kernel" for e in events)
    must(kernels is None or seen == kernels, f"{kernels} kernels ran, {seen} are recorded")


def host_memory_is(report, memory):
    other = {"pageable": "pinned", "pinned": "pageable"}[memory]
    for kind in ("HtoD", "DtoH"):
        for row in rows_of(report, kind):
            must(memory in row["why"] and other not in row["why"],
                 f"{row['path']} is not {memory}: {row['why']}")


def copies(box):
    """Counts, bytes and kinds of copies from and to memory of each kind."""
    said = []
    for memory in ("pageable", "pinned"):
        out, trace = box.traced(memory, box.program("copies"), memory)
        wanted, _, _ = wanted_of(out)
        same_copies(wanted, box.events(trace), None)
        host_memory_is(box.report(trace), memory)
        said.append(f"{memory} {sum(count for count, _ in wanted.values())}")
    return "recorded exactly: " + ", ".join(said)


def graphs(box):
    """Copies and kernels of a graph, with each kernel recorded."""
    out, trace = box.traced("graph", box.program("copies"), "pinned", "graph", cuda="kernels")
    wanted, _, kernels = wanted_of(out)
    same_copies(wanted, box.events(trace), kernels)
    return f"{sum(count for count, _ in wanted.values())} copies and memsets, {kernels} kernels"


def batches(box, way="batch"):
    """Copies handed over together: their bytes, in one record or in several."""
    out, trace = box.traced(way, box.program("copies"), "pinned", way)
    wanted, _, _ = wanted_of(out)
    got = totals(copies_of(box.events(trace)))
    for kind in ("HtoD", "DtoH", "DtoD"):
        must(got.get(kind, (0, 0))[1] == wanted[kind][1],
             f"{kind}: {wanted[kind]} were made, {got.get(kind)} are recorded")
    made, seen = wanted["HtoD"], got["HtoD"]
    return f"{made[1]} bytes in, in {seen[0]} records of {made[0]} copies"


def blocks(box):
    """The same of blocks with rows."""
    return batches(box, "blocks")


def managed(box):
    """Managed memory that is fetched ahead: it is not taken for copies."""
    out, trace = box.traced("managed", box.program("copies"), "pinned", "managed")
    wanted, _, _ = wanted_of(out)
    same_copies(wanted, box.events(trace), None)
    return "its pages are no copies"


def bandwidth(box):
    """How long big copies took, against CUDA's own events: of each kind the best of three, as
    the time between an event and the copy beside it is not the copy's."""
    out, trace = box.traced("timed", box.program("copies"), "pinned")
    _, timed, _ = wanted_of(out)
    must(timed, "no copy was timed")
    took = {(COPY_KINDS[e["result"]], e["bytes"]): e["t1_ns"] - e["t0_ns"]
            for e in box.events(trace) if e["op"] == "gpu_memcpy"}
    near, rates = {}, {}
    for kind, size, event_ns in timed:
        must((kind, size) in took, f"the {kind} of {size} B is not recorded")
        ns = took[kind, size]
        near.setdefault(kind, []).append((abs(ns - event_ns) - EVENT_NS) / event_ns)
        rates[kind] = max(rates.get(kind, 0), size / ns)
    for kind, off in near.items():
        must(min(off) <= NEAR, f"{kind}: {100 * min(off):.1f} % from what CUDA's events say")
    worst = max(0, *(min(off) for off in near.values()))
    return (", ".join(f"{kind} {rate:.1f} GB/s" for kind, rate in rates.items()) +
            f"; within {100 * worst:.1f} % of events and {EVENT_NS / 1e3:.0f} us")


def path(box):
    """A copy the host waits for is exposed, by itself or for the default stream; one beside a long kernel is not,
    nor one in a stream that the default one does not wait for."""
    said = []
    for cuda in (None, "kernels"):
        for way in ("blocking", "overlapped", "default", "aside"):
            name = f"{way}-{cuda or 'copies'}"
            out, trace = box.traced(name, box.program("path"), way, cuda=cuda)
            event_ns = float(re.search(r"copy (\S+)", out)[1]) * 1e6
            one = statistics.median(e["t1_ns"] - e["t0_ns"] for e in box.events(trace)
                                    if e["op"] == "gpu_memcpy")
            rows = rows_of(box.report(trace), "HtoD")
            service = sum(row["service_ns"] for row in rows)
            exposed = sum(row["exposed_ns"] for row in rows)
            must(abs(one - event_ns) <= NEAR * event_ns + EVENT_NS,
                 f"{name}: a copy took {one / 1e6:.3f} ms, by events {event_ns / 1e6:.3f} ms")
            if way in ("blocking", "default"):
                must(exposed >= BLOCKING * service,
                     f"{name}: only {exposed / 1e6:.2f} of {service / 1e6:.2f} ms are exposed")
            else:
                must(exposed <= NEAR * service,
                     f"{name}: {exposed / 1e6:.2f} of {service / 1e6:.2f} ms are exposed")
            said.append(f"{name} {exposed / 1e6:.2f} of {service / 1e6:.2f} ms")
    return "exposed: " + ", ".join(said)


def lineage(box):
    """Copies carry the object of the file whose bytes they move."""
    pick = random.Random(3)
    files = {name: box.folder / name for name in ("model.safetensors", "part-0.tfrecord",
                                                  "tokens.out")}
    files["model.safetensors"].write_bytes(pick.randbytes(WEIGHTS))
    files["part-0.tfrecord"].write_bytes(pick.randbytes(SAMPLES))
    _, trace = box.traced("trace", box.program("files"), *files.values(), lineage=True)
    must(files["tokens.out"].read_bytes() == 2 * files["model.safetensors"].read_bytes(),
         "what came back from the GPU is not what was sent there")
    report = box.report(trace)
    for file in files.values():
        file.unlink()
    got = {(kind, row["object"]): row["bytes"] for kind in ("HtoD", "DtoH")
           for row in rows_of(report, kind)}
    wanted = {("HtoD", "artifact"): WEIGHTS, ("HtoD", "input"): SAMPLES,
              ("DtoH", "output"): 2 * WEIGHTS}
    must(got == wanted, f"copies by object are {got}, not {wanted}")
    ready = [row["ready_ns"] for row in report["files"]
             if row["path"].endswith("model.safetensors")]
    must(ready and ready[0], "there is no ready time of model.safetensors")
    return "by file; ready: " + ", ".join(f"{part} {ns / 1e6:.1f} ms"
                                          for part, ns in ready[0].items())


def cost(box):
    """What recording costs a loop of the smallest copies and kernels: medians of turns in turn."""
    times = collections.defaultdict(list)
    for turn in range(LOOP_ROUNDS):
        for way, cuda in (("without", None), ("copies", None), ("kernels", "kernels")):
            command = box.program("loop"), STANDIN_TURNS if box.standin else LOOP_TURNS
            out = (box.run(*command) if way == "without" else
                   box.traced(f"{way}-{turn}", *command, cuda=cuda)[0])
            times[way].append(int(re.search(r"loop (\d+)", out)[1]))
    plain = statistics.median(times["without"])
    ratios = {way: statistics.median(ns) / plain for way, ns in times.items()}
    for way, most in LOOP_MOST.items():
        must(box.standin or ratios[way] <= most,
             f"with {way} {ratios[way]:.2f} times as long, at most {most}")
    return (f"{plain / 1e3:.2f} us a turn without; with copies x{ratios['copies']:.3f}, "
            f"with kernels x{ratios['kernels']:.3f}")


def experiment(box):
    """iotrace experiment --mode real_gpu."""
    box.run(box.iotrace, "experiment", "--mode", "real_gpu", "--label", "gpu_check", "--cold",
            "--results", "results", *(("--size", "1") if box.standin else ()))
    result = json.loads((box.folder / "results" / "perf-io_gpu_check.json").read_text())
    must(result["correctness"]["passed"] and not result["failure"], str(result["failure"]))
    ms = {part: row["median_ms"] for part, row in result["metrics"].items()}
    must(all(value > 0 for value in ms.values()), f"a part took no time: {ms}")
    gpu = result["hardware"]["gpu"]["name"]
    return f"{gpu}: {result['decision']}; " + ", ".join(
        f"{part} {value:.2f}" for part, value in ms.items()) + " ms"


def forks(box):
    """Children that start behind CUDA: with files of their own, and with a program of their own."""
    file = box.folder / "child.txt"
    _, trace = box.traced("trace", box.program("fork"), file.resolve())
    must(file.read_text() == "child\n", "the child wrote something else")
    got = copies_of(box.events(trace))
    wanted = collections.Counter({("HtoD", 3000): 7, ("HtoD", 5000): 1})
    must(got == wanted, difference(wanted, got))
    must(box.report(trace)["run"]["processes"] == 3, "it is not three processes")
    return "the parent's copies and those of a program that it started are recorded"


# --- training ---

def training(box):
    """(command, data folder) of the training."""
    data = box.folder / "data"
    data.mkdir(exist_ok=True)
    pick = random.Random(1)
    for k in range(128):
        (data / f"{k:03}.sample").write_bytes(pick.randbytes(3 * 64 * 64))
    script = HERE / ("standin_train.py" if box.standin else "train_loader.py")
    has_torch = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    if not box.standin and box.status_of(box.python, "-c", has_torch):
        raise Skipped(f"{box.python} has no PyTorch that sees a GPU")
    return [box.python, script.resolve(), data.resolve()]


def drop_data(box):
    for file in (box.folder / "data").glob("*.sample"):
        file.unlink()


def profiled(path):
    """Copies as the profiler wrote them, as copies_of() gives them."""
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        events = json.load(file)["traceEvents"]
    found = collections.Counter()
    for e in events:
        if e.get("cat") in ("gpu_memcpy", "Memcpy") and e.get("ph") == "X":
            found[e["name"].split()[1], int(e["args"]["bytes"])] += 1
    return found


def losses(out):
    return [line for line in out.splitlines() if line.startswith("loss ")]


def train(box):
    """Training with a DataLoader: copies equal those that PyTorch's profiler reports without us."""
    command = training(box)
    profile = box.folder / "profile.json"
    plain = losses(box.run(*command, "--profile", profile.resolve()))
    out, trace = box.traced("trace", *command)
    must(losses(out) == plain and plain, f"losses are {losses(out)}, without us {plain}")
    wanted, got = profiled(profile), copies_of(box.events(trace))
    must(wanted, "the profiler reports no copies")
    must(wanted == got, difference(wanted, got))
    imported = box.folder / "imported"
    box.run(box.iotrace, "import", profile.resolve(), "-o", imported.resolve())
    again = copies_of(box.events(imported))
    must(again == wanted, f"imported: {difference(wanted, again)}")
    box.report(imported)
    report = box.report(trace)
    must(any(row["object"] == "input" and row["path"].endswith(".sample")
             for row in report["files"]), "no sample is input")
    drop_data(box)
    return "equal: " + ", ".join(f"{kind} {count} of {size} bytes"
                                 for kind, (count, size) in sorted(totals(got).items()))


def two_subscribers(box):
    """The profiler inside a traced program: the program is not affected, and it is said."""
    command = training(box)
    plain = losses(box.run(*command))
    profile = box.folder / "profile.json"
    out, trace = box.traced("trace", *command, "--profile", profile.resolve())
    must(losses(out) == plain and plain, f"losses are {losses(out)}, without us {plain}")
    ours, theirs = sum(copies_of(box.events(trace)).values()), sum(profiled(profile).values())
    must(ours or theirs, "nobody recorded a copy")
    off = box.folder / "off.json"
    box.traced("off", *command, "--profile", off.resolve(), cuda="0")
    drop_data(box)
    must(sum(profiled(off).values()), "the profiler reports no copies with IOTRACE_CUDA=0")
    return (f"same losses; copies recorded: ours {ours}, the profiler's {theirs}; "
            f"with IOTRACE_CUDA=0 the profiler's {sum(profiled(off).values())}")


# What, seconds at most, the archive that it goes into. What may hang a GPU comes last.
CHECKS = [
    (copies, 40, "copies"),
    (graphs, 20, "copies"),
    (batches, 20, "copies"),
    (blocks, 20, "copies"),
    (bandwidth, 20, "copies"),
    (path, 40, "path"),
    (lineage, 20, "files"),
    (forks, 20, "files"),
    (experiment, 60, "files"),
    (train, 90, "train"),
    (two_subscribers, 90, "train"),
    (cost, 60, "cost"),
    (managed, 20, "copies"),
]
