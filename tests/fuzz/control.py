"""Control flow, recurrence, signals."""

from graph import Rejected, element_type, helper, np
from heavy import fixed
from onnx import numpy_helper

WITHIN = ("Neg", "Relu", "Tanh", "Sigmoid", "Abs")


def subgraph(name, nodes, inputs, outputs):
    """`inputs` and `outputs`: name, dtype and (where it is known) rank."""
    typed = lambda values: [helper.make_tensor_value_info(n, element_type(t), [None] * rank[0] if rank else None) for n, t, *rank in values]  # noqa: E731
    return helper.make_graph(nodes, name, typed(inputs), typed(outputs))


def chain(g, x, dtype, captured, count):
    """Nodes from the name `x` on; the last name. They may read values of the graph around."""
    nodes = []
    for _ in range(count):
        y = g.name()
        if captured and g.chance(0.5):
            node = helper.make_node(g.choice(("Add", "Mul", "Sub")), [x, g.choice(captured).name], [y], name=y)
        else:
            node = helper.make_node(g.choice(WITHIN), [x], [y], name=y)
        nodes.append(node)
        x = y
    return nodes, x


def captures(g, x):
    """Values that broadcast to x without changing it."""
    return [g.like(x, both_ways=False) for _ in range(g.integer(0, 2))]


def greatest(*values):
    """Of what a body reads: what it computes in between is of that size, whatever it ends with."""
    return max((float(np.abs(a.astype(float)).max(initial=0.0)) for v in values for a in v.arrays if a.dtype.kind == "f"), default=0.0)


def scalar(g, dtype, values):
    return g.given([np.asarray(value, dtype) for value in values], "constant" if len(set(values)) == 1 and g.chance(0.3) else "input")


def if_(g):
    x = g.pick(("float32", "int64") if g.chance(0.3) else ("float32",), (0, 4))
    captured, branches = captures(g, x), []
    for name in ("then", "otherwise"):
        nodes, last = chain(g, x.name, x.dtype, captured, g.integer(1, 3))
        branches.append(subgraph(name, nodes, [], [(last, x.dtype)]))
    condition = scalar(g, "bool", [g.chance(0.5) for _ in range(g.worlds)])
    g.node("If", [condition], bodies=[x, *captured], length=4, scale=greatest(x, *captured), then_branch=branches[0], else_branch=branches[1])


def loop(g):
    x = g.pick(("float32",), (0, 3))
    captured = captures(g, x)
    i, again, carried, next_, stay = (g.name() for _ in range(5))
    nodes, last = chain(g, carried, x.dtype, captured, g.integer(1, 3))
    nodes.append(helper.make_node("Identity", [last], [next_], name=next_))
    limited = g.chance(0.3)
    if limited:
        limit = g.const(g.integer(0, 4))
        nodes.append(helper.make_node("Less", [i, limit.name], [stay], name=stay))
        captured.append(limit)
    else:
        nodes.append(helper.make_node("Identity", [again], [stay], name=stay))
    scanned = g.chance(0.5)
    results = [(stay, "bool"), (next_, x.dtype)]
    if scanned:
        scan = g.name()
        nodes.append(helper.make_node("Exp" if g.chance(0.3) else "Neg", [next_], [scan], name=scan))
        results.append((scan, x.dtype))
    body = subgraph("body", nodes, [(i, "int64", 0), (again, "bool", 0), (carried, x.dtype)], results)
    # Of no steps ONNX Runtime knows neither the rank nor the extents of a scanned output.
    count = scalar(g, "int64", [g.choice((1, 2, 3, 5) if scanned else (0, 1, 2, 3, 5)) for _ in range(g.worlds)])
    g.node("Loop", [count, None if g.chance(0.5) else g.const(True, "bool"), x], outputs=2 if scanned else 1, bodies=captured, length=12, scale=greatest(x, *captured), body=body)


def scan(g):
    x = g.pick(("float32",), (2, 4))
    if g.opset < 9 or min(x.extent(0)) == 0:
        raise Rejected("nothing to scan")
    state = g.array("float32", x.extents()[1:], constant=False)
    carried, row, next_, out = (g.name() for _ in range(4))
    nodes = [helper.make_node("Add", [carried, row], [next_], name=next_), helper.make_node("Tanh", [next_], [out], name=out)]
    body = subgraph("body", nodes, [(name, "float32", state.rank) for name in (carried, row)], [(name, "float32", state.rank) for name in (next_, out)])
    g.node("Scan", [state, x], outputs=2, length=max(x.extent(0)), body=body, num_scan_inputs=1)


def recurrent(op):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]

    def add(g):
        steps, batch = g.extent(9), g.extent(4)
        if min(*steps, *batch) == 0:
            raise Rejected("ONNX Runtime aborts")
        n, h = g.choice((1, 3, 8, 17, 32)), g.choice((1, 5, 8, 16, 17, 31))
        count = g.choice((1, 1, 2))
        direction = "bidirectional" if count == 2 else g.choice(("forward", "reverse"))
        wide = 1.0 / max(n, h) ** 0.5
        w = g.array("float32", fixed(g, count, gates * h, n), -wide, wide, constant=g.chance(0.8))
        r = g.array("float32", fixed(g, count, gates * h, h), -wide, wide, constant=g.chance(0.8))
        b = g.array("float32", fixed(g, count, 2 * gates * h), constant=True) if g.chance(0.6) else None
        inputs = [g.array("float32", [steps, batch, (n,) * g.worlds], constant=False), w, r, b]
        if g.chance(0.3):
            lengths = None
            if g.chance(0.5) and min(steps) > 0:
                lengths = g.given([g.rng.integers(1, steps[i] + 1, batch[i]).astype(np.int32) for i in range(g.worlds)])
            state = [(count,) * g.worlds, batch, (h,) * g.worlds]
            inputs += [lengths, *[g.array("float32", state) for _ in range(2 if op == "LSTM" else 1)]]
        more = {"linear_before_reset": g.integer(0, 1)} if op == "GRU" else {}
        outputs = [g.chance(0.8), g.chance(0.7), g.chance(0.5)][: 3 if op == "LSTM" else 2]
        g.node(op, inputs, outputs=outputs if any(outputs) else 1, length=(n + h) * max(1, max(steps)), direction=direction, hidden_size=h, **more)
    return add


def window(op):
    return lambda g: g.node(op, [g.const(g.choice((1, 2, 8, 17)))], periodic=g.integer(0, 1), steer=(0,), scale=1.0)


def dft(g):
    n = g.choice((1, 2, 7, 8, 16, 17, 64))
    x = g.array("float32", [g.extent(3), *fixed(g, n, g.choice((1, 2)))], constant=False)
    inverse = g.integer(0, 1)
    onesided = g.integer(0, 1) if x.shape[-1] == 1 and not inverse else 0
    if g.opset >= 20:
        g.node("DFT", [x, None, g.const(1)], steer=(1, 2), length=n, inverse=inverse, onesided=onesided)
    else:
        g.node("DFT", [x], length=n, axis=1, inverse=inverse, onesided=onesided)


def stft(g):
    frame = g.choice((4, 8, 16))
    x = g.array("float32", fixed(g, 1, 40, 1), constant=False)
    g.node("STFT", [x, g.const(g.choice((2, 5))), g.array("float32", fixed(g, frame), constant=True), g.const(frame)], steer=(1, 3), length=frame, onesided=g.integer(0, 1))


def mel(g):
    g.node("MelWeightMatrix", [g.const(8), g.const(64), g.const(8192), g.const(0.0, "float32"), g.const(4000.0, "float32")], steer=(0, 1, 2, 3, 4))


def constant(g):
    g.node("Constant", [], value=numpy_helper.from_array(g.data(g.choice(("float32", "int64", "float64")), [e[0] for e in g.extents(g.integer(0, 3), 256)])))


OPS = {"If": if_, "Loop": loop, "Scan": scan, **{op: recurrent(op) for op in ("LSTM", "GRU", "RNN")}, **{op: window(op) for op in ("HannWindow", "HammingWindow", "BlackmanWindow")},
       "DFT": dft, "STFT": stft, "MelWeightMatrix": mel, "Constant": constant}
