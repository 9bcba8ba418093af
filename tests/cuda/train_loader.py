#!/usr/bin/env python3
"""A training of a small network with a DataLoader that reads files: what the GPU check traces.

    train_loader.py DATA [--profile FILE] [--cpu]

With --profile PyTorch's own profiler records the whole of it, as the other side to compare with.
Prints the last loss."""
import argparse
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FEATURES, CLASSES, EPOCHS, BATCH = 3 * 64 * 64, 10, 3, 16


class Files(Dataset):
    """One sample a file: FEATURES bytes."""

    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*.sample"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        data = self.paths[index].read_bytes()
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).float() / 255, index % CLASSES


def train(folder, device):
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(FEATURES, 512), nn.ReLU(), nn.Linear(512, CLASSES)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Files(folder), batch_size=BATCH, num_workers=2,
                        pin_memory=device == "cuda", persistent_workers=True)
    loss = None
    for _ in range(EPOCHS):
        for inputs, labels in loader:
            inputs = inputs.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
        print(f"loss {loss.item():.6f}")
    weights = model[0].weight.detach().cpu()
    return float(weights.sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--profile")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    device = "cpu" if arguments.cpu else "cuda"
    if not arguments.profile:
        train(arguments.data, device)
        return
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as profiler:
        train(arguments.data, device)
        if device == "cuda":
            torch.cuda.synchronize()
    profiler.export_chrome_trace(arguments.profile)


if __name__ == "__main__":
    main()
