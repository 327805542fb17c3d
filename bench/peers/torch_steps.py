# SPDX-License-Identifier: Apache-2.0
# The same training steps in PyTorch. Usage: torch_steps.py MODEL[-bf16] FILE THREADS
# plain|channels_last
# FILE (safetensors) has the first weights and the batch. Answers lines as bench/serve.h says.
import json
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional

import torch_models
import torch_resnets


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    types = {"F32": numpy.float32, "I32": numpy.int32}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            array = numpy.frombuffer(data[begin:end], types[entry["dtype"]])
            tensors[name] = torch.from_numpy(array.reshape(entry["shape"]).copy())
    return tensors


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 10)

    def forward(self, x):
        x = functional.relu(self.fc1(x.flatten(1)))
        return self.fc3(functional.relu(self.fc2(x)))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.fc1(x.flatten(1)))
        return self.fc3(functional.relu(self.fc2(x)))


def peak_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def main():
    name, path, threads, layout = sys.argv[1:]
    name, _, precision = name.partition("-")
    torch.set_num_threads(int(threads))
    tensors = read_safetensors(path)
    batches, rate = int(tensors.pop("batches")), float(tensors.pop("rate"))
    x, labels = tensors.pop("batch.x"), tensors.pop("batch.labels").long()
    reset_peak()
    before = peak_bytes()

    nets = {"mlp": lambda _: Mlp(), "lenet": lambda _: LeNet(), **torch_resnets.nets,
            **torch_models.nets}
    model = nets[name](int(tensors.pop("classes")))
    unknown = model.load_state_dict(tensors, strict=False)  # statistics begin as they do here
    assert not unknown.unexpected_keys, unknown
    assert all("running_" in key or "num_batches" in key for key in unknown.missing_keys), unknown
    if layout == "channels_last":
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)

    samples = len(labels) // batches
    turns = [(x[k:k + samples], labels[k:k + samples]) for k in range(0, len(labels), samples)]
    done = 0

    def step():
        nonlocal done
        inputs, classes = turns[done % batches]
        done += 1
        optimizer.zero_grad(set_to_none=True)
        with torch.cpu.amp.autocast(enabled=precision == "bf16", dtype=torch.bfloat16):
            loss = functional.cross_entropy(model(inputs), classes)
        loss.backward()
        optimizer.step()
        return loss

    print("ready", sum(p.numel() for p in model.parameters()), flush=True)
    for line in iter(sys.stdin.readline, ""):
        command, *steps = line.split()
        if command == "memory":
            print(peak_bytes() - before, flush=True)
            continue
        started = time.perf_counter()
        for _ in range(int(steps[0])):
            loss = step()
        print((time.perf_counter() - started) * 1e3, loss.item(), flush=True)


main()
