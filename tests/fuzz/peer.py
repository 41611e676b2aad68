"""The process in which others run models, which may end it: ONNX Runtime, with the argument "reference" the standard's reference implementation, with
"shaken" ONNX Runtime on inputs and weights of which every float is a rounding or two off. A request is a folder as serve_networks' (server.py), the
answer a line, the outputs are left beside the inputs: peer_0.npy, reference_0.npy or shaken_0.npy, …."""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)


def session(model):
    """Of a path, or of a model's bytes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=["CPUExecutionProvider"])


class Reference:
    """As a session of ONNX Runtime."""

    def __init__(self, path):
        self.evaluator = ReferenceEvaluator(str(path))

    def get_inputs(self):
        initialised = {tensor.name for tensor in self.evaluator.proto_.graph.initializer}
        return [value for value in self.evaluator.proto_.graph.input if value.name not in initialised]

    def run(self, names, inputs):
        return self.evaluator.run(names, inputs)


class Shaken:
    """As a session of ONNX Runtime."""

    def __init__(self, path):
        self.rng = np.random.default_rng(0)
        model = onnx.load(path)
        for tensor in model.graph.initializer:
            tensor.CopyFrom(onnx.numpy_helper.from_array(self.shake(onnx.numpy_helper.to_array(tensor)), tensor.name))
        self.session = session(model.SerializeToString())

    def shake(self, array):
        if array.dtype not in (np.float32, np.float64):
            return array
        return array * (1 + np.finfo(array.dtype).eps * self.rng.integers(-2, 3, array.shape)).astype(array.dtype)

    def get_inputs(self):
        return self.session.get_inputs()

    def run(self, names, inputs):
        return self.session.run(names, {name: self.shake(array) for name, array in inputs.items()})


PEERS = {"peer": session, "reference": Reference, "shaken": Shaken}


def answer(folder, open_model, name):
    model = open_model(folder / "model.onnx")
    for place in sorted(folder.glob("[0-9]*")):
        inputs = {value.name: np.load(place / f"{index}.npy") for index, value in enumerate(model.get_inputs())}
        for index, output in enumerate(model.run(None, inputs)):
            if isinstance(output, np.ndarray):
                np.save(place / f"{name}_{index}.npy", output)


if __name__ == "__main__":
    who = sys.argv[1]
    for line in sys.stdin:
        try:
            answer(pathlib.Path(line.strip()), PEERS[who], who)
            print("ok", flush=True)
        except Exception as error:  # noqa: BLE001: whatever it is, the next request is another one
            print("error", " ".join(str(error).split())[:500], flush=True)
