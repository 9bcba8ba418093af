#!/usr/bin/env python3
"""The statistics of `iotrace compare` against SciPy's: p of samples with ties and without, Holm's correction,
the shift and its interval."""
import json
import random
import sys

import comparing
import harness
from comparing import MILLISECOND, interpreter, parsed, row
from harness import Tap

EXACT = 1e-9
FEW, MANY = 60, 12
RULES = "alpha 5%\n@count off\n@bytes off\n@ratio off\nstate.exposed off\ninput.exposed off\n"
METRICS = ("wall", "artifact.exposed", "output.exposed", "total.exposed")

# Of each pair of samples: both tails of the permutations of their ranks, doubled; without ties SciPy has a
# distribution of its own. The interval lies between the k-th differences from both ends, where k is the
# first U that is not rare.
SCIPY = """
import json, sys
import numpy as np
from scipy import stats

def p_of(a, b):
    if len(set(a + b)) == len(a + b):
        return stats.mannwhitneyu(a, b, method="exact").pvalue
    ranks = stats.rankdata(a + b)
    return stats.permutation_test((ranks[:len(a)], ranks[len(a):]), lambda x, y, axis: x.sum(axis=axis),
                                  vectorized=True, n_resamples=np.inf, alternative="two-sided").pvalue

def rare(n_a, n_b, u):
    # So many of b lie below u of a.
    ranks = list(range(n_b))
    left, k = u, n_b - 1
    while left:
        step = min(left, n_a)
        ranks[k] += step
        left, k = left - step, k - 1
    b = ranks
    a = [r for r in range(n_a + n_b) if r not in b]
    return stats.mannwhitneyu(b, a, method="exact", alternative="less").pvalue

def shift_of(a, b, alpha):
    differences = np.sort(np.subtract.outer(b, a).ravel())
    k = 0
    while k < len(differences) and rare(len(a), len(b), k) <= alpha / 2:
        k += 1
    interval = [differences[k - 1], differences[-k]] if k else [None, None]
    return [float(x) if x is not None else None for x in (np.median(differences), *interval)]

samples = json.load(sys.stdin)
print(json.dumps([[p_of(a, b), *shift_of(a, b, 0.05)] for a, b in samples]))
"""


def holm(p):
    """Textbook: the k-th smallest of n times n - k, none below one before."""
    adjusted, largest = [0.0] * len(p), 0.0
    for k, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, p[i] * (len(p) - k)))
        adjusted[i] = largest
    return adjusted


class Samples:
    """Made-up runs whose times are drawn: of few values, so that many are tied, or of many."""

    def __init__(self, place, made_up):
        self.place, self.made_up, self.random = place, made_up, random.Random(7)

    def draw(self, few):
        values = range(40, 46) if few else range(40, 40000)
        shift = self.random.choice((0, 0, 1, 3)) * (1 if few else 4000)
        sizes = [self.random.randint(2, 6 if few else 14) for _ in range(2)]
        return [[[MILLISECOND * (shift * side + self.random.choice(values)) for _ in range(sizes[side])]
                 for side in range(2)] for _ in METRICS]

    def run(self, wall, artifact, output, total):
        def change(made):
            made["wall_ns"], made["total"]["exposed_ns"] = wall, total
            row(made, "artifact")["exposed_ns"], row(made, "output")["exposed_ns"] = artifact, output
        return self.made_up.run(change)

    def compare(self, drawn):
        rules = self.place / "rules"
        rules.write_text(RULES)
        sides = [[self.run(*values) for values in zip(*(metric[side] for metric in drawn))]
                 for side in range(2)]
        made, _ = comparing.ask(*sides, "--policy", rules)
        for side in sides:
            for path in side:
                path.unlink()
        return [made["by"][name] for name in METRICS]


def near(got, want):
    return (got is None) == (want is None) and (got is None or abs(got - want) <= EXACT * max(1, abs(want)))


def check(python, samples, few, n):
    drawn = [samples.draw(few) for _ in range(n)]
    wanted = parsed(python, SCIPY, json.dumps([pair for four in drawn for pair in four]))
    bad = []
    for i, four in enumerate(drawn):
        want = wanted[i * len(METRICS):(i + 1) * len(METRICS)]
        adjusted = holm([w[0] for w in want])
        for got, (p, *shift), p_adjusted, values in zip(samples.compare(four), want, adjusted, four):
            pairs = [(got["p"], p), (got["p_adjusted"], p_adjusted),
                     *zip((got["shift"], got["low"], got["high"]), shift)]
            if not all(near(*pair) for pair in pairs):
                bad.append(f"{values}: got, expected: {pairs}")
    return bad


def main():
    python = interpreter("scipy")
    if not python:
        harness.skip_all("no Python here has SciPy")
    out = Tap()
    with harness.workplace() as place:
        data = place / "model.bin"
        data.write_bytes(bytes(1 << 16))
        done = harness.trace([harness.victim("victim_compare"), data, place / "out", 65536, 0], place / "trace")
        (place / "made").mkdir()
        samples = Samples(place, comparing.Made(harness.report(done.folder), place / "made"))
        out.run("few values, many tied", lambda: check(python, samples, True, FEW))
        out.run("many values", lambda: check(python, samples, False, MANY))
    return out.done()


if __name__ == "__main__":
    sys.exit(main())
