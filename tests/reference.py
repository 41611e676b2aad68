"""A random input of a model with one, and what ONNX Runtime gives for it.

    python tests/reference.py MODEL.onnx INPUT.npy OUTPUT.npy
"""

import sys

import numpy as np
import onnxruntime

model, input_file, output_file = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
[declared] = session.get_inputs()
x = np.random.default_rng(0).standard_normal(declared.shape).astype(np.float32)
np.save(input_file, x)
np.save(output_file, session.run(None, {declared.name: x})[0])
