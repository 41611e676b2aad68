"""Compares what the patterns of cublas, cudnn and cutlass take here with what apache-tvm's take.

    python tests/interop/partition.py [--binary OPT_BATCH] [--step N] [--keep DIR]

Products, convolutions, attention, residual blocks and norms in float32, float16 and int8, of static and symbolic shapes, go through
FuseOpsByPattern with each library's registered patterns on both sides, under `tvm_compat=true`; the modules that come out must be
structurally equal. (TVM's partition_for_cutlass and partition_for_cudnn go on to annotate workspaces, which fails in 0.27 on any
attention; written-out attention is rewritten before, on both sides.)
"""

import argparse
import collections
import itertools
import logging
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from interop import ROOT, Job, run_batch, verdict  # noqa: E402

import tvm  # noqa: E402
from tvm import relax, tirx  # noqa: E402
from tvm.relax.backend.cuda import cublas, cudnn, cutlass  # noqa: E402,F401  (they register their patterns)
from tvm.relax.backend.pattern_registry import get_patterns_with_prefix  # noqa: E402
from tvm.relax.dpl import rewrite_call  # noqa: E402
from tvm.script import ir as I, relax as R, tirx as T  # noqa: E402,F401

OP = relax.op


class Net:
    """One function, written binding by binding."""

    def __init__(self):
        self.builder = relax.BlockBuilder()
        self.params = []

    def input(self, shape, dtype):
        self.params.append(relax.Var(f"p{len(self.params)}", R.Tensor(shape, dtype)))
        return self.params[-1]

    def build(self, body):
        """`body` takes `emit` and gives the values that leave."""
        with self.builder.function("main", self.params):
            with self.builder.dataflow():
                outputs = [self.builder.emit_output(value) for value in body(self.builder.emit)]
            self.builder.emit_func_output(outputs[0] if len(outputs) == 1 else relax.Tuple(outputs))
        return self.builder.finalize()


ACTIVATIONS = {"": None, "relu": OP.nn.relu, "gelu": OP.nn.gelu, "silu": OP.nn.silu}


def matmul(lhs, rhs, dtype, bias=None, activation="", transposed=False, residual="", leak=False):
    net = Net()
    a, b = net.input(lhs, dtype), net.input(rhs, dtype)
    out_dtype = "int32" if dtype == "int8" else None
    shift = net.input(bias, out_dtype or dtype) if bias is not None else None
    other = None

    def body(emit):
        right = b
        if transposed:
            axes = list(range(len(rhs)))
            axes[-1], axes[-2] = axes[-2], axes[-1]
            right = emit(OP.permute_dims(b, axes))
        value = first = emit(OP.matmul(a, right, out_dtype))
        if shift is not None:
            value = emit(OP.add(value, shift))
        if ACTIVATIONS[activation]:
            value = emit(ACTIVATIONS[activation](value))
        if residual:
            value = emit((OP.multiply if "multiply" in residual else OP.add)(value, other))
            if "relu" in residual:
                value = emit(OP.nn.relu(value))
        return [value, emit(OP.nn.relu(first))] if leak else [value]

    if residual:
        shape = [*lhs[:-1], rhs[-2] if transposed else rhs[-1]]
        other = net.input(shape if "full" in residual else shape[-1:], out_dtype or dtype)
    return net.build(body)


def conv2d(data, weight, dtype, layouts=("NHWC", "OHWI"), bias=False, activation="", groups=1, residual=""):
    net = Net()
    x, w = net.input(data, dtype), net.input(weight, dtype)
    out_channels = weight[0]
    out_dtype = "int32" if dtype == "int8" else None
    shift = net.input([1, 1, 1, out_channels] if layouts[0] == "NHWC" else [1, out_channels, 1, 1], out_dtype or dtype) if bias else None
    same = net.input([*data[:3], out_channels], out_dtype or dtype) if residual else None

    def body(emit):
        value = emit(OP.nn.conv2d(x, w, padding=1, groups=groups, data_layout=layouts[0], kernel_layout=layouts[1], out_dtype=out_dtype))
        if bias:
            value = emit(OP.add(value, shift))
        if ACTIVATIONS[activation]:
            value = emit(ACTIVATIONS[activation](value))
        if residual:
            combine = OP.multiply if "multiply" in residual else OP.add
            value = emit(combine(same, value) if "left" in residual else combine(value, same))
            if "relu" in residual:
                value = emit(OP.nn.relu(value))
        return [value]

    return net.build(body)


def attention(batch, rows, dtype, bias=False, mask=None):
    net = Net()
    query, key, value = (net.input([batch, rows, 8, 32], dtype) for _ in range(3))
    shift = net.input([batch, 8, rows, rows], dtype) if bias else None
    return net.build(lambda emit: [emit(OP.nn.attention(query, key, value, shift, causal_mask=mask))])


def sequences(rows, dtype, mask=None):
    net = Net()
    query, key, value = (net.input([1, rows, 8, 32], dtype) for _ in range(3))
    starts, most = net.input([4], "int32"), net.input([], "int32")
    return net.build(lambda emit: [emit(OP.nn.attention_var_len(query, key, value, starts, most, causal_mask=mask))])


def stacked_attention(start, layout, dtype, bias=False, axis=None, mask=None, first=4):
    net = Net()
    heads, channels = 8, 32
    x = net.input([first, 16, 3 * heads * channels] if layout == "BS3NH" else [first, 16, heads, 3 * channels], dtype)
    shift = net.input([first, heads, 16, 16] if layout == "BS3NH" else [16, heads, first, first], dtype) if bias else None

    def body(emit):
        last = len(x.ty.shape) - 1
        if start == "split":
            parts = emit(OP.split(x, 3, axis or last))
            raw = [emit(relax.TupleGetItem(parts, i)) for i in range(3)]
        else:
            width = heads * channels
            raw = [emit(OP.strided_slice(x, [2], [i * width], [(i + 1) * width], [1])) for i in range(3)]
        if layout == "BS3NH":
            operands = [emit(OP.reshape(part, [first, 16, heads, channels])) for part in raw]
        else:
            operands = [emit(OP.permute_dims(part, [1, 0, 2, 3])) for part in raw]
        out = emit(OP.nn.attention(*operands, shift, causal_mask=mask))
        return [out if layout == "BS3NH" else emit(OP.permute_dims(out, [1, 0, 2, 3]))]

    return net.build(body)


def written_out_attention(with_bias, heads):
    net = Net()
    q, k, v = (net.input([4, 16, 8, 32] if heads else [4, 16, 32], "float32") for _ in range(3))
    bias = net.input([4, 16, 16] if not heads else [32, 16, 16], "float32") if with_bias else None

    def operand(emit, x):
        return emit(OP.reshape(emit(OP.permute_dims(x, [0, 2, 1, 3])), [32, 16, 32])) if heads else x

    def body(emit):
        query, key, value = (operand(emit, x) for x in (q, k, v))
        scores = emit(OP.matmul(query, emit(OP.permute_dims(key, [0, 2, 1]))))
        scores = emit(OP.multiply(scores, relax.const(0.125, "float32")))
        if bias is not None:
            scores = emit(OP.add(scores, bias))
        out = emit(OP.matmul(emit(OP.nn.softmax(scores, -1)), value))
        return [emit(OP.permute_dims(emit(OP.reshape(out, [4, 8, 16, 32])), [0, 2, 1, 3])) if heads else out]

    return net.build(body)


def norm(axes, center, rows, dtype):
    net = Net()
    x = net.input([8, rows, 64], dtype)
    shape = [x.ty.shape[a] for a in axes]
    gamma, beta = net.input(shape, dtype), net.input(shape, dtype)
    return net.build(lambda emit: [emit(OP.nn.layer_norm(x, gamma, beta, axes, center=center))])


KERNELS = '''
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def rms_norm(a: T.Buffer((T.int64(4), T.int64(8)), "float16"), w: T.Buffer((T.int64(8),), "float16"), o: T.Buffer((T.int64(4), T.int64(8)), "float16")):
        for i, j in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("o"):
                vi, vj = T.axis.remap("SS", [i, j])
                o[vi, vj] = a[vi, vj] * w[vj]
    @T.prim_func(private=True, s_tir=True)
    def NAME(a: T.Buffer((T.int64(8), T.int64(16)), "int8"), s: T.Buffer((T.int64(16),), "float16"), o: T.Buffer((T.int64(8), T.int64(16)), "float16")):
        for i, j in T.grid(T.int64(8), T.int64(16)):
            with T.sblock("o"):
                vi, vj = T.axis.remap("SS", [i, j])
                o[vi, vj] = T.Cast("float16", a[vi, vj]) * s[vj]
    @R.function
    def main(x: R.Tensor((4, 8), "float16"), g: R.Tensor((8,), "float16"), w: R.Tensor((8, 16), "int8"), s: R.Tensor((16,), "float16"), b: R.Tensor((1, 16), "float16"), r: R.Tensor((4, 16), "float16")):
        cls = Module
        with R.dataflow():
            n = R.call_tir(cls.rms_norm, (x, g), out_ty=R.Tensor((4, 8), "float16"))
            d = R.call_tir(cls.NAME, (w, s), out_ty=R.Tensor((8, 16), "float16"))
            m = R.matmul(n, d, out_dtype="DTYPE")
            BODY
            R.output(y)
        return y
'''


def decoded(name="decode", dtype="float16", body=("y = R.add(m, b)",)):
    text = KERNELS.replace("NAME", name).replace("DTYPE", dtype).replace("BODY", "\n            ".join(body))
    return tvm.script.from_source(text)


def modules():
    n = tirx.Var("n", "int64")
    for dtype, batch in itertools.product(("float32", "float16", "int8"), (4, n)):
        for transposed in (False, True):
            right = [16, 8] if transposed else [8, 16]
            yield f"matmul {dtype}", matmul([batch, 8], right, dtype, transposed=transposed)
            yield f"batched {dtype}", matmul([batch, 4, 8], [batch, *right], dtype, transposed=transposed)
            yield f"one right {dtype}", matmul([batch, 4, 8], right, dtype, bias=[16], transposed=transposed)
            yield f"one left {dtype}", matmul([4, 8], [batch, *right], dtype, transposed=transposed)
            for activation in ("", "relu", "gelu"):
                if dtype == "int8" and activation == "gelu":
                    continue
                yield f"bias {activation} {dtype}", matmul([batch, 8], right, dtype, [16], activation, transposed)
            for bias in ([1, 16], [4, 16], []):
                yield f"bias {bias} {dtype}", matmul([4, 8], right, dtype, bias, "relu", transposed)
        yield f"leak {dtype}", matmul([batch, 8], [8, 16], dtype, [16], "relu", leak=True)
        yield f"odd {dtype}", matmul([batch, 6], [6, 10], dtype)
    yield "symbolic sum", matmul([4, n], [n, 16], "float32")
    yield "ones", matmul([1, 4, 8], [3, 8, 16], "float16")
    yield "stretched", matmul([2, 1, 4, 8], [2, 3, 8, 16], "float16")
    for residual in ("add", "add full", "multiply full", "add full relu", "multiply relu", "multiply full relu"):
        for activation in ("", "relu", "gelu"):
            yield f"residual {residual} {activation}", matmul([4, 8], [8, 16], "float16", [16], activation, residual=residual)
        for dtype, batch in itertools.product(("float32", "float16", "int8"), (4, n)):
            yield f"residual {residual} {dtype}", matmul([batch, 8], [16, 8], dtype, [16], "", True, residual)
    for dtype, batch in itertools.product(("float32", "float16", "int8"), (2, n)):
        for bias, activation in ((False, ""), (True, ""), (True, "relu"), (True, "silu"), (False, "relu")):
            if dtype == "int8" and activation == "silu":
                continue
            yield f"conv2d {dtype} {activation}", conv2d([batch, 8, 8, 4], [16, 3, 3, 4], dtype, bias=bias, activation=activation)
            yield f"conv2d nchw {dtype}", conv2d([batch, 4, 8, 8], [16, 4, 3, 3], dtype, ("NCHW", "OIHW"), bias, activation)
        for residual in ("add", "multiply", "left add", "add relu", "multiply relu"):
            yield f"conv2d {residual}", conv2d([batch, 8, 8, 4], [16, 3, 3, 4], dtype, bias=True, activation="relu", residual=residual)
            yield f"conv2d {residual} no bias", conv2d([batch, 8, 8, 4], [16, 3, 3, 4], dtype, residual=residual)
    yield "depthwise", conv2d([2, 8, 8, 16], [16, 3, 3, 1], "float16", groups=16)
    yield "mixed layout", conv2d([2, 8, 8, 4], [16, 4, 3, 3], "float16", ("NHWC", "OIHW"))
    for dtype, batch in itertools.product(("float32", "float16"), (4, n)):
        for bias, mask in itertools.product((False, True), (None, "TopLeft")):
            yield f"attention {dtype}", attention(batch, 16, dtype, bias, mask)
        yield f"rows {dtype}", attention(batch, n, dtype)
    for dtype, rows, mask in itertools.product(("float32", "float16"), (10, n), (None, "TopLeft")):
        yield f"sequences {dtype}", sequences(rows, dtype, mask)
    for dtype, layout, bias, mask in itertools.product(("float16", "float32"), ("BS3NH", "SBN3H"), (False, True), (None, "BottomRight")):
        yield f"stacked {layout}", stacked_attention("split", layout, dtype, bias, mask=mask)
        if layout == "BS3NH":
            yield "stacked slices", stacked_attention("strided_slice", layout, dtype, bias, mask=mask)
    for layout, dtype in itertools.product(("BS3NH", "SBN3H"), ("float16", "float32")):
        yield f"stacked {layout} {dtype} symbolic", stacked_attention("split", layout, dtype, first=n)
    for dtype, rows in itertools.product(("float16", "float32"), (16, n)):
        for axes, center in (((-1,), True), ((2,), True), ((1, 2), True), ((-1,), False)):
            yield f"layer_norm {axes} {dtype}", norm(list(axes), center, rows, dtype)
    for name, dtype, body in (
            ("decode", "float16", ["y = R.add(m, b)"]), ("decode", "float16", ["y = R.nn.relu(m)"]),
            ("decode1", "float16", ["z = R.add(m, b)", "y = R.nn.gelu(z)"]), ("unpack", "float16", ["y = R.add(m, b)"]),
            ("decode", "float32", ['z = R.astype(m, "float16")', "y = R.add(z, b)"]), ("decode", "float32", ["y = R.nn.relu(m)"]),
            ("decode", "float16", ["z = R.add(m, b)", "y = R.multiply(z, r)"]),
            ("decode", "float32", ['z = R.astype(m, "float16")', "u = R.add(z, b)", "v = R.nn.gelu(u)", "y = R.add(v, r)"])):
        yield f"{name} {dtype}", decoded(name, dtype, body)
    for with_bias, heads in itertools.product((False, True), (True, False)):
        yield f"written out {with_bias} {heads}", written_out_attention(with_bias, heads)


def libraries(module):
    """Those that have patterns for what it holds."""
    text = module.script()
    yield "cutlass"
    if "R.matmul" in text and "R.call_tir" not in text:
        yield "cublas"
    if "conv2d" in text or "attention" in text:
        yield "cudnn"


def theirs(library, module):
    if library == "cutlass":
        function = module["main"]
        for pattern, rewriter in cutlass._REWRITE_PATTERNS:  # pylint: disable=protected-access
            function = rewrite_call(pattern, rewriter, function)
        module = relax.transform.CanonicalizeBindings()(tvm.IRModule({**module.functions, module.get_global_var("main"): function}))
    patterns = get_patterns_with_prefix(library)
    return relax.transform.FuseOpsByPattern(patterns, bind_constants=False, annotate_codegen=True)(module)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/opt_batch"))
    parser.add_argument("--step", type=int, default=1, help="only every STEP-th module")
    parser.add_argument("--keep", help="a folder for the modules that differ")
    options = parser.parse_args()
    jobs, refused = [], collections.Counter()
    for i, (name, module) in itertools.islice(enumerate(modules()), 0, None, options.step):
        for library in libraries(module):
            try:
                expected = theirs(library, module)
            except Exception as error:  # pylint: disable=broad-except
                refused[library] += 1
                logging.debug("%s refuses %s: %s", library, name, error)
                continue
            ours = f"FuseOpsByPattern(patterns=[{library}.],bind_constants=false,annotate_codegen=true)"
            if library == "cutlass":
                ours = f"RewriteAttention,CanonicalizeBindings,{ours}"
            jobs.append(Job(f"{i} {library} {name}", i, ours, module.script(), expected))
    answers = run_batch(options.binary, jobs, ["tvm_compat=true"])
    taken = collections.Counter()
    failures = 0
    for i, job in enumerate(jobs):
        taken.update(re.findall(r'"Composite": "([^"]+)"', job.expected.script()))
        problem = verdict(job, *answers.get(i, ("error", "no answer")))
        if not problem:
            continue
        failures += 1
        print(f"{job.name}: {problem[:500]}")
        if options.keep:
            folder = pathlib.Path(options.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.in.py").write_text(job.text)
            (folder / f"{i}.expected.py").write_text(job.expected.script())
            (folder / f"{i}.ours.py").write_text(answers.get(i, ("", ""))[1])
    print(f"{len(jobs)} partitions, {failures} differ; TVM refuses {dict(refused)}; {len(taken)} patterns took part")
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        print(dict(taken))
    return 5 if failures or not taken else 0


if __name__ == "__main__":
    sys.exit(main())
