"""Writes a network with seeded random weights.

    python tests/networks/make.py NAME OUT.onnx [--size small|full] [--batch N|symbolic] [--seed N]
    python tests/networks/make.py --list
"""

import argparse
import sys

import onnx

import language
import light
import vision

NETWORKS = {
    "resnet50": vision.resnet50,
    "mobilenetv2": vision.mobilenetv2,
    "densenet121": vision.densenet121,
    "inceptionv1": vision.inceptionv1,
    "shufflenet": vision.shufflenet,
    "squeezenet": vision.squeezenet,
    "vgg19": vision.vgg19,
    "zfnet": vision.zfnet,
    "unet": vision.unet,
    "bert": language.bert,
    "decoder": language.decoder,
    "lstm": language.lstm,
    "transformer": language.transformer,
    "vit": language.vit,
}


def make(name, size="small", batch=None, seed=0):
    """The model. `batch`: a number, or a name for a symbolic dimension; by default the network's own."""
    options = {"seed": seed} | ({} if batch is None else {"batch": batch})
    if name in light.NAMES:
        return light.light(name, **options)
    if name not in NETWORKS:
        sys.exit(f"unknown network {name}; there are {', '.join([*NETWORKS, *light.NAMES])}")
    return NETWORKS[name](small=size == "small", **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--batch", help="a number, or 'symbolic'")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join([*NETWORKS, *light.NAMES]))
        return
    if not arguments.out:
        parser.error("NAME and OUT.onnx are required")
    batch = arguments.batch
    if batch is not None:
        batch = "batch" if batch == "symbolic" else int(batch)
    onnx.save(make(arguments.name, arguments.size, batch, arguments.seed), arguments.out)


if __name__ == "__main__":
    main()
