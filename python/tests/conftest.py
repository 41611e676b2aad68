import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

WEIGHT = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)


def reference(x):
    """What the model of these tests computes; exact for small integers."""
    return np.maximum(x @ WEIGHT, 0)


@pytest.fixture(scope="session")
def model():
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])],
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [numpy_helper.from_array(WEIGHT, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9, producer_name="tests")
    made.metadata_props.add(key="author", value="nobody")
    made.doc_string = "a product"
    return made


@pytest.fixture
def path(model, tmp_path):
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    return file


@pytest.fixture
def x():
    return np.arange(-7, 8, dtype=np.float32).reshape(5, 3)
