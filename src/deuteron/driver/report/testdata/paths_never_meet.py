# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.tanh(a)
            gv1 = R.sqrt(a)
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# paths_never_meet.py: 3 operators in 3 kernels; 0 of 2 edges fused
# moved by kernels: 3.00 KiB before fusion, 3.00 KiB after (0% less); arithmetic: 3.84 k
#
# saved    before     after    flop  ops  kernel    nodes
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp   a
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_tanh  gv
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_sqrt  gv1
#
# Not fused: 2 edges
#
# paths-never-meet (2)
#   The uses of the value never come together again, so it has to be stored for one of them.
#   To fuse: Let one kernel compute all uses (merge the results), or compute the value once for each of them.
#   a (tir_exp) → gv (tir_tanh)
#   a (tir_exp) → gv1 (tir_sqrt)
