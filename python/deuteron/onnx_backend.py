"""The onnx package's interface of back ends, by which its own test runner drives this library:

    import onnx.backend.test
    import deuteron.onnx_backend

    tests = onnx.backend.test.BackendTest(deuteron.onnx_backend, __name__)
    globals().update(tests.enable_report().test_cases)
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from .errors import UnsupportedError
from .executable import Executable, compile


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """The inputs that an input is to the library: a sequence is as many as it has elements, an optional none or one."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [part for index, item in enumerate(value) for part in _parts(f"{name}[{index}]", item)]
    return [(name, value)]


def _is_sequence(declared: onnx.TypeProto) -> bool:
    """Whether it is a sequence, or an optional of one."""
    if declared.WhichOneof("value") == "optional_type":
        declared = declared.optional_type.elem_type
    return declared.WhichOneof("value") == "sequence_type"


class DeuteronRep(BackendRep):
    """A model, compiled for the lengths of sequences that the first run has."""

    def __init__(self, model: onnx.ModelProto, **options: Any) -> None:
        self._model, self._options = model, options
        constants = {tensor.name for tensor in model.graph.initializer}
        self._inputs = [value for value in model.graph.input if value.name not in constants]
        self._compiled: tuple[Any, Executable] | None = None

    def _executable(self, lengths: dict[str, Any]) -> Executable:
        key = sorted(lengths.items())
        if self._compiled is None or self._compiled[0] != key:
            self._compiled = (key, compile(self._model, shapes=lengths, **self._options))
        return self._compiled[1]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Outputs in the model's order; a sequence is a list."""
        if isinstance(inputs, np.ndarray) or not isinstance(inputs, Sequence):
            inputs = [inputs]
        lengths: dict[str, Any] = {}
        feed: dict[str, Any] = {}
        for declared, value in zip(self._inputs, inputs):
            kind = declared.type.WhichOneof("value")
            if kind == "optional_type" and not isinstance(value, (list, tuple)):
                value = [] if value is None else [value]
            if kind in ("sequence_type", "optional_type"):
                lengths[declared.name] = len(value)
                for name, part in _parts(declared.name, value):
                    lengths[name] = np.asarray(part).shape
            feed.update(_parts(declared.name, value))
        executable = self._executable(lengths)
        results = dict(zip((info.name for info in executable.outputs), executable.run(feed)))
        outputs: list[Any] = []
        for declared in self._model.graph.output:
            if declared.name in results:
                outputs.append(results[declared.name])
                continue
            items = [value for name, value in results.items() if name.startswith(declared.name + "[")]
            outputs.append(items if _is_sequence(declared.type) else items[0] if items else None)
        return tuple(outputs)


class DeuteronBackend(Backend):
    """Compiles models for the CPU."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model can be imported. Of one with sequences or optionals as inputs, whose lengths are known
        when it is run, it is taken to be so."""
        from .executable import read

        if any(value.type.WhichOneof("value") != "tensor_type" for value in model.graph.input):
            return True
        try:
            read(model)
        except UnsupportedError:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> DeuteronRep:
        """A model to be run; `kwargs` are options of `deuteron.compile`."""
        return DeuteronRep(model, **kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Compiles and runs a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """Runs one node: as a model of which the inputs say what is known."""
        values = list(inputs)
        graph_inputs = [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype), np.asarray(value).shape)
            for name, value in zip((name for name in node.input if name), values)
        ]
        outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", graph_inputs, outputs), ir_version=10)
        return cls.run_model(onnx.shape_inference.infer_shapes(model), values, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Only the CPU."""
        return device.split(":")[0] == "CPU"


is_compatible = DeuteronBackend.is_compatible
prepare = DeuteronBackend.prepare
run_model = DeuteronBackend.run_model
run_node = DeuteronBackend.run_node
supports_device = DeuteronBackend.supports_device
