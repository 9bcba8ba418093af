"""A PyTorch DataLoader: dataloader.py WORKERS FOLDER ITEMS MS

ITEMS batches of four files. A worker that has read a batch hands it on through a thread of its own and
a pipe, while it reads the next one. What the consumer works on meanwhile hides that hand-over before it
hides any reading: what of a read lies in the consumer's waits is therefore no answer. The program
replays itself from its own measurements instead, as it was and with reads that take nothing.

The times are long beside a hand-over, so that the order in which a worker's threads came to hold their
interpreter does not count, which a replay of the trace keeps.
"""
import os
import sys

import measure
import torch
from measure import now

WORKERS, FOLDER, ITEMS, MS = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
BATCH = 4


class Files(torch.utils.data.Dataset):
    def __len__(self):
        return BATCH * ITEMS

    def __getitem__(self, k):
        io = measure.Spans()
        measure.read_file(io, FOLDER, k % ITEMS)
        return torch.tensor([*io[0], os.getpid(), measure.all_waited_for_cpu()])


def middle(times):
    return sorted(times)[len(times) // 2] if times else 0


def takes(reads, asked, got, share):
    """How long it takes until the last batch is there, if reads take this share of their time.
    reads: the spans of a batch; asked and got: when the consumer asked for it and had it."""
    first, last = [r[0][0] for r in reads], [r[-1][1] for r in reads]
    late = [a < b for a, b in zip(asked, last)]
    usual = middle([got[k] - last[k] for k in range(ITEMS) if late[k]])
    # What the consumer itself does to get one: all of it where that lies there, else as much as usual.
    there_yet = [a > b + usual for a, b in zip(asked, last)]
    own = [got[k] - asked[k] for k in range(ITEMS) if there_yet[k]]
    mean = sum(own) / len(own) if own else 0
    end, there = [0.0] * ITEMS, float(asked[0])
    for k, spans in enumerate(reads):
        before = k - WORKERS
        # A worker's own time before its reads; it has been asked for them long since.
        start = end[before] + first[k] - last[before] if before >= 0 else first[k]
        end[k] = start + last[k] - first[k] - (1 - share) * measure.Spans(spans).total()
        taking = got[k] - asked[k] if there_yet[k] else mean
        hand_over = (got[k] - last[k] if late[k] else min(usual, got[k] - last[k])) - taking
        there = max(there + (asked[k] - got[k - 1] if k else 0), end[k] + hand_over) + taking
    return there


def main():
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Files(), batch_size=BATCH, num_workers=WORKERS)
    reads, asked, got, queued, it = [], [], [], {}, iter(loader)
    for _ in range(ITEMS):
        asked.append(now())
        batch = next(it).tolist()
        got.append(now())
        reads.append([(start, end) for start, end, *_ in batch])
        queued.update((process, queued_ns) for *_, process, queued_ns in batch)
        measure.work(MS)
    for _ in it:
        pass
    service = sum(measure.Spans(batch).total() for batch in reads)
    lost = takes(reads, asked, got, 1) - takes(reads, asked, got, 0) if WORKERS else service
    queued[os.getpid()] = measure.all_waited_for_cpu()
    measure.truth("input", service, round(lost), round(lost) if WORKERS else 0,
                  queued_ns=sum(queued.values()))


if __name__ == "__main__":
    main()
