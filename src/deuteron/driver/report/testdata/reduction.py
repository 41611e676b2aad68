# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[1], keepdims=True)
            gv = R.exp(a)
            R.output(gv)
        return gv
# ----- expected
# reduction.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 608 B before fusion, 608 B after (0% less); arithmetic: 208
#
# saved  before  after  flop  ops  kernel   nodes
#   0 B   544 B  544 B   128    1  sum      a
#   0 B    64 B   64 B    80    1  tir_exp  gv
#
# Not fused: 1 edge
#
# reduction-cannot-feed-forward (1)
#   The producer is a reduction: its value is complete only after its last input, so it can only end a kernel.
#   To fuse: Let the consumer go through the rows that are reduced, so that FuseReductions merges the stages, or compute it before the reduction.
#   a (sum) → gv (tir_exp)
