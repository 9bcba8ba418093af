"""A PyTorch DataLoader: dataloader.py WORKERS FOLDER ITEMS MS

A worker that reads an item hands it on by pickling it, through a thread of its own and a pipe, while it
reads the next one. What the consumer works on meanwhile hides that hand-over before it hides any
reading: what of a read lies in the consumer's waits is therefore no answer. The program replays itself
from its own measurements instead, as it was and with reads that take nothing.
"""
import sys

import measure
import torch
from measure import now

WORKERS, FOLDER, ITEMS, MS = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])


class Files(torch.utils.data.Dataset):
    def __len__(self):
        return ITEMS

    def __getitem__(self, k):
        io = measure.Spans()
        measure.read_file(io, FOLDER, k)
        return torch.tensor([k, *io[0]])


def takes(reads, asked, got, share):
    """How long it takes until the last item is there, if reads take this share of their time.
    reads: (start, end) by item; asked and got: when the consumer asked for it and had it."""
    waited = [got[k] - reads[k][1] for k in range(ITEMS) if asked[k] < reads[k][1]]
    usual = sorted(waited)[len(waited) // 2] if waited else 0
    end, there = [0.0] * ITEMS, float(asked[0])
    for k, (a, b) in enumerate(reads):
        before = k - WORKERS
        # A worker's own time before its read; it has been asked for it long since.
        start = end[before] + a - reads[before][1] if before >= 0 else a
        end[k] = start + share * (b - a)
        hand_over = got[k] - b if asked[k] < b else min(usual, got[k] - b)
        there = max(there + (asked[k] - got[k - 1] if k else 0), end[k] + hand_over)
    return there


def main():
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Files(), batch_size=1, num_workers=WORKERS)
    reads, asked, got, it = [], [], [], iter(loader)
    for _ in range(ITEMS):
        asked.append(now())
        row = next(it)[0].tolist()
        got.append(now())
        reads.append((row[1], row[2]))
        measure.work(MS)
    for _ in it:
        pass
    service = sum(b - a for a, b in reads)
    lost = takes(reads, asked, got, 1) - takes(reads, asked, got, 0) if WORKERS else service
    measure.truth("input", service, round(lost), round(lost) if WORKERS else 0)


if __name__ == "__main__":
    main()
