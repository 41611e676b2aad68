"""Operators that work element by element."""

from graph import ALL, FLOATS, INTEGERS, SIGNED, Rejected, TensorProto, helper, np

NUMBERS = (*FLOATS, *INTEGERS)
BINARY = (*FLOATS, "int32", "int64", "uint32", "uint64", "int8", "uint8")
EXACT = {"Abs", "Neg", "Relu", "Sign", "Floor", "Ceil", "Round", "IsNaN", "Not", "BitwiseNot"}


def kinds(g, *others):
    """Mostly the network's own dtype."""
    return (g.dtype,) if g.dtype in others and g.chance(0.7) else others


# In double precision, ONNX Runtime computes some with constants of single precision.
SINGLE = ("float32", "float16")


def unary(op, low=-2.0, high=2.0, dtypes=FLOATS):
    def add(g):
        x = g.within(low, high, kinds(g, *dtypes)) if (low, high) != (-2.0, 2.0) else g.pick(kinds(g, *dtypes))
        # ONNX Runtime's sigmoid is 0 below where the true one is, and its Mish where e^x is lost beside 1.
        g.node(op, [x], exact=op in EXACT, scale=1.0 if op in ("Sigmoid", "Mish") else 0.0)
    return add


def binary(op, dtypes=BINARY):
    def add(g):
        x = g.pick(kinds(g, *dtypes))
        if op in ("Div", "Mod"):
            y = g.like(x, 1, 9)
        elif op == "Pow":
            x = g.within(0.1, 4.0, kinds(g, *FLOATS))
            y = g.const(g.choice((2.0, 0.5, -1.0, 3.0, 1.0)), x.dtype) if g.chance(0.5) else g.like(x)
        else:
            y = g.like(x)
        pair = [x, y]
        if op not in ("Div", "Mod", "Pow") and g.chance(0.5):
            pair.reverse()
        g.node(op, pair, exact=op in ("Max", "Min"), fmod=int(np.dtype(x.dtype).kind == "f" or g.chance(0.3)) if op == "Mod" else None)
    return add


def compare(op):
    def add(g):
        x = g.pick(kinds(g, *FLOATS, "int32", "int64", *(("bool",) if op == "Equal" else ())))
        g.node(op, [x, g.like(x)], exact=True)
    return add


def logic(op):
    def add(g):
        x = g.pick(("bool",))
        g.node(op, [x, g.like(x)])
    return add


def bitwise(op):
    def add(g):
        x = g.pick(kinds(g, *INTEGERS))
        g.node(op, [x, g.like(x)])
    return add


def shift(g):
    x = g.within(0, 100, ("uint8", "uint16", "uint32", "uint64"))
    g.node("BitShift", [x, g.like(x, 0, 7, both_ways=False)], direction=g.choice(("LEFT", "RIGHT")))


def variadic(op):
    def add(g):
        x = g.pick(kinds(g, *(NUMBERS if op in ("Max", "Min") else FLOATS)))
        inputs = [x] + [g.like(x) for _ in range(g.integer(0, 3))]
        g.rng.shuffle(inputs)
        g.node(op, list(inputs), length=len(inputs), exact=op in ("Max", "Min"))
    return add


def with_attributes(op, dtypes=FLOATS, **ranges):
    def add(g):
        attributes = {name: round(float(g.rng.uniform(*between)), 3) for name, between in ranges.items() if g.chance(0.7)}
        g.node(op, [g.pick(kinds(g, *dtypes))], **attributes)
    return add


def gelu(g):
    domain = g.choice(("", "com.microsoft"))
    g.node("Gelu", [g.pick(SINGLE)], domain=domain, approximate=g.choice(("none", "tanh")) if not domain else None)


def prelu(g):
    x = g.pick(rank=(1, 5))
    g.node("PRelu", [x, g.like(x, both_ways=False)])


def clip(g):
    x = g.pick(kinds(g, *NUMBERS))
    low, high = g.data(x.dtype, (), 0, 1), g.data(x.dtype, (), 1, 2)
    if np.dtype(x.dtype).kind == "f" and g.opset < 11:
        g.node("Clip", [x], exact=True, min=float(low), max=float(high))
        return
    bounds = [g.given([b] * g.worlds, g.choice(("constant", "input"))) if g.chance(0.7) else None for b in (low, high)]
    g.node("Clip", [x, *bounds], exact=True)


def where(g):
    x = g.pick(kinds(g, *ALL))
    g.node("Where", [g.like(x, dtype="bool"), x, g.like(x)], exact=True)


def cast(g):
    x = g.pick(kinds(g, *ALL))
    to = g.choice(ALL)
    source, target = np.dtype(x.dtype), np.dtype(to)
    low = min(float(a.min(initial=0)) for a in x.arrays)
    high = max(float(a.max(initial=0)) for a in x.arrays)
    # What does not fit is the machine's affair.
    if target.kind in "iu" and source.kind == "f" and (low < np.iinfo(target).min or high > np.iinfo(target).max):
        raise Rejected("out of range")
    g.node("Cast", [x], exact=target.kind != "f" or source == np.float32 and target == np.float64, to=int(np_type(to)))


def np_type(dtype):
    return {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16, "bool": TensorProto.BOOL, "int8": TensorProto.INT8,
            "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16,
            "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64}[dtype]


def cast_like(g):
    x = g.pick(("float32", "int32", "int64"))
    g.node("CastLike", [x, g.pick(("float32", "float64", "int64"))], steer=(1,))


def through(g):
    """Through a dtype that has no inputs here, and back."""
    x = g.pick(("float32",), where=lambda v: not any(v.errors))
    names = [g.name(), g.name()]
    small = g.choice((TensorProto.BFLOAT16, TensorProto.FLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2))
    g.append([helper.make_node("Cast", [x.name], names[:1], name=f"Cast_{names[0]}", to=small),
              helper.make_node("Cast", names[:1], names[1:], name=f"Cast_{names[1]}", to=TensorProto.FLOAT)], [x], names[1:], [], exact=True)


def dropout(g):
    g.node("Dropout", [g.pick()], outputs=(True, g.chance(0.3) and g.opset > 9), exact=True)


UNARY = {
    **{op: unary(op) for op in ("Cos", "Erf", "Sigmoid", "Sin", "Softplus", "Softsign", "Tanh", "Atan", "Asinh", "Mish", "Exp", "Swish")},
    "HardSwish": unary("HardSwish", dtypes=SINGLE),
    **{op: unary(op, -1.4, 1.4) for op in ("Tan", "Sinh", "Cosh")},
    **{op: unary(op, -0.9, 0.9) for op in ("Acos", "Asin", "Atanh")},
    **{op: unary(op, 0.1, 4.0) for op in ("Log", "Sqrt", "Reciprocal")},
    "Acosh": unary("Acosh", 1.1, 4.0),
    **{op: unary(op, dtypes=NUMBERS) for op in ("Abs", "Sign", "Identity")},
    **{op: unary(op, dtypes=(*FLOATS, *SIGNED)) for op in ("Neg", "Relu")},
    **{op: unary(op) for op in ("Ceil", "Floor", "Round", "IsNaN")},
    "BitwiseNot": unary("BitwiseNot", dtypes=INTEGERS),
    "Not": lambda g: g.node("Not", [g.pick(("bool",))]),
    "IsInf": lambda g: g.node("IsInf", [g.pick(("float32", "float64"))], detect_negative=g.integer(0, 1), detect_positive=g.integer(0, 1)),
}

OPS = {
    **UNARY,
    **{op: binary(op) for op in ("Add", "Sub", "Mul", "Div", "Pow", "Mod")},
    **{op: compare(op) for op in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")},
    **{op: logic(op) for op in ("And", "Or", "Xor")},
    **{op: bitwise(op) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")},
    **{op: variadic(op) for op in ("Max", "Min", "Sum", "Mean")},
    "BitShift": shift, "Clip": clip, "Where": where, "Cast": cast, "CastLike": cast_like, "CastThrough": through, "PRelu": prelu, "Gelu": gelu, "Dropout": dropout,
    "LeakyRelu": with_attributes("LeakyRelu", alpha=(0, 1)), "Elu": with_attributes("Elu", alpha=(0.1, 2)), "Selu": with_attributes("Selu", alpha=(0.5, 2), gamma=(0.5, 2)),
    "Celu": with_attributes("Celu", alpha=(0.2, 2)), "HardSigmoid": with_attributes("HardSigmoid", alpha=(0.1, 1), beta=(0, 1)),
    "ThresholdedRelu": with_attributes("ThresholdedRelu", alpha=(-1, 1)), "Shrink": with_attributes("Shrink", SINGLE, lambd=(0, 1), bias=(-1, 1)),
    "QuickGelu": lambda g: g.node("QuickGelu", [g.pick(("float32",))], domain="com.microsoft"),
    "FastGelu": lambda g: g.node("FastGelu", [g.pick(("float32",))], domain="com.microsoft"),
}
