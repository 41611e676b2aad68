"""Graph-level functions of statements that a BlockBuilder does not write: written as text and read by TVM.

Each snippet binds `{new}` from values `{x}` and `{y}` of type float32 (4, 16).
"""

import random

import tvm
from tvm import tirx
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

PURE = [
    "{new} = R.call_tir(cls.kernel, ({x}, {y}), out_ty=R.Tensor((4, 16), dtype=\"float32\"))",
    "{new} = R.call_tir_inplace(cls.inplace, ({x}, {y}), inplace_indices=[0], out_ty=R.Tensor((4, 16), dtype=\"float32\"))",
    "{new}t = R.call_tir(cls.two, ({x},), out_ty=[R.Tensor((4, 16), dtype=\"float32\"), R.Tensor((4,), dtype=\"float32\")])\n{new} = {new}t[0]",
    "{new}t = R.call_tir_inplace(cls.inplace_two, ({x}, {y}), inplace_indices=[0, -1], out_ty=[R.Tensor((4, 16), dtype=\"float32\"), R.Tensor((4, 16), dtype=\"float32\")])\n{new} = {new}t[1]",
    "{new} = R.call_tir(cls.viewed, ({x}, {y}), out_ty=R.Tensor((4, 16), dtype=\"float32\"))",
    "{new} = R.call_tir(cls.scaled, ({x}, n), out_ty=R.Tensor((4, 16), dtype=\"float32\"))",
    "{new} = R.call_dps_packed(\"interop.dps\", ({x}, {y}), out_ty=R.Tensor((4, 16), dtype=\"float32\"))",
    "{new} = R.call_pure_packed(\"interop.packed\", {x}, R.str(\"a \\\"b\\\" \\\\ c\"), R.dtype(\"float16\"), 3, ty_args=(R.Tensor((4, 16), dtype=\"float32\"),))",
    "{new} = R.call_inplace_packed(\"interop.packed\", {x}, {y}, inplace_indices=[0], ty_args=(R.Tensor((4, 16), dtype=\"float32\"),))",
    "{new}a: R.Any = R.call_pure_packed(\"interop.packed\", {x}, ty_args=(R.Any,))\n{new}: R.Tensor((4, 16), dtype=\"float32\") = R.match_cast({new}a, R.Tensor((4, 16), dtype=\"float32\"))",
    "{new}t: R.Tuple(R.Tensor((4, 16), dtype=\"float32\"), R.Tuple(R.Tensor((4, 16), dtype=\"float32\"))) = ({x}, ({y},))\n{new}u: R.Tuple(R.Tensor((4, 16), dtype=\"float32\")) = {new}t[1]\n{new} = {new}u[0]",
    "{new} = R.add({x}, R.const({constant}, \"float32\"))",
    "{new} = cls.helper({x}, {y})",
    "{new}s: R.Shape([4, 16]) = R.shape_of({x})\n{new} = R.reshape({y}, {new}s)",
    "{new} = R.reshape({x}, R.shape([4, 16]))",
    "{new}i: R.Tensor((4, 16), dtype=\"int32\") = R.astype({x}, dtype=\"int32\")\n{new}j: R.Tensor((4, 16), dtype=\"int32\") = R.add({new}i, R.const({integer}, \"int32\"))\n{new} = R.astype({new}j, dtype=\"float32\")",
    "{new} = R.ewise_fma({x}, {y}, {x})",
    "{new} = R.wrap_param({x}, dtype=\"float32\")",
    "{new} = R.builtin.stop_lift_params({x})",
    "{new} = R.hint_on_device({x}, R.device(1, 0), \"global\")",
    "{new}v: R.Any = R.null_value()\n{new} = R.tanh({x})",
    "{new} = R.memory.ensure_zero_offset({x})",
    "{new} = R.memory.view({x}, R.shape([4, 16]), R.dtype(\"float32\"), R.prim_value(0))",
    "{new} = R.full(R.shape([4, 16]), R.const({constant}, \"float32\"), dtype=\"float32\")",
    "{new} = R.clip({x}, {constant}, 6.0)",
    "{new} = R.multiply({x}, R.const({constant}, \"float32\"))",
    "{new}h = R.astype({x}, dtype=\"{dtype}\")\n{new}k = R.add({new}h, R.const({small}, \"{dtype}\"))\n{new} = R.astype({new}k, dtype=\"float32\")",
]
# Statements that no dataflow block may hold.
CONTROL = [
    "if condition:\n    {new}b = R.exp({x})\n    {new} = R.add({new}b, {y})\nelse:\n    {new} = R.negative({x})",
    "if condition:\n    if condition:\n        {new}b = R.tanh({x})\n    else:\n        {new}b = {y}\n    {new} = R.add({new}b, {y})\nelse:\n    {new} = {x}",
    "@R.function\ndef {new}f(p: R.Tensor((4, 16), dtype=\"float32\")) -> R.Tensor((4, 16), dtype=\"float32\"):\n    q = R.exp(p)\n    return q\n{new} = {new}f({x})",
    "@R.function\ndef {new}f(p: R.Tensor((4, 16), dtype=\"float32\")) -> R.Tensor((4, 16), dtype=\"float32\"):\n    q = R.add(p, {y})\n    return q\n{new} = {new}f({x})",
    "{new} = callback({x})",
]
# Statements of functions with side effects.
IMPURE = [
    "R.print({x}, {y}, format=\"{{}} and {{}}\")\n{new} = R.exp({x})",
    "R.assert_op(condition, {x}, format=\"wrong: {{}}\")\n{new} = R.exp({x})",
    "{new}e: R.Any = R.call_packed(\"interop.effect\", {x}, ty_args=(R.Any,))\n{new} = R.exp({x})",
    "{new}: R.Tensor((4, 16), dtype=\"float32\") = R.call_packed(\"interop.effect\", {x}, R.str(\"s\"), ty_args=(R.Tensor((4, 16), dtype=\"float32\"),))",
    "{new} = R.builtin.alloc_tensor(R.shape([4, 16]), R.dtype(\"float32\"), R.prim_value(0))\ncls.kernel({x}, {y}, {new})",
    "{new}s: R.Any = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str(\"global\"), R.dtype(\"float32\"))\n"
    "{new}: R.Tensor((4, 16), dtype=\"float32\") = R.memory.alloc_tensor({new}s, R.prim_value(0), R.shape([4, 16]), R.dtype(\"float32\"))\n"
    "cls.kernel({x}, {y}, {new})\nR.memory.kill_tensor({new})\nR.memory.kill_storage({new}s)",
]

KERNELS = '''
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(4), T.int64(16)), "float32"), B: T.Buffer((T.int64(4), T.int64(16)), "float32"), C: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        for i, j in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + B[vi, vj]
    @T.prim_func(private=True, s_tir=True)
    def inplace(A: T.Buffer((T.int64(4), T.int64(16)), "float32"), B: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        for i, j in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] + B[vi, vj]
    @T.prim_func(private=True, s_tir=True)
    def two(A: T.Buffer((T.int64(4), T.int64(16)), "float32"), B: T.Buffer((T.int64(4), T.int64(16)), "float32"), C: T.Buffer((T.int64(4),), "float32")):
        for i, j in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.exp(A[vi, vj])
        for i, j in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    C[vi] = T.float32(0.0)
                C[vi] = C[vi] + A[vi, vj]
    @T.prim_func(private=True, s_tir=True)
    def inplace_two(A: T.Buffer((T.int64(4), T.int64(16)), "float32"), B: T.Buffer((T.int64(4), T.int64(16)), "float32"), C: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        for i, j in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] * B[vi, vj]
                C[vi, vj] = A[vi, vj]
    @T.prim_func(private=True, s_tir=True)
    def scaled(A: T.Buffer((T.int64(4), T.int64(16)), "float32"), k: T.int64, C: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        for i, j in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.Cast("float32", k)
    @T.prim_func(private=True, s_tir=True)
    def viewed(a: T.handle, b: T.handle, c: T.handle):
        offset = T.int64()
        A = T.match_buffer(a, (T.int64(4), T.int64(16)), "float32", elem_offset=offset, offset_factor=4)
        B = T.match_buffer(b, (T.int64(4), T.int64(16)), "float32", offset_factor=1)
        C = T.match_buffer(c, (T.int64(4), T.int64(16)), "float32")
        D = T.decl_buffer((T.int64(4), T.int64(8)), "float32", data=C.data, strides=(T.int64(16), T.int64(1)))
        E = T.decl_buffer((T.int64(4), T.int64(8)), "float32", data=C.data, strides=(T.int64(16), T.int64(1)), elem_offset=T.int64(8))
        for i, j in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("left"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, vj + T.int64(8)] + B[vi, vj]
        for i, j in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("right"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] * B[vi, vj + T.int64(8)]
'''

HELPER = '''
    @R.function(private=True)
    def helper(x: R.Tensor((4, 16), dtype="float32"), y: R.Tensor((4, 16), dtype="float32")) -> R.Tensor((4, 16), dtype="float32"):
        with R.dataflow():
            a = R.maximum(x, y)
            b = R.sigmoid(a)
            R.output(b)
        return b
'''


def random_statements(seed):
    rng = random.Random(seed)
    lines = []
    values = ["x", "y"]

    def emit(indent, snippets, count):
        made = []
        for _ in range(count):
            new = f"z{len(values)}"
            text = rng.choice(snippets).format(
                new=new, x=rng.choice(values[-5:]), y=rng.choice(values[-5:]), small=rng.choice(["1.5", "0.1", "-2.0", "0.0"]),
                constant=rng.choice(["0.5", "0.1", "1e-12", "-3.0", "1.17549435e-38", "16777216.0", "0.333333343"]),
                integer=rng.choice(["0", "-7", "2147483647", "-2147483648"]), dtype=rng.choice(["float16", "float64", "bfloat16"]))
            lines.extend(" " * indent + line for line in text.split("\n"))
            values.append(new)
            made.append(new)
        return made

    impure = rng.random() < 0.35
    snippets = PURE + CONTROL + (IMPURE * 3 if impure else [])
    emit(8, snippets, rng.randint(1, 5))
    if rng.random() < 0.7:
        lines.append("        with R.dataflow():")
        before = list(values)
        made = emit(12, PURE, rng.randint(1, 6))
        out = rng.sample(made, rng.randint(1, min(2, len(made))))
        lines.append(f"            R.output({', '.join(out)})")
        values[:] = before + out
    emit(8, snippets, rng.randint(0, 3))
    result = rng.choice([values[-1], f"({values[-1]}, {values[-2]})", f"(({values[-1]},), {values[0]})"])
    lines.append(f"        return {result}")
    attrs = "        R.func_attr({\"num_input\": 2, \"note\": [\"a\", 1, True]})\n" if rng.random() < 0.4 else ""
    private = "" if rng.random() < 0.9 else ", private=True"
    body = "\n".join(lines)
    module_attrs = "    I.module_attrs({\"note\": \"text\", \"count\": 3})\n" if rng.random() < 0.3 else ""
    source = f'''
@I.ir_module
class Module:
{module_attrs}{KERNELS}{HELPER}
    @R.function(pure={not impure}{private})
    def main(x: R.Tensor((4, 16), dtype="float32"), y: R.Tensor((4, 16), dtype="float32"), condition: R.Tensor((), dtype="bool"), callback: R.Callable((R.Tensor((4, 16), dtype="float32"),), R.Tensor((4, 16), dtype="float32"), True), s: R.Tensor(("n",), dtype="float32")):
{attrs}        cls = Module
{body}
'''
    return tvm.script.from_source(source, {"I": I, "T": T, "R": R, "n": tirx.Var("n", "int64")})
