#!/usr/bin/env python3
"""A small PyTorch training: a checkpoint is loaded, two workers read samples, checkpoints are saved.

train_torch.py FOLDER make      model.pt and samples/sample-NNN.raw
train_torch.py FOLDER           the run: a line to train.log each step, checkpoint-NN.pt every few
"""
import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES, SAMPLE_BYTES, BATCH = 48, 32768, 4
SAVE_EVERY = 4
FEATURES = 256


class Samples(Dataset):
    """Each sample is a file of bytes, read when it is asked for."""

    def __init__(self, folder):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with open(self.paths[i], "rb") as f:
            data = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8)
        return data.float().reshape(-1, FEATURES).mean(0) / 255


def network():
    return torch.nn.Sequential(torch.nn.Linear(FEATURES, 1024), torch.nn.ReLU(),
                               torch.nn.Linear(1024, FEATURES))


def make(folder):
    torch.manual_seed(42)
    torch.save(network().state_dict(), os.path.join(folder, "model.pt"))
    samples = os.path.join(folder, "samples")
    os.mkdir(samples)
    for i in range(SAMPLES):
        with open(os.path.join(samples, f"sample-{i:03}.raw"), "wb") as f:
            f.write(bytes(torch.randint(0, 256, (SAMPLE_BYTES,), dtype=torch.uint8).tolist()))


def train(folder):
    model = network()
    model.load_state_dict(torch.load(os.path.join(folder, "model.pt")))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Samples(os.path.join(folder, "samples")), batch_size=BATCH, num_workers=2)
    with open(os.path.join(folder, "train.log"), "w", buffering=1) as log:
        for step, batch in enumerate(loader, 1):
            loss = ((model(batch) - batch) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log.write(f"step {step} loss {loss.item():.6f}\n")
            if step % SAVE_EVERY == 0:
                torch.save(model.state_dict(), os.path.join(folder, f"checkpoint-{step:02}.pt"))
    print(f"{step} steps, loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[2:] == ["make"]:
        make(sys.argv[1])
    else:
        train(sys.argv[1])
