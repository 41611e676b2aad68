"""The process in which ONNX Runtime runs models, which may end it: a request is a folder as serve_networks' (server.py), the answer a line, the
outputs are left beside the inputs: peer_0.npy, …."""

import pathlib
import sys

import numpy as np
import onnxruntime

onnxruntime.set_default_logger_severity(4)


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def answer(folder):
    model = session(folder / "model.onnx")
    for place in sorted(folder.glob("[0-9]*")):
        inputs = {value.name: np.load(place / f"{index}.npy") for index, value in enumerate(model.get_inputs())}
        for index, output in enumerate(model.run(None, inputs)):
            if isinstance(output, np.ndarray):
                np.save(place / f"peer_{index}.npy", output)


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            answer(pathlib.Path(line.strip()))
            print("ok", flush=True)
        except Exception as error:  # noqa: BLE001: whatever it is, the next request is another one
            print("error", " ".join(str(error).split())[:500], flush=True)
