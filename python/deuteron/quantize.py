"""Quantises ONNX models: QuantizeLinear and DequantizeLinear around convolutions and matrix products, which the compiler turns into
integer arithmetic, and which every ONNX runtime reads.

    smaller = deuteron.quantize.static("model.onnx", [{"x": batch} for batch in batches])
    exe = deuteron.compile(smaller)

Needs the package onnx. Weights are constants of float32; products of two activations and other operators stay as they are, but for
batch normalisations, which become part of the convolutions and products before them.
Integers are after "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference" (Jacob et al., 2018):
activations are uint8 with a zero point, weights are symmetric int8, one scale an output channel.
"""

from __future__ import annotations

import collections
import os
import warnings
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import numpy as np

from .errors import UnsupportedError, UsageError
from .executable import compile

if TYPE_CHECKING:
    import onnx

    Model = str | os.PathLike[str] | bytes | onnx.ModelProto

_BINS = 2048
# By bits: of seven both ends are taken, two products with a byte fit int16 all the same.
_GREATEST_WEIGHT = {7: 64, 8: 127}
_OPERATORS = ("Conv", "Gemm", "MatMul")


def static(
    model: Model,
    calibration: Iterable[Mapping[str, np.ndarray]],
    method: str = "minmax",
    percentile: float = 99.99,
    weight_bits: int = 8,
) -> onnx.ModelProto:
    """`model` with activations quantised by the ranges that they have on `calibration`, inputs by name.

    method: "minmax" takes the least and greatest value; "percentile" cuts off what lies outside of the `percentile` percent of values
    around the middle (by a histogram of 2048 bins). Biases become int32. weight_bits: 8, or 7 for CPUs without an instruction that adds
    up four products of bytes (x86 with AVX2 alone), which multiply weights between -64 and 64 one and a half times as fast; every
    runtime reads these as int8, too. A UsageError without calibration data.
    """
    if method not in ("minmax", "percentile"):
        raise UsageError(f'there is no method "{method}"; there are minmax and percentile')
    if not 50 < percentile <= 100:
        raise UsageError(f"a percentile is above 50 and at most 100, not {percentile}")
    batches = [dict(batch) for batch in calibration]
    if not batches:
        raise UsageError("static quantisation needs calibration data; dynamic() and weight_only() need none")
    rewriter = _Rewriter(model, 13, weight_bits)
    rewriter.fold_normalisations()
    nodes = rewriter.quantisable()
    names = sorted({node.input[0] for node in nodes})
    ranges = _ranges(rewriter.model, names, batches, percentile if method == "percentile" else 100)
    for node in nodes:
        activation, axis = node.input[0], _channel_axis(node, rewriter.weights[node.input[1]])
        scale, zero = _asymmetric(*ranges[activation])
        weight_scale = rewriter.quantise_weight(node, axis)
        node.input[0] = rewriter.quantise_activation(activation, scale, zero)
        if node.op_type != "MatMul" and len(node.input) > 2 and node.input[2] in rewriter.weights:
            rewriter.quantise_bias(node, scale * weight_scale)
    return rewriter.finish()


def dynamic(model: Model, weight_bits: int = 8) -> onnx.ModelProto:
    """`model` with activations quantised by the range that they have in each run (DynamicQuantizeLinear). weight_bits: as static has
    it."""
    rewriter = _Rewriter(model, 13, weight_bits)
    rewriter.fold_normalisations()
    for node in rewriter.quantisable():
        rewriter.quantise_weight(node, _channel_axis(node, rewriter.weights[node.input[1]]))
        node.input[0] = rewriter.quantise_at_run_time(node.input[0])
    return rewriter.finish()


def weight_only(model: Model, bits: int = 8, block_size: int = 32) -> onnx.ModelProto:
    """`model` with the weights of products (MatMul, Gemm) as int8 or int4, one scale for `block_size` elements along the reduction;
    activations stay floats. The result is of opset 21."""
    if bits not in (4, 8):
        raise UsageError(f"weights of {bits} bits: there are 4 and 8")
    if block_size < 1:
        raise UsageError(f"a block of {block_size} elements")
    rewriter = _Rewriter(model, 21)
    for node in rewriter.quantisable():
        if node.op_type != "Conv" and rewriter.weights[node.input[1]].ndim == 2:
            rewriter.quantise_blocks(node, 1 - _channel_axis(node, rewriter.weights[node.input[1]]), bits, block_size)
    return rewriter.finish()


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise UnsupportedError("deuteron.quantize needs the package onnx: pip install onnx") from None
    return onnx


def _read(model: Model) -> onnx.ModelProto:
    onnx = _onnx()
    if isinstance(model, bytes):
        return onnx.load_from_string(model)
    if isinstance(model, (str, os.PathLike)):
        return onnx.load(model)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _channel_axis(node: onnx.NodeProto, weight: np.ndarray) -> int:
    """The axis of a weight along which results differ."""
    if node.op_type == "Conv":
        return 0
    if node.op_type == "MatMul":
        return weight.ndim - 1
    return 0 if any(each.name == "transB" and each.i for each in node.attribute) else 1


def _asymmetric(low: float, high: float) -> tuple[np.float32, np.uint8]:
    """Scale and zero point that give [low, high] and 0 the integers 0 to 255."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / 255 or 1.0
    return np.float32(scale), np.uint8(np.clip(round(-low / scale), 0, 255))


def _symmetric(values: np.ndarray, axis: tuple[int, ...], most: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers of at most `most`, and scales, the greatest magnitude over `axis` having that integer."""
    scale = np.abs(values).max(axis=axis, keepdims=True) / most
    scale = np.where(scale == 0, 1, scale).astype(np.float32)
    return np.clip(np.rint(values / scale), -most, most).astype(np.int8), scale


def _packed(integers: np.ndarray) -> bytes:
    """Two of four bits in a byte, the first in the low half."""
    halves = integers.ravel().astype(np.uint8) & 15
    halves = np.append(halves, np.zeros(halves.size % 2, np.uint8))
    return (halves[::2] | halves[1::2] << 4).tobytes()


def _ranges(
    model: onnx.ModelProto, names: list[str], batches: list[dict[str, np.ndarray]], percentile: float
) -> dict[str, tuple[float, float]]:
    """(least, greatest) value of each tensor, without the tails beyond `percentile` percent."""
    onnx = _onnx()
    marked = onnx.ModelProto()
    marked.CopyFrom(model)
    inputs = {each.name for each in model.graph.input}
    known = {each.name for each in model.graph.output}
    for name in names:
        if name not in known | inputs:
            marked.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    exe = compile(marked)
    order = [each.name for each in marked.graph.output]

    def runs() -> Iterable[tuple[str, np.ndarray]]:
        for batch in batches:
            values = {**batch, **dict(zip(order, exe.run(batch)))}
            for name in names:
                yield name, np.asarray(values[name], np.float32)

    ranges = {name: (0.0, 0.0) for name in names}
    for name, values in runs():
        if not np.isfinite(values).all():
            raise UsageError(f"calibration gives {name} infinite values or NaN")
        if values.size:
            low, high = ranges[name]
            ranges[name] = min(low, float(values.min())), max(high, float(values.max()))
    if percentile == 100:
        return ranges
    counts = {name: np.zeros(_BINS) for name in names}
    for name, values in runs():
        counts[name] += np.histogram(values, _BINS, ranges[name] if ranges[name][0] < ranges[name][1] else (0.0, 1.0))[0]
    return {name: _without_tails(*ranges[name], counts[name], (100 - percentile) / 200) for name in names}


def _without_tails(low: float, high: float, counts: np.ndarray, share: float) -> tuple[float, float]:
    """The range without the bins that hold `share` of the values at either end."""
    below = np.cumsum(counts) / counts.sum()
    edges = np.linspace(low, high, _BINS + 1)
    return float(edges[np.searchsorted(below, share, "right")]), float(edges[np.searchsorted(below, 1 - share) + 1])


def _constants(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Tensors of float32 that are the same in each run: initialisers, Constant nodes, and what Identity and Transpose make of them,
    as exporters write weights that are shared or lie otherwise."""
    onnx = _onnx()
    tensors = {each.name: each for each in graph.initializer}
    values = {name: onnx.numpy_helper.to_array(each) for name, each in tensors.items() if each.data_type == onnx.TensorProto.FLOAT}
    for node in graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        attributes = {each.name: each for each in node.attribute}
        if node.op_type == "Constant" and "value" in attributes and attributes["value"].t.data_type == onnx.TensorProto.FLOAT:
            values[node.output[0]] = onnx.numpy_helper.to_array(attributes["value"].t)
        elif node.op_type == "Identity" and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]]
        elif node.op_type == "Transpose" and node.input[0] in values:
            order = attributes["perm"].ints if "perm" in attributes else None
            values[node.output[0]] = np.transpose(values[node.input[0]], order)
    return values


class _Rewriter:
    """A copy of a model whose nodes get quantised inputs."""

    def __init__(self, model: Model, opset: int, weight_bits: int = 8) -> None:
        onnx = _onnx()
        if weight_bits not in _GREATEST_WEIGHT:
            raise UsageError(f"weights of {weight_bits} bits: there are 7 and 8")
        self._greatest_weight = _GREATEST_WEIGHT[weight_bits]
        self.model = _read(model)
        [version] = [each.version for each in self.model.opset_import if each.domain in ("", "ai.onnx")]
        if version < opset:
            self.model = onnx.version_converter.convert_version(self.model, opset)
        self.weights = _constants(self.model.graph)
        self._made: dict[Any, Any] = {}
        self._before: dict[str, list[Any]] = {}
        self._first: list[Any] = []
        self._names = {name for node in self.model.graph.node for name in (*node.input, *node.output)}

    def fold_normalisations(self) -> None:
        """Takes batch normalisations into the weights and biases of the products that nothing else reads, as inference does: the
        product's own range would be that of values that are never needed, and a kernel would divide each of them again."""
        graph = self.model.graph
        uses = collections.Counter(name for node in graph.node for name in _names_used(node))
        uses.update(each.name for each in graph.output)
        products = {node.output[0]: node for node in graph.node if node.op_type in ("Conv", "Gemm") and node.domain in ("", "ai.onnx")}
        for node in list(graph.node):
            product = products.get(node.input[0]) if node.op_type == "BatchNormalization" else None
            if product is None or node.domain not in ("", "ai.onnx") or uses[node.input[0]] != 1 or self._trains(node, uses):
                continue
            if self._fold(node, product):
                product.output[0] = node.output[0]
                products[node.output[0]] = product
                graph.node.remove(node)

    @staticmethod
    def _trains(norm: onnx.NodeProto, uses: collections.Counter[str]) -> bool:
        """Whether a normalisation is by what it is given, or more of its results are used."""
        return any(each.name == "training_mode" and each.i for each in norm.attribute) or any(uses[name] for name in norm.output[1:])

    def _fold(self, norm: onnx.NodeProto, product: onnx.NodeProto) -> bool:
        """Whether the product has another weight and bias now, which make what the normalisation makes of it."""
        bias = product.input[2] if len(product.input) > 2 else ""
        names = [product.input[1], *norm.input[1:], *([bias] if bias else [])]
        if any(name not in self.weights for name in names):
            return False
        attributes = {each.name: each for each in (*product.attribute, *norm.attribute)}
        if product.op_type == "Gemm" and "beta" in attributes and attributes["beta"].f != 1:
            return False
        scale, shift, mean, variance = (self.weights[name].astype(np.float64) for name in norm.input[1:])
        factor = scale / np.sqrt(variance + (attributes["epsilon"].f if "epsilon" in attributes else 1e-5))
        added = self.weights[bias].astype(np.float64) if bias else np.zeros_like(mean)
        weight, axis = self.weights[product.input[1]], _channel_axis(product, self.weights[product.input[1]])
        if weight.shape[axis] != factor.size or added.size not in (1, factor.size):
            return False
        along = factor.reshape([-1 if each == axis else 1 for each in range(weight.ndim)])
        made = [(product.input[1], weight * along), (bias or norm.input[2], (added.reshape(-1) - mean) * factor + shift)]
        del product.input[1:]
        for hint, value in made:
            product.input.append(self._constant(hint + "_folded", value.astype(np.float32)))
            self.weights[product.input[-1]] = value.astype(np.float32)
        return True

    def quantisable(self) -> list[onnx.NodeProto]:
        """Nodes of the operators with a constant weight that has an output channel."""
        nodes = [node for node in self.model.graph.node if node.op_type in _OPERATORS and node.domain in ("", "ai.onnx")]
        found = [node for node in nodes if node.input[1] in self.weights and self.weights[node.input[1]].ndim >= 2
                 and node.input[0] not in self.weights]  # fmt: skip
        if not found:
            message = "the model has no convolution or product with a constant weight of float32: nothing is quantised"
            warnings.warn(message, RuntimeWarning, stacklevel=3)
        return found

    def _name(self, hint: str) -> str:
        name, number = hint, 0
        while name in self._names:
            number += 1
            name = f"{hint}_{number}"
        self._names.add(name)
        return name

    def _constant(self, hint: str, value: Any) -> str:
        name = self._name(hint)
        self.model.graph.initializer.append(_onnx().numpy_helper.from_array(np.asarray(value), name))
        return name

    def _dequantise(self, source: str, integers: str, scale: Any, zero: str, **attributes: Any) -> Any:
        name = scale if isinstance(scale, str) else self._constant(source + "_scale", scale)
        result = self._name(source + "_dequantized")
        return _onnx().helper.make_node("DequantizeLinear", [integers, name, *([zero] if zero else [])], [result], **attributes)

    def quantise_weight(self, node: onnx.NodeProto, axis: int) -> np.ndarray:
        """Puts int8 and a DequantizeLinear for the weight; its scales."""
        name = node.input[1]
        if (name, axis) not in self._made:
            others = tuple(each for each in range(self.weights[name].ndim) if each != axis)
            integers, scale = _symmetric(self.weights[name], others, self._greatest_weight)
            scale = scale.reshape(-1)
            zero = self._constant(name + "_zero", np.zeros(scale.shape, np.int8))
            made = self._dequantise(name, self._constant(name + "_quantized", integers), scale, zero, axis=axis)
            self._first.append(made)
            self._made[name, axis] = made.output[0], scale
        node.input[1], scales = self._made[name, axis]
        return scales

    def quantise_bias(self, node: onnx.NodeProto, scale: np.ndarray) -> None:
        """Puts int32 of the products' own scale for the bias, if it has one value a channel."""
        name = node.input[2]
        if self.weights[name].shape != scale.shape:
            return
        limits = np.iinfo(np.int32)
        integers = np.clip(np.rint(self.weights[name].astype(np.float64) / scale), limits.min, limits.max).astype(np.int32)
        zero = self._constant(name + "_zero", np.zeros(scale.shape, np.int32))
        made = self._dequantise(name, self._constant(name + "_quantized", integers), scale.astype(np.float32), zero, axis=0)
        self._first.append(made)
        node.input[2] = made.output[0]

    def quantise_blocks(self, node: onnx.NodeProto, axis: int, bits: int, block_size: int) -> None:
        """Puts integers of that many bits and a blocked DequantizeLinear for the weight, a matrix."""
        onnx = _onnx()
        name = node.input[1]
        if (name, axis) not in self._made:
            values = np.moveaxis(self.weights[name], axis, 0)
            length, others = values.shape
            blocks = -(-length // block_size)
            padded = np.zeros((blocks * block_size, others), np.float32)
            padded[:length] = values
            integers, scale = _symmetric(padded.reshape(blocks, block_size, others), (1,), 2 ** (bits - 1) - 1)
            integers = np.moveaxis(integers.reshape(-1, others)[:length], 0, axis)
            scale = np.ascontiguousarray(np.moveaxis(scale.reshape(blocks, others), 0, axis))
            kind = onnx.TensorProto.INT4 if bits == 4 else onnx.TensorProto.INT8
            quantised = self._name(name + "_quantized")
            raw = _packed(integers) if bits == 4 else integers.tobytes()
            self.model.graph.initializer.append(onnx.helper.make_tensor(quantised, kind, integers.shape, raw, raw=True))
            made = self._dequantise(name, quantised, scale, "", axis=axis, block_size=block_size)
            self._first.append(made)
            self._made[name, axis] = made.output[0], scale
        node.input[1], _ = self._made[name, axis]

    def quantise_activation(self, name: str, scale: np.float32, zero: np.uint8) -> str:
        """The activation through uint8 and back."""
        if name not in self._made:
            scale_name, zero_name = self._constant(name + "_scale", scale), self._constant(name + "_zero", zero)
            quantise = _onnx().helper.make_node("QuantizeLinear", [name, scale_name, zero_name], [self._name(name + "_quantized")])
            made = self._dequantise(name, quantise.output[0], scale_name, zero_name)
            self._before[name] = [quantise, made]
            self._made[name] = made.output[0]
        return self._made[name]

    def quantise_at_run_time(self, name: str) -> str:
        """The activation through uint8 of its own range and back."""
        if name not in self._made:
            outputs = [self._name(name + suffix) for suffix in ("_quantized", "_scale", "_zero")]
            quantise = _onnx().helper.make_node("DynamicQuantizeLinear", [name], outputs)
            made = self._dequantise(name, outputs[0], outputs[1], outputs[2])
            self._before[name] = [quantise, made]
            self._made[name] = made.output[0]
        return self._made[name]

    def finish(self) -> onnx.ModelProto:
        """The model, its nodes in order, without weights that nothing uses any more; checked."""
        onnx = _onnx()
        graph = self.model.graph
        produced = {name for node in graph.node for name in node.output}
        nodes = [*self._first, *(each for name, made in self._before.items() if name not in produced for each in made)]
        for node in list(graph.node):
            nodes += [node, *(each for name in node.output for each in self._before.get(name, []))]
        used = {each.name for each in graph.output}
        needed = []
        for node in reversed(nodes):
            # Others gave weights that are integers now.
            if not used.isdisjoint(node.output):
                needed.append(node)
                used.update(_names_used(node))
        del graph.node[:]
        graph.node.extend(reversed(needed))
        kept = [each for each in graph.initializer if each.name in used]
        del graph.initializer[:]
        graph.initializer.extend(kept)
        given = {each.name for each in kept} | used
        inputs = [each for each in graph.input if each.name in given or each.name not in self.weights]
        del graph.input[:]
        graph.input.extend(inputs)
        onnx.checker.check_model(self.model)
        return self.model


def _names_used(node: onnx.NodeProto) -> list[str]:
    """Inputs of a node and of the nodes in its branches and bodies."""
    names = list(node.input)
    graphs = [each.g for each in node.attribute if each.HasField("g")]
    while graphs:
        graph = graphs.pop()
        names += [each.name for each in graph.output]
        for inner in graph.node:
            names += inner.input
            graphs += [each.g for each in inner.attribute if each.HasField("g")]
    return names
