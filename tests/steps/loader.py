"""The PyTorch training of ../e2e/train_torch.py, with the times of its steps."""

import torch
from torch.utils.data import DataLoader

import truth
import train_torch

t = truth.Truth()
torch.set_num_threads(1)
model = train_torch.network()
model.load_state_dict(torch.load("model.pt"))
loader = iter(DataLoader(train_torch.Samples("samples"), batch_size=2, num_workers=2))
with open("train.log", "w", buffering=1) as log:
    for step in range(1, len(loader) + 1):
        t.step()
        batch = next(loader)
        for _ in range(24):
            ((model(batch) - batch) ** 2).mean().backward()
        log.write(f"step {step}\n")
        if step % 4 == 0:
            torch.save(model.state_dict(), f"checkpoint-{step:02}.pt")
t.write()
