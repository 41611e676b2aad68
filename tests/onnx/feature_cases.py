"""Elements below a byte, sequences, optionals, samples of volumes and the operators of ai.onnx.ml on numbers."""

import dataclasses

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

from case import F, I, Case, Const, case, f, graph, i, ints


def ml(op, inputs, opset=3, outputs=1, **attributes):
    return Case(op, inputs, opset, outputs, attributes, "ai.onnx.ml")


def forest(trees, depth, features, targets, votes, seed=0):
    """Attributes of full trees, whose leaves vote for one target each."""
    random = np.random.default_rng(seed)
    nodes = {name: [] for name in ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")}
    leaves = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        inner = 2**depth - 1
        for number in range(2 * inner + 1):
            is_leaf = number >= inner
            mode = "LEAF" if is_leaf else ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"][(tree + number) % 4 if seed else 0]
            row = (tree, number, mode, int(random.integers(features)), float(F(random.normal())), 0 if is_leaf else 2 * number + 1, 0 if is_leaf else 2 * number + 2)
            for name, value in zip(nodes, row):
                nodes[name].append(value)
            if is_leaf:
                for name, value in zip(leaves, (tree, number, int(random.integers(targets)), float(F(random.normal())))):
                    leaves[name].append(value)
    return {f"nodes_{name}": values for name, values in nodes.items()} | {f"{votes}_{name}": values for name, values in leaves.items()}


def uneven_forest(trees, leaves, features, targets, votes, seed):
    """Attributes of trees that grow where they grew last, or anywhere: some paths are many times as long as others."""
    random = np.random.default_rng(seed)
    nodes = {name: [] for name in ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    votes_of = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        children, tips = [None], [0]
        for _ in range(leaves[tree % len(leaves)] - 1):
            tip = tips.pop(-1 - int(random.integers(2)) % len(tips) if random.random() < 0.6 else int(random.integers(len(tips))))
            children[tip] = (len(children), len(children) + 1)
            tips += children[tip]
            children += [None, None]
        for number, pair in enumerate(children):
            mode = "LEAF" if pair is None else ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")[number % 4 if seed % 2 else 0]
            row = (tree, number, mode, int(random.integers(features)), float(F(random.normal())), *(pair or (0, 0)), int(pair is not None and number % 3 == 0))
            for name, value in zip(nodes, row):
                nodes[name].append(value)
            if pair is None:
                for name, value in zip(votes_of, (tree, number, int(random.integers(targets)), float(F(random.normal())))):
                    votes_of[name].append(value)
    return {f"nodes_{name}": values for name, values in nodes.items()} | {f"{votes}_{name}": values for name, values in votes_of.items()}


def narrow_cases():
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        # Three rows of five: the file packs two elements to a byte across rows.
        x = Const(i(3, 5, low=-8 if dtype == ml_dtypes.int4 else 0, high=8).astype(dtype))
        zero = Const(np.array(3, dtype))
        yield case("DequantizeLinear", [x, Const(0.5, F), zero], 21)
        yield case("DequantizeLinear", [x, Const(f(5, low=0.1), F)], 21, axis=1)
        yield case("DequantizeLinear", [x, Const(f(3, 3, low=0.1), F)], 21, axis=1, block_size=2)
    for dtype in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz):
        codes = np.arange(256, dtype=np.uint8).view(dtype)
        yield case("Cast", [Const(codes)], 19, to=1)
        yield case("DequantizeLinear", [Const(codes), Const(0.5, F), Const(np.array(0, dtype))], 19)
    for dtype in (ml_dtypes.float4_e2m1fn, ml_dtypes.int2, ml_dtypes.uint2):
        codes = np.arange(3 * 7, dtype=np.uint8).reshape(3, 7) % (16 if dtype == ml_dtypes.float4_e2m1fn else 4)
        one = case("Cast", [Const(codes.view(dtype))], 25, to=1)
        one.expected = [codes.view(dtype).astype(F)]
        yield one


def coming_cases():
    """Operators of sets that the onnx package, and ONNX Runtime, do not know yet."""
    a, b = f(3, 5), f(3, 5, seed=1)
    for alpha in ({}, {"alpha": 0.7}):
        yield Case("SwiGLU", [a, b], 28, attributes=alpha, expected=[a / (1 + np.exp(-alpha.get("alpha", 1) * a)) * b])
    heads, tokens = 2, 3
    q, k, v, state = f(1, tokens, 8), f(1, tokens, 8, seed=1), f(1, tokens, 6), f(1, heads, 4, 3)
    decay, beta = f(1, tokens, heads, low=-1, high=-0.1), f(1, tokens, heads, low=0.1, high=0.9)
    split = lambda x, t: x[0, t].reshape(heads, -1)
    after, rows = state[0].copy(), []
    for t in range(tokens):
        after = after * np.exp(decay[0, t])[:, None, None]
        known = np.einsum("hd,hde->he", split(k, t), after)
        after = after + np.einsum("hd,he->hde", split(k, t), beta[0, t][:, None] * (split(v, t) - known))
        rows.append(np.einsum("hd,hde->he", split(q, t), after).reshape(-1) / 2)
    yield Case("LinearAttention", [q, k, v, state, decay, beta], 27, 2, {"q_num_heads": heads, "kv_num_heads": heads}, expected=[np.stack(rows)[None], after[None]])
    x, past, weights, bias = f(1, 2, 5), f(1, 2, 2), f(2, 1, 3), f(2)
    whole = np.concatenate([past, x], 2)
    sums = sum(weights[None, :, 0, n, None] * whole[:, :, n:n + 5] for n in range(3)) + bias[None, :, None]
    yield Case("CausalConvWithState", [x, weights, bias, past], 27, 2, {"activation": "silu"}, expected=[sums / (1 + np.exp(-sums)), whole[:, :, 5:]])


def narrow_network():
    """Weights of int4 by block and of float8, activations of float8 and uint4; not ONNX Runtime, which drops a Relu
    before a quantisation to float8."""
    random = np.random.default_rng(0)
    float8 = ml_dtypes.float8_e4m3fn
    x = random.standard_normal((3, 10, 64)).astype(F)
    w, scales = random.integers(-8, 8, (64, 48)).astype(ml_dtypes.int4), (random.random((4, 48)) * 0.1 + 0.02).astype(F)
    v = random.standard_normal((48, 40)).astype(float8)
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[b, 10, 64] x) => (float[b, 10, 40] y) {
      wf = DequantizeLinear <axis = 0, block_size = 16> (w, s)  a = MatMul (x, wf)  r = Relu (a)
      q = QuantizeLinear (r, step, zero)  t = Transpose <perm = [0, 2, 1]> (q)  u = Transpose <perm = [0, 2, 1]> (t)
      c = DequantizeLinear (u, step, zero)  vf = DequantizeLinear (v, half, zero)  d = MatMul (c, vf)
      e = QuantizeLinear (d, half, seven)  y = DequantizeLinear (e, half, seven) }"""
    model = onnx.parser.parse_model(text)
    constants = {"w": w, "s": scales, "v": v, "step": F(0.1), "half": F(0.05), "zero": float8(0), "seven": ml_dtypes.uint4(7)}
    model.graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items())
    c = np.clip(np.maximum(x @ (w.astype(F) * np.repeat(scales, 16, axis=0)), 0) / F(0.1), -448, 448).astype(float8).astype(F) * F(0.1)
    e = np.clip(np.rint(c @ (v.astype(F) * F(0.05)) / F(0.05)) + 7, 0, 15)
    return Case("a network of narrow types", [x], model, expected=[(e - 7).astype(F) * F(0.05)])


def splitmix64(seed, count):
    """The first numbers of the stream of a seed."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random_cases():
    """The streams that docs/command.md describes."""
    words = splitmix64(np.array(7.5, F).view(np.uint32), 12000)
    uniform = (words >> np.uint64(40)).astype(F) * F(2.0**-24)
    doubles = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    above, angle = uniform[0::2] + F(2.0**-24), 2 * np.pi * uniform[1::2].astype(np.float64)
    normal = np.sqrt(-2 * np.log(above.astype(np.float64))) * np.cos(angle)

    def one(op, inputs, expected, tolerance=1e-4, **attributes):
        return Case(op, inputs, 15, attributes={"seed": 7.5, **attributes}, expected=[expected], tolerance=tolerance)

    shape = (20, 300)
    yield one("RandomUniform", [], (uniform[:6000] * F(3) - F(1)).reshape(shape), shape=shape, low=-1.0, high=2.0)
    yield one("RandomUniformLike", [f(3, 4)], doubles[:12].reshape(3, 4), dtype=11)
    yield one("RandomNormal", [], (normal * 2 + 1).astype(F).reshape(shape), shape=shape, mean=1.0, scale=2.0)
    yield one("RandomNormalLike", [f(3, 5).astype(np.float16)], normal[:15].reshape(3, 5).astype(np.float16), tolerance=1e-3)
    chances = np.full((20, 300), 0.3, F)
    yield one("Bernoulli", [chances], (uniform[:6000] < F(0.3)).reshape(shape), dtype=9)
    logits = np.log(np.array([[1, 2, 3, 4], [4, 0.001, 4, 2]], F))
    edges = np.cumsum(np.exp(logits) / np.exp(logits).sum(1, keepdims=True), 1)[:, None, :3]
    drawn = uniform[:2000].reshape(2, 1000, 1)
    yield one("Multinomial", [logits], (edges <= drawn).sum(2).astype(np.int32), sample_size=1000)
    kept = (splitmix64(3, 12) >> np.uint64(40)).astype(F) * F(2.0**-24) >= 0.25
    x = f(3, 4)
    yield Case("Dropout", [x, Const(0.25, F), Const(True, bool)], 13, outputs=2, attributes={"seed": 3},
               expected=[np.where(kept.reshape(3, 4), x / F(0.75), 0).astype(F), kept.reshape(3, 4)])


def cases():
    heads = [f(1, 2, 5, 8), f(1, 2, 8, 5), f(1, 2, 5, 8)]
    yield graph("a softmax of one element between products", heads, "g (float[1, 2, 5, 8] q, float[1, 2, 8, 5] k, float[1, 2, 5, 8] v) => (float y) "
                "{ s = MatMul (q, k)  p = Softmax <axis = 0> (s)  y = MatMul (p, v) }")
    yield graph("constants of long shapes without elements", [f(2)], "g (float[2] x) => (float y, float[2] z) { e = Constant <value = float[0, 3] {}> ()  "
                "s = Constant <value_ints = [2147483647, 4, 0]> ()  r = Reshape <allowzero = 1> (e, s)  y = Abs (r)  z = Abs (x) }")
    # Of an operator set that the onnx package does not know yet.
    product = f(3, 5)
    for reverse in (0, 1):
        expected = np.flip(np.cumprod(np.flip(product, 1), 1), 1) if reverse else np.cumprod(product, 1)
        yield Case("CumProd", [product, Const(1, I)], 26, attributes={"reverse": reverse}, expected=[expected])
        behind = np.ones((3, 1), F)
        expected = np.concatenate([expected[:, 1:], behind] if reverse else [behind, expected[:, :-1]], 1)
        yield Case("CumProd", [product, Const(-1, I)], 26, attributes={"reverse": reverse, "exclusive": 1}, expected=[expected])
    yield from coming_cases()
    yield from random_cases()
    yield from narrow_cases()
    yield narrow_network()
    # Trees (as many as give every target a vote: of the others ONNX Runtime leaves base_values out): all modes, all sums, several targets.
    x = f(6, 5)
    for aggregate in ["SUM", "AVERAGE", "MIN", "MAX"]:
        yield ml("TreeEnsembleRegressor", [x], n_targets=1, aggregate_function=aggregate, **forest(4, 3, 5, 1, "target"))
    for transform in ["NONE", "SOFTMAX", "LOGISTIC"]:
        yield ml("TreeEnsembleRegressor", [x], n_targets=3, post_transform=transform, base_values=[0.1, 0.2, -0.3], **forest(30, 2, 5, 3, "target", 1))
    for transform in ["NONE", "SOFTMAX", "LOGISTIC"]:
        yield ml("TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=[7, 3, 9], post_transform=transform, **forest(9, 3, 5, 3, "class", 2))
        yield ml("TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=[7, 3], post_transform=transform, **forest(5, 3, 5, 1, "class", 3))
    # Nodes and features of which the numbers have more than 32 bits together, and missing values.
    wide = f(2, 2**17)
    wide[:, ::3] = np.nan
    many = forest(64, 7, 2**17, 2, "target", 4)
    yield ml("TreeEnsembleRegressor", [wide], n_targets=2, **many)
    tracks = [0 if mode == "LEAF" else number % 2 for number, mode in enumerate(many["nodes_modes"])]
    yield ml("TreeEnsembleRegressor", [wide], n_targets=2, nodes_missing_value_tracks_true=tracks, **many)
    # Trees of one word of leaves, of several, of as many as no tree has the same; rows of full vectors and others.
    rows = f(37, 6)
    rows[3:9] = np.nan
    for seed, leaves in enumerate([(31,), (32,), (33, 5), (40, 20, 70), (1, 2, 90)]):
        yield ml("TreeEnsembleRegressor", [rows], n_targets=1, **uneven_forest(7, leaves, 6, 1, "target", seed))
        yield ml("TreeEnsembleRegressor", [rows[:1]], n_targets=2, aggregate_function="MAX", **uneven_forest(8, leaves, 6, 2, "target", seed + 5))
        yield ml("TreeEnsembleClassifier", [rows[9:]], outputs=2, classlabels_int64s=[2, 4, 6], **uneven_forest(30, leaves, 6, 3, "class", seed))
    # Full trees of many leaves, walked by many rows.
    yield ml("TreeEnsembleRegressor", [rows], n_targets=2, **forest(5, 10, 6, 2, "target", 4))
    # Some of whose nodes ask whether numbers are equal.
    full = forest(5, 10, 6, 2, "target", 4)
    full["nodes_modes"] = ["BRANCH_NEQ" if mode == "BRANCH_GT" else mode for mode in full["nodes_modes"]]
    for some in (rows, rows[:1]):
        yield ml("TreeEnsembleRegressor", [some], n_targets=2, **full)
    # Features that equal splits, which are infinite, zeros of either sign, the greatest numbers and the least.
    ends = [float(end) for end in np.array([np.inf, -np.inf, 0.0, -0.0, 1.0, 3.4028235e38, -3.4028235e38, 1e-45], F)]
    exact = np.array(ends, F)[np.arange(18 * 6) % 7 + np.arange(18 * 6) // 54].reshape(18, 6)
    exact[::5, 1] = np.nan
    for seed in (1, 2):
        trees = uneven_forest(12, (9, 40), 6, 1, "target", seed)
        trees["nodes_values"] = [ends[number % len(ends)] for number in range(len(trees["nodes_values"]))]
        for some in (exact, exact[:3]):
            yield ml("TreeEnsembleRegressor", [some], n_targets=1, **trees)
    # Support vectors: all kernels, one class against the rest of the world, two classes and several.
    numbers = lambda *shape, low=-1.0: [float(v) for v in f(*shape, low=low, high=1.0).ravel()]
    for kernel in ["LINEAR", "POLY", "RBF", "SIGMOID"]:
        parameters = {"kernel_type": kernel, "kernel_params": [0.3, 0.5, 3.0]}
        for outlier in (0, 1):
            yield ml("SVMRegressor", [x], 1, n_supports=7, support_vectors=numbers(7, 5), coefficients=numbers(7), rho=[0.1], one_class=outlier, **parameters)
        for counts in ([4, 3], [3, 1, 2, 4]):
            total, classes = sum(counts), len(counts)
            yield ml("SVMClassifier", [x], 1, 2, classlabels_ints=[7, 3, 9, 2][:classes], vectors_per_class=counts, support_vectors=numbers(total, 5),
                     coefficients=numbers(classes - 1, total), rho=numbers(classes * (classes - 1) // 2), **parameters)
    yield ml("SVMRegressor", [x], 1, n_supports=0, coefficients=numbers(5), rho=[0.1], kernel_type="LINEAR")
    # (SOFTMAX of two classes ONNX Runtime leaves out.)
    for counts, transform in [([4, 3], "LOGISTIC"), ([4, 1, 2], "SOFTMAX")]:
        classes = len(counts)
        yield ml("SVMClassifier", [x], 1, 2, classlabels_ints=[7, 3, 9][:classes], vectors_per_class=counts, support_vectors=numbers(7, 5),
                 coefficients=numbers(classes - 1, 7, low=0.1), rho=numbers(classes * (classes - 1) // 2), kernel_type="RBF", kernel_params=[0.3, 0.5, 3.0],
                 post_transform=transform)
    # Probabilities of classes, of those of pairs; more classes than are code of their own, and rows that take a different number of steps.
    for counts in ([4, 3], [4, 1, 2], [2] * 5, [1] * 11):
        total, classes = sum(counts), len(counts)
        pairs = classes * (classes - 1) // 2
        for rows, transform in ((9, "NONE"), (1, "SOFTMAX")):
            yield ml("SVMClassifier", [f(rows, 5)], 1, 2, classlabels_ints=list(range(3, 3 + classes)), vectors_per_class=counts, support_vectors=numbers(total, 5),
                     coefficients=numbers(classes - 1, total), rho=numbers(pairs), prob_a=numbers(pairs, low=-4.0), prob_b=numbers(pairs),
                     kernel_type="RBF", kernel_params=[0.3, 0.5, 3.0], post_transform=transform)
    # Maps are rows in the order of their labels.
    for labels in ({"classlabels_int64s": [4, 0, 2]}, {"classlabels_strings": ["a", "c", "b"]}):
        for scores in (f(4, 3), f(3)):
            yield dataclasses.replace(ml("ZipMap", [scores], 1, **labels), expected=[scores.reshape(-1, 3)])
    # Features.
    yield ml("OneHotEncoder", [i(4, 3)], 1, cats_int64s=[3, 0, 2], zeros=1)
    yield ml("OneHotEncoder", [np.array([2, 0, 3, 3], F)], 1, cats_int64s=[3, 0, 2], zeros=0)
    yield ml("FeatureVectorizer", [f(4, 3), f(4, 2), f(4, 1)], 1, inputdimensions=[3, 2, 1])
    yield ml("Scaler", [x], scale=[1.0, 2.0, 3.0, 4.0, 5.0], offset=[0.5, 0.0, 1.0, -1.0, 2.0])
    yield ml("Scaler", [i(3, 5)], scale=[0.5], offset=[1.0])
    for norm in ["MAX", "L1", "L2"]:
        yield ml("Normalizer", [f(4, 3, low=0.1)], norm=norm)
    yield ml("Binarizer", [x], threshold=0.25)
    yield ml("Imputer", [np.array([[1, np.nan, 3], [np.nan, 5, 6]], F)], imputed_value_floats=[10.0, 20.0, 30.0], replaced_value_float=float("nan"))
    yield ml("Imputer", [np.array([[1, -1, 3], [-1, 5, 6]], I)], imputed_value_int64s=[7], replaced_value_int64=-1)
    yield ml("ArrayFeatureExtractor", [f(3, 4), np.array([[2, 0]], I)])
    for places in (ints(-2, 0), np.array([-2, 0], I)):
        yield dataclasses.replace(ml("ArrayFeatureExtractor", [f(3, 4), places]), expected=[f(3, 4)[:, [-2, 0]]])
    yield ml("LabelEncoder", [i(2, 3)], keys_int64s=[3, 1, 4], values_int64s=[30, 10, 40], default_int64=-5)
    yield ml("LabelEncoder", [i(7)], keys_int64s=[3, 1, 4], values_floats=[0.5, 1.5, 2.5], default_float=9.0)
    yield ml("LabelEncoder", [np.array([1.0, np.nan, 2.5], F)], 4, keys_floats=[2.5, float("nan"), 1.0], values_int64s=[1, 2, 3])
    for transform in ["NONE", "SOFTMAX", "LOGISTIC"]:
        yield ml("LinearRegressor", [x], targets=2, coefficients=[float(v) for v in f(10)], intercepts=[0.5, -0.5], post_transform=transform)
        yield ml("LinearClassifier", [x], outputs=2, classlabels_ints=[4, 2, 8], coefficients=[float(v) for v in f(15)], intercepts=[0.5, -0.5, 0.1], post_transform=transform)
    # Samples of volumes.
    grid = f(2, 3, 4, 2, 3, low=-1.2, high=1.2)
    for mode in ["linear", "nearest"]:
        for padding in ["zeros", "border", "reflection"]:
            for corners in (0, 1):
                yield case("GridSample", [f(2, 3, 4, 3, 5), grid], 20, mode=mode, padding_mode=padding, align_corners=corners)
    # Sequences.
    ab = "(float[2, 3] a, float[2, 3] b) => (float y)"
    two = [f(2, 3), f(2, 3, seed=1)]
    yield graph("SequenceAt", two, f"g {ab} {{ s = SequenceConstruct (a, b)  i = Constant <value_int = -1> ()  y = SequenceAt (s, i) }}")
    yield graph("SequenceAt at run time", [*two, np.array(1, I)],
                "g (float[2, 3] a, float[2, 3] b, int64 i) => (float y) { s = SequenceConstruct (a, b)  y = SequenceAt (s, i) }")
    yield graph("SequenceInsert", two, f"g {ab} {{ e = SequenceEmpty ()  s = SequenceInsert (e, a)  i = Constant <value_int = 0> ()  "
                "t = SequenceInsert (s, b, i)  y = ConcatFromSequence <axis = 1> (t) }")
    yield graph("SequenceErase", two, f"g {ab} {{ s = SequenceConstruct (a, b, a)  i = Constant <value_int = -2> ()  t = SequenceErase (s, i)  "
                "y = ConcatFromSequence <axis = -1, new_axis = 1> (t) }")
    yield graph("SequenceLength", two, "g (float[2, 3] a, float[2, 3] b) => (int64 y) { s = SequenceConstruct (a, b)  y = SequenceLength (s) }")
    for sizes in ("2", "[3, 1, 1]"):
        kind = "value_ints" if "[" in sizes else "value_int"
        yield graph("SplitToSequence", [f(5, 2)], f"g (float[5, 2] a) => (float y) {{ n = Constant <{kind} = {sizes}> ()  s = SplitToSequence <axis = 0> (a, n)  "
                    "i = Constant <value_int = -1> ()  y = SequenceAt (s, i) }")
    yield graph("SplitToSequence of a symbol", [f(5, 2)], "g (float[n, 2] a) => (float y) { n = Constant <value_ints = [3, 2]> ()  "
                "s = SplitToSequence <axis = 0> (a, n)  i = Constant <value_int = 1> ()  y = SequenceAt (s, i) }")
    for keep in (0, 1):
        yield graph("SplitToSequence", [f(5, 2)], f"g (float[5, 2] a) => (float y) {{ s = SplitToSequence <axis = 0, keepdims = {keep}> (a)  "
                    "i = Constant <value_int = 3> ()  y = SequenceAt (s, i) }")
    # Sequences whose length only the run tells.
    three = np.array(3, I)
    for place in ("", ", i"):
        yield graph(f"SequenceInsert in a loop{place}", [f(2, 3), three, np.array(0, I)],
                    "g (float[2, 3] a, int64 m, int64 z) => (float y, int64 l) { e = SequenceEmpty ()  s = Loop (m, , e) "
                    "<body = b (int64 i, bool c, seq(float[2, 3]) s0) => (bool c, seq(float[2, 3]) s1) "
                    "{ f = Cast <to = 1> (i)  x = Mul (a, f)  "
                    f"s1 = SequenceInsert (s0, x{', z' if place else ''}) }}>  y = ConcatFromSequence <axis = 1> (s)  l = SequenceLength (s) }}")
    for at in (0, 1, 2, -1, -2):
        where = np.array(at, I)
        yield graph(f"SequenceInsert at {at}", [*two, where],
                    "g (float[2, 3] a, float[2, 3] b, int64 i) => (float y) { s = SequenceConstruct (a, b)  x = Neg (a)  t = SequenceInsert (s, x, i)  "
                    "y = ConcatFromSequence <axis = 0, new_axis = 1> (t) }")
        if at != 2:
            yield graph(f"SequenceErase at {at}", [*two, where],
                        "g (float[2, 3] a, float[2, 3] b, int64 i) => (float y) { s = SequenceConstruct (a, b)  t = SequenceErase (s, i)  "
                        "y = ConcatFromSequence <axis = 1> (t) }")
            yield graph(f"SequenceAt {at}", [*two, where],
                        "g (float[2, 3] a, float[2, 3] b, int64 i) => (float y) { s = SequenceConstruct (a, b)  y = SequenceAt (s, i) }")
    for keep in (0, 1):
        yield graph(f"SplitToSequence of any length {keep}", [f(2, 5, 3), np.array(-2, I)],
                    f"g (float[2, n, 3] a, int64 i) => (float y, float z, int64 l) {{ s = SplitToSequence <axis = 1, keepdims = {keep}> (a)  "
                    "t = SequenceErase (s)  y = SequenceAt (t, i)  z = ConcatFromSequence <axis = 1> (t)  l = SequenceLength (s) }")
    yield graph("SequenceMap of any length", [f(4, 3)],
                "g (float[n, 3] a) => (float y) { s = SplitToSequence <axis = 0> (a)  t = SequenceMap (s, a) <body = b (float[1, 3] x, float[n, 3] w) => (float[1, 3] r) "
                "{ m = ReduceMax <keepdims = 0> (w)  r = Mul (x, m) }>  y = ConcatFromSequence <axis = 0> (t) }")
    for which in (True, False):
        yield graph("If of sequences of two lengths", [*two, np.array(which)],
                    "g (float[2, 3] a, float[2, 3] b, bool w) => (float y) { s = If (w) <then_branch = t () => (seq(float[2, 3]) u) { u = SequenceConstruct (a, b) }, "
                    "else_branch = e () => (seq(float[2, 3]) u) { u = SequenceConstruct (b) }>  y = ConcatFromSequence <axis = 0> (s) }")
    yield graph("a loop within a loop that fills a sequence", [f(2, 3), np.array(2, I), three],
                "g (float[2, 3] a, int64 m, int64 n) => (float y) { e = SequenceEmpty ()  s = Loop (m, , e) "
                "<body = b (int64 i, bool c, seq(float[2, 3]) s0) => (bool c, seq(float[2, 3]) s2) { s2 = Loop (n, , s0) "
                "<body = d (int64 j, bool k, seq(float[2, 3]) s1) => (bool k, seq(float[2, 3]) s3) { p = Add (i, j)  f = Cast <to = 1> (p)  x = Mul (a, f)  "
                "s3 = SequenceInsert (s1, x) }> }>  y = ConcatFromSequence <axis = 0> (s) }")
    yield graph("Optional", two, f"g {ab} {{ o = Optional (a)  h = OptionalHasElement (o)  y = If (h) <then_branch = t () => (float u) "
                "{ u = OptionalGetElement (o) }, else_branch = e () => (float u) { u = Identity (b) }> }", 18)
