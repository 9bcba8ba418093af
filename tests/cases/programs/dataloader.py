"""A PyTorch DataLoader: dataloader.py WORKERS FOLDER ITEMS MS"""
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
        return torch.tensor([k, *io[0], now()])


def main():
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Files(), batch_size=1, num_workers=WORKERS)
    io, waits, it = [], [], iter(loader)
    while True:
        start = now()
        try:
            row = next(it)[0].tolist()
        except StopIteration:
            break
        io.append((row[0] % max(1, WORKERS), (row[1], row[2])))
        if row[3] > start:
            waits.append((row[0] % max(1, WORKERS), (start, row[3])))
        measure.work(MS)
    # A wait is for the worker whose turn it is.
    lost = sum(measure.Spans(s for w, s in io if w == turn).shared([wait]) for turn, wait in waits)
    service = sum(b - a for _, (a, b) in io)
    measure.truth("input", service, lost, lost if WORKERS else 0)


if __name__ == "__main__":
    main()
