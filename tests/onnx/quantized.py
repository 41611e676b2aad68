"""Runs quantised networks through `deuteron run`, by generated code and by oneDNN, and ONNX Runtime.

    python tests/onnx/quantized.py [--binary PATH] [--keep DIR]

ONNX Runtime quantises test networks and a perceptron (to bytes with dequantize and quantize around every operator, to
operators of integers, dynamically). A value half between two bytes may be rounded either way, and what follows sees it:
results may differ by a few of the steps that they are rounded to. The exit status is 5 where a network differs.
"""

import argparse
import logging
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

import compare

sys.path.insert(0, str(compare.ROOT / "tests" / "networks"))
import make  # noqa: E402

# As a share of the greatest value: three of the 256 steps.
TOLERANCE = 3 / 128
CASES = [  # network, format, activations, scales by channel
    ("resnet50", "QDQ", "QUInt8", True),
    ("resnet50", "QOperator", "QUInt8", True),
    ("mobilenetv2", "QDQ", "QInt8", True),
    ("densenet121", "QDQ", "QUInt8", False),
    ("perceptron", "QOperator", "QUInt8", False),
    ("bert", "QDQ", "QInt8", True),
    ("bert", "QDQ", "QUInt8", False),
    ("bert", "dynamic", "QUInt8", False),
]


def perceptron(seed=0):
    """Three layers, rows of a symbolic number."""
    random = np.random.default_rng(seed)
    nodes, weights, value = [], [], "x"
    for layer, (rows, columns) in enumerate([(64, 96), (96, 96), (96, 10)]):
        for name, shape, scale in (("w", (columns, rows), rows**-0.5), ("b", (columns,), 0.1)):
            weights.append(numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), f"{name}{layer}"))
        nodes.append(helper.make_node("Gemm", [value, f"w{layer}", f"b{layer}"], [f"sum{layer}"], transB=1))
        value = f"sum{layer}"
        if layer < 2:
            nodes.append(helper.make_node("Relu", [value], [f"relu{layer}"]))
            value = f"relu{layer}"
    typed = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "perceptron", [typed("x", TensorProto.FLOAT, ["rows", 64])], [typed(value, TensorProto.FLOAT, ["rows", 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Calibration(CalibrationDataReader):
    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self.seeds = iter(range(3))

    def get_next(self):
        seed = next(self.seeds, None)
        return None if seed is None else compare.random_inputs(self.session, {"rows": 5}, seed)


def quantize(name, form, activations, by_channel, folder):
    plain, folded, result = (folder / f"{part}.onnx" for part in ("plain", "folded", "model"))
    onnx.save(perceptron() if name == "perceptron" else make.make(name), plain)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folded)
    onnxruntime.InferenceSession(str(plain), options, providers=["CPUExecutionProvider"])
    if form == "dynamic":
        quantize_dynamic(folded, result, weight_type=QuantType.QInt8, reduce_range=True)
    else:
        quantize_static(str(folded), str(result), Calibration(plain), quant_format=getattr(QuantFormat, form),
                        activation_type=getattr(QuantType, activations), weight_type=QuantType.QInt8, per_channel=by_channel,
                        reduce_range=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=compare.ROOT / "build" / "release" / "bin" / "deuteron")
    parser.add_argument("--backends", default="none,dnnl")
    parser.add_argument("--keep", help="folder for models and results (default: a temporary one)")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for number, (name, form, activations, by_channel) in enumerate(CASES):
            folder = pathlib.Path(arguments.keep or temporary) / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            model = quantize(name, form, activations, by_channel, folder)
            for backend in arguments.backends.split(","):
                command = [str(arguments.binary), "run", "--backend", backend]
                error = compare.compare(command, model, {"rows": 5}, folder)
                good = not isinstance(error, str) and error <= TOLERANCE
                failures += not good
                text = error if isinstance(error, str) else f"{error:.1e}"
                scales = "by channel" if by_channel else "by tensor"
                print(f"{name:12} {form:10} {activations:7} {scales:11} {backend:5} {text}{'' if good else '   FAILED'}", flush=True)
    print(f"{failures} failures" if failures else f"all agree with ONNX Runtime {onnxruntime.__version__}")
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
