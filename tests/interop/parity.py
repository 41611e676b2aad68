"""Compares fusion with apache-tvm 0.27 on generated graphs: AnnotateTIROpPattern, FuseOps and FuseTIR.

    python tests/interop/parity.py [--count N] [--seed FIRST] [--binary OPT_BATCH] [--keep DIR]

Each of N graphs (elementwise, broadcast, reshapes, reductions, matmul, convolutions, tuples, several outputs, shared inputs, diamonds,
skip connections, static and symbolic shapes) goes through TVM's legalisation, then through the three passes of both. Ours, under
`tvm_compat=true`, must give modules that are structurally equal to TVM's. Without the option they may differ where Deuteron does better,
and only there: each case must be of a kind in `BETTER`. What the graphs hold is counted and printed; what must be in them and is not is a
failure too. Exit status 5 if anything differs.
"""

import argparse
import collections
import pathlib
import random
import re
import sys

import interop
import tvm
import tvm_ffi
from tvm import relax, tirx

import graphs

rt = relax.transform

PASSES = [("AnnotateTIROpPattern", rt.AnnotateTIROpPattern()), ("FuseOps(fuse_opt_level=2)", rt.FuseOps(fuse_opt_level=2)),
          ("FuseTIR", rt.FuseTIR())]
KINDS = {0: "elementwise", 1: "broadcast", 2: "injective", 3: "reduction", 4: "out-elementwise-fusable", 8: "opaque"}


def graph(seed):
    rng = random.Random(seed)
    module = graphs.random_graph(seed, symbolic=rng.random() < 0.35, families=graphs.FUSIBLE, control_flow=False, size=(3, 16))
    return rt.DeadCodeElimination()(rt.LegalizeOps()(module))


def bindings(module):
    for var, func in module.functions_items():
        if isinstance(func, relax.Function):
            for block in func.body.blocks:
                for binding in block.bindings:
                    yield var.name_hint, func, block, binding


def projects_known_tuple(module):
    tuples = {b.var for _, _, _, b in bindings(module) if isinstance(b.value, relax.Tuple)}
    return any(isinstance(b.value, relax.TupleGetItem) and (b.value.tuple_value in tuples or isinstance(b.value.tuple_value, relax.Tuple))
               for _, _, _, b in bindings(module))


def passes_scalars_last(before, ours, theirs):
    return "tir_vars=" in ours and "tir_vars=" not in theirs


def same_but_reads(before, ours, theirs):
    """Without declarations TVM infers the regions anew, for both."""
    return same_without(("T.reads(", "T.writes("), ours, theirs)


def same_but_annotations(before, ours, theirs):
    """TVM declares the buffer that is left behind in the block."""
    theirs = re.sub(r"\n *\w+ = T\.Buffer\(.*(?=\n *T\.sblock_attr)", "", theirs)
    return "layout_free_placeholders" in ours and same_without(("T.reads(", "T.writes(", "T.sblock_attr("), ours, theirs)


def same_but_opaque(before, ours, theirs):
    """What has another kind is opaque to TVM, and has dimensions or scalars that are variables."""
    pattern = re.compile(r'"op_pattern": (\d+)')
    kinds, their_kinds = pattern.findall(ours), pattern.findall(theirs)
    if len(kinds) != len(their_kinds) or any(a != b and b != "8" for a, b in zip(kinds, their_kinds)) or "TypeVar(" not in before.script():
        return False
    return same_without((), pattern.sub('"op_pattern": 0', ours), pattern.sub('"op_pattern": 0', theirs))


def same_without(starts, ours, theirs):
    def undeclared(text):
        lines = [line for line in text.split("\n") if not line.strip().startswith(starts)]
        return tvm.script.from_source("\n".join(lines), check_well_formed=False)

    return tvm_ffi.structural_equal(undeclared(ours), undeclared(theirs), map_free_vars=True)


# How a result without tvm_compat may differ from TVM's: (what docs/fusion.md calls better, whether a case is one, from the
# module before the pass, our text and TVM's).
BETTER = {
    "AnnotateTIROpPattern": [("indices of dimensions and scalars are those of numbers", same_but_opaque)],
    "FuseOps": [("known tuples are looked through first", lambda before, ours, theirs: projects_known_tuple(before))],
    "FuseTIR": [("scalars come after the tensors, as tir_vars, where TVM's documentation has them", passes_scalars_last),
                ("the read region of a buffer that is read twice is the union", same_but_reads),
                ("buffers that annotations name are those of the merged kernel", same_but_annotations)],
}


class Coverage:
    """What the graphs hold."""

    def __init__(self):
        self.kernels, self.kinds, self.sizes, self.features = (collections.Counter() for _ in range(4))

    def add(self, legalised, annotated, fused):
        for _, func in annotated.functions_items():
            if isinstance(func, tirx.PrimFunc):
                self.kinds[KINDS[int(func.attrs["op_pattern"])]] += 1
        for name, _, _, binding in bindings(legalised):
            if isinstance(binding.value, relax.Call) and binding.value.op.name == "relax.call_tir":
                self.kernels[re.sub(r"[0-9]+$", "", binding.value.args[0].name_hint)] += 1
        members = collections.Counter()
        for name, func, _, binding in bindings(fused):
            if "Primitive" in (func.attrs or {}) and isinstance(binding.value, relax.Call):
                members[name] += 1
        for size in members.values():
            self.sizes[size if size < 8 else "8 or more"] += 1
        main = legalised["main"]
        self.features["symbolic shapes"] += "n: T.int64" in legalised.script() or "TypeVar" in legalised.script()
        self.features["several outputs"] += isinstance(main.body.body, relax.Tuple) or isinstance(main.ty.ret, relax.TupleType)
        uses = collections.Counter()
        tuples = False
        for _, func, _, binding in bindings(legalised):
            tuples |= isinstance(binding.value, (relax.Tuple, relax.TupleGetItem))
            for var in {v for v in relax.analysis.free_vars(binding.value)}:
                uses[var] += 1
        self.features["tuples"] += tuples
        params = set(main.params)
        self.features["shared inputs"] += any(n > 1 for v, n in uses.items() if v in params)
        self.features["diamonds and skip connections"] += any(n > 1 for v, n in uses.items() if v not in params)
        self.features["fused groups"] += bool(members)

    def print(self):
        print("kernels: " + ", ".join(f"{name} {n}" for name, n in self.kernels.most_common()))
        print("kinds of kernels: " + ", ".join(f"{name} {n}" for name, n in self.kinds.most_common()))
        print("groups by size: " + ", ".join(f"{size}: {n}" for size, n in sorted(self.sizes.items(), key=str)))
        print("graphs with: " + ", ".join(f"{name} {n}" for name, n in self.features.items()))

    def missing(self):
        wanted = ["add", "reshape", "transpose", "concatenate", "split", "matmul", "conv2d", "mean", "max", "softmax", "broadcast_to", "cast"]
        lacking = [name for name in wanted if not any(kernel.startswith(name) for kernel in self.kernels)]
        lacking += [kind for kind in KINDS.values() if kind not in self.kinds]
        lacking += [f"groups of {size}" for size in (2, 3, 4, 5) if not self.sizes[size]]
        return lacking + [name for name, n in self.features.items() if not n]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--binary", default=str(interop.ROOT / "build" / "release" / "bin" / "opt_batch"))
    parser.add_argument("--keep", help="write what differs into this folder")
    args = parser.parse_args()

    coverage = Coverage()
    jobs, before = [], []
    refused = 0
    made, seed = 0, args.seed - 1
    while made < args.count:
        seed += 1
        try:
            module = graph(seed)
        except Exception:  # pylint: disable=broad-except
            continue  # TVM does not legalise it: a division by the constant 0
        made += 1
        stages = [module]
        for name, theirs in PASSES:
            text = interop.text_of(stages[-1])
            if text is None:
                break  # folded to a tensor constant, which TVM does not print
            try:
                stages.append(theirs(stages[-1]))
            except Exception as error:  # pylint: disable=broad-except
                print(f"TVM's {name} refuses seed {seed}: {str(error)[-300:]}")
                refused += 1
                break
            jobs.append(interop.Job(f"{seed}:{name}", seed, name, text, stages[-1]))
            before.append(stages[-2])
        if len(stages) > 2:
            coverage.add(*stages[:3])

    failures = refused
    better = collections.Counter()
    for title, config in (("under tvm_compat", ["tvm_compat=true"]), ("without it", [])):
        differ = 0
        answers = interop.run_batch(args.binary, jobs, config)
        for i, job in enumerate(jobs):
            status, text = answers.get(i, ("error", "no answer"))
            problem = interop.verdict(job, status, text)
            if not problem:
                continue
            differ += 1
            kinds = [] if config or status != "ok" else BETTER.get(interop.pass_name(job.ours), [])
            named = next((what for what, applies in kinds if applies(before[i], text, job.expected.script())), None)
            if named is not None:
                better[f"{interop.pass_name(job.ours)}: {named}"] += 1
                continue
            failures += 1
            if failures <= 10:
                print(f"{job.name} {title}: {problem[:400]}")
            if args.keep:
                stem = pathlib.Path(args.keep) / (job.name.replace(":", "-").split("(")[0] + ("" if config else "-free"))
                stem.parent.mkdir(parents=True, exist_ok=True)
                for suffix, content in ((".in.py", job.text), (".ours.py", text), (".tvm.py", job.expected.script())):
                    stem.with_suffix(suffix).write_text(content)
        print(f"{title}: {len(jobs)} modules, {differ} differ")
    for kind, count in better.items():
        print(f"  better: {kind}: {count}")
    coverage.print()
    missing = coverage.missing() if args.count >= 100 else []
    if missing:
        print("the graphs lack " + ", ".join(missing))
    sys.exit(5 if failures or missing else 0)


if __name__ == "__main__":
    main()
