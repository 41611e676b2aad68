"""A random ONNX network as it grows: every node is run by ONNX Runtime as it is added.

Each value carries what it is in every *world*, an assignment of the symbolic dimensions, and a bound of the error that
arithmetic may have by then. So operands fit, indices lie within bounds, and nobody writes shape inference twice.

The bound is a running error analysis. A node is taken to compute the exact result of inputs that differ from ours by
their own bounds and by 2u (1 + sqrt(n)) of each element (a backward error; u is the unit roundoff of the dtype, n how
many terms a sum of it has: rounding errors of a sum add up as a random walk does). What that does to the result is
measured, by running the node on inputs moved by so much, and 8 + sqrt(n) roundings of the result are added. Results that may
not move (integers, booleans) must not: a node where they do is dropped.
"""

import dataclasses

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
MAX_ELEMENTS = 1 << 21
PROBES = 2
ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11}
FLOATS = ("float32", "float64", "float16")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
ALL = (*FLOATS, *INTEGERS, "bool")
# Around registers, vectors and tiles.
EXTENTS = (1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1000, 4096, 4097)
# Of heavy operators.
LONG = (1, 7, 16, 17, 31, 64, 127, 128, 255, 1000, 4095, 4096, 4097)


class Rejected(Exception):
    """The node does not exist, or nothing can be said of its result."""


@dataclasses.dataclass(eq=False)
class Value:
    name: str
    """In each world."""
    arrays: list
    """Bound of the absolute error of any element, in each world."""
    errors: list
    """"input", "constant" or "node"."""
    kind: str
    """Names of symbolic dimensions of an input, None where fixed."""
    dims: list = None
    users: int = 0

    @property
    def dtype(self):
        return str(self.arrays[0].dtype)

    @property
    def rank(self):
        return self.arrays[0].ndim

    @property
    def shape(self):
        return self.arrays[0].shape

    def extent(self, axis):
        """Of an axis, in each world."""
        return tuple(array.shape[axis] for array in self.arrays)

    def extents(self):
        return [self.extent(axis) for axis in range(self.rank)]

    def fixed(self):
        return all(array.shape == self.shape for array in self.arrays)


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def element_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def spread(array):
    """The greatest finite magnitude."""
    finite = np.abs(array[np.isfinite(array)]) if array.dtype.kind == "f" else np.abs(array.astype(np.float64))
    return float(finite.max(initial=0))


class Graph:
    def __init__(self, rng, opset, worlds, dtype, budget=1 << 17):
        self.rng, self.opset, self.worlds, self.dtype, self.budget = rng, opset, worlds, dtype, budget
        self.symbols = {}
        if worlds > 1:
            for name in ("n", "m")[: int(rng.integers(1, 3))]:
                self.symbol(tuple(int(e) for e in rng.choice(EXTENTS[:22], worlds)), name)
        self.values, self.nodes = [], []
        self.count = self.work = 0

    # Choices.

    def chance(self, share):
        return self.rng.random() < share

    def choice(self, options):
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low, high):
        """Both ends included."""
        return int(self.rng.integers(low, high + 1))

    def symbol(self, extent, name=None):
        """The symbolic dimension of this extent in each world."""
        for known, extents in self.symbols.items():
            if extents == extent and name is None:
                return known
        name = name or f"s{len(self.symbols)}"
        self.symbols[name] = extent
        return name

    def extent(self, most=1 << 12):
        """A new extent, in each world."""
        if self.symbols and self.chance(0.4):
            return self.symbols[self.choice(list(self.symbols))]
        if self.chance(0.015):
            return (0,) * self.worlds
        allowed = [e for e in EXTENTS if e <= most] or [1]
        # Small ones more often.
        return (allowed[min(self.integer(0, len(allowed) - 1), self.integer(0, len(allowed) - 1))],) * self.worlds

    def extents(self, rank, budget=None):
        left, result = budget or self.budget, []
        for _ in range(rank):
            extent = self.extent(max(1, int(left ** (0.5 if rank > 1 else 1.0)) if len(result) + 1 < rank else int(left)))
            left = max(1, left // max(1, max(extent)))
            result.append(extent)
        self.rng.shuffle(result)
        return [tuple(e) for e in result]

    def rank(self, low=0, high=6):
        return int(np.clip(self.choice((0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6)), low, high))

    # Values.

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def data(self, dtype, shape, low=-2.0, high=2.0):
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            # Not more digits than half has: a cast to it is exact.
            return np.asarray(np.round(self.rng.uniform(low, high, shape) * 64) / 64 if self.chance(0.3) else self.rng.uniform(low, high, shape), dtype)
        if dtype.kind == "b":
            return np.asarray(self.rng.integers(0, 2, shape), dtype)
        low, high = max(int(np.ceil(low)), np.iinfo(dtype).min), min(int(np.floor(high)), np.iinfo(dtype).max)
        return np.asarray(self.rng.integers(low, high + 1, shape), dtype)

    def add(self, value):
        self.values.append(value)
        return value

    def given(self, arrays, kind="input"):
        """A new input or constant with these contents in each world; of "data", an input, any axis may be symbolic."""
        arrays = [np.asarray(array) for array in arrays]
        dims = [None if len(set(extent)) == 1 else self.symbol(extent) for extent in Value("", arrays, [], "").extents()]
        if kind == "data" and arrays[0].ndim and self.chance(0.15):
            axis = self.integer(0, arrays[0].ndim - 1)
            dims[axis] = dims[axis] or self.symbol(tuple(a.shape[axis] for a in arrays))
        if kind == "data":
            kind = "input"
        if kind == "constant" and any(not np.array_equal(a, arrays[0]) for a in arrays[1:]):
            kind = "input"
        return self.add(Value(self.name(), arrays, [0.0] * self.worlds, kind, dims))

    def const(self, value, dtype="int64"):
        array = np.asarray(value, dtype)
        return self.given([array] * self.worlds, "constant")

    def array(self, dtype, extents, low=-2.0, high=2.0, constant=None, kind="input"):
        """New contents of these extents."""
        if int(np.prod([max(e) for e in extents], dtype=object)) > MAX_ELEMENTS:
            raise Rejected("too large")
        fixed = all(len(set(e)) == 1 for e in extents)
        constant = fixed and (self.chance(0.3) if constant is None else constant)
        if np.dtype(dtype).kind in "iu" and (low, high) == (-2.0, 2.0):
            low, high = self.choice(((-3, 9), (-100, 100), (0, 4)))
        if constant:
            return self.given([self.data(dtype, [e[0] for e in extents], low, high)] * self.worlds, "constant")
        return self.given([self.data(dtype, [e[w] for e in extents], low, high) for w in range(self.worlds)], kind)

    def pick(self, dtypes=None, rank=(0, 6), where=lambda value: True, low=-2.0, high=2.0, new=0.25):
        """An old value, or a new input."""
        dtypes = (self.dtype,) if dtypes is None else dtypes
        low_rank, high_rank = rank if isinstance(rank, tuple) else (rank, rank)
        fitting = [v for v in self.values if v.dtype in dtypes and low_rank <= v.rank <= high_rank and (v.kind != "constant" or self.chance(0.02)) and where(v)]
        if fitting and not self.chance(new):
            # The latest ones more often, so that networks become deep.
            value = fitting[max(self.integer(0, len(fitting) - 1), self.integer(0, len(fitting) - 1))]
            value.users += 1
            return value
        dtype = self.dtype if self.dtype in dtypes else self.choice(dtypes)
        value = self.array(dtype, self.extents(self.rank(low_rank, high_rank)), low, high, constant=False, kind="data")
        if not where(value):
            raise Rejected("no such value")
        return value

    def within(self, low, high, dtypes=None, rank=(0, 6)):
        """A value whose elements lie between these."""
        return self.pick(dtypes, rank, lambda v: all(a.size == 0 or (np.all(a >= low) and np.all(a <= high)) for a in v.arrays), low, high)

    def like(self, value, low=-2.0, high=2.0, dtype=None, both_ways=True):
        """An operand that broadcasts to `value` (or it to the operand)."""
        dtype = dtype or value.dtype
        if self.chance(0.4):
            fitting = [v for v in self.values if v.dtype == dtype and v.extents() == value.extents()
                       and all(a.size == 0 or (np.all(a >= low) and np.all(a <= high)) for a in v.arrays)]
            if fitting:
                return self.choice(fitting)
        extents = value.extents()
        if self.chance(0.5):
            one = (1,) * self.worlds
            extents = [one if self.chance(0.3) else extent for extent in extents][self.integer(0, len(extents)) :]
            if both_ways and self.chance(0.2):
                extents = [self.extent(4) if extent == one else extent for extent in extents]
                if len(extents) == value.rank < 6 and self.chance(0.3):
                    extents = [self.extent(3), *extents]
        return self.array(dtype, extents, low, high)

    # Nodes.

    def node(self, op, inputs, outputs=1, domain="", length=1, scale=0.0, exact=False, steer=(), bodies=(), **attributes):
        """Adds a node and returns its outputs (one, or a list), or raises Rejected.

        `outputs`: how many, or flags (False where one is left out). `length`: terms of a sum. `scale`: of terms that are
        larger than the result. `exact`: the operator moves
        or compares and makes no error of its own. `steer`: inputs that say how. `bodies`: values of this graph that
        subgraphs among the attributes use.
        """
        attributes = {name: value for name, value in attributes.items() if value is not None}
        flags = [True] * outputs if isinstance(outputs, int) else list(outputs)
        names = [self.name() if flag else "" for flag in flags]
        proto = helper.make_node(op, ["" if v is None else v.name for v in inputs], names, name=f"{op}_{self.count}", domain=domain, **attributes)
        values = self.append([proto], [v for v in dict.fromkeys([*inputs, *bodies]) if v is not None], names,
                             [v for i, v in enumerate([*inputs, *bodies]) if i not in steer or i >= len(inputs)], length, exact, scale)
        return values[0] if len(values) == 1 else values

    def append(self, protos, known, names, movable, length=1, exact=False, scale=0.0):
        """Adds nodes that read `known` and give `names`; of `movable` the floats are moved by their errors."""
        moved = [v for v in dict.fromkeys(movable) if v is not None and v.kind != "constant" and np.dtype(v.dtype).kind == "f"]
        try:
            run = self.runner(protos, known, names)
            results = [self.probe(run, known, moved, world, length, exact, scale) for world in range(self.worlds)]
        except Rejected:
            raise
        except Exception as error:  # noqa: BLE001: whatever ONNX Runtime refuses
            raise Rejected(f"ONNX Runtime: {error}") from error
        values = []
        for index, name in enumerate(name for name in names if name):
            arrays, errors = [r[index][0] for r in results], [r[index][1] for r in results]
            if len({a.ndim for a in arrays}) > 1 or str(arrays[0].dtype) not in ALL:
                raise Rejected("ranks or dtypes that cannot be")
            values.append(Value(name, arrays, errors, "node"))
        self.nodes += protos
        self.work += length * sum(array.size for value in values for array in value.arrays)
        for value in known:
            value.users += 1
        self.values += values
        return values

    def runner(self, protos, known, names):
        inputs = [helper.make_tensor_value_info(v.name, element_type(v.dtype), None) for v in known if v.kind != "constant"]
        constants = [numpy_helper.from_array(v.arrays[0], v.name) for v in known if v.kind == "constant"]
        graph = helper.make_graph(protos, "g", inputs, [onnx.ValueInfoProto(name=n) for n in names if n], constants)
        ran = session(model_of(graph, self.opset))
        fed = {v.name for v in known if v.kind != "constant"}
        return lambda feed: ran.run(None, {name: array for name, array in feed.items() if name in fed})

    def probe(self, run, known, moved, world, length, exact, scale):
        """Outputs in a world, with their errors."""
        feed = {v.name: v.arrays[world] for v in known}
        base = [np.asarray(a) for a in run(feed)]
        for array in base:
            if array.size > MAX_ELEMENTS or array.ndim > 8:
                raise Rejected("too large")
            if array.dtype.kind == "f" and (not np.isfinite(array).all() or spread(array) > (500 if array.dtype == np.float16 else 1e5)):
                raise Rejected("not finite")
        worst = [0.0] * len(base)
        largest = max([0.0, *(spread(v.arrays[world]) for v in moved)])
        for _ in range(PROBES if moved else 0):
            changed = dict(feed)
            for value in moved:
                array, unit = value.arrays[world], ROUNDOFF[value.dtype]
                size = value.errors[world] * (8 if exact else 1)
                width = size + (0 if exact else 2 * unit * (1 + length**0.5) * np.abs(array.astype(np.float64)))
                changed[value.name] = np.asarray(array.astype(np.float64) + width * self.rng.choice((-1.0, 1.0), array.shape), array.dtype)
            for index, (array, other) in enumerate(zip(base, run(changed))):
                if np.shape(other) != array.shape:
                    raise Rejected("a shape that depends on rounding")
                if array.dtype.kind != "f":
                    if not np.array_equal(array, other):
                        raise Rejected("a result that depends on rounding")
                    continue
                difference = np.abs(array.astype(np.float64) - np.asarray(other, np.float64))
                if not np.isfinite(difference).all():
                    raise Rejected("not finite")
                worst[index] = max(worst[index], float(difference.max(initial=0)))
        results = []
        for array, difference in zip(base, worst):
            error = 0.0
            if array.dtype.kind == "f":
                unit = ROUNDOFF[str(array.dtype)]
                error = (1 if exact else 3) * difference + (0 if exact else (8 + length**0.5) * unit * max(spread(array), scale) + 16 * float(np.finfo(array.dtype).smallest_subnormal))
                if error > (0.1 if unit > 1e-4 else 0.005) * max(spread(array), largest):
                    raise Rejected("ill-conditioned")
            results.append((array, error))
        return results

    # The result.

    def model(self, outputs):
        """The model with these outputs, with types that say which dimensions are symbolic."""
        inputs = [helper.make_tensor_value_info(v.name, element_type(v.dtype), [d or e for d, e in zip(v.dims, v.shape)]) for v in self.values if v.kind == "input"]
        constants = [numpy_helper.from_array(v.arrays[0], v.name) for v in self.values if v.kind == "constant" and v.users]
        results = [helper.make_tensor_value_info(v.name, element_type(v.dtype), None) for v in outputs]
        return model_of(helper.make_graph(self.nodes, "g", inputs, results, constants), self.opset)


def model_of(graph, opset):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 10
    return model


__all__ = ["ALL", "FLOATS", "INTEGERS", "LONG", "SIGNED", "Graph", "Rejected", "TensorProto", "Value", "element_type", "helper", "np"]
