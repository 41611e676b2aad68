"""Random graph-level modules, built with apache-tvm: operators of every family on static and symbolic shapes, tuples,
branches, match_cast, nested and private functions, calls of kernels, external and packed functions.

`random_graph(seed)` always gives the same module for the same seed.
"""

import random

import tvm
import tvm_ffi
from tvm import relax
from tvm.relax import TensorType, op
from tvm.script import ir as I  # noqa: F401  (used by the texts below)

FLOATS = ["float32", "float16", "float64"]


class Graph:
    """Values emitted so far, and random choices among them."""

    def __init__(self, rng, builder, symbol):
        self.rng = rng
        self.bb = builder
        self.n = symbol
        self.values = []

    def add(self, expr):
        """Emits `expr` and keeps it (its fields, if it is a tuple)."""
        return self.keep(self.bb.emit(expr))

    def keep(self, var):
        if isinstance(var.ty, relax.TupleType):
            for i in self.rng.sample(range(len(var.ty.fields)), self.rng.randint(1, len(var.ty.fields))):
                self.keep(self.bb.emit(relax.TupleGetItem(var, i)))
        elif isinstance(var.ty, TensorType) and var.ty.shape is not None:
            self.values.append(var)
        return var

    def shape(self, var):
        return list(var.ty.shape)

    def pick(self, ndim=None, kind="float", where=lambda shape: True):
        """A recent value of these properties; raises LookupError if there is none."""
        fitting = [v for v in self.values if (ndim is None or v.ty.ndim == ndim) and str(v.ty.dtype).startswith(kind)
                   and (ndim is not None or v.ty.ndim > 0) and where(self.shape(v))]
        if not fitting:
            raise LookupError
        return self.rng.choice(fitting[-8:])

    def like(self, value):
        """A value of the same shape and dtype as `value`."""
        same = [v for v in self.values if v.ty.dtype == value.ty.dtype
                and same_shape(self.shape(v), self.shape(value))]
        return self.rng.choice(same[-6:])

    def axis(self, value, static=False):
        axes = [i for i, d in enumerate(self.shape(value)) if not static or is_static(d)]
        if not axes:
            raise LookupError
        axis = self.rng.choice(axes)
        return axis - value.ty.ndim if self.rng.random() < 0.25 else axis


def is_static(dim):
    return isinstance(dim, tvm.tirx.IntImm)


def all_static(shape):
    return all(is_static(d) for d in shape)


def same_shape(a, b):
    return len(a) == len(b) and all(tvm_ffi.structural_equal(x, y) for x, y in zip(a, b))


UNARY = ["abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor", "log", "negative",
         "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "nn.relu", "nn.gelu",
         "nn.gelu_tanh", "nn.silu", "nn.selu", "nn.softplus", "nn.leakyrelu", "nn.relu6"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "floor_divide", "mod", "floor_mod", "log_add_exp",
          "atan2"]
COMPARE = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
REDUCE = ["sum", "mean", "max", "min", "prod", "variance", "std"]


def named(name):
    found = op
    for part in name.split("."):
        found = getattr(found, part)
    return found


# One function an operator family; each gives an expression, or raises LookupError if nothing fits.


def unary(g):
    return named(g.rng.choice(UNARY))(g.pick())


def binary(g):
    a = g.pick()
    return named(g.rng.choice(BINARY))(a, g.like(a))


def scalar(g):
    a = g.pick()
    number = g.rng.choice([0.5, 2.0, -1.0, 0.1, 1e-5, 3.25, 1e10, float("inf"), 0.0, 1.0 / 3])
    pair = [a, relax.const(number, a.ty.dtype)]
    if g.rng.random() < 0.3:
        pair.reverse()
    return named(g.rng.choice(BINARY[:6]))(*pair)


def compare(g):
    a = g.pick()
    return named(g.rng.choice(COMPARE))(a, g.like(a))


def logical(g):
    a = g.pick(kind="bool")
    if g.rng.random() < 0.3:
        return op.logical_not(a)
    return named(g.rng.choice(["logical_and", "logical_or", "logical_xor"]))(a, g.like(a))


def where(g):
    c = g.pick(kind="bool")
    floats = [v for v in g.values if str(v.ty.dtype) == "float32" and same_shape(g.shape(v), g.shape(c))]
    if not floats:
        raise LookupError
    return op.where(c, g.rng.choice(floats), g.rng.choice(floats))


def reduce(g):
    a = g.pick()
    axes = g.rng.sample(range(a.ty.ndim), g.rng.randint(1, a.ty.ndim))
    axis = None if g.rng.random() < 0.1 else axes
    return named(g.rng.choice(REDUCE))(a, axis=axis, keepdims=g.rng.random() < 0.5)


def broadcast_reduce(g):
    a = g.pick()
    return op.subtract(a, g.bb.emit(named(g.rng.choice(["max", "mean"]))(a, axis=[g.axis(a)], keepdims=True)))


def arg_reduce(g):
    a = g.pick()
    return named(g.rng.choice(["argmax", "argmin"]))(a, axis=g.axis(a), keepdims=g.rng.random() < 0.5)


def scan(g):
    a = g.pick()
    return named(g.rng.choice(["cumsum", "cumprod"]))(a, axis=g.axis(a), exclusive=g.rng.random() < 0.3)


def cast(g):
    a = g.pick()
    return op.astype(a, g.rng.choice(["float16", "float32", "float64", "int32"]))


def reshape(g):
    a = g.pick(where=lambda s: len(s) > 1)
    shape = g.shape(a)
    at = g.rng.randint(0, len(shape) - 2)
    return op.reshape(a, shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2:])


def split_dimension(g):
    a = g.pick(where=lambda s: any(is_static(d) and int(d) % 2 == 0 for d in s))
    shape = g.shape(a)
    at = next(i for i, d in enumerate(shape) if is_static(d) and int(d) % 2 == 0)
    return op.reshape(a, shape[:at] + [int(shape[at]) // 2, 2] + shape[at + 1:])


def permute(g):
    a = g.pick()
    axes = list(range(a.ty.ndim))
    g.rng.shuffle(axes)
    return op.permute_dims(a, None if g.rng.random() < 0.2 else axes)


def expand(g):
    a = g.pick(where=lambda s: len(s) < 5)
    return op.expand_dims(a, g.rng.sample(range(a.ty.ndim + 1), 1))


def squeeze(g):
    a = g.pick(where=lambda s: any(is_static(d) and int(d) == 1 for d in s))
    ones = [i for i, d in enumerate(g.shape(a)) if is_static(d) and int(d) == 1]
    return op.squeeze(a, ones[:1] if g.rng.random() < 0.7 else None)


def concat(g):
    a = g.pick()
    return op.concat([a, g.like(a)] + ([g.like(a)] if g.rng.random() < 0.3 else []), axis=g.axis(a))


def stack(g):
    a = g.pick(where=lambda s: len(s) < 5)
    return op.stack([a, g.like(a)], axis=g.rng.randint(0, a.ty.ndim))


def split(g):
    a = g.pick(where=lambda s: any(is_static(d) and int(d) >= 2 for d in s))
    axis = g.rng.choice([i for i, d in enumerate(g.shape(a)) if is_static(d) and int(d) >= 2])
    extent = int(g.shape(a)[axis])
    if extent % 2 == 0 and g.rng.random() < 0.6:
        return op.split(a, 2, axis=axis)
    return op.split(a, [g.rng.randint(1, extent - 1)], axis=axis)


def strided_slice(g):
    a = g.pick(where=lambda s: any(is_static(d) and int(d) >= 2 for d in s))
    axis = g.rng.choice([i for i, d in enumerate(g.shape(a)) if is_static(d) and int(d) >= 2])
    return op.strided_slice(a, axes=[axis], begin=[g.rng.choice([0, 1])], end=[int(g.shape(a)[axis])],
                            strides=[g.rng.choice([1, 2])] if g.rng.random() < 0.5 else None)


def take(g):
    a = g.pick()
    indices = g.pick(ndim=1, kind="int64")
    return op.take(a, indices, axis=g.axis(a), **({"mode": "clip"} if g.rng.random() < 0.3 else {}))


def one_hot(g):
    return op.one_hot(g.pick(ndim=1, kind="int64"), tvm.tirx.const(1, "float32"), tvm.tirx.const(0, "float32"), 5)


def broadcast(g):
    a = g.pick(where=lambda s: len(s) < 4)
    return op.broadcast_to(a, [3] + g.shape(a))


def tile(g):
    a = g.pick(where=lambda s: len(s) < 5 and all_static(s))
    return g.rng.choice([lambda: op.tile(a, [2] + [1] * (a.ty.ndim - 1)), lambda: op.repeat(a, 2, g.axis(a)),
                         lambda: op.flip(a, g.rng.randint(0, a.ty.ndim - 1))])()


def triangle(g):
    a = g.pick(where=lambda s: len(s) >= 2)
    return named(g.rng.choice(["tril", "triu"]))(a, g.rng.choice([-1, 0, 1]))


def create(g):
    shape = g.rng.choice([[2, 3], [g.n, 4] if not isinstance(g.n, int) else [4], [8, 6, 6]])
    dtype = g.rng.choice(["float32", "float32", "int64", "float16"])
    return g.rng.choice([lambda: op.zeros(shape, dtype), lambda: op.ones(shape, dtype),
                         lambda: op.full(shape, relax.const(2, dtype)), lambda: op.arange(1, 9, 2, dtype),
                         lambda: op.zeros_like(g.pick()), lambda: op.ones_like(g.pick()),
                         lambda: op.full_like(g.pick(), relax.const(0.5, "float32"))])()


def sorting(g):
    a = g.pick(where=all_static)
    axis = a.ty.ndim - 1
    return g.rng.choice([lambda: op.sort(a, axis, g.rng.random() < 0.5), lambda: op.argsort(a, axis, dtype="int64"),
                         lambda: op.topk(a, 1, axis, ret_type="both", dtype="int32")])()


def softmax(g):
    a = g.pick()
    return named(g.rng.choice(["nn.softmax", "nn.log_softmax"]))(a, axis=g.rng.choice([-1, a.ty.ndim - 1]))


def clip(g):
    low = g.rng.choice([0, -1.5, 0.25])
    return op.clip(g.pick(kind="float32"), low, g.rng.choice([6, 1.5, 6.0]))


def matmul(g):
    a = g.pick(where=lambda s: len(s) in (2, 3))
    same = g.like(a)
    axes = list(range(a.ty.ndim - 2)) + [a.ty.ndim - 1, a.ty.ndim - 2]
    product = op.matmul(a, g.bb.emit(op.permute_dims(same, axes)))
    return product


def dense(g):
    a = g.pick(where=lambda s: len(s) >= 2 and is_static(s[-1]) and int(s[-1]) in g.weights)
    w, b = g.weights[int(g.shape(a)[-1])]
    if str(a.ty.dtype) != "float32":
        raise LookupError
    return g.rng.choice([lambda: op.linear(a, w, b), lambda: op.matmul(a, g.bb.emit(op.permute_dims(w, None)))])()


def images(g):
    return g.pick(4, kind="float32", where=lambda s: all_static(s[1:]) and [int(d) for d in s[1:]] == [8, 6, 6])


def conv(g):
    a = images(g)
    return op.nn.conv2d(a, g.kernel, strides=g.rng.choice([1, (1, 1)]), padding=1) if g.rng.random() < 0.7 else op.nn.conv2d(
        a, g.depthwise, padding=(1, 1), groups=8, out_dtype="float32")


def pool(g):
    a = images(g)
    return g.rng.choice([lambda: op.nn.max_pool2d(a, (3, 3), padding=(1, 1)), lambda: op.nn.avg_pool2d(a, (2, 2), strides=(2, 2)),
                         lambda: op.nn.adaptive_avg_pool2d(a, (1, 1)), lambda: op.nn.max_pool2d(a, 2, 2, ceil_mode=True)])()


def norm(g):
    a = images(g)
    c = g.channel
    return g.rng.choice([lambda: op.nn.batch_norm(a, c, c, c, c, axis=1, training=False),
                         lambda: op.nn.layer_norm(a, g.last, g.last, axes=-1),
                         lambda: op.nn.group_norm(a, c, c, num_groups=4, channel_axis=1, axes=[2, 3]),
                         lambda: op.nn.instance_norm(a, c, c, channel_axis=1, axes=[2, 3]),
                         lambda: op.nn.rms_norm(a, g.last, axes=-1),
                         lambda: op.nn.prelu(a, c, axis=1)])()


def pad(g):
    a = images(g)
    return op.nn.pad(a, [0, 0, 0, 0, 1, 1, 1, 1], **({"pad_value": 1.5} if g.rng.random() < 0.5 else {}))


def resize(g):
    return op.image.resize2d(images(g), (12, 12), layout="NCHW", method=g.rng.choice(["nearest_neighbor", "linear"]))


def attention(g):
    a = images(g)
    return op.nn.attention(a, g.like(a), g.like(a), **({"causal_mask": "TopLeft"} if g.rng.random() < 0.3 else {}))


def channel_bias(g):
    return op.add(images(g), g.bias)


def dropout(g):
    return op.nn.dropout(g.pick(), 0.25)


def layout(g):
    return op.layout_transform(images(g), index_map=lambda a, b, c, d: (a, b // 4, c, d, b % 4))


def gather(g):
    a = g.pick(where=all_static)
    index = g.bb.emit(op.argsort(a, a.ty.ndim - 1, dtype="int64"))
    return op.gather_elements(a, index, axis=a.ty.ndim - 1)


def einsum(g):
    a = g.pick(ndim=2)
    return op.einsum([a, g.like(a)], "ij,kj->ik")


def outer(g):
    a = g.pick(ndim=1)
    return op.outer(a, g.like(a))


def quantise(g):
    a = g.pick(kind="float32", where=lambda s: len(s) >= 2)
    q = g.bb.emit(op.quantize(a, relax.const(0.5, "float32"), relax.const(3, "int8"), axis=0, out_dtype="int8"))
    return op.dequantize(q, relax.const(0.5, "float32"), relax.const(3, "int8"), axis=0)


def bits(g):
    a = g.pick(ndim=1, kind="int64")
    return named(g.rng.choice(["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "add", "multiply"]))(a, g.like(a))


def match_cast(g):
    """Gives the first dimension a new name."""
    a = g.pick()
    m = tvm.tirx.Var("m", "int64")
    g.keep(g.bb.match_cast(a, TensorType([m] + g.shape(a)[1:], a.ty.dtype)))
    raise LookupError


def shape_of(g):
    a = g.pick()
    g.bb.emit(op.shape_to_tensor(g.bb.emit(op.shape_of(a))))
    return op.reshape(a, g.bb.emit(relax.ShapeExpr(g.shape(a))))


def pure_packed(g):
    a = g.pick()
    return op.call_pure_packed("interop.packed", a, g.rng.choice([tvm.ir.StringImm("text \"quoted\"\n"), tvm.tirx.IntImm("int64", 3)]),
                               ty_args=a.ty)


def destination_passing(g):
    a = g.pick()
    if g.rng.random() < 0.5:
        return op.call_dps_packed("interop.dps", [a], out_ty=a.ty)
    return op.call_dps_packed("interop.dps2", [a, g.like(a)], out_ty=[a.ty, TensorType([2, 2], "float32")])


def tuples(g):
    a, b = g.pick(), g.pick()
    t = g.bb.emit(relax.Tuple([a, relax.Tuple([b, a])]))
    inner = g.bb.emit(relax.TupleGetItem(t, 1))
    return relax.TupleGetItem(inner, g.rng.randint(0, 1))


def alias(g):
    return g.pick()


def repeat_expression(g):
    """The same again, for common subexpressions."""
    a = g.pick()
    b = g.like(a)
    name = g.rng.choice(BINARY[:6])
    g.add(named(name)(a, b))
    return named(name)(a, b)


def pair(g):
    """A tuple of tensors, taken apart again. A tuple of a tuple is not for fusion: two projections of one after the other are a
    group without a kernel to TVM's FuseOps, and its FuseTIR aborts on that."""
    a = g.pick()
    t = g.bb.emit(relax.Tuple([a, g.pick()]))
    return op.exp(g.bb.emit(relax.TupleGetItem(t, 0))) if str(a.ty.dtype).startswith("float") else relax.TupleGetItem(t, 0)


def diamond(g):
    """Two ways from one value to another."""
    a = g.pick()
    left = g.bb.emit(named(g.rng.choice(["exp", "nn.relu", "sigmoid"]))(a))
    right = g.bb.emit(named(g.rng.choice(["tanh", "negative", "sqrt"]))(a))
    if g.rng.random() < 0.5:
        right = g.bb.emit(op.multiply(right, a))
    return named(g.rng.choice(["add", "multiply", "maximum"]))(left, right)


def skip(g):
    """A chain, and its start added to its end."""
    a = g.pick()
    value = a
    for _ in range(g.rng.randint(2, 5)):
        value = g.keep(g.bb.emit(named(g.rng.choice(UNARY))(value)))
    return op.add(value, a)


FAMILIES = [unary, unary, unary, binary, binary, binary, scalar, scalar, compare, logical, where, reduce, reduce, broadcast_reduce, arg_reduce,
            scan, cast, reshape, split_dimension, permute, expand, squeeze, concat, stack, split, strided_slice, take, one_hot, broadcast,
            tile, triangle, create, sorting, softmax, clip, matmul, dense, dense, conv, conv, pool, norm, norm, pad, resize, attention,
            channel_bias, dropout, layout, gather, einsum, outer, quantise, bits, match_cast, shape_of, pure_packed,
            destination_passing, tuples, alias, repeat_expression]
# What the pipeline's later stages take: everything but calls of functions that are not there.
LEGALISABLE = [f for f in FAMILIES if f not in (pure_packed, destination_passing, match_cast, shape_of, dropout)]


# What fusion is about.
FUSIBLE = [attention, unary, unary, unary, binary, binary, scalar, compare, where, reduce, broadcast_reduce, cast, reshape, split_dimension, permute,
           expand, squeeze, concat, stack, split, strided_slice, take, broadcast, tile, triangle, softmax, clip, matmul, matmul, dense, dense,
           conv, conv, pool, norm, norm, pad, channel_bias, channel_bias, outer, pair, diamond, diamond, skip, skip,
           repeat_expression, create, arg_reduce]


def parameters(g):
    """Parameters of several ranks and dtypes, as a list."""
    n = g.n
    dtype = g.rng.choice(["float32"] * 5 + ["float16"])
    image = [relax.Var(name, TensorType([n, 8, 6, 6], "float32")) for name in ("x", "y")]
    matrix = [relax.Var(name, TensorType([n, 16], dtype)) for name in ("a", "b")]
    vector = relax.Var("v", TensorType([8], "float32"))
    index = relax.Var("i", TensorType([3], "int64"))
    g.kernel = relax.Var("kernel", TensorType([8, 8, 3, 3], "float32"))
    g.depthwise = relax.Var("depthwise", TensorType([8, 1, 3, 3], "float32"))
    g.channel = relax.Var("channel", TensorType([8], "float32"))
    g.last = relax.Var("last", TensorType([6], "float32"))
    g.bias = relax.Var("bias", TensorType([8, 1, 1], "float32"))
    g.weights = {16: (relax.Var("w16", TensorType([4, 16], "float32")), relax.Var("b16", TensorType([4], "float32"))),
                 6: (relax.Var("w6", TensorType([3, 6], "float32")), relax.Var("b6", TensorType([3], "float32")))}
    g.values = [*image, *matrix, vector, index]
    weights = [g.kernel, g.depthwise, g.channel, g.last, g.bias, *g.weights[16], *g.weights[6]]
    return [*image, *matrix, vector, index, *weights]


def grow(g, families, count):
    for _ in range(count):
        for _ in range(20):
            try:
                g.add(g.rng.choice(families)(g))
                break
            except LookupError:
                continue


def branch(g, condition):
    """An if whose arms are short; both of the same type."""
    a = g.pick()
    arms = []
    for _ in range(2):
        value = named(g.rng.choice(["exp", "tanh", "negative", "nn.relu"]))(a)
        if g.rng.random() < 0.5:
            v = relax.Var("t", a.ty)
            block = relax.BindingBlock([relax.VarBinding(v, value)])
            arms.append(relax.SeqExpr([block], op.add(v, a)))
        else:
            arms.append(relax.SeqExpr([], value))
    g.add(relax.If(condition, *arms))


def nested_function(g):
    """A function inside the function, called with a value of the outer."""
    a = g.pick(where=all_static)
    p = relax.Var("p", a.ty)
    q = relax.Var("q", a.ty)
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(q, op.add(p, p))])], q)
    inner = relax.Function([p], body, a.ty)
    f = g.bb.emit(inner, "inner")
    g.add(relax.Call(f, [a]))


def private_functions(bb, rng):
    """Private functions for main to call: one with a tuple parameter, one with an unused parameter and two results."""
    found = []
    t = TensorType([4, 16], "float32")
    pair = relax.Var("pair", relax.TupleType([t, t]))
    with bb.function("takes_tuple", [pair], private=True):
        with bb.dataflow():
            left = bb.emit(relax.TupleGetItem(pair, 0))
            right = bb.emit(relax.TupleGetItem(pair, 1))
            out = bb.emit_output(op.add(left, named(rng.choice(["exp", "tanh"]))(right)))
        found.append(bb.emit_func_output(out))
    p, unused = relax.Var("p", t), relax.Var("unused", t)
    with bb.function("two_results", [p, unused], private=True):
        with bb.dataflow():
            first = bb.emit(op.nn.relu(p))
            out = bb.emit_output(relax.Tuple([first, bb.emit(op.negative(first))]))
        found.append(bb.emit_func_output(out))
    return found


def random_graph(seed, symbolic=None, families=None, control_flow=None, size=(3, 24)):
    rng = random.Random(seed)
    symbolic = rng.random() < 0.4 if symbolic is None else symbolic
    families = families or FAMILIES
    # A few families a graph, so that graphs differ in kind.
    chosen = rng.sample(families, min(len(families), rng.randint(4, 20))) + [unary, binary]
    control_flow = rng.random() < 0.3 if control_flow is None else control_flow
    bb = relax.BlockBuilder()
    g = Graph(rng, bb, tvm.tirx.Var("n", "int64") if symbolic else 4)
    private = private_functions(bb, rng) if control_flow and rng.random() < 0.5 else []
    params = parameters(g)
    condition = relax.Var("condition", TensorType([], "bool"))
    attrs = {"num_input": 6} if rng.random() < 0.3 else None
    with bb.function("main", params + ([condition] if control_flow else []), attrs=attrs):
        if control_flow:
            grow(g, chosen, rng.randint(1, 4))
            for _ in range(rng.randint(1, 2)):
                branch(g, condition)
            if rng.random() < 0.5:
                nested_function(g)
        if private:
            t = relax.Var("matrix", TensorType([4, 16], "float32"))
            value = bb.match_cast(params[2], t.ty) if not symbolic and str(params[2].ty.dtype) == "float32" else bb.emit(
                op.zeros([4, 16], "float32"))
            g.add(relax.Call(private[0], [relax.Tuple([value, value])]))
            g.add(relax.Call(private[1], [value, value]))
        if rng.random() < 0.85:
            with bb.dataflow():
                grow(g, chosen, rng.randint(*size))
                tail = [v for v in g.values[-4:] if v not in params] or [bb.emit(op.exp(params[0]))]
                outputs = [bb.emit_output(v) for v in rng.sample(tail, rng.randint(1, len(tail)))]
        else:
            grow(g, chosen, rng.randint(*size))
            outputs = g.values[-2:]
        bb.emit_func_output(outputs[0] if len(outputs) == 1 else relax.Tuple(outputs))
    return bb.get()
