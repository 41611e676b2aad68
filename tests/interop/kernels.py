"""Random loop-level modules: kernels that TVM's legalisation makes, scheduled at random (split, reordered, vectorised, parallel,
unrolled, bound to threads, cached, inlined, decomposed), and kernels written as text that hold every statement and expression.
"""

import random

import tvm
from tvm import relax, tirx
from tvm.s_tir import Schedule
from tvm.s_tir.schedule import ScheduleError
from tvm.script import ir as I
from tvm.script import tirx as T

import graphs


def scheduled(seed):
    """A legalised graph whose kernels have been scheduled at random."""
    rng = random.Random(seed)
    module = graphs.random_graph(seed, symbolic=rng.random() < 0.25, families=graphs.LEGALISABLE, control_flow=False, size=(2, 6))
    module = relax.transform.LegalizeOps()(module)
    sch = Schedule(module, error_render_level="none")
    for var, func in module.functions_items():
        if isinstance(func, tirx.PrimFunc) and rng.random() < 0.8:
            sch.work_on(var.name_hint)
            for _ in range(rng.randint(1, 6)):
                step(sch, rng, var.name_hint)
    return sch.mod


def step(sch, rng, name):
    """One schedule primitive with random arguments; those that do not apply change nothing."""
    blocks = [b for b in all_blocks(sch, name)]
    if not blocks:
        return
    block = rng.choice(blocks)
    try:
        loops = sch.get_loops(block)
        rng.choice(PRIMITIVES)(sch, rng, block, loops)
    except (ScheduleError, IndexError, ValueError, RuntimeError):
        pass


def all_blocks(sch, name):
    root = sch.get_sblock("root", func_name=name)
    return sch.get_child_blocks(root)


PRIMITIVES = [
    lambda s, r, b, l: s.split(r.choice(l), [None, r.choice([2, 3, 4])]),
    lambda s, r, b, l: s.split(r.choice(l), [2, None], preserve_unit_iters=False),
    lambda s, r, b, l: s.reorder(*r.sample(l, len(l))),
    lambda s, r, b, l: s.fuse(*l[:2]),
    lambda s, r, b, l: s.vectorize(l[-1]),
    lambda s, r, b, l: s.parallel(l[0]),
    lambda s, r, b, l: s.unroll(r.choice(l)),
    lambda s, r, b, l: s.bind(l[0], "blockIdx.x"),
    lambda s, r, b, l: s.bind(l[-1], "threadIdx.x"),
    lambda s, r, b, l: s.cache_read(b, 0, r.choice(["local", "shared", "global"])),
    lambda s, r, b, l: s.cache_write(b, 0, r.choice(["local", "global"])),
    lambda s, r, b, l: s.compute_inline(b),
    lambda s, r, b, l: s.reverse_compute_inline(b),
    lambda s, r, b, l: s.decompose_reduction(b, l[0]),
    lambda s, r, b, l: s.annotate(r.choice(l), "pragma_auto_unroll_max_step", 16),
    lambda s, r, b, l: s.annotate(b, "interop.note", r.choice(["text", 3, [1, 2]])),
    lambda s, r, b, l: s.rfactor(l[-1], 0),
    lambda s, r, b, l: s.set_scope(b, 0, "shared"),
    lambda s, r, b, l: s.transform_layout(b, ("write", 0), lambda *i: (*i[:-1], i[-1] // 2, i[-1] % 2)),
    lambda s, r, b, l: s.storage_align(b, 0, 0, 32, 8),
    lambda s, r, b, l: s.add_unit_loop(b),
    lambda s, r, b, l: s.compute_at(b, s.get_loops(s.get_consumers(b)[0])[0]),
    lambda s, r, b, l: s.reverse_compute_at(b, s.get_loops(s.get_producers(b)[0])[0]),
    lambda s, r, b, l: s.reindex(b, ("read", 0)),
    lambda s, r, b, l: s.blockize(l[-1]),
]

FLOAT_UNARY = ["exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "tanh", "sigmoid", "erf", "sin", "cos", "tan", "sinh", "cosh", "asin",
               "acos", "atan", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "round", "nearbyint", "fabs"]


class Text:
    """Statements of one kernel, as text."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.count = 0

    def line(self, indent, text):
        self.lines.append(" " * indent + text)

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def index(self, names, depth=0):
        """An int32 expression of `names`."""
        r = self.rng
        if depth > 2 or r.random() < 0.45:
            return r.choice(names + [str(r.randint(0, 9))] * (1 if depth else 0))
        a, b = self.index(names, depth + 1), self.index(names, depth + 1)
        kind = r.randint(0, 11)
        if kind <= 2:
            return f"({a}) {r.choice('+-*')} ({b})"
        if kind == 3:
            return f"({a}) // {r.randint(1, 8)}"
        if kind == 4:
            return f"({a}) % {r.randint(1, 8)}"
        if kind == 5:
            return f"T.{r.choice(['min', 'max'])}({a}, {b})"
        if kind == 6:
            return f"T.{r.choice(['truncdiv', 'truncmod'])}({a}, {r.randint(1, 8)})"
        if kind == 7:
            return f"T.bitwise_{r.choice(['and', 'or', 'xor'])}({a}, {b})"
        if kind == 8:
            return f"T.shift_{r.choice(['left', 'right'])}({a}, {r.randint(0, 3)})"
        if kind == 9:
            return f"T.Select({self.condition(names, depth + 1)}, {a}, {b})"
        if kind == 10:
            return f"T.Cast(\"int32\", T.Cast(\"int64\", {a}) * T.int64({r.randint(0, 5)}))"
        return f"T.if_then_else({self.condition(names, depth + 1)}, {a}, {b})"

    def condition(self, names, depth=0):
        r = self.rng
        a, b = self.index(names, depth + 1), self.index(names, depth + 1)
        plain = f"({a}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({b})"
        kind = r.random()
        if depth > 2 or kind < 0.6:
            return plain
        if kind < 0.7:
            return f"T.Not({plain})"
        if kind < 0.75:
            return f"T.likely({plain})"
        return f"T.{r.choice(['And', 'Or'])}({plain}, {self.condition(names, depth + 1)})"

    def value(self, names, reads, depth=0):
        """A float32 expression."""
        r = self.rng
        if depth > 3 or r.random() < 0.3:
            kind = r.random()
            if kind < 0.6 and reads:
                return r.choice(reads)
            if kind < 0.9:
                return f"T.float32({r.choice(['0.5', '-1.25', '0.1', '1e-05', '3.4e+38', '0.30000001192092896', chr(34) + 'inf' + chr(34), '2.0'])})"
            return f"T.Cast(\"float32\", {self.index(names, depth)})"
        a, b = self.value(names, reads, depth + 1), self.value(names, reads, depth + 1)
        kind = r.randint(0, 9)
        if kind <= 3:
            return f"({a}) {r.choice('+-*/')} ({b})"
        if kind == 4:
            return f"T.{r.choice(FLOAT_UNARY)}({a})"
        if kind == 5:
            return f"T.{r.choice(['max', 'min', 'pow', 'atan2', 'fmod', 'hypot', 'copysign'])}({a}, {b})"
        if kind == 6:
            return f"T.if_then_else({self.condition(names, depth)}, {a}, {b})"
        if kind == 7:
            return f"T.Select(T.isnan({a}), {a}, {b})"
        if kind == 8:
            return f"T.Cast(\"float32\", T.Cast(\"{r.choice(['float16', 'bfloat16', 'float64', 'int32', 'uint8'])}\", {a}))"
        if r.random() < 0.3:
            return f"T.reinterpret(\"float32\", T.reinterpret(\"uint32\", {a}) ^ T.uint32(2147483648))"
        return r.choice([f"T.call_pure_extern(\"float32\", \"fmaf\", {a}, {b}, {a})", "T.infinity(\"float32\")", "T.min_value(\"float32\")",
                         "T.max_value(\"float32\")", f"T.fma({a}, {b}, {a})"])

    def store(self, indent, target, names, reads):
        """A value into memory, in parts with a name."""
        value = self.value(names, reads)
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            name = self.fresh("part")
            self.line(indent, f"{name} = T.float32()")
            value = f"T.Let({self.value(names, reads + [name, name])}, where={{{name}: {value}}})"
        self.line(indent, f"{target} = {value}")

    def block(self, indent, loops, target, source):
        """A block under loops with the given variables."""
        r = self.rng
        name = self.fresh("block")
        variables = [f"v_{v}" for v in loops]
        self.line(indent, f"with T.sblock(\"{name}\"):")
        indent += 4
        if len(loops) > 1 and r.random() < 0.7:
            self.line(indent, f"{', '.join(variables)} = T.axis.remap(\"{'S' * len(loops)}\", [{', '.join(loops)}])")
        else:
            for v, l in zip(variables, loops):
                extent = r.choice(["8", "16", "(1, 9)"])
                self.line(indent, f"{v} = T.axis.{r.choice(['spatial', 'spatial', 'reduce', 'opaque'])}({extent}, {l})")
        if r.random() < 0.3:
            self.line(indent, f"T.where({self.condition(loops)})")
        where = ", ".join(variables[:2]) if len(variables) > 1 else f"{variables[0]}, 0"
        if r.random() < 0.6:
            self.line(indent, f"T.reads({source}[{where}])" if r.random() < 0.6 else f"T.reads({source}[0:8, {variables[0]}:{variables[0]} + 2])")
            self.line(indent, f"T.writes({target}[{where}])")
        if r.random() < 0.2:
            self.line(indent, f"T.sblock_attr({{\"note\": {r.choice(['1', chr(34) + 'text' + chr(34), '[1, 2]', '{}'])}}})")
        if r.random() < 0.3:
            self.line(indent, "with T.init():")
            self.line(indent + 4, f"{target}[{where}] = T.float32(0.0)")
        reads = [f"{source}[{where}]", f"{target}[{where}]"]
        self.store(indent, f"{target}[{where}]", variables, reads)

    def statements(self, indent, names, depth):
        r = self.rng
        for _ in range(r.randint(1, 3)):
            kind = r.randint(0, 13)
            i, j = self.index(names, 1), self.index(names, 1)
            if depth > 3 or kind <= 2:
                self.store(indent, f"{r.choice('CD')}[{i}, {j}]", names, [f"A[{i}, {j}]", f"B[{j}, {i}]", "S[()]", f"W[{j}]"])
            elif kind == 3:
                self.line(indent, f"if {self.condition(names)}:")
                self.statements(indent + 4, names, depth + 1)
                if r.random() < 0.5:
                    self.line(indent, "else:")
                    self.statements(indent + 4, names, depth + 1)
            elif kind == 4:
                v = self.fresh("x")
                self.line(indent, f"{v}: T.let[T.int32] = {self.index(names)}")
                self.statements(indent, names + [v], depth + 1)
            elif kind == 5:
                self.line(indent, f"while {self.condition(names)}:")
                self.statements(indent + 4, names, depth + 1)
            elif kind == 6:
                self.line(indent, f"T.evaluate(T.call_extern(\"int32\", \"note\", {i}))")
            elif kind == 7:
                self.line(indent, f"T.call_packed(\"interop.note\", {i}, \"text\")")
            elif kind == 8 and depth == 0:
                a, b = self.fresh("i"), self.fresh("j")
                self.line(indent, f"for {a}, {b} in T.grid(8, {r.choice(['8', '16', 'm'])}):")
                self.block(indent + 4, [a, b], r.choice("CD"), r.choice("AB"))
            else:
                v = self.fresh("i")
                low = r.choice(["", "", "1, "])
                annotations = ", annotations={\"pragma\": 1}" if r.random() < 0.15 else ""
                kinds = ["range(", "T.serial(", "T.parallel(", "T.unroll(", "T.vectorized("]
                head = r.choice(kinds + ["T.thread_binding("])
                extent = r.choice(["4", "8", "16"] + (["m"] if head not in ("T.vectorized(", "T.unroll(") else []))
                if head == "T.thread_binding(":
                    self.line(indent, f"for {v} in T.thread_binding({extent}, thread=\"{r.choice(['blockIdx.x', 'threadIdx.y', 'vthread.x'])}\"):")
                elif head == "range(":
                    self.line(indent, f"for {v} in range({low}{extent}):")
                else:
                    self.line(indent, f"for {v} in {head}{low}{extent}{annotations}):")
                self.statements(indent + 4, names + [v], depth + 1)


def written(seed):
    """A kernel of random statements, with a graph that calls it."""
    rng = random.Random(seed)
    text = Text(rng)
    two = "T.Buffer((16, m), \"float32\")"
    text.line(4, "@T.prim_func(s_tir=True, check_well_formed=False)")
    strided = rng.choice(["", ", strides=(32, 1)", ", scope=\"global\""])
    text.line(4, f"def kernel(A: {two}, B: T.Buffer((16, 16), \"float32\"{strided}), W: T.Buffer((m,), \"float32\"), S: T.Buffer((), \"float32\"), "
                 f"k: T.int32, C: {two}, D: T.Buffer((16, 16), \"float32\")):")
    if rng.random() < 0.5:
        text.line(8, f"T.func_attr({{\"tirx.noalias\": True, \"op_pattern\": {rng.randint(0, 8)}, \"note\": \"a \\\"b\\\"\"}})")
    if rng.random() < 0.4:
        text.line(8, f"E = T.sblock_alloc_buffer((16, 8), \"{rng.choice(['float32', 'float16', 'int8', 'bool'])}\"{rng.choice(['', ', scope=' + chr(34) + 'local' + chr(34)])})")
    text.statements(8, ["k"], 0)
    body = "\n".join(text.lines)
    source = f"""@I.ir_module
class Module:
{body}
"""
    return tvm.script.from_source(source, {"m": tirx.Var("m", "int32"), "I": I, "T": T}, check_well_formed=False)
