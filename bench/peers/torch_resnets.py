# SPDX-License-Identifier: Apache-2.0
# Residual networks as tutti/nn/models/resnet.cpp builds them, with the same parameter names.
# As in torchvision, activations and sums are computed in place.
from torch import nn
from torch.nn import functional


def relu(x):
    return functional.relu(x, inplace=True)


def conv_norm(own, number, inputs, channels, kernel, stride=1, padding=0):
    setattr(own, f"conv{number}",
            nn.Conv2d(inputs, channels, kernel, stride=stride, padding=padding, bias=False))
    setattr(own, f"bn{number}", nn.BatchNorm2d(channels))


class Basic(nn.Module):
    def __init__(self, inputs, channels, stride, project):
        super().__init__()
        conv_norm(self, 1, inputs, channels, 3, stride, 1)
        conv_norm(self, 2, channels, channels, 3, 1, 1)
        self.channels, self.stride = channels, stride
        self.downsample = project(inputs, channels, stride)

    def shortcut(self, x):
        if self.downsample is not None:
            return self.downsample(x)
        if x.shape[1] == self.channels and self.stride == 1:
            return x
        x = functional.avg_pool2d(x, 1, self.stride)
        return functional.pad(x, (0, 0, 0, 0, 0, self.channels - x.shape[1]))

    def forward(self, x):
        y = relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += self.shortcut(x)
        return relu(y)


class Bottleneck(nn.Module):
    def __init__(self, inputs, channels, stride, project):
        super().__init__()
        conv_norm(self, 1, inputs, channels // 4, 1, stride)
        conv_norm(self, 2, channels // 4, channels // 4, 3, 1, 1)
        conv_norm(self, 3, channels // 4, channels, 1)
        self.downsample = project(inputs, channels, stride)

    def forward(self, x):
        y = relu(self.bn1(self.conv1(x)))
        y = relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += self.downsample(x) if self.downsample else x
        return relu(y)


def projected(inputs, channels, stride):
    if inputs == channels and stride == 1:
        return None
    return nn.Sequential(nn.Conv2d(inputs, channels, 1, stride=stride, bias=False),
                         nn.BatchNorm2d(channels))


class ResNet(nn.Module):
    def __init__(self, block, counts, first, small, classes):
        super().__init__()
        self.small = small
        width = 16 if small else 64
        conv_norm(self, 1, 3, width, *((3, 1, 1) if small else (7, 2, 3)))
        inputs, channels = width, first
        for stage, count in enumerate(counts):
            blocks = []
            for k in range(count):
                stride = 2 if stage > 0 and k == 0 else 1
                blocks.append(block(inputs, channels, stride,
                                    (lambda *_: None) if small else projected))
                inputs = channels
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
            channels *= 2
        self.stages = len(counts)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = relu(self.bn1(self.conv1(x)))
        if not self.small:
            x = functional.max_pool2d(x, 3, 2, 1)
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return self.fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def small(blocks):
    return lambda classes: ResNet(Basic, [blocks] * 3, 16, True, classes)


def large(block, *counts):
    return lambda classes: ResNet(block, counts, 64 if block is Basic else 256, False, classes)


nets = {"resnet20": small(3), "resnet56": small(9), "resnet110": small(18),
        "resnet18": large(Basic, 2, 2, 2, 2), "resnet34": large(Basic, 3, 4, 6, 3),
        "resnet50": large(Bottleneck, 3, 4, 6, 3), "resnet101": large(Bottleneck, 3, 4, 23, 3),
        "resnet152": large(Bottleneck, 3, 8, 36, 3)}
