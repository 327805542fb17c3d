# SPDX-License-Identifier: Apache-2.0
# Convolutional networks as tutti/nn/models builds them, with the same parameter names. `nets` gives
# them as the peers of settings dropout = 0 and lrn = false, so that the first losses can be compared.
# As in torchvision, activations are computed in place.
import torch
from torch import nn
from torch.nn import functional

from torch_resnets import relu


class AlexNet(nn.Module):
    def __init__(self, classes, groups=2, dropout=0.0, lrn=False, pixels=6 * 6):
        super().__init__()
        # PyTorch divides alpha by the size of the window.
        normalise = [nn.LocalResponseNorm(5, alpha=5e-4, beta=0.75, k=2.0)] if lrn else []
        pool = lambda: nn.MaxPool2d(3, 2)
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, 11, stride=4, padding=2), nn.ReLU(inplace=True),
            nn.Sequential(*normalise, pool()),
            nn.Conv2d(96, 256, 5, padding=2, groups=groups), nn.ReLU(inplace=True),
            nn.Sequential(*normalise, pool()),
            nn.Conv2d(256, 384, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(384, 384, 3, padding=1, groups=groups), nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1, groups=groups), nn.ReLU(inplace=True), pool())
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(256 * pixels, 4096), nn.ReLU(inplace=True),
            nn.Dropout(dropout), nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Vgg16(nn.Module):
    def __init__(self, classes, dropout=0.0, pixels=7 * 7):
        super().__init__()
        layers, inputs = [], 3
        for channels, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            for _ in range(count):
                layers += [nn.Conv2d(inputs, channels, 3, padding=1), nn.ReLU(inplace=True)]
                inputs = channels
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(512 * pixels, 4096), nn.ReLU(inplace=True), nn.Dropout(dropout),
            nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(dropout), nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class ConvRelu(nn.Module):
    def __init__(self, inputs, channels, kernel=1, stride=1, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(inputs, channels, kernel, stride=stride, padding=padding)

    def forward(self, x):
        return relu(self.conv(x))


class Inception(nn.Module):
    def __init__(self, inputs, one, three_reduce, three, five_reduce, five, pooled):
        super().__init__()
        self.branch1 = ConvRelu(inputs, one)
        self.branch2 = nn.Sequential(ConvRelu(inputs, three_reduce),
                                     ConvRelu(three_reduce, three, 3, padding=1))
        self.branch3 = nn.Sequential(ConvRelu(inputs, five_reduce),
                                     ConvRelu(five_reduce, five, 5, padding=2))
        self.branch4 = nn.Sequential(nn.MaxPool2d(3, 1, 1), ConvRelu(inputs, pooled))
        self.channels = one + three + five + pooled

    def forward(self, x):
        return torch.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class GoogLeNet(nn.Module):
    blocks = {"3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64),
              "4a": (192, 96, 208, 16, 48, 64), "4b": (160, 112, 224, 24, 64, 64),
              "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
              "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128),
              "5b": (384, 192, 384, 48, 128, 128)}

    def __init__(self, classes, dropout=0.0, lrn=False):
        super().__init__()
        self.normalise = nn.LocalResponseNorm(5, alpha=5e-4, beta=0.75, k=2.0) if lrn else nn.Identity()
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.conv1 = ConvRelu(3, 64, 7, 2, 3)
        self.conv2, self.conv3 = ConvRelu(64, 64), ConvRelu(64, 192, 3, padding=1)
        channels = 192
        for name, sizes in self.blocks.items():
            block = Inception(channels, *sizes)
            setattr(self, "inception" + name, block)
            channels = block.channels
        self.dropout, self.fc = nn.Dropout(dropout), nn.Linear(channels, classes)

    def forward(self, x):
        x = self.normalise(self.pool(self.conv1(x)))
        x = self.pool(self.normalise(self.conv3(self.conv2(x))))
        for name in self.blocks:
            if name in ("4a", "5a"):
                x = self.pool(x)
            x = getattr(self, "inception" + name)(x)
        return self.fc(self.dropout(functional.adaptive_avg_pool2d(x, 1).flatten(1)))


class Fire(nn.Module):
    def __init__(self, inputs, squeezed, expanded):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x):
        x = relu(self.squeeze(x))
        return torch.cat([relu(self.expand1x1(x)), relu(self.expand3x3(x))], 1)


class SqueezeNet(nn.Module):
    def __init__(self, classes, dropout=0.0):
        super().__init__()
        pool = lambda: nn.MaxPool2d(3, 2, ceil_mode=True)
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, 7, stride=2), nn.ReLU(inplace=True), pool(), Fire(96, 16, 64), Fire(128, 16, 64),
            Fire(128, 32, 128), pool(), Fire(256, 32, 128), Fire(256, 48, 192), Fire(384, 48, 192),
            Fire(384, 64, 256), pool(), Fire(512, 64, 256))
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv2d(512, classes, 1),
                                        nn.ReLU(inplace=True))

    def forward(self, x):
        return functional.adaptive_avg_pool2d(self.classifier(self.features(x)), 1).flatten(1)


def conv_norm_relu(inputs, channels, kernel=1, stride=1, padding=0, groups=1):
    return [nn.Conv2d(inputs, channels, kernel, stride, padding, groups=groups, bias=False),
            nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]


class MobileNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers, inputs = [nn.Sequential(*conv_norm_relu(3, 32, 3, 2, 1))], 32
        for channels, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                                 *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
            layers.append(nn.Sequential(*conv_norm_relu(inputs, inputs, 3, stride, 1, inputs),
                                        *conv_norm_relu(inputs, channels)))
            inputs = channels
        self.features, self.classifier = nn.Sequential(*layers), nn.Linear(inputs, classes)

    def forward(self, x):
        return self.classifier(functional.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 4 * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x):
        y = self.conv1(relu(self.norm1(x)))
        return torch.cat([x, self.conv2(relu(self.norm2(y)))], 1)


class Transition(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, inputs // 2, 1, bias=False)

    def forward(self, x):
        return functional.avg_pool2d(self.conv(relu(self.norm(x))), 2)


class DenseNet(nn.Module):
    def __init__(self, classes, growth, blocks, small=False):
        super().__init__()
        channels = 2 * growth
        self.features = nn.Sequential()
        if small:
            self.features.add_module("conv0", nn.Conv2d(3, channels, 3, padding=1, bias=False))
        else:
            self.features.add_module("conv0", nn.Conv2d(3, channels, 7, 2, 3, bias=False))
            self.features.add_module("norm0", nn.BatchNorm2d(channels))
            self.features.add_module("relu0", nn.ReLU(inplace=True))
            self.features.add_module("pool0", nn.MaxPool2d(3, 2, 1))
        for b, count in enumerate(blocks, 1):
            if b > 1:
                self.features.add_module(f"transition{b - 1}", Transition(channels))
                channels //= 2
            block = nn.Sequential()
            for layer in range(1, count + 1):
                block.add_module(f"denselayer{layer}", DenseLayer(channels, growth))
                channels += growth
            self.features.add_module(f"denseblock{b}", block)
        self.features.add_module(f"norm{len(blocks) + 1}", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        x = relu(self.features(x))
        return self.classifier(functional.adaptive_avg_pool2d(x, 1).flatten(1))


def large(*blocks):
    return lambda classes: DenseNet(classes, 32, blocks)


def small(depth, growth):
    return lambda classes: DenseNet(classes, growth, [(depth - 4) // 6] * 3, small=True)


nets = {"alexnet": AlexNet, "vgg16": Vgg16, "googlenet": GoogLeNet, "squeezenet": SqueezeNet,
        "mobilenet": MobileNet, "densenet121": large(6, 12, 24, 16),
        "densenet169": large(6, 12, 32, 32), "densenet201": large(6, 12, 48, 32),
        "densenet264": large(6, 12, 64, 48), "densenet_bc100_12": small(100, 12),
        "densenet_bc250_24": small(250, 24), "densenet_bc190_40": small(190, 40)}
