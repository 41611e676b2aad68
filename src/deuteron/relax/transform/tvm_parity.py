"""Compares AnnotateTIROpPattern, FuseOps and FuseTIR with TVM 0.27 on random graphs.

    python tvm_parity.py DEUTERON [FIRST_SEED LAST_SEED]

Each graph is built and legalised by TVM, its text is given to `DEUTERON opt --config tvm_compat=true`, and
what comes back must be structurally equal to what TVM's own passes make of it. Graphs of static and of
symbolic batch size; exit status 5 if one differs.
"""

import random
import subprocess
import sys

import numpy as np
import tvm
import tvm_ffi
from tvm import relax
from tvm.relax import BlockBuilder, op

TT = relax.TensorType
PASSES = ["AnnotateTIROpPattern", "FuseOps(fuse_opt_level=2)", "FuseTIR"]


def gen(seed, symbolic):
    r = random.Random(seed)
    bb = BlockBuilder()
    n = tvm.tirx.Var("n", "int64") if symbolic else 4
    S = [n, 8, 6, 6]
    x = relax.Var("x", TT(S, "float32")); y = relax.Var("y", TT(S, "float32"))
    w = relax.Var("w", TT([8, 8, 3, 3], "float32")); c = relax.Var("c", TT([8, 1, 1], "float32"))
    with bb.function("main", [x, y, w, c]):
        outs = []
        with bb.dataflow():
            vals = [x, y]   # all of shape S
            for i in range(r.randint(3, 22)):
                a = vals[-1] if r.random() < 0.6 else r.choice(vals[-6:])
                b = r.choice(vals[-6:])
                k = r.randint(0, 19)
                if k <= 3: v = op.add(a, b)
                elif k == 4: v = op.nn.relu(a)
                elif k == 5: v = op.exp(a)
                elif k == 6: v = op.nn.conv2d(a, w, padding=1)
                elif k == 7: v = op.add(a, c)
                elif k == 8: v = op.nn.softmax(a, axis=-1)
                elif k == 9: v = op.reshape(op.reshape(a, (n, 48, 6)), (n, 8, 6, 6)) if not symbolic else op.sigmoid(a)
                elif k == 10: v = op.permute_dims(op.permute_dims(a, [0, 2, 3, 1]), [0, 3, 1, 2])
                elif k == 11: v = op.add(a, op.sum(b, axis=[2, 3], keepdims=True))
                elif k == 12:
                    s = bb.emit(op.split(a, 2, axis=1))
                    v = op.concat([bb.emit(relax.TupleGetItem(s, 1)), bb.emit(relax.TupleGetItem(s, 0))], axis=1)
                elif k == 13: v = op.nn.max_pool2d(a, pool_size=(3, 3), padding=(1, 1))
                elif k == 14: v = op.multiply(a, relax.const(2.5, "float32"))
                elif k == 15: v = op.add(a, op.mean(b, axis=[1], keepdims=True))
                elif k == 16: v = op.add(a, relax.const(np.arange(8).reshape(8,1,1).astype("float32")))
                elif k == 17: v = op.maximum(op.negative(a), op.expand_dims(op.squeeze(op.sum(b, axis=[3], keepdims=True), axis=[3]), axis=3))
                elif k == 18:
                    s = bb.emit(op.split(a, 2, axis=1))
                    v = op.concat([bb.emit(op.nn.relu(bb.emit(relax.TupleGetItem(s, 0)))), bb.emit(relax.TupleGetItem(s, 0))], axis=1)
                else: v = op.strided_slice(op.nn.pad(a, [0,0,0,0,1,1,1,1]), axes=[2,3], begin=[1,1], end=[7,7]) if not symbolic else op.tanh(a)
                v = bb.emit(v)
                vals.append(v)
                if r.random() < 0.08: outs.append(bb.emit_output(op.negative(v)))
            outs.append(bb.emit_output(op.add(vals[-1], vals[-2])))
        bb.emit_func_output(relax.Tuple(outs) if len(outs) > 1 else outs[0])
    return bb.get()


def ours(command, text, passes):
    run = subprocess.run([command, "opt", "-", "--config", "tvm_compat=true", "--passes", ",".join(passes)],
                         input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(run.stderr)
    return tvm.script.from_source(run.stdout)


def main():
    command = sys.argv[1]
    first, last = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (0, 20)
    theirs = [relax.transform.AnnotateTIROpPattern(), relax.transform.FuseOps(fuse_opt_level=2), relax.transform.FuseTIR()]
    checked = different = 0
    for seed in range(first, last):
        for symbolic in (False, True):
            module = relax.transform.DeadCodeElimination()(relax.transform.LegalizeOps()(gen(seed, symbolic)))
            text = module.script()
            if "metadata" in text:  # TVM prints tensor constants without their data
                continue
            for count, tvm_pass in enumerate(theirs, 1):
                module = tvm_pass(module)
                checked += 1
                if not tvm_ffi.structural_equal(ours(command, text, PASSES[:count]), module, map_free_vars=True):
                    different += 1
                    print(f"seed {seed}, symbolic {symbolic}: differs after {PASSES[count - 1]}")
    print(f"{checked} modules compared, {different} different")
    return 5 if different else 0


if __name__ == "__main__":
    sys.exit(main())
