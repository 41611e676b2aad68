"""Writes full-size networks of torchvision and transformers with random weights as ONNX, for `bench.py exported`.

    python bench/export.py FOLDER [NAME...]

Runs in the zoo's environment (tests/zoo/requirements.txt). What is there already is kept.
"""

import pathlib
import sys
import warnings

import onnx
import torch
import torchvision
import transformers

TOKENS = 128
PROMPT = 64


class Tensors(torch.nn.Module):
    """A model of transformers whose result is its first output."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, argument):
        return self.model(argument, return_dict=False)[0]


def image():
    return torch.randn(1, 3, 224, 224)


def tokens(count):
    return torch.randint(0, 1000, (1, count))


def language(kind, **options):
    model = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**options))
    return Tensors(model)


def whisper_encoder():
    sizes = dict(d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536)
    model = transformers.WhisperModel(transformers.WhisperConfig(decoder_layers=1, **sizes))
    return Tensors(model.encoder)


def vision(name):
    return lambda: getattr(torchvision.models, name)(weights=None), image


NETWORKS = {
    "resnet50": vision("resnet50"),
    "mobilenet_v2": vision("mobilenet_v2"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "densenet121": vision("densenet121"),
    "squeezenet1_1": vision("squeezenet1_1"),
    "shufflenet_v2": vision("shufflenet_v2_x1_0"),
    "convnext_tiny": vision("convnext_tiny"),
    "swin_t": vision("swin_t"),
    "vit_b_16": vision("vit_b_16"),
    "bert": (lambda: language("Bert"), lambda: tokens(TOKENS)),
    "distilbert": (lambda: language("DistilBert"), lambda: tokens(TOKENS)),
    "gpt2": (lambda: language("GPT2", use_cache=False), lambda: tokens(PROMPT)),
    "whisper_encoder": (whisper_encoder, lambda: torch.randn(1, 80, 3000)),
}


def export(name, path):
    torch.manual_seed(0)
    build, inputs = NETWORKS[name]
    module = build().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(module, (inputs(),), dynamo=True, verbose=False)
    onnx.save(program.model_proto, path)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        path = folder / f"{name}.onnx"
        if not path.exists():
            export(name, path)


if __name__ == "__main__":
    main()
