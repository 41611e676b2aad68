"""Cases whose operands, lengths or numbers of steps only the run knows: recurrent layers, control flow, axes, sizes."""

import dataclasses

import numpy as np
from case import F, I, Case, Const, case, f, graph, i


def recurrent():
    for steps in [1, 3, 40]:
        for direction, count in [("forward", 1), ("reverse", 1), ("bidirectional", 2)]:
            for op, gates, states in [("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)]:
                x, lengths = f(steps, 3, 4), np.array([steps, 1, (steps + 1) // 2], np.int32)
                weights = [f(count, gates * 5, 4, low=-0.5, high=0.5), f(count, gates * 5, 5, low=-0.5, high=0.5), f(count, 2 * gates * 5)]
                first = [f(count, 3, 5, seed=n) for n in range(states)]
                names = ", ".join(f"s{n}" for n in range(states))
                types = ", ".join(f"float[{count},3,5] s{n}" for n in range(states))
                yield graph(f"{op}OfAnyLength", [x, *weights, lengths, *first], f"""g (float[S,3,4] x, float[{count},{gates * 5},4] w,
                    float[{count},{gates * 5},5] r, float[{count},{2 * gates * 5}] b, int32[3] l, {types}) => (float y, float h{', float c' if states > 1 else ''}) {{
                    y, h{', c' if states > 1 else ''} = {op} <hidden_size: int = 5, direction: string = "{direction}"> (x, w, r, b, l, {names}) }}""")
                if steps == 40:
                    # Constant weights, a length that is known but long.
                    yield case(op, [x, *[Const(weight, F) for weight in weights]], outputs=states + 1, direction=direction, hidden_size=5)
    peepholes = Const(f(1, 15), F)
    yield case("LSTM", [f(30, 2, 4), Const(f(1, 20, 4), F), Const(f(1, 20, 5), F), None, None, None, None, peepholes], outputs=3, hidden_size=5, clip=0.7)
    for direction, count in [("forward", 1), ("bidirectional", 2)]:
        for by_column in (False, True):
            # States are rounded to one of 255 steps: one that falls otherwise is seen in what follows.
            scales = [f(count, 20, low=0.01, high=0.02, seed=n) if by_column else f(count, low=0.01, high=0.02, seed=n) for n in range(2)]
            # ONNX Runtime takes none by column.
            zeros = [np.full(scale.shape, 0 if by_column else 3, np.int8) for scale in scales]
            integers = [i(count, 4, 20, low=-64, high=63).astype(np.int8), i(count, 5, 20, low=-64, high=63).astype(np.int8)]
            constants = [Const(value) for value in (*integers, f(count, 40))]
            rest = [Const(value) for value in (scales[0], zeros[0], scales[1], zeros[1])]
            yield Case("DynamicQuantizeLSTM", [f(25, 2, 4), *constants, None, None, None, None, *rest], 1, 3,
                       {"hidden_size": 5, "direction": direction}, "com.microsoft", tolerance=1e-2)
    # A sequence of no steps.
    for op, gates, states in [("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)]:
        for steps in (3, 20):
            weights = [Const(f(1, gates * 5, 4), F), Const(f(1, gates * 5, 5), F), Const(f(1, 2 * gates * 5), F)]
            yield case(op, [f(steps, 3, 4), *weights, np.array([steps, 0, 2], np.int32), *[f(1, 3, 5, seed=n) for n in range(states)]], outputs=states + 1, hidden_size=5)
    # Values of activations stand in the order of those that have some.
    weights = [Const(f(2, 20, 4), F), Const(f(2, 20, 5), F), Const(f(2, 40), F)]
    yield case("LSTM", [f(7, 2, 4), *weights], outputs=3, hidden_size=5, direction="bidirectional", activation_alpha=[0.4, 0.3, 0.2], activation_beta=[0.3, 0.6],
               activations=["Sigmoid", "Affine", "Tanh", "HardSigmoid", "Softsign", "LeakyRelu"])
    for before in (0, 1):
        yield case("GRU", [f(30, 2, 4), Const(f(1, 15, 4), F), Const(f(1, 15, 5), F), Const(f(1, 30), F)], outputs=2, hidden_size=5, linear_before_reset=before,
                   activations=["HardSigmoid", "Softsign"])


def ranges_of_sizes():
    """Positions on a grid, as detectors write them: sizes of the run as floats, steps and beginnings with fractions."""
    for n in (1, 7):
        for first, step in (("0.0", "1.0"), ("0.5", "1.0"), ("2.0", "-1.0"), ("0.0", "0.25")):
            yield graph("Range to a size", [f(n, 2)], f"""g (float[N,2] x) => (float y) {{ s = Shape <start: int = 0, end: int = 1> (x)  c = Cast <to: int = 1> (s)
                axis = Constant <value_ints = [0]> ()  last = Squeeze (c, axis)  first = Constant <value = float {{{first}}}> ()
                step = Constant <value = float {{{step}}}> ()  y = Range (first, last, step) }}""")
        yield graph("Range to half a size", [f(n, 2)], """g (float[N,2] x) => (float y) { s = Shape <start: int = 0, end: int = 1> (x)  c = Cast <to: int = 1> (s)
            axis = Constant <value_ints = [0]> ()  all = Squeeze (c, axis)  half = Constant <value = float {0.5}> ()  last = Mul (all, half)
            first = Constant <value = float {0.0}> ()  step = Constant <value = float {1.0}> ()  y = Range (first, last, step) }""")


def control_flow():
    for steps in [-2, 0, 1, 7, 300]:
        yield graph("LoopOfRunTimeTrips", [np.array(steps, I), f(4)], """g (int64 n, float[4] x) => (float y, float s) {
            t = Constant <value: tensor = bool {1}> ()
            y, s = Loop (n, t, x) <body = b (int64 i, bool c, float[4] a) => (bool d, float[4] z, float[4] o) {
                d = Identity (c) h = Constant <value: tensor = float {0.5}> () e = Mul (a, h) z = Add (e, x) o = Tanh (z) }> }""")
    for start in [1.0, 30.0, 200.0]:
        # A while loop whose number of steps nothing bounds.
        yield graph("While", [np.array(start, F)], """g (float x) => (float y, float s) {
            m = Constant <value: tensor = float {100}> () go = Less (x, m)
            y, s = Loop ( , go, x) <body = b (int64 i, bool c, float a) => (bool d, float z, float o) {
                h = Constant <value: tensor = float {1.5}> () z = Mul (a, h) d = Less (z, m) o = Neg (z) }> }""")
    for steps in [0, 3]:
        # A state that grows.
        yield graph("LoopThatGrows", [np.array(steps, I), f(2, 3)], """g (int64 n, float[2, 3] x) => (float y) {
            t = Constant <value: tensor = bool {1}> ()
            y = Loop (n, t, x) <body = b (int64 i, bool c, float[r, 3] a) => (bool d, float[q, 3] z) {
                d = Identity (c) e = Tanh (a) z = Concat <axis: int = 0> (e, x) }> }""")
        # States to which steps only append, beside one that is computed, of rows that are not (2) and are there before.
        for empty in (True, False):
            first = "zero = Constant <value: tensor = int64[2] {0, 3}> () s0 = ConstantOfShape (zero)" if empty else "s0 = Neg (x)"
            yield graph("LoopThatAppends", [np.array(steps, I), f(2, 3)], f"""g (int64 n, float[2, 3] x) => (float y, float h, float o) {{
                t = Constant <value: tensor = bool {{1}}> () {first}
                y, h, o = Loop (n, t, s0, x) <body = b (int64 i, bool c, float[r, 3] a, float[2, 3] k) => (bool d, float[q, 3] z, float[2, 3] l, float[2, 3] m) {{
                    d = Identity (c) l = Tanh (k) m = Exp (k) e = Add (l, m) z = Concat <axis: int = 0> (a, e) }}> }}""")
            # It ends itself; and how long the state is counts.
            yield graph("LoopThatAppendsUntil", [f(2, 3)], f"""g (float[2, 3] x) => (float y, float h) {{
                go = Constant <value: tensor = bool {{{min(steps, 1)}}}> () {first}
                y, h = Loop ( , go, s0, x) <body = b (int64 i, bool c, float[r, 3] a, float[2, 3] k) => (bool d, float[q, 3] z, float[2, 3] l) {{
                    four = Constant <value: tensor = int64 {{4}}> () d = Less (i, four) l = Tanh (k) z = Concat <axis: int = 0> (a, l) }}> }}""")
            yield graph("LoopThatAppendsItsLength", [np.array(steps, I), f(2, 3)], f"""g (int64 n, float[2, 3] x) => (float y) {{
                t = Constant <value: tensor = bool {{1}}> () {first}
                y = Loop (n, t, s0) <body = b (int64 i, bool c, float[r, 3] a) => (bool d, float[q, 3] z) {{
                    d = Identity (c) l = Size (a) m = Cast <to: int = 1> (l) e = Add (x, m) z = Concat <axis: int = 0> (a, e) }}> }}""")
    yield graph("NestedLoops", [np.array(3, I), np.array(4, I), f(2)], """g (int64 n, int64 m, float[2] x) => (float y) {
        t = Constant <value: tensor = bool {1}> ()
        y = Loop (n, t, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] z) {
            d = Identity (c)
            z = Loop (m, t, a) <body = k (int64 j, bool e, float[2] p) => (bool g, float[2] q) {
                g = Identity (e) w = Add (i, j) v = Cast <to: int = 1> (w) u = Sin (p) q = Add (u, v) }> }> }""")
    for choice in (True, False):
        yield graph("IfOfDifferentShapes", [np.array(choice), f(3, 4)], """g (bool c, float[N, 4] x) => (float y) {
            z = If (c) <then_branch = a () => (float[p] r) { s = Exp (x) r = Flatten <axis: int = 0> (s) },
                        else_branch = b () => (float[q, w] r) { one = Constant <value: tensor = int64[1] {1}> () two = Constant <value: tensor = int64[1] {3}> ()
                            r = Slice (x, one, two, one) }>
            y = Sqrt (z) }""")
        # Of different ranks: what follows is computed with either.
        yield graph("IfOfDifferentRanks", [np.array(choice), f(3, 4)], """g (bool c, float[N, 4] x) => (float y, int64[m] s) {
            z = If (c) <then_branch = a () => (float r) { r = ReduceMax <keepdims: int = 0> (x) }, else_branch = b () => (float[p] r) { r = ReduceMax <axes: ints = [1], keepdims: int = 0> (x) }>
            e = Exp (z) s = Shape (e) t = Transpose <perm: ints = [1, 0]> (x) y = Mul (t, e) }""")
        # What follows asks for the rank.
        yield graph("IfOfDifferentRanksThatAreAskedFor", [f(2, 1 if choice else 3, 4), f(4, 5)], """g (float[2, M, 4] x, float[4, 5] w) => (float y, float z) {
            one = Constant <value: tensor = int64[1] {1}> () two = Constant <value: tensor = int64 {2}> ()
            m = Shape <start: int = 1, end: int = 2> (x) c = Equal (m, one)
            s = If (c) <then_branch = a () => (float[2, 4] r) { r = Squeeze (x, one) }, else_branch = b () => (float[2, M, 4] r) { r = Identity (x) }>
            k = Shape (s) n = Size (k) d = Equal (n, two)
            t = If (d) <then_branch = e () => (float[] r) { r = Unsqueeze (s, one) }, else_branch = g () => (float[] r) { r = Identity (s) }>
            u = Softmax <axis: int = 1> (t) y = MatMul (u, w) z = Neg (x) }""")
        # The same, where what follows takes any rank; and within a graph.
        yield graph("IfOfDifferentRanksAndOneOfOneRank", [f(2, 1 if choice else 3, 4)], """g (float[2, M, 4] x) => (float y, float z) {
            one = Constant <value: tensor = int64[1] {1}> () two = Constant <value: tensor = int64 {2}> ()
            m = Shape <start: int = 1, end: int = 2> (x) c = Equal (m, one)
            s = If (c) <then_branch = a () => (float[2, 4] r) { r = Squeeze (x, one) }, else_branch = b () => (float[2, M, 4] r) { r = Identity (x) }>
            k = Shape (s) n = Size (k) d = Equal (n, two)
            y = If (d) <then_branch = e () => (float[] r) { r = Unsqueeze (s, one) }, else_branch = g () => (float[] r) { r = Identity (s) }>
            z = Exp (y) }""")
        yield graph("RankThatAGraphAsksFor", [f(2, 1 if choice else 3, 4), np.array(choice)], """g (float[2, M, 4] x, bool which) => (float y) {
            one = Constant <value: tensor = int64[1] {1}> () two = Constant <value: tensor = int64 {2}> ()
            m = Shape <start: int = 1, end: int = 2> (x) c = Equal (m, one)
            s = If (c) <then_branch = a () => (float[2, 4] r) { r = Squeeze (x, one) }, else_branch = b () => (float[2, M, 4] r) { r = Identity (x) }>
            t = If (which) <then_branch = h () => (float[] p) {
                    k = Shape (s) n = Size (k) d = Equal (n, two)
                    q = If (d) <then_branch = e () => (float[] r) { r = Unsqueeze (s, one) }, else_branch = g () => (float[] r) { r = Identity (s) }>
                    v = Unsqueeze (q, one) p = ReduceSum <keepdims: int = 0> (v, one) },
                else_branch = j () => (float[] p) { p = Neg (x) }>
            y = Softmax <axis: int = 1> (t) }""")
        # One branch is for images of another size.
        yield graph("IfOfWhichOneContradictsItsInputs", [np.array(True), f(1, 3, 8)], """g (bool c, float[1, 3, 8] x) => (float y) {
            z = If (c) <then_branch = a () => (float r) { r = Softmax (x) }, else_branch = b () => (float r) {
                w = Constant <value: tensor = float[1, 4, 1] {1, 2, 3, 4}> () r = Conv (x, w) }>
            y = Exp (z) }""")
        # What the branch that is not taken would do is an error.
        yield graph("IfThatGuards", [np.array(choice), f(3, 4), np.array([1 if choice else 9], I)], """g (bool c, float[3, 4] x, int64[1] k) => (float y) {
            y = If (c) <then_branch = a () => (float[1, 4] r) { r = Gather (x, k) }, else_branch = b () => (float[1, 4] r) {
                zero = Constant <value: tensor = int64[1] {0}> () s = Gather (x, zero) r = Neg (s) }> }""")
    # Which axes are of length 1 only the run tells.
    for n, m in ((1, 4), (3, 4), (1, 1), (3, 1)):
        yield graph("SqueezeOfAnyLength", [f(n, 1, m)], """g (float[N, 1, M] x) => (float[] y, float[] z) {
            s = Squeeze (x) e = Exp (s) k = Constant <value: tensor = float[1] {2}> () y = Mul (e, k) z = Neg (x) }""")
    # A matrix follows: the first axis is there to stay.
    yield graph("SqueezeBeforeGemm", [f(2, 5, 1, 1), f(5, 3)], """g (float[N, 5, 1, 1] x, float[5, 3] w) => (float[N, 3] y) {
        s = Squeeze (x) y = Gemm (s, w) }""")
    yield graph("SqueezeOfNothing", [np.ones((1, 3, 5, 0), F)], """g (float[1, N, 5, 0] x) => (float y) {
        a = Constant <value: tensor = int64[1] {0}> () y = Squeeze (x, a) }""")
    for order in (0, 1, 6, 40):
        yield graph("DetOfAnyOrder", [f(3, order, order)], "g (float[B, N, N] x) => (float[B] y) { y = Det (x) }")
        if order > 0:
            yield graph("InverseOfAnyOrder", [f(3, order, order)], "g (float[B, N, M] x) => (float[B, N, N] y) { y = com.microsoft.Inverse (x) }")
    for attributes in ('auto_pad = "SAME_UPPER", strides = [2, 3]', 'auto_pad = "SAME_LOWER", strides = [3, 2]', 'output_shape = [9, 20], strides = [2, 2]'):
        yield graph("ConvTransposeOfAnySize", [f(1, 4, 5, 6), f(4, 3, 3, 3), f(3)], f"""g (float[N, 4, H, W] x, float[4, 3, 3, 3] w, float[3] b) => (float y) {{
            y = ConvTranspose <{attributes}> (x, w, b) }}""")
    for length in (2, 50):
        yield graph("ScanOfAnyLength", [f(3), f(2, length, 3)], """g (float[3] s, float[2, L, 3] x) => (float f, float y) {
            f, y = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [1], scan_input_directions: ints = [1], scan_output_axes: ints = [1],
                         scan_output_directions: ints = [1],
                         body = b (float[3] a, float[2, 3] p) => (float[3] z, float[2, 3] o) {
                k = Constant <value: tensor = int64[1] {0}> () m = ReduceMean <axes: ints = [0], keepdims: int = 0> (p) q = Add (a, m) z = Tanh (q)
                o = Mul (p, z) }> (s, x) }""")


def operands():
    x = f(2, 3, 4)
    for axes in ([1], [-1, 0], [0, 1, 2]):
        for keepdims in (0, 1):
            for op in ("ReduceSum", "ReduceMax", "ReduceLogSumExp", "ReduceL2"):
                yield case(op, [x, np.array(axes, I)], opset=18, keepdims=keepdims)
    for axis in (0, -1):
        yield case("CumSum", [x, np.array(axis, I)], reverse=1, exclusive=1)
    yield case("Squeeze", [f(2, 1, 3, 1), np.array([-1, 1], I)])
    yield case("Unsqueeze", [f(2, 3), np.array([3, -4], I)])
    yield case("Slice", [x, np.array([-1, 0], I), np.array([-9, 3], I), np.array([2, 1], I), np.array([-2, 1], I)])
    yield case("Pad", [f(2, 3), np.array([1, 2, 0, 1], I), np.array(0.5, F), np.array([1, 0], I)], opset=18)
    yield case("Pad", [f(2, 3), np.array([1, -4, 0, 3], I), np.array(0.5, F)])
    # Of as many axes as the run tells.
    for count in (1, 2, 3):
        begins, ends, axes, steps = (np.array(v[:count], I) for v in ([-1, 0, 1], [-9, 3, 4], [2, 0, 1], [-2, 1, 2]))
        yield graph("SliceOfAnyNumberOfAxes", [x, begins, ends, axes, steps], """g (float[N,M,L] x, int64[K] b, int64[K] e, int64[K] a, int64[K] s) => (float y, float z, float w) {
            y = Slice (x, b, e, a, s) z = Slice (x, b, e, a) w = Slice (x, b, e) }""")
    for count in (0, 1, 2):
        yield graph("ReduceOverAnyNumberOfAxes", [x, np.array([-1, 0][:count], I)], """g (float[N,M,L] x, int64[K] a) => (float y, float z, float w) {
            y = ReduceSum (x, a) z = ReduceMax (x, a) w = ReduceL2 <noop_with_empty_axes: int = 1> (x, a) }""", 18)
    # Negative ones cut off.
    for mode in ("constant", "reflect", "edge", "wrap"):
        for pads in ([0, -1, 2, 0], [1, 1, -1, -2], [-1, 2, 0, 1]):
            yield case("Pad", [f(3, 4), np.array(pads, I)], opset=19, mode=mode)
    # A place that is a whole number, and is not if its terms are added in another order.
    for nearest in ("round_prefer_ceil", "round_prefer_floor"):
        yield case("Resize", [f(1, 1, 7), None, None, np.array([1, 1, 8], I)], mode="nearest", nearest_mode=nearest, coordinate_transformation_mode="asymmetric")
    yield case("Resize", [f(3, 3), None, np.array([0.5, 1.5], F)], opset=19, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="half_pixel_symmetric")
    for mode in ("nearest", "linear", "cubic"):
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
            yield case("Resize", [f(1, 2, 5, 6), None, np.array([1, 1, 1.7, 0.6], F)], opset=18, mode=mode, coordinate_transformation_mode=coordinates)
            yield case("Resize", [f(1, 2, 5, 6), None, None, np.array([1, 2, 3, 9], I)], opset=18, mode=mode, coordinate_transformation_mode=coordinates)
    yield case("Resize", [f(1, 1, 5, 8), None, np.array([1, 1, 0.4, 0.3], F)], opset=18, mode="linear", antialias=1)
    # To a length that follows from another, of positions as window attention has them.
    yield graph("ResizeToADifference", [f(2, 6, 3), f(1, 8, 7)], """g (float[N, H, W] x, float[1, 8, 7] t) => (float y) {
        i = Constant <value: tensor = int64[1] {1}> () k = Constant <value: tensor = int64[1] {2}> () h = Shape <start: int = 1, end: int = 2> (x) m = Mul (h, k) d = Sub (m, i)
        c = Shape <end: int = 2> (t) z = Concat <axis: int = 0> (c, d) r = Resize <mode: string = "linear"> (t, , , z)
        l = Constant <value: tensor = int64[1] {-1}> () q = Concat <axis: int = 0> (l, d) s = Reshape (r, q) y = Transpose <perm: ints = [1, 0]> (s) }""")
    # Weights that are a hundredth of the terms of their polynomials, beside the same in double precision.
    distance = np.abs(np.arange(6)[:, None] / 3 - np.arange(2))
    near, far = ((1.25 * distance - 2.25) * distance**2 + 1, -0.75 * (distance - 1) * (distance - 2) ** 2)
    weights = np.where(distance <= 1, near, far)
    expected = (weights @ np.array([1, -1]) / weights.sum(1)).astype(F).reshape(1, 1, 1, 6)
    for scales in (np.array([1, 1, 1, 3], F), Const([1, 1, 1, 3], F)):
        yield Case("Resize", [np.array([[[[1, -1]]]], F), None, scales], 18, tolerance=3e-7, expected=[expected],
                   attributes={"mode": "cubic", "coordinate_transformation_mode": "asymmetric", "exclude_outside": 1})
    # Weights are no integers where what they weigh is.
    for scales in ([1, 2, 1.5, 1], [1, 1, 2, 1.5]):
        for given in (np.array(scales, F), Const(scales, F)):
            for low, high, dtype in ((0, 256, np.uint8), (-128, 128, np.int8), (-1000, 1000, np.int32)):
                x = i(1, 5, 6, 2, low=low, high=high).astype(dtype)
                yield Case("Resize", [x, None, given], 19, attributes={"mode": "linear"}, steps=1)
                if dtype != np.int8:  # ONNX Runtime gives none below 0
                    yield Case("Resize", [x, None, given], 19, attributes={"mode": "linear", "antialias": 1}, steps=1)
    regions = np.array([[0, 1, 1, 8, 12], [1, -5, -7, 4, 5], [1, 40, 40, 50, 60], [0, 1, 3, 5, 7], [1, 6, 6, 2, 2]], F)
    for size in ((2, 2), (1, 4)):
        for given in (regions, Const(regions, F)):
            yield case("MaxRoiPool", [f(2, 3, 7, 5), given], opset=1, pooled_shape=size, spatial_scale=0.5)
    yield Case("MaxRoiPool", [np.arange(16, dtype=F).reshape(1, 1, 4, 4), regions[:1] // 4], 22, attributes={"pooled_shape": (2, 2)},
               expected=[np.array([[[[5, 6], [13, 14]]]], F)])
    for length in (5, 8):
        yield case("DFT", [f(2, 8, 3, 1), np.array(length, I), np.array(1, I)], opset=20)
        for inverse in (0, 1):
            yield case("DFT", [f(2, 8, 8, 2), np.array(length, I), np.array(inverse - 3, I)], opset=20, inverse=inverse)
    for inverse in (0, 1):
        yield case("DFT", [f(2, 8, 8, 2), None, np.array(1, I)], opset=20, inverse=inverse)
    # Half a spectrum, which is of a real signal. ONNX Runtime takes other elements where there are not as many as the length needs.
    half = f(2, 6, 6, 2)
    for length in (None, 1, 7, 8, 12, 19):
        for axis in (1, -2):
            real = np.fft.irfft(half[..., 0] + 1j * half[..., 1].astype(np.float64), length, axis=1 if axis == 1 else 2)[..., None].astype(F)
            sizes = [None] if length is None else [np.array(length, I), Const(length, I)]
            for size in sizes:
                for given in (np.array(axis, I), Const(axis, I)):
                    yield Case("DFT", [half, size, given], 20, attributes={"inverse": 1, "onesided": 1}, expected=[real])
                yield Case("DFT", [half, size], 17, attributes={"inverse": 1, "onesided": 1, "axis": axis % 4}, expected=[real])
    for most in (30, 0):
        yield case("NonMaxSuppression", [f(1, 40, 4, low=0, high=1), f(1, 2, 40, low=0, high=1), np.array(most, I), np.array(0.3, F), np.array(0.2, F)])
    # Several batches, scores of which many are equal, boxes of any order of corners and of no size; most of them as many as there are.
    corners = f(2, 100, 4, low=0, high=1)
    corners[:, ::9, 2:] = corners[:, ::9, :2]
    for most, center in ((7, 0), (100, 1)):
        equal = np.round(f(2, 3, 100, low=0, high=1) * 16) / 16
        for given in (np.array, Const):
            yield case("NonMaxSuppression", [corners, equal, given(most, I), given(0.2, F), given(0.25, F)], center_point_box=center)
    yield case("NonMaxSuppression", [corners, equal, Const(100, I)], 11)
    # Many, of which many are chosen; of some the width or the height is negative.
    for most, center in ((2000, 0), (900, 1)):
        many = np.concatenate([f(1, 2000, 2, low=0, high=1), f(1, 2000, 2, low=0.01, high=0.05, seed=1)], 2)
        many[:, ::11, 2] *= -1
        many[:, ::7, 3] *= -1
        if not center:
            many[..., 2:] += many[..., :2]
        scores = np.round(f(1, 2, 2000, low=0, high=1) * 64) / 64
        for given in (np.array, Const):
            yield case("NonMaxSuppression", [many, scores, given(most, I), given(0.2, F), given(0.25, F)], center_point_box=center)
    for given in (Const, np.array):
        yield case("NonMaxSuppression", [corners, equal, given(-1, I)], 11)
    for boxes in (0, 3):
        yield graph("NonMaxSuppressionOfAnyBoxes", [f(1, boxes, 4, low=0, high=1), f(1, 2, boxes, low=0, high=1)], """g (float[A,B,4] x, float[A,C,B] s) => (int64[N,3] y) {
            k = Constant <value: tensor = int64 {100}> () y = NonMaxSuppression (x, s, k) }""")
    # Of an image's region, of which the scales know nothing.
    region = [0, 0, 0.1, 0.2, 1, 1, 0.7, 1.3]
    for mode in ("nearest", "linear", "cubic"):
        crop = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 2.5}
        for given in (Const(region, F), np.array(region, F)):
            yield case("Resize", [f(1, 2, 5, 6), given, Const([1, 1, 1.5, 0.7], F)], opset=18, **crop)
            yield case("Resize", [f(1, 2, 5, 6), given, None, Const([1, 2, 4, 7], I)], opset=18, **crop)
    # A place at an edge, which in single precision lies beyond it.
    edge = Const([0, 0, 0, 0.15, 1, 1, 1, 1], F)
    yield case("Resize", [f(1, 1, 2, 3), edge, None, Const([1, 1, 2, 4], I)], opset=18, mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)
    for rows, columns in ((0, 3), (3, 0), (0, 0)):
        yield graph("ReshapeOfNothing", [np.zeros((rows, columns), F)], """g (float[A,B] x) => (float y) {
            s = Constant <value: tensor = int64[2] {0, 3}> () y = Reshape <allowzero: int = 1> (x, s) }""", 21)
    for filters, length, rate, low, high in ((8, 64, 16000, 0, 8000), (3, 16, 8192, 0, 4096), (40, 400, 16000, 20, 7600)):
        numbers = [np.array(filters, I), np.array(length, I), np.array(rate, I), np.array(low, F), np.array(high, F)]
        yield case("MelWeightMatrix", numbers)
        yield case("MelWeightMatrix", [*[Const(value) for value in numbers[:4]], numbers[4]])


def operands_of_any_length():
    """Vectors whose types do not say how many elements they have, of which their nodes do."""
    def one(name, inputs, node, more="", opset=18):
        return graph(name, [f(2, 3, 4), *inputs], f"g (float[A,B,C] x, int64[K] v{more}) => (float y) {{ {node} }}", opset)
    pads, some = np.array([0, 1, 1, 1, 0, 1], I), np.array([-1, 2], I)
    for mode in ("constant", "reflect"):
        yield one("Pad", [pads], f'y = Pad <mode: string = "{mode}"> (x, v)')
    fill = "c = Constant <value: tensor = float {2}> ()"
    yield one("Pad", [some], f"{fill} a = Constant <value: tensor = int64[1] {{1}}> () y = Pad (x, v, c, a)")
    yield one("Pad", [some, np.array([1], I)], f"{fill} y = Pad (x, v, c, a)", ", int64[1] a")
    for count in (0, 3):
        yield one("Tile", [np.array([2, 1, count], I)], "y = Tile (x, v)")
    yield one("Split", [np.array([1, 2], I)], "z, y = Split <axis: int = 1> (x, v)")
    yield one("CenterCropPad", [np.array([5, 2, 1], I)], "y = CenterCropPad (x, v)")
    yield one("CenterCropPad", [np.array([5, 2], I)], "y = CenterCropPad <axes: ints = [1, -1]> (x, v)")
    yield graph("AffineGrid", [f(2, 2, 3), np.array([2, 3, 4, 5], I)], "g (float[N,2,3] x, int64[K] v) => (float y) { y = AffineGrid (x, v) }", 20)
    yield graph("AffineGrid", [f(2, 3, 4), np.array([2, 3, 4, 5, 6], I)], "g (float[N,3,4] x, int64[K] v) => (float y) { y = AffineGrid <align_corners: int = 1> (x, v) }", 20)
    yield graph("Col2Im", [f(2, 8, 9), np.array([4, 4], I)], """g (float[N,C,L] x, int64[K] v) => (float y) {
        b = Constant <value: tensor = int64[2] {2, 2}> () y = Col2Im (x, v, b) }""", 18)
    yield graph("MaxUnpool", [f(1, 1, 2, 2), np.array([[[[0, 3], [8, 15]]]], I), np.array([1, 1, 4, 4], I)], """g (float[N,C,H,W] x, int64[N,C,H,W] i, int64[K] v) => (float y) {
        y = MaxUnpool <kernel_shape: ints = [2, 2], strides: ints = [2, 2]> (x, i, v) }""")
    yield graph("Resize", [f(1, 2, 4, 5), np.array([1, 1, 2, 1.5], F)], "g (float[A,B,C,D] x, float[K] v) => (float y) { y = Resize (x, , v) }", 18)


def halves():
    """Half an image, computed in two ways that only the analyser knows to be one."""
    for height in (7, 6, 1):
        yield graph("HalfSizes", [f(1, 2, height)],
                    """g (float[1, 2, H] x) => (float y)
            <int64[1] one = {1}, int64[1] two = {2}, int64[1] at = {2}, int64[2] rest = {1, 2}>
            { half = MaxPool<kernel_shape: ints = [3], strides: ints = [2], pads: ints = [1, 1]>(x)
              s = Shape(x) h = Gather(s, at) less = Sub(h, one) quotient = Div(less, two) size = Add(quotient, one)
              shape = Concat<axis: int = 0>(rest, size) ones = ConstantOfShape<value: tensor = float[1] {2.0}>(shape)
              z = Mul(half, ones) y = Add(z, half) }""")


def symbolic_windows():
    """Over images whose sizes are symbols: padding, indices and scales that follow from them."""
    def one(name, inputs, node, outputs="float[a, b, c, d] y", opset=18):
        return graph(name, [f(1, 4, 7, 10), *inputs], f"""g (float[N, 4, H, W] x{''.join(f', float{list(value.shape)} w{n}' for n, value in enumerate(inputs))}) => ({outputs}) {{
            {node} }}""", opset)
    for side in ("SAME_UPPER", "SAME_LOWER"):
        pads = f'auto_pad: string = "{side}", strides: ints = [2, 3]'
        yield one("Conv", [f(3, 4, 3, 2)], f"y = Conv <{pads}> (x, w0)")
        yield one("MaxPool", [], f"y = MaxPool <{pads}, kernel_shape: ints = [3, 4]> (x)")
        for counts in (0, 1):
            yield one("AveragePool", [], f"y = AveragePool <{pads}, kernel_shape: ints = [3, 4], count_include_pad: int = {counts}> (x)")
    for order in (0, 1):
        yield one("MaxPool", [], f"y, z = MaxPool <pads: ints = [1, 0, 1, 1], kernel_shape: ints = [3, 2], strides: ints = [2, 1], dilations: ints = [1, 2], storage_order: int = {order}> (x)",
                  "float[a, b, c, d] y, int64[e, f, g, h] z")
    for policy in ("not_larger", "not_smaller"):
        yield one("Resize", [], f"""s = Constant <value: tensor = int64[2] {{6, 6}}> ()
            y = Resize <mode: string = "nearest", axes: ints = [2, 3], keep_aspect_ratio_policy: string = "{policy}"> (x, , , s)""")
    yield graph("DequantizeLinear", [i(3, 10, high=100).astype(np.uint8), f(3, 4, low=0.1)], """g (uint8[N, M] x, float[N, K] s) => (float[N, M] y) {
        y = DequantizeLinear <axis: int = 1, block_size: int = 3> (x, s) }""", 21)
    yield graph("Col2Im", [f(2, 12, 15)], """g (float[N, C, L] x) => (float[a, b, c, d] y) {
        i = Constant <value: tensor = int64[2] {6, 5}> () k = Constant <value: tensor = int64[2] {2, 3}> () y = Col2Im (x, i, k) }""", 18)


def caches():
    """Attention to what a cache holds, which TensorScatter writes into: queries are the last of its keys."""
    q, k, v = f(2, 4, 3, 8), f(2, 2, 6, 8, seed=1), f(2, 2, 6, 8, seed=2)
    for counts in ([6, 4], [6, 2], [3, 1]):
        for mask in (None, f(3, 6)):
            yield case("Attention", [q, k, v, mask, None, None, np.array(counts, I)], 24, ["y", "", "", "z"], is_causal=1, qk_matmul_output_mode=3)
        yield graph("AttentionToCache", [q[:, :, :1], k, v, np.array(counts, I)], """g (float[B, 4, S, 8] q, float[B, 2, T, 8] k, float[B, 2, T, 8] v, int64[B] n) => (float y) {
            y = Attention <is_causal: int = 1> (q, k, v, , , , n) }""", 24)


def masks():
    """A mask that ends before the keys, of a length of its own; the rest of them does not count."""
    q, k, v = f(2, 4, 3, 8), f(2, 2, 6, 8, seed=1), f(2, 2, 6, 8, seed=2)
    for mask in (f(3, 4), f(3, 6), f(2, 1, 3, 4) > 0):
        dims = "S, M" if mask.ndim == 2 else "B, one, S, M"
        bias = np.where(mask, 0, -np.inf) if mask.dtype == bool else mask
        bias = np.concatenate([bias, np.full((*bias.shape[:-1], 6 - bias.shape[-1]), -np.inf)], axis=-1)
        scores = q @ np.repeat(k, 2, axis=1).swapaxes(2, 3) / np.sqrt(8) + bias
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True, where=scores > -np.inf, initial=-1e9))
        weights /= np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
        one = graph("ShorterMask", [q, k, v, mask], f"""g (float[B, 4, S, 8] q, float[B, 2, T, 8] k, float[B, 2, T, 8] v, {"bool" if mask.dtype == bool else "float"}[{dims}] m) => (float y) {{
            y = Attention (q, k, v, m) }}""", 24)
        yield dataclasses.replace(one, expected=[(weights @ np.repeat(v, 2, axis=1)).astype(np.float32)])


def parts():
    for sizes in ([2, 3, 1], [6, 0, 0]):
        yield graph("SplitToSequence", [f(2, 6), np.array(sizes, I)], """g (float[N, M] x, int64[3] k) => (float[a, b] y, float[c, d] z, int64 n) {
            s = SplitToSequence <axis: int = 1> (x, k) i = Constant <value: tensor = int64 {0}> () a = SequenceAt (s, i) y = Neg (a)
            z = ConcatFromSequence <axis: int = 1> (s) n = SequenceLength (s) }""")


def beside():
    """What no kernel can be merged with, whose length the run tells, beside what reads the same value."""
    yield graph("SliceBesideReduction", [f(1), np.array([0], I), np.array([1], I)],
                """g (float[1] x, int64[1] begin, int64[1] end) => (float[N] y, float[1] z) <int64[1] last = {-1}, int64[1] first = {0}>
            { y = Slice(x, begin, end, last) z = ReduceLogSumExp(x, first) }""", opset=18)


def twice():
    """Two slices of one type, each of a length of its own."""
    bounds = [np.array([n], I) for n in (1, 3, 2, -1)]
    yield graph("SlicesOfOneType", [f(1, 2, 2), *bounds, f(1, 2, 2)],
                """g (float[1,2,2] a, int64[1] b, int64[1] c, int64[1] d, int64[1] e, float[1,2,2] x) => (float[A,B,C] y, float[D,E,F] z) <int64[1] last = {2}>
            { y = Slice(x, b, c, last) z = Slice(a, d, e, last) }""")


def parts_of_parts():
    """Lengths that are worked out of lengths, again and again, by two ways to one result."""
    steps = " ".join(f"p{i} = Slice(s{i}, m, k) s{i + 1} = Tile(p{i}, twice) t{i + 1} = Tile(p{i}, twice)" for i in range(6))
    for first, last in ((1, 6), (0, 9), (2, 2)):
        yield graph("PartsOfParts", [f(7, 4), f(first), f(last)], f"""g (float[N, 4] x, float[A] a, float[B] b) => (float y) <int64[2] twice = {{2, 1}}>
            {{ m = Shape(a) k = Shape(b) s0 = Identity(x) {steps} size = Shape(t6) ones = ConstantOfShape<value: tensor = float[1] {{2.0}}>(size)
               z = Add(s6, ones) y = Relu(z) }}""")


def shorter_and_shorter():
    """Lengths that cannot be told to be none below zero, each twice in the next."""
    steps = " ".join(f"n{i} = Shape(s{i}) d{i} = Sub(n{i}, k) z{i} = ConstantOfShape<value: tensor = float[1] {{{i}.5}}>(d{i}) s{i + 1} = Add(b{i}, z{i})"
                     for i in range(6))
    others = ", ".join(f"float[M{i}] b{i}" for i in range(6))
    for x, a, lengths in ((20, 3, (1, 14, 1, 1, 1, 2)), (18, 3, (15, 12, 1, 6, 1, 0)), (10, 0, (1, 10, 1, 1, 1, 1)), (1, 0, (1, 1, 7, 7, 1, 1))):
        yield graph("ShorterAndShorter", [f(x), f(a), *map(f, lengths)], f"""g (float[N] s0, float[K] a, {others}) => (float y)
            {{ k = Shape(a) {steps} t = Add(s6, z5) y = Relu(t) }}""")


def cases():
    yield from twice()
    yield from parts_of_parts()
    yield from shorter_and_shorter()
    yield from beside()
    yield from recurrent()
    yield from ranges_of_sizes()
    yield from control_flow()
    yield from operands()
    yield from operands_of_any_length()
    yield from halves()
    yield from symbolic_windows()
    yield from parts()
    yield from caches()
    yield from masks()
