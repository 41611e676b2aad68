"""Convolutional networks. `small` keeps every kind of layer and edge of the full network at reduced widths,
depths and images."""

import numpy as np

from builder import Builder


def _image(b, batch, size, channels=3):
    return b.input("x", [batch, channels, size, size])


def resnet50(batch=1, small=False, seed=0):
    b = Builder(seed)
    width, size, classes = (8, 32, 10) if small else (64, 224, 1000)
    blocks = [1, 2, 1, 1] if small else [3, 4, 6, 3]
    x = b.conv_bn(_image(b, batch, size), 3, width, 7, stride=2)
    x = b.max_pool(x, 3, 2, 1)
    channels = width
    for stage, count in enumerate(blocks):
        inner = width * 2**stage
        for block in range(count):
            b.scope = [f"layer{stage + 1}", str(block)]
            stride = 2 if stage > 0 and block == 0 else 1
            y = b.conv_bn(x, channels, inner, 1)
            y = b.conv_bn(y, inner, inner, 3, stride=stride)
            y = b.conv_bn(y, inner, inner * 4, 1, activation=None)
            if block == 0:
                x = b.conv_bn(x, channels, inner * 4, 1, stride=stride, activation=None)
            channels = inner * 4
            x = b.relu(b.op("Add", y, x))
    b.scope = ["head"]
    b.output(b.classifier(x, channels, classes), "y", [batch, classes])
    return b.model("resnet50")


def mobilenetv2(batch=1, small=False, seed=0):
    b = Builder(seed)
    size, classes = (32, 10) if small else (224, 1000)
    plan = [(1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 2, 2)] if small else [
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    channels = 8 if small else 32
    x = b.conv_bn(_image(b, batch, size), 3, channels, 3, stride=2, activation="Relu6")
    for stage, (expand, outputs, count, stride) in enumerate(plan):
        for block in range(count):
            b.scope = [f"stage{stage}", str(block)]
            step = stride if block == 0 else 1
            hidden = channels * expand
            y = b.conv_bn(x, channels, hidden, 1, activation="Relu6") if expand > 1 else x
            y = b.conv_bn(y, hidden, hidden, 3, stride=step, groups=hidden, activation="Relu6")
            y = b.conv_bn(y, hidden, outputs, 1, activation=None)
            x = b.op("Add", x, y) if step == 1 and channels == outputs else y
            channels = outputs
    b.scope = ["head"]
    last = 64 if small else 1280
    b.output(b.classifier(b.conv_bn(x, channels, last, 1, activation="Relu6"), last, classes), "y", [batch, classes])
    return b.model("mobilenetv2")


def densenet121(batch=1, small=False, seed=0):
    b = Builder(seed)
    growth, size, classes = (4, 32, 10) if small else (32, 224, 1000)
    blocks = [2, 3, 2] if small else [6, 12, 24, 16]
    channels = 2 * growth
    x = b.max_pool(b.conv_bn(_image(b, batch, size), 3, channels, 7, stride=2), 3, 2, 1)
    for stage, count in enumerate(blocks):
        for layer in range(count):
            b.scope = [f"dense{stage}", str(layer)]
            y = b.conv(b.relu(b.batch_norm(x, channels)), channels, 4 * growth, 1, bias=False)
            y = b.conv(b.relu(b.batch_norm(y, 4 * growth)), 4 * growth, growth, 3, bias=False)
            x = b.op("Concat", x, y, axis=1)
            channels += growth
        if stage + 1 < len(blocks):
            b.scope = [f"transition{stage}"]
            x = b.conv(b.relu(b.batch_norm(x, channels)), channels, channels // 2, 1, bias=False)
            x = b.average_pool(x, 2, 2)
            channels //= 2
    b.scope = ["head"]
    b.output(b.classifier(b.relu(b.batch_norm(x, channels)), channels, classes), "y", [batch, classes])
    return b.model("densenet121")


def inceptionv1(batch=1, small=False, seed=0):
    b = Builder(seed)
    divide, size, classes = (8, 64, 10) if small else (1, 224, 1000)

    def conv(x, inputs, outputs, kernel, stride=1):
        return b.relu(b.conv(x, inputs, outputs, kernel, stride=stride))

    def module(x, inputs, plan):
        one, three_in, three, five_in, five, pool = (max(1, width // divide) for width in plan)
        branches = [conv(x, inputs, one, 1), conv(conv(x, inputs, three_in, 1), three_in, three, 3),
                    conv(conv(x, inputs, five_in, 1), five_in, five, 5),
                    conv(b.max_pool(x, 3, 1, 1), inputs, pool, 1)]
        return b.op("Concat", *branches, axis=1), one + three + five + pool

    w = 64 // divide
    x = b.max_pool(conv(_image(b, batch, size), 3, w, 7, 2), 3, 2, ceil=True)
    x = b.op("LRN", x, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    x = conv(conv(x, w, w, 1), w, 3 * w, 3)
    x = b.max_pool(b.op("LRN", x, size=5), 3, 2, ceil=True)
    channels = 3 * w
    plans = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), None, (192, 96, 208, 16, 48, 64),
             (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
             (256, 160, 320, 32, 128, 128), None, (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]
    for index, plan in enumerate(plans[:5] if small else plans):
        b.scope = [f"inception{index}"]
        if plan is None:
            x = b.max_pool(x, 3, 2, ceil=True)
        else:
            x, channels = module(x, channels, plan)
    b.scope = ["head"]
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    x = b.op("Dropout", x)
    b.output(b.dense(x, channels, classes), "y", [batch, classes])
    return b.model("inceptionv1")


def shufflenet(batch=1, small=False, seed=0):
    b = Builder(seed)
    groups, size, classes = (3, 32, 10) if small else (3, 224, 1000)
    widths = [24, 48] if small else [240, 480, 960]
    counts = [2, 2] if small else [4, 8, 4]
    extent = size // 2
    x = b.conv_bn(_image(b, batch, size), 3, 24, 3, stride=2)
    x = b.max_pool(x, 3, 2, 1)
    extent //= 2
    channels = 24

    def shuffle(x, channels, extent):
        x = b.op("Reshape", x, b.ints(0, groups, channels // groups, extent, extent))
        x = b.op("Transpose", x, perm=[0, 2, 1, 3, 4])
        return b.op("Reshape", x, b.ints(0, channels, extent, extent))

    for stage, (outputs, count) in enumerate(zip(widths, counts)):
        for unit in range(count):
            b.scope = [f"stage{stage}", str(unit)]
            stride = 2 if unit == 0 else 1
            added = outputs - channels if stride == 2 else outputs
            if added <= 0:
                added = outputs
            inner = max(groups, outputs // 4 // groups * groups)
            y = b.conv_bn(x, channels, inner, 1, groups=1 if stage == 0 and unit == 0 else groups)
            y = shuffle(y, inner, extent)
            y = b.conv_bn(y, inner, inner, 3, stride=stride, groups=inner, activation=None)
            if stride == 2:
                extent //= 2
                added -= added % groups
                y = b.conv_bn(y, inner, added, 1, groups=groups, activation=None)
                x = b.relu(b.op("Concat", b.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), y,
                                axis=1))
                channels += added
            else:
                y = b.conv_bn(y, inner, channels, 1, groups=groups, activation=None)
                x = b.relu(b.op("Add", x, y))
    b.scope = ["head"]
    b.output(b.classifier(x, channels, classes), "y", [batch, classes])
    return b.model("shufflenet")


def squeezenet(batch=1, small=False, seed=0):
    b = Builder(seed)
    divide, size, classes = (8, 64, 10) if small else (1, 224, 1000)

    def conv(x, inputs, outputs, kernel, **options):
        return b.relu(b.conv(x, inputs, outputs, kernel, **options))

    def fire(x, inputs, squeeze, expand):
        x = conv(x, inputs, squeeze, 1)
        return b.op("Concat", conv(x, squeeze, expand, 1), conv(x, squeeze, expand, 3), axis=1)

    channels = 64 // divide
    x = b.max_pool(conv(_image(b, batch, size), 3, channels, 3, stride=2, pad=0), 3, 2)
    plan = [(16, 64), (16, 64), None, (32, 128), (32, 128), None, (48, 192), (48, 192), (64, 256), (64, 256)]
    for index, step in enumerate(plan):
        b.scope = [f"fire{index}"]
        if step is None:
            x = b.max_pool(x, 3, 2)
        else:
            x = fire(x, channels, step[0] // divide, step[1] // divide)
            channels = 2 * step[1] // divide
    b.scope = ["head"]
    x = b.op("GlobalAveragePool", conv(b.op("Dropout", x), channels, classes, 1))
    b.output(b.op("Softmax", b.op("Flatten", x), axis=1), "y", [batch, classes])
    return b.model("squeezenet")


def vgg19(batch=1, small=False, seed=0):
    b = Builder(seed)
    divide, size, classes, hidden = (8, 32, 10, 64) if small else (1, 224, 1000, 4096)
    x, channels = _image(b, batch, size), 3
    for stage, (width, count) in enumerate([(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]):
        for layer in range(count):
            b.scope = [f"conv{stage}", str(layer)]
            x = b.relu(b.conv(x, channels, width // divide, 3))
            channels = width // divide
        x = b.max_pool(x, 2, 2)
    b.scope = ["head"]
    features = channels * (size // 32) ** 2
    x = b.op("Reshape", x, b.ints(-1, features))
    for inputs in (features, hidden):
        x = b.op("Dropout", b.relu(b.dense(x, inputs, hidden)))
    b.output(b.dense(x, hidden, classes), "y", [batch, classes])
    return b.model("vgg19")


def zfnet(batch=1, small=False, seed=0):
    b = Builder(seed)
    divide, size, classes, hidden = (8, 64, 10, 64) if small else (1, 224, 1000, 4096)
    w = [96 // divide, 256 // divide, 512 // divide, 1024 // divide, 512 // divide]
    x = b.relu(b.conv(_image(b, batch, size), 3, w[0], 7, stride=2, pad=1))
    x = b.max_pool(b.op("LRN", x, size=5, alpha=5e-4, beta=0.75, bias=2.0), 3, 2, 1)
    x = b.relu(b.conv(x, w[0], w[1], 5, stride=2, pad=0))
    x = b.max_pool(b.op("LRN", x, size=5, alpha=5e-4, beta=0.75, bias=2.0), 3, 2, 1)
    for inputs, outputs in zip(w[1:], w[2:]):
        x = b.relu(b.conv(x, inputs, outputs, 3))
    x = b.max_pool(x, 3, 2)
    extent = ((size + 2 - 7) // 2 + 1 + 2 - 3) // 2 + 1
    extent = ((extent - 5) // 2 + 1 + 2 - 3) // 2 + 1
    extent = (extent - 3) // 2 + 1
    b.scope = ["head"]
    x = b.op("Flatten", x)
    for inputs in (w[4] * extent * extent, hidden):
        x = b.relu(b.dense(x, inputs, hidden))
    b.output(b.dense(x, hidden, classes), "y", [batch, classes])
    return b.model("zfnet")


def unet(batch=1, small=False, seed=0):
    b = Builder(seed)
    width, size, depth = (8, 32, 2) if small else (64, 256, 4)

    def double(x, inputs, outputs):
        return b.conv_bn(b.conv_bn(x, inputs, outputs, 3), outputs, outputs, 3)

    x, channels, skips = _image(b, batch, size), 3, []
    for level in range(depth):
        b.scope = [f"down{level}"]
        x = double(x, channels, width * 2**level)
        channels = width * 2**level
        skips.append((x, channels))
        x = b.max_pool(x, 2, 2)
    b.scope = ["bottom"]
    x = double(x, channels, channels * 2)
    channels *= 2
    for level, (skip, skip_channels) in reversed(list(enumerate(skips))):
        b.scope = [f"up{level}"]
        scales = b.constant(np.array([1, 1, 2, 2], np.float32), "scales")
        x = b.op("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        x = b.op("Concat", skip, b.conv_bn(x, channels, skip_channels, 1), axis=1)
        x = double(x, 2 * skip_channels, skip_channels)
        channels = skip_channels
    b.scope = ["head"]
    b.output(b.op("Sigmoid", b.conv(x, channels, 1, 1)), "y", [batch, 1, size, size])
    return b.model("unet")
