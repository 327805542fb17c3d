# SPDX-License-Identifier: Apache-2.0
# The same training steps in PyTorch, 1.13 or later. Usage:
#   torch_steps.py MODEL[-bf16] FILE THREADS [channels_last] [compiled]
#   torch_steps.py describe
# FILE (safetensors) has the first weights and the batch. Answers lines as bench/serve.h says;
# `describe` prints one line of JSON: which PyTorch this is.
import json
import os
import shutil
import sys
import time

try:
    import torch
except ModuleNotFoundError:
    sys.exit(1 if sys.argv[1:] == ["describe"] else "torch_steps.py: this Python has no PyTorch")
from torch import nn
from torch.nn import functional

import torch_models
import torch_resnets
from torch_resnets import relu


def describe():
    # torch.compile writes C++.
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    config = torch.__config__.show()
    return {"torch": torch.__version__,
            "mkl": torch.backends.mkl.is_available(),
            "onednn": torch.backends.mkldnn.is_available(),
            "openmp": torch.backends.openmp.is_available(),
            "instructions": config.partition("CPU capability usage: ")[2].partition("\n")[0],
            "compiles": hasattr(torch, "compile") and compiler is not None}


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    types = {"F32": torch.float32, "I32": torch.int32}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            vector = torch.frombuffer(data[begin:end], dtype=types[entry["dtype"]])
            tensors[name] = vector.reshape(entry["shape"]).clone()
    return tensors


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 10)

    def forward(self, x):
        x = relu(self.fc1(x.flatten(1)))
        return self.fc3(relu(self.fc2(x)))


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = functional.max_pool2d(relu(self.conv1(x)), 2)
        x = functional.max_pool2d(relu(self.conv2(x)), 2)
        x = relu(self.fc1(x.flatten(1)))
        return self.fc3(relu(self.fc2(x)))


def peak_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def momentum(parameters, rate):
    parameters = list(parameters)
    try:  # one pass over memory, where this PyTorch has that
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9, fused=True)
    except (RuntimeError, TypeError):
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9)


def main():
    if sys.argv[1:] == ["describe"]:
        print(json.dumps(describe()), flush=True)
        return
    name, path, threads, *ways = sys.argv[1:]
    assert set(ways) <= {"channels_last", "compiled"}, ways
    name, _, precision = name.partition("-")
    torch.set_num_threads(int(threads))
    tensors = read_safetensors(path)
    batches, rate = tensors.pop("batches").item(), tensors.pop("rate").item()
    x, labels = tensors.pop("batch.x"), tensors.pop("batch.labels").long()
    reset_peak()
    before = peak_bytes()

    nets = {"mlp": lambda _: Mlp(), "lenet": lambda _: LeNet(), **torch_resnets.nets,
            **torch_models.nets}
    model = nets[name](tensors.pop("classes").item())
    unknown = model.load_state_dict(tensors, strict=False)  # statistics begin as they do here
    assert not unknown.unexpected_keys, unknown
    assert all("running_" in key or "num_batches" in key for key in unknown.missing_keys), unknown
    if "channels_last" in ways:
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    optimizer = momentum(model.parameters(), rate)
    run = torch.compile(model) if "compiled" in ways else model

    samples = len(labels) // batches
    turns = [(x[k:k + samples], labels[k:k + samples]) for k in range(0, len(labels), samples)]
    done = 0

    def step():
        nonlocal done
        inputs, classes = turns[done % batches]
        done += 1
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = functional.cross_entropy(run(inputs), classes)
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
