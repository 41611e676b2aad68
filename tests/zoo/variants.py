"""Derived forms of an exported model: float16, quantised, and as ONNX Runtime's optimisers write it.

    python tests/zoo/variants.py KIND SOURCE_FOLDER FOLDER

KIND: one of KINDS. FOLDER gets model.onnx and the inputs of SOURCE_FOLDER (float16 ones where the model wants them), or
failure.txt.
"""

import logging
import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from onnxruntime.quantization.shape_inference import quant_pre_process
from onnxruntime.transformers import float16, optimizer

CPU = ["CPUExecutionProvider"]
INPUTS = [f"inputs-{k}.npz" for k in range(3)]


class Calibration(CalibrationDataReader):
    def __init__(self, folder):
        self.feeds = iter([dict(np.load(folder / name)) for name in INPUTS])

    def get_next(self):
        return next(self.feeds, None)


def to_float16(source, folder):
    model = float16.convert_float_to_float16(onnx.load(source / "model.onnx"), keep_io_types=True)
    onnx.save(model, folder / "model.onnx")


# Signed weights have 7 bits: on CPUs without dot products of bytes ONNX Runtime adds pairs of products in 16 bits, which
# saturate where weights have 8.
def dynamic_int8(source, folder):
    quantize_dynamic(str(source / "model.onnx"), str(folder / "model.onnx"), weight_type=QuantType.QInt8, reduce_range=True)


def dynamic_uint8(source, folder):
    quantize_dynamic(str(source / "model.onnx"), str(folder / "model.onnx"), weight_type=QuantType.QUInt8)


def static(source, folder, form):
    prepared = folder / "prepared.onnx"
    quant_pre_process(str(source / "model.onnx"), str(prepared), skip_symbolic_shape=True)
    quantize_static(
        str(prepared),
        str(folder / "model.onnx"),
        Calibration(source),
        quant_format=form,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        reduce_range=True,
    )
    prepared.unlink()


def int4_weights(source, folder):
    quantizer = MatMulNBitsQuantizer(onnx.load(source / "model.onnx"), block_size=32, is_symmetric=False)
    quantizer.process()
    onnx.save(quantizer.model.model, folder / "model.onnx")


def saved_by_runtime(source, folder, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(folder / "model.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(source / "model.onnx"), options, providers=CPU)


def by_optimizer(source, folder, kind):
    optimizer.optimize_model(str(source / "model.onnx"), model_type=kind, num_heads=0, hidden_size=0, opt_level=0).save_model_to_file(
        str(folder / "model.onnx")
    )


LEVEL = onnxruntime.GraphOptimizationLevel
KINDS = {
    "float16": to_float16,
    "int8 dynamic": dynamic_int8,
    "uint8 dynamic": dynamic_uint8,
    "int8 QDQ": lambda source, folder: static(source, folder, QuantFormat.QDQ),
    "int8 QLinear": lambda source, folder: static(source, folder, QuantFormat.QOperator),
    "int4 weights": int4_weights,
    "saved, extended": lambda source, folder: saved_by_runtime(source, folder, LEVEL.ORT_ENABLE_EXTENDED),
    "saved, all": lambda source, folder: saved_by_runtime(source, folder, LEVEL.ORT_ENABLE_ALL),
    "optimised as bert": lambda source, folder: by_optimizer(source, folder, "bert"),
    "optimised as gpt2": lambda source, folder: by_optimizer(source, folder, "gpt2"),
    "optimised as vit": lambda source, folder: by_optimizer(source, folder, "vit"),
}
VISION = ("float16", "int8 dynamic", "int8 QDQ", "int8 QLinear", "saved, extended", "saved, all")
TEXT = ("float16", "int8 dynamic", "uint8 dynamic", "int8 QDQ", "int4 weights", "saved, extended", "saved, all", "optimised as bert")
# Of which models variants are made.
OF = {
    "torchvision/resnet18": VISION,
    "torchvision/mobilenet_v2": VISION,
    "torchvision/mobilenet_v3_small": VISION,
    "torchvision/efficientnet_b0": VISION,
    "torchvision/convnext_tiny": VISION,
    "torchvision/squeezenet1_1": VISION,
    "torchvision/shufflenet_v2_x0_5": VISION,
    "timm/mobilevit_xxs": VISION,
    "timm/vit_tiny_patch16_224": (*VISION, "int4 weights", "optimised as vit"),
    "timm/levit_128s": VISION,
    "timm/coat_lite_tiny": ("float16", "saved, all"),
    "transformers/bert": TEXT,
    "transformers/roberta": TEXT,
    "transformers/distilbert": TEXT,
    "transformers/electra": TEXT,
    "transformers/gpt2": (*TEXT[:-1], "optimised as gpt2"),
    "transformers/llama": TEXT[:-1],
    "transformers/phi": TEXT[:-1],
    "transformers/qwen2": TEXT[:-1],
    "transformers/t5": TEXT[:-1],
    "transformers/bart": ("int8 dynamic", "saved, all"),
    "transformers/whisper": ("int8 dynamic", "float16", "saved, all"),
    "transformers/llama-cache": ("float16", "int8 dynamic", "int4 weights", "saved, all"),
    "transformers/clip": ("float16", "saved, all"),
    "diffusers/unet2d_condition": ("float16", "saved, extended"),
    "torch.nn/LSTM of any length": ("int8 dynamic", "saved, all"),
}


def main():
    logging.disable(logging.WARNING)
    kind, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        KINDS[kind](source, folder)
        # What the runtime itself refuses is no model.
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=CPU)
    except Exception as error:  # noqa: BLE001: whatever a tool raises
        (folder / "failure.txt").write_text(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}\n")
    for name in INPUTS:
        shutil.copy(source / name, folder / name)


if __name__ == "__main__":
    main()
